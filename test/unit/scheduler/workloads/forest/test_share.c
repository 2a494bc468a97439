#include "scheduler/workloads/forest/share.h"

#include "base/attrs.h"
#include "lib/quota/quota_world.h"
#include "lib/unit.h"

static struct quota_world w;

static int end(void **state)
{
	(void)state;
	quota_world_finish(&w);
	return 0;
}

static struct share share(const char *node)
{
	return share_of(w.f, quota_world_id(&w, node), NULL);
}

static void test_borrowed_of_lendable(void **state)
{
	struct share s;

	(void)state;
	quota_world_init(&w, "cohort r\nqueue a cohort=r\nqueue b cohort=r weight=2\n"
			     "quota a f cpu nominal=2\nquota a f memory nominal=10\n"
			     "quota b f cpu nominal=8\nquota b f memory nominal=10\n"
			     "workload one queue=a cpu=4 memory=11 holds=f\n");
	s = share("a");
	assert_true(s.unweighted == 200);
	assert_int_equal(s.resource, quota_world_resource(&w, "cpu"));
	assert_true(s.borrowing);
	assert_int_equal(share_status(s), 200);
	s = share("b");
	assert_false(s.borrowing);
	assert_int_equal(s.resource, MODEL_NONE);
	assert_int_equal(share_status(s), 0);
	assert_false(share("r").borrowing);
}

static void test_extra_counts_and_weights_divide(void **state)
{
	struct quota_amount v = { .value = 1000 };
	struct quota_amounts extra = { .v = &v, .n = 1 };
	struct share s;

	(void)state;
	quota_world_init(&w,
			 "cohort r\nqueue a cohort=r weight=3\nquota a f cpu nominal=2\n"
			 "quota cohort/r f cpu nominal=10\nworkload one queue=a cpu=2 holds=f\n");
	v.id = quota_world_pair(&w, "f", "cpu");
	assert_false(share("a").borrowing);
	s = share_of(w.f, quota_world_id(&w, "a"), &extra);
	assert_true(s.borrowing);
	/* 1000 * 1 / 12 / 3 = 27.8 */
	assert_int_equal(share_status(s), 28);
}

/* Pairs of one resource add up, what is over in one is not made good by another. */
static void test_flavors_of_one_resource_add_up(void **state)
{
	(void)state;
	quota_world_init(&w, "cohort r\nqueue a cohort=r\nqueue b cohort=r\n"
			     "quota a f cpu nominal=1\nquota a g cpu nominal=5\n"
			     "quota b f cpu nominal=2\nquota b g cpu nominal=2\n"
			     "workload one queue=a cpu=2 holds=f\n"
			     "workload two queue=a cpu=1 holds=g\n");
	assert_true(share("a").unweighted == 100);
}

static void test_equal_ratios_name_the_first_resource(void **state)
{
	(void)state;
	quota_world_init(&w, "cohort r\nqueue a cohort=r\n"
			     "quota a f zz nominal=0\nquota a f aa nominal=0\n"
			     "quota cohort/r f zz nominal=10\nquota cohort/r f aa nominal=10\n"
			     "workload one queue=a zz=2 aa=2 holds=f\n");
	assert_int_equal(share("a").resource, quota_world_resource(&w, "aa"));
}

/* Usage of a pair without quota is not borrowing; without lendable quota there is no share. */
static void test_nothing_to_lend(void **state)
{
	(void)state;
	quota_world_init(&w, "cohort r\nqueue a cohort=r\nquota a f cpu nominal=0\n"
			     "workload one queue=a cpu=2 holds=f\n"
			     "workload two queue=a cpu=2 holds=g\n");
	assert_true(share("a").borrowing);
	assert_true(share("a").unweighted == 0);
	assert_int_equal(share("a").resource, MODEL_NONE);
	assert_int_equal(share_status(share("a")), 0);
}

/* Also in a world with one pair: quota of cpu is not quota of gpu. */
static void test_resource_without_quota(void **state)
{
	(void)state;
	quota_world_init(&w, "cohort r\nqueue a cohort=r\nquota a f cpu nominal=4\n"
			     "workload one queue=a gpu=2\n");
	assert_int_equal(
		forest_lendable(w.f, quota_world_id(&w, "a"), quota_world_resource(&w, "cpu")),
		4000);
	assert_int_equal(
		forest_lendable(w.f, quota_world_id(&w, "a"), quota_world_resource(&w, "gpu")), 0);
}

/* The share of a cohort is what it takes from above it; lendable is counted from its parent. */
static void test_of_cohorts(void **state)
{
	(void)state;
	quota_world_init(&w, "cohort r\ncohort m parent=r\nqueue a cohort=m\nqueue b cohort=r\n"
			     "quota a f cpu nominal=2\nquota b f cpu nominal=8\n"
			     "workload one queue=a cpu=6 holds=f\n");
	assert_true(share("m").unweighted == 400);
	assert_true(share("a").unweighted == 400);
	assert_int_equal(share_status(share("r")), 0);
}

static void test_cmp(void **state)
{
	const struct share small = { .unweighted = 100, .weight = 1 };
	const struct share same = { .unweighted = 200, .weight = 2 };
	const struct share big = { .unweighted = 300, .weight = 1 };
	const struct share none = { .unweighted = 0, .weight = 0 };
	const struct share infinite = { .unweighted = 1, .weight = 0 };
	const struct share more = { .unweighted = 2, .weight = 0 };
	const struct {
		const char *name;
		struct share a, b;
		int r;
	} rows[] = {
		{ "equal when weighted", small, same, 0 },
		{ "smaller", small, big, -1 },
		{ "larger", big, same, 1 },
		{ "none", none, small, -1 },
		{ "infinite", infinite, big, 1 },
		{ "infinite, smaller", infinite, more, -1 },
		{ "infinite and none", infinite, none, 1 },
		{ "infinite, equal", more, more, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].name);
		assert_int_equal(share_cmp(rows[i].a, rows[i].b), rows[i].r);
		assert_int_equal(share_cmp(rows[i].b, rows[i].a), -rows[i].r);
	}
	assert_true(share_is_infinite(infinite));
	assert_false(share_is_infinite(none));
	assert_int_equal(share_status(infinite), INT64_MAX);
	assert_int_equal(share_status(none), 0);
	assert_int_equal(share_status((struct share){ .unweighted = 1e300, .weight = 1 }),
			 INT64_MAX);
}

#define CASE(test) cmocka_unit_test_teardown(test, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_borrowed_of_lendable),
		CASE(test_extra_counts_and_weights_divide),
		CASE(test_flavors_of_one_resource_add_up),
		CASE(test_equal_ratios_name_the_first_resource),
		CASE(test_nothing_to_lend),
		CASE(test_resource_without_quota),
		CASE(test_of_cohorts),
		cmocka_unit_test(test_cmp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
