#include "base/quote.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/utf8.h"

static void test_json(void **state)
{
	static const char *const rows[][2] = {
		{ "", "\"\"" },
		{ "plain", "\"plain\"" },
		{ "a\"\\\n\r\t\x01z", "\"a\\\"\\\\\\n\\r\\t\\u0001z\"" },
		{ "\x1b[31m\x7f", "\"\\u001b[31m\\u007f\"" },
		{ "\xc3\xa9", "\"\xc3\xa9\"" },
		{ "a\xff\xfez", "\"a" UTF8_REPLACEMENT UTF8_REPLACEMENT "z\"" },
		{ "\xe2\x82", "\"" UTF8_REPLACEMENT UTF8_REPLACEMENT "\"" },
		{ "a" UTF8_NUL "z\xc0", "\"a\\u0000z" UTF8_REPLACEMENT "\"" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;

		unit_row(rows[i][0]);
		quote_json(&out, str_of(rows[i][0]));
		assert_string_equal(out.p, rows[i][1]);
	}
}

static void test_plain(void **state)
{
	static const char *const rows[][2] = {
		{ "", "" },
		{ "a \"b\" \\", "a \"b\" \\" },
		{ "\x1b[31mx\n\x7f", "\\u001b[31mx\\n\\u007f" },
		{ "\xc3\xa9\xc2\x9b", "\xc3\xa9\\u009b" },
		{ "a\xffz" UTF8_NUL, "a" UTF8_REPLACEMENT "z\\u0000" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;

		unit_row(rows[i][0]);
		quote_plain(&out, str_of(rows[i][0]));
		assert_string_equal(out.len > 0 ? out.p : "", rows[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_plain),
	};

	return cmocka_run_group_tests_name("quote", tests, NULL, NULL);
}
