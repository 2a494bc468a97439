#include "enc/json_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/attrs.h"
#include "base/strbuf.h"

static void test_quote(void **state)
{
	static const char *const rows[][2] = {
		{ "", "\"\"" },
		{ "plain", "\"plain\"" },
		{ "a\"\\\n\r\t\x01z", "\"a\\\"\\\\\\n\\r\\t\\u0001z\"" },
		{ "\xc3\xa9", "\"\xc3\xa9\"" },
		{ "a\xff\xfez", "\"a\xef\xbf\xbd\xef\xbf\xbdz\"" },
		{ "\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "a\xc0\x80z\xc0", "\"a\\u0000z\xef\xbf\xbd\"" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;

		json_text_quote(&out, str_of(rows[i][0]));
		assert_string_equal(out.p, rows[i][1]);
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
		{ 1e22, "1e+22" },
		{ 0.1, "0.1" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 1.0 / 0.0, "null" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;

		json_text_number(&out, rows[i].n);
		assert_string_equal(out.p, rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quote),
		cmocka_unit_test(test_number),
	};

	return cmocka_run_group_tests_name("json_text", tests, NULL, NULL);
}
