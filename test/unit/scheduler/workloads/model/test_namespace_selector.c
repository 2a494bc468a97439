#include "base/attrs.h"
#include "lib/unit.h"
#include "scheduler/workloads/model/quota_store.h"

/* Strings are interned: equal ones are one pointer. */
static const char *const key = "team", *const a = "a", *const b = "b", *const other = "other";

static bool matches(enum match_op op, const char *k, const struct label *labels, size_t n)
{
	const char *values[] = { a };
	struct match_expr e = { .key = k, .op = op, .values = values, .nvalues = 1 };
	struct namespace_selector s = { .exprs = &e, .nexprs = 1 };

	return namespace_selector_matches(&s, labels, n);
}

static void test_absent_selects_nothing_and_empty_everything(void **state)
{
	struct namespace_selector s = { .absent = true };

	(void)state;
	assert_false(namespace_selector_matches(&s, NULL, 0));
	s.absent = false;
	assert_true(namespace_selector_matches(&s, NULL, 0));
}

static void test_operators(void **state)
{
	const struct label in_a[] = { { key, a } }, in_b[] = { { other, a }, { key, b } };

	(void)state;
	assert_true(matches(MATCH_IN, key, in_a, 1));
	assert_false(matches(MATCH_IN, key, in_b, 2));
	assert_false(matches(MATCH_IN, key, NULL, 0));
	assert_false(matches(MATCH_NOT_IN, key, in_a, 1));
	assert_true(matches(MATCH_NOT_IN, key, in_b, 2));
	assert_true(matches(MATCH_NOT_IN, key, NULL, 0));
	assert_true(matches(MATCH_EXISTS, key, in_b, 2));
	assert_false(matches(MATCH_EXISTS, key, NULL, 0));
	assert_false(matches(MATCH_NOT_EXISTS, key, in_a, 1));
	assert_true(matches(MATCH_NOT_EXISTS, other, in_a, 1));
}

static void test_all_expressions_must_hold(void **state)
{
	const char *values[] = { a };
	struct match_expr e[] = {
		{ .key = key, .op = MATCH_IN, .values = values, .nvalues = 1 },
		{ .key = other, .op = MATCH_EXISTS },
	};
	const struct namespace_selector s = { .exprs = e, .nexprs = ARRAY_LEN(e) };
	const struct label labels[] = { { key, a }, { other, b } };

	(void)state;
	assert_true(namespace_selector_matches(&s, labels, 2));
	assert_false(namespace_selector_matches(&s, labels, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_absent_selects_nothing_and_empty_everything),
		cmocka_unit_test(test_operators),
		cmocka_unit_test(test_all_expressions_must_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
