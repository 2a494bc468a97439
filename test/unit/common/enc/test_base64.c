#include "enc/base64.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"

static void test_both_ways(void **state)
{
	static const char *const rows[][2] = {
		{ "", "" },
		{ "f", "Zg==" },
		{ "fo", "Zm8=" },
		{ "foo", "Zm9v" },
		{ "foob", "Zm9vYg==" },
		{ "fooba", "Zm9vYmE=" },
		{ "foobar", "Zm9vYmFy" },
		{ "\xff\xfe\xfb", "//77" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;

		unit_row(rows[i][0]);
		base64_encode(str_of(rows[i][0]), &out);
		assert_string_equal(out.p, rows[i][1]);
		strbuf_reset(&out);
		assert_int_equal(base64_decode(str_of(rows[i][1]), &out, NULL), 0);
		assert_string_equal(out.p, rows[i][0]);
	}
}

static void test_blanks_and_nul_bytes(void **state)
{
	struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;
	(void)state;

	assert_int_equal(base64_decode(STR_LIT(" Zm9v\r\n YmFy\n"), &out, NULL), 0);
	assert_string_equal(out.p, "foobar");
	strbuf_reset(&out);
	assert_int_equal(base64_decode(STR_LIT("AAAA"), &out, NULL), 0);
	assert_int_equal(out.len, 3);
}

static void test_refused(void **state)
{
	static const char *const rows[] = { "Z",    "Zg",   "Zg=",  "Zg===",    "Zm9v=",     "=",
					    "Zh==", "Zm9=", "Z-8=", "Zg==Zg==", "Zm9v Zm8=x" };
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;
		struct err err = ERR_INIT;

		strbuf_add_c(&out, "kept");
		if (base64_decode(str_of(rows[i]), &out, &err) != -ERR_INVALID) {
			fail_msg("%s accepted", rows[i]);
		}
		assert_string_equal(out.p, "kept");
		assert_non_null(strstr(err.text, "invalid base64"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_blanks_and_nul_bytes),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests_name("base64", tests, NULL, NULL);
}
