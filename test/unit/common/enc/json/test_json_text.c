#include "enc/json/json_text.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/utf8.h"

static void test_for_cjson(void **state)
{
	static const char *const rows[][2] = {
		{ "{\"a\":1}", NULL },
		{ "\"a\\n\\u0041\\ud83d\\ude00\\\\u0000\"", NULL },
		{ "[\"x\\u0000\",\"\\ud800\\n\"]",
		  "[\"x" UTF8_NUL "\",\"" UTF8_REPLACEMENT "\\n\"]" },
		{ "\"\\udc00\"", "\"" UTF8_REPLACEMENT "\"" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;
		struct str text = str_of(rows[i][0]), plain = json_text_for_cjson(text, &out);

		unit_row(rows[i][0]);
		if (rows[i][1] == NULL) {
			assert_ptr_equal(plain.p, text.p);
			assert_int_equal(plain.len, text.len);
		} else {
			assert_true(str_eq_c(plain, rows[i][1]));
		}
	}
}

static void test_number(void **state)
{
	static const struct {
		double n;
		const char *text;
	} rows[] = {
		{ 0, "0" },
		{ -0.0, "0" },
		{ -17, "-17" },
		{ 9007199254740992.0, "9007199254740992" },
		{ 9007199254740994.0, "9007199254740994" },
		{ 9223372036854775807.0, "9223372036854775807" },
		{ -9223372036854774784.0, "-9223372036854774784" },
		{ 9223372036854777856.0, "9.223372036854778e+18" },
		{ 1e22, "1e+22" },
		{ 0.1, "0.1" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 1.0 / 0.0, "null" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;

		unit_row(rows[i].text);
		json_text_number(&out, rows[i].n);
		assert_string_equal(out.p, rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_for_cjson),
		cmocka_unit_test(test_number),
	};

	return cmocka_run_group_tests_name("json_text", tests, NULL, NULL);
}
