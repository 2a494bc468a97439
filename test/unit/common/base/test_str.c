#include "base/str.h"

#include "lib/unit.h"

#include "base/attrs.h"

static void test_compare(void **state)
{
	static const struct {
		const char *a, *b;
		int order;
	} cases[] = {
		{ "a", "a", 0 },  { "a", "b", -1 },  { "b", "a", 1 },      { "a", "aa", -1 },
		{ "", "", 0 },    { "", "a", -1 },   { "\xff", "a", 1 },   { NULL, "", 0 },
		{ "b", "aa", 1 }, { NULL, NULL, 0 }, { "abc", "abd", -1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct str a = str_of(cases[i].a), b = str_of(cases[i].b);

		unit_row(cases[i].a);
		assert_int_equal(str_cmp(a, b), cases[i].order);
		assert_int_equal(str_cmp(b, a), -cases[i].order);
		assert_int_equal(str_eq(a, b), cases[i].order == 0);
		assert_int_equal(str_eq_c(a, cases[i].b), cases[i].order == 0);
		if (cases[i].order == 0) {
			assert_true(str_hash(a) == str_hash(b));
		} else {
			assert_true(str_hash(a) != str_hash(b));
		}
	}
	assert_true(str_streq(NULL, NULL));
	assert_false(str_streq(NULL, ""));
	assert_false(str_streq("", NULL));
	assert_true(str_streq("x", "x"));
	assert_false(str_streq("x", "y"));
}

static void test_hash_is_stable(void **state)
{
	(void)state;
	assert_true(str_hash(STR_LIT("")) == UINT64_C(0xecba3df2c3383c52));
	assert_true(str_hash(STR_LIT("default")) == UINT64_C(0xd58b437c6178650f));
}

static void test_affixes(void **state)
{
	static const struct {
		const char *s, *affix;
		bool prefix, suffix;
	} cases[] = {
		{ "kube-system", "kube-", true, false },
		{ "kube-system", "system", false, true },
		{ "kube", "kube", true, true },
		{ "kub", "kube", false, false },
		{ "x", "", true, true },
		{ "", "", true, true },
		{ NULL, "", true, true },
		{ NULL, "a", false, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		unit_row(cases[i].s);
		assert_int_equal(str_has_prefix(str_of(cases[i].s), cases[i].affix),
				 cases[i].prefix);
		assert_int_equal(str_has_suffix(str_of(cases[i].s), cases[i].affix),
				 cases[i].suffix);
	}
}

static void test_next(void **state)
{
	static const struct {
		const char *text;
		const char *parts[4];
	} cases[] = {
		{ "a,b,c", { "a", "b", "c" } },
		{ "a,", { "a", "" } },
		{ ",a", { "", "a" } },
		{ "", { "" } },
		{ "a", { "a" } },
		{ ",", { "", "" } },
		{ NULL, { NULL } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct str rest = str_of(cases[i].text);
		size_t n = 0;

		unit_row(cases[i].text);
		for (; rest.p != NULL; n++) {
			assert_true(n < 4);
			assert_non_null(cases[i].parts[n]);
			assert_true(str_eq_c(str_next(&rest, ','), cases[i].parts[n]));
		}
		assert_true(n == 4 || cases[i].parts[n] == NULL);
		assert_null(str_next(&rest, ',').p);
	}
}

static void test_trim(void **state)
{
	(void)state;
	assert_true(str_eq_c(str_trim(STR_LIT(" \t a b\r\n")), "a b"));
	assert_true(str_eq_c(str_trim(STR_LIT(" \n")), ""));
	assert_true(str_eq_c(str_trim(STR_LIT("")), ""));
	assert_null(str_trim(str_of(NULL)).p);
}

static void test_to_integer(void **state)
{
	static const struct {
		const char *text;
		bool is_u64, is_i64;
		uint64_t u;
		int64_t i;
	} cases[] = {
		{ "0", true, true, 0, 0 },
		{ "007", true, true, 7, 7 },
		{ "18446744073709551615", true, false, UINT64_MAX, 0 },
		{ "18446744073709551616", false, false, 0, 0 },
		{ "99999999999999999999", false, false, 0, 0 },
		{ "9223372036854775807", true, true, INT64_MAX, INT64_MAX },
		{ "9223372036854775808", true, false, UINT64_C(1) << 63, 0 },
		{ "-9223372036854775808", false, true, 0, INT64_MIN },
		{ "-9223372036854775809", false, false, 0, 0 },
		{ "-1", false, true, 0, -1 },
		{ "-", false, false, 0, 0 },
		{ "", false, false, 0, 0 },
		{ NULL, false, false, 0, 0 },
		{ " 1", false, false, 0, 0 },
		{ "1 ", false, false, 0, 0 },
		{ "+1", false, false, 0, 0 },
		{ "0x1", false, false, 0, 0 },
		{ "1e3", false, false, 0, 0 },
		{ "--1", false, false, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint64_t u = 77;
		int64_t n = 77;

		unit_row(cases[i].text);
		assert_int_equal(str_to_u64(str_of(cases[i].text), &u), cases[i].is_u64);
		assert_true(u == (cases[i].is_u64 ? cases[i].u : 77));
		assert_int_equal(str_to_i64(str_of(cases[i].text), &n), cases[i].is_i64);
		assert_true(n == (cases[i].is_i64 ? cases[i].i : 77));
	}
}

static void test_to_double(void **state)
{
	static const struct {
		const char *text;
		bool ok;
		double d;
	} cases[] = {
		{ "0", true, 0 },      { "1.5", true, 1.5 },   { "-.5", true, -0.5 },
		{ "5.", true, 5 },     { "+2e3", true, 2000 }, { "25E-2", true, 0.25 },
		{ ".", false, 0 },     { "", false, 0 },       { "e5", false, 0 },
		{ "1e", false, 0 },    { "1e+", false, 0 },    { "0x10", false, 0 },
		{ "inf", false, 0 },   { "nan", false, 0 },    { "1e999", false, 0 },
		{ " 1", false, 0 },    { "1 ", false, 0 },     { "1,5", false, 0 },
		{ "1e-999", true, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		double d = 77;

		unit_row(cases[i].text);
		assert_int_equal(str_to_double(str_of(cases[i].text), &d), cases[i].ok);
		assert_true(d == (cases[i].ok ? cases[i].d : 77)); /* exact on purpose */
	}
}

static void test_to_double_limit(void **state)
{
	char text[129];
	double d = 77;

	(void)state;
	memset(text, '0', sizeof(text));
	assert_true(str_to_double((struct str){ text, 128 }, &d));
	assert_true(d == 0);
	assert_false(str_to_double((struct str){ text, 129 }, &d));
	/* A NUL inside does not end the number early. */
	assert_false(str_to_double(STR_LIT("1\0"), &d));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compare),   cmocka_unit_test(test_hash_is_stable),
		cmocka_unit_test(test_affixes),   cmocka_unit_test(test_next),
		cmocka_unit_test(test_trim),      cmocka_unit_test(test_to_integer),
		cmocka_unit_test(test_to_double), cmocka_unit_test(test_to_double_limit),
	};

	return cmocka_run_group_tests_name("str", tests, NULL, NULL);
}
