#include "scheduler/workloads/assign/assign_match.h"

#include "base/attrs.h"
#include "lib/unit.h"

static const char zone[] = "zone", type[] = "type", arch[] = "arch", a[] = "a", b[] = "b",
		  gpu[] = "gpu", spot[] = "spot", yes[] = "yes";

/* A flavor that declares zone=a and type=gpu. */
static struct label labels[] = { { type, gpu }, { zone, a } };
static const struct flavor flavor = { .exists = true, .labels = labels, .nlabels = 2 };

#define EXPR(key_, op_, value_)                                                                    \
	{                                                                                          \
		.key = (key_), .op = (op_), .values = (const char *[]){ value_ }, .nvalues = 1     \
	}
#define TERM(...)                                                                                  \
	{                                                                                          \
		.exprs = (struct match_expr[]){ __VA_ARGS__ },                                     \
		.nexprs = sizeof((struct match_expr[]){ __VA_ARGS__ }) / sizeof(struct match_expr) \
	}

static void test_a_selector_is_restricted_to_labels_of_the_flavor(void **state)
{
	static const struct {
		const char *name;
		struct label selector[2];
		size_t n;
		bool matches;
	} rows[] = {
		{ "no selector", { { NULL, NULL } }, 0, true },
		{ "the same value", { { zone, a } }, 1, true },
		{ "another value", { { zone, b } }, 1, false },
		{ "the flavor has no such label", { { arch, a } }, 1, true },
		{ "both values", { { type, gpu }, { zone, a } }, 2, true },
		{ "one of two values", { { type, gpu }, { zone, b } }, 2, false },
		{ "no such label, and another value", { { arch, b }, { zone, b } }, 2, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct label selector[2] = { rows[i].selector[0], rows[i].selector[1] };
		struct podset p = { .selector = selector, .nselector = rows[i].n };

		unit_row(rows[i].name);
		assert_int_equal(assign_match_labels(&flavor, &p), rows[i].matches);
	}
}

static void test_affinity_terms_are_alternatives(void **state)
{
	struct match_term here = TERM(EXPR(zone, MATCH_IN, a));
	struct match_term there = TERM(EXPR(zone, MATCH_IN, b));
	struct match_term both = TERM(EXPR(zone, MATCH_IN, a), EXPR(type, MATCH_NOT_IN, gpu));
	struct match_term terms[2];
	struct podset p = { .has_required = true, .required = terms };

	(void)state;
	terms[0] = there;
	terms[1] = here;
	p.nrequired = 1;
	assert_false(assign_match_labels(&flavor, &p));
	p.nrequired = 2;
	assert_true(assign_match_labels(&flavor, &p));
	terms[0] = both;
	p.nrequired = 1;
	assert_false(assign_match_labels(&flavor, &p)); /* all expressions of a term */
}

static void test_affinity_is_restricted_to_labels_of_the_flavor(void **state)
{
	struct match_term other = TERM(EXPR(arch, MATCH_IN, a), EXPR(zone, MATCH_IN, a));
	struct match_term wrong = TERM(EXPR(arch, MATCH_IN, a), EXPR(zone, MATCH_IN, b));
	struct match_term terms[1];
	struct podset p = { .has_required = true, .required = terms, .nrequired = 1 };

	(void)state;
	terms[0] = other;
	assert_true(assign_match_labels(&flavor, &p));
	terms[0] = wrong;
	assert_false(assign_match_labels(&flavor, &p));
}

static void test_a_term_of_which_nothing_is_left_matches(void **state)
{
	struct match_term wrong = TERM(EXPR(zone, MATCH_IN, b));
	struct match_term other = TERM(EXPR(arch, MATCH_IN, a));
	struct match_term fields = TERM(EXPR(zone, MATCH_IN, b));
	struct match_term terms[2] = { wrong, other };
	struct podset p = { .has_required = true, .required = terms, .nrequired = 2 };

	(void)state;
	assert_true(assign_match_labels(&flavor, &p));
	fields.exprs[0].on_field = true;
	terms[1] = fields;
	assert_true(assign_match_labels(&flavor, &p));
	p.nrequired = 1;
	assert_false(assign_match_labels(&flavor, &p));
	terms[0] = (struct match_term){ .nexprs = 0 };
	assert_true(assign_match_labels(&flavor, &p));
	p.nrequired = 0;
	assert_true(assign_match_labels(&flavor, &p));
}

static void test_selector_and_affinity_must_both_match(void **state)
{
	struct match_term other = TERM(EXPR(arch, MATCH_IN, a));
	struct label selector[] = { { zone, b } };
	struct podset p = { .selector = selector,
			    .nselector = 1,
			    .has_required = true,
			    .required = &other,
			    .nrequired = 1 };

	(void)state;
	assert_false(assign_match_labels(&flavor, &p));
}

static void test_a_flavor_without_labels_matches_all(void **state)
{
	static const struct flavor plain = { .exists = true };
	struct match_term wrong = TERM(EXPR(zone, MATCH_IN, b));
	struct label selector[] = { { zone, b } };
	struct podset p = { .selector = selector,
			    .nselector = 1,
			    .has_required = true,
			    .required = &wrong,
			    .nrequired = 1 };

	(void)state;
	assert_true(assign_match_labels(&plain, &p));
}

static void test_taints(void **state)
{
	static const struct toleration tolerates = { spot, yes, false, true, 0 };
	static const struct {
		const char *name;
		uint8_t effect;
		bool pods, own, refused; /* the pods, the flavor tolerate it */
	} rows[] = {
		{ "NoSchedule", TAINT_NO_SCHEDULE, false, false, true },
		{ "NoExecute", TAINT_NO_EXECUTE, false, false, true },
		{ "PreferNoSchedule", TAINT_PREFER_NO_SCHEDULE, false, false, false },
		{ "NoSchedule, the pods tolerate it", TAINT_NO_SCHEDULE, true, false, false },
		{ "NoSchedule, the flavor tolerates it", TAINT_NO_SCHEDULE, false, true, false },
		{ "NoExecute, the flavor tolerates it", TAINT_NO_EXECUTE, false, true, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct toleration t = tolerates;
		struct taint taint = { spot, yes, rows[i].effect };
		struct flavor f = { .taints = &taint,
				    .ntaints = 1,
				    .tolerations = &t,
				    .ntolerations = rows[i].own };
		struct podset p = { .tolerations = &t, .ntolerations = rows[i].pods };

		unit_row(rows[i].name);
		assert_ptr_equal(assign_match_taint(&f, &p), rows[i].refused ? &taint : NULL);
	}
}

static void test_the_first_taint_that_is_not_tolerated_is_named(void **state)
{
	struct toleration t = { spot, yes, false, true, 0 };
	struct taint taints[] = { { spot, yes, TAINT_NO_SCHEDULE }, { zone, a, TAINT_NO_EXECUTE } };
	struct flavor f = { .taints = taints, .ntaints = 2 };
	struct podset p = { .tolerations = &t, .ntolerations = 1 };

	(void)state;
	assert_ptr_equal(assign_match_taint(&f, &p), &taints[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_selector_is_restricted_to_labels_of_the_flavor),
		cmocka_unit_test(test_affinity_terms_are_alternatives),
		cmocka_unit_test(test_affinity_is_restricted_to_labels_of_the_flavor),
		cmocka_unit_test(test_a_term_of_which_nothing_is_left_matches),
		cmocka_unit_test(test_selector_and_affinity_must_both_match),
		cmocka_unit_test(test_a_flavor_without_labels_matches_all),
		cmocka_unit_test(test_taints),
		cmocka_unit_test(test_the_first_taint_that_is_not_tolerated_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
