#include "api/meta/validate.h"

#include "lib/unit.h"

#include "base/attrs.h"

#define TEN "abcdefghij"
#define SIXTY TEN TEN TEN TEN TEN TEN
/* 250 bytes in labels of 49. */
#define DOTTED                                                                                     \
	TEN TEN TEN TEN "abcdefghi." TEN TEN TEN TEN "abcdefghi." TEN TEN TEN TEN                  \
			"abcdefghi." TEN TEN TEN TEN "abcdefghi." TEN TEN TEN TEN "abcdefghi."

struct row {
	const char *text;
	bool label, subdomain, qualified, value;
};

static const struct row rows[] = {
	{ "", false, false, false, true },
	{ "a", true, true, true, true },
	{ "0", true, true, true, true },
	{ "a-b", true, true, true, true },
	{ "-a", false, false, false, false },
	{ "a-", false, false, false, false },
	{ "A", false, false, true, true },
	{ "a.b", false, true, true, true },
	{ "a..b", false, false, true, true },
	{ ".a", false, false, false, false },
	{ "a_b", false, false, true, true },
	{ "a/b", false, false, true, false },
	{ "a.b/C_d", false, false, true, false },
	{ "A/b", false, false, false, false },
	{ "/b", false, false, false, false },
	{ "a/", false, false, false, false },
	{ "a/b/c", false, false, false, false },
	{ "a b", false, false, false, false },
	{ "\xc3\xa9", false, false, false, false },
	{ SIXTY "abc", true, true, true, true },
	{ SIXTY "abcd", false, true, false, false },
	{ DOTTED "abc", false, true, false, false },
	{ DOTTED "abcd", false, false, false, false },
	{ DOTTED "abc/a", false, false, true, false },
	{ DOTTED "abcd/a", false, false, false, false },
	{ "a/" SIXTY "abc", false, false, true, false },
	{ "a/" SIXTY "abcd", false, false, false, false },
};

static void test_rows(void **state)
{
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct str s = str_of(rows[i].text);

		if (validate_is_dns_label(s) != rows[i].label ||
		    validate_is_dns_subdomain(s) != rows[i].subdomain ||
		    validate_is_qualified_name(s) != rows[i].qualified ||
		    validate_is_label_value(s) != rows[i].value) {
			fail_msg("%s", rows[i].text);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
	};

	return cmocka_run_group_tests_name("validate", tests, NULL, NULL);
}
