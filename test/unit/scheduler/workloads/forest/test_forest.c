#include "scheduler/workloads/forest/forest.h"

#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "lib/quota/quota_world.h"
#include "lib/unit.h"

#define CPU(n) (INT64_C(1000) * (n))

static struct quota_world w;
static uint32_t cpu;

static int begin(const char *text)
{
	quota_world_init(&w, text);
	cpu = quota_world_pair(&w, "default", "cpu");
	return 0;
}

static int end(void **state)
{
	(void)state;
	quota_world_finish(&w);
	return 0;
}

static uint32_t id(const char *name)
{
	return quota_world_id(&w, name);
}

static void use(const char *node, int64_t milli)
{
	struct quota_amount one = { .id = cpu, .value = milli < 0 ? -milli : milli };
	struct quota_amounts usage = { .v = &one, .n = 1 };

	(milli < 0 ? forest_remove : forest_add)(w.f, id(node), &usage);
}

static int64_t available(const char *node)
{
	return forest_available(w.f, id(node), cpu);
}

static int64_t usage(const char *node)
{
	return forest_usage(w.f, id(node), cpu);
}

/* Kueue: the first of the worked examples of quota on a tree. */
static void test_a_lending_limit_keeps_the_rest_private(void **state)
{
	(void)state;
	begin("cohort r\n"
	      "queue a cohort=r\n"
	      "queue b cohort=r\n"
	      "quota cohort/r default cpu nominal=10\n"
	      "quota a default cpu nominal=10\n"
	      "quota b default cpu nominal=10 lend=9\n");
	assert_int_equal(forest_subtree(w.f, id("r"), cpu), CPU(29));
	assert_int_equal(forest_nominal(w.f, id("r"), cpu), CPU(10));
	use("a", CPU(1));
	use("b", 500);
	assert_int_equal(usage("r"), CPU(1));
	assert_int_equal(forest_local_available(w.f, id("b"), cpu), 500);
	assert_int_equal(available("a"), CPU(28));
	assert_int_equal(available("b"), CPU(28) + 500);
	assert_int_equal(forest_potential(w.f, id("a"), cpu), CPU(29));
	assert_int_equal(forest_potential(w.f, id("b"), cpu), CPU(30));
	forest_undo(w.f, 0);
}

static void test_a_borrowing_limit_bounds_what_comes_from_above(void **state)
{
	(void)state;
	begin("cohort r\n"
	      "queue a cohort=r\n"
	      "quota cohort/r default cpu nominal=90\n"
	      "quota a default cpu nominal=10 borrow=5\n");
	assert_int_equal(available("a"), CPU(15));
	assert_int_equal(forest_potential(w.f, id("a"), cpu), CPU(15));
	use("a", CPU(12));
	assert_int_equal(available("a"), CPU(3));
	use("a", CPU(6));
	assert_int_equal(available("a"), CPU(-3));
	forest_undo(w.f, 0);
}

/* A fork begins with the usage of the forest; then each goes its own way. */
static void test_a_fork_has_usage_of_its_own(void **state)
{
	struct quota_amount one = { .id = 0, .value = CPU(2) };
	struct quota_amounts two = { .v = &one, .n = 1 };
	struct forest *fork;
	size_t mark;

	(void)state;
	begin("cohort r\n"
	      "queue a cohort=r\n"
	      "quota a default cpu nominal=10\n");
	one.id = cpu;
	use("a", CPU(3));
	fork = forest_fork(w.f);
	assert_int_equal(forest_mark(fork), 0);
	mark = forest_mark(fork);
	forest_add(fork, id("a"), &two);
	assert_int_equal(forest_usage(fork, id("a"), cpu), CPU(5));
	assert_int_equal(forest_usage(fork, id("r"), cpu), CPU(5));
	assert_int_equal(usage("r"), CPU(3));
	forest_undo(fork, mark);
	assert_int_equal(forest_usage(fork, id("r"), cpu), CPU(3));
	use("a", CPU(1));
	assert_int_equal(forest_available(fork, id("a"), cpu), CPU(7));
	forest_undo(w.f, 0);
	assert_int_equal(forest_available(fork, id("a"), cpu), CPU(7));
	forest_destroy(fork);
	assert_int_equal(available("a"), CPU(10));
}

static void test_lending_nothing_and_lending_everything(void **state)
{
	static const struct {
		const char *lend;
		int64_t subtree, other;
	} rows[] = { { "lend=0", 0, 0 },
		     { "", CPU(10), CPU(10) },
		     { "lend=25", CPU(10), CPU(10) } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char text[200];

		unit_row(rows[i].lend);
		(void)snprintf(text, sizeof(text),
			       "cohort r\nqueue a cohort=r\nqueue b cohort=r\n"
			       "quota a default cpu nominal=10 %s\nquota b default cpu nominal=0\n",
			       rows[i].lend);
		begin(text);
		assert_int_equal(forest_subtree(w.f, id("r"), cpu), rows[i].subtree);
		assert_int_equal(available("a"), CPU(10));
		assert_int_equal(available("b"), rows[i].other);
		(void)end(NULL);
	}
	begin("quota a default cpu nominal=1\n");
}

/* After quota was lowered below the usage, less than nothing is available to the queue and its
 * parent. */
static void test_use_beyond_quota_is_negative(void **state)
{
	(void)state;
	begin("quota a default cpu nominal=10\n");
	use("a", CPU(12));
	assert_int_equal(available("a"), CPU(-2));
	assert_true(forest_borrows_with(w.f, id("a"), cpu, 0));
	assert_false(forest_within_nominal(w.f, id("a"), &cpu, 1));
	use("a", CPU(-2));
	assert_int_equal(available("a"), 0);
	assert_true(forest_within_nominal(w.f, id("a"), &cpu, 1));
	assert_true(forest_borrows_with(w.f, id("a"), cpu, 1));
	forest_undo(w.f, 0);
}

static const char three_levels[] = "cohort root\n"
				   "cohort mid parent=root\n"
				   "queue a cohort=mid\n"
				   "queue b cohort=mid\n"
				   "queue c cohort=root\n"
				   "quota cohort/mid default cpu nominal=4 lend=6 borrow=3\n"
				   "quota a default cpu nominal=5 lend=2\n"
				   "quota b default cpu nominal=5\n"
				   "quota c default cpu nominal=10\n";

static void test_usage_beyond_local_quota_rises(void **state)
{
	(void)state;
	begin(three_levels);
	/* mid: 4 + 2 + 5 = 11, of which 5 are private to it */
	assert_int_equal(forest_subtree(w.f, id("mid"), cpu), CPU(11));
	assert_int_equal(forest_subtree(w.f, id("root"), cpu), CPU(16));
	use("a", CPU(3));
	assert_int_equal(usage("mid"), 0);
	use("a", CPU(4));
	assert_int_equal(usage("mid"), CPU(4));
	assert_int_equal(usage("root"), 0);
	use("b", CPU(4));
	assert_int_equal(usage("mid"), CPU(8));
	assert_int_equal(usage("root"), CPU(3));
	/* Going down: root gets its 3 back before mid's private part is touched. */
	use("b", CPU(-4));
	assert_int_equal(usage("root"), 0);
	use("a", CPU(-5));
	assert_int_equal(usage("mid"), 0);
	assert_int_equal(usage("a"), CPU(2));
	forest_undo(w.f, 0);
	assert_int_equal(usage("a"), 0);
}

static void test_limits_count_between_cohorts_too(void **state)
{
	(void)state;
	begin(three_levels);
	/* mid may have 11 + 3 although the tree has 16 and its own private 5 */
	assert_int_equal(forest_potential(w.f, id("mid"), cpu), CPU(14));
	assert_int_equal(forest_potential(w.f, id("a"), cpu), CPU(17));
	assert_int_equal(available("b"), CPU(14));
	use("c", CPU(16));
	assert_int_equal(available("b"), CPU(5));
	assert_int_equal(available("a"), CPU(8));
	forest_undo(w.f, 0);
}

static void test_fits_here_leaves_the_rest_to_the_parent(void **state)
{
	struct quota_amount v[1] = { { .id = 0, .value = CPU(4) } };
	struct quota_amounts req = { .v = v, .n = 1, .cap = 1 }, rest = { .v = NULL };

	(void)state;
	begin(three_levels);
	v[0].id = cpu;
	assert_true(forest_fits_here(w.f, id("a"), &req, &rest));
	assert_int_equal(rest.n, 1);
	assert_int_equal(rest.v[0].value, CPU(1));
	use("a", CPU(2));
	assert_false(forest_fits_here(w.f, id("a"), &req, &req));
	assert_int_equal(v[0].value, CPU(3));
	assert_true(forest_fits_here(w.f, id("mid"), &req, &req));
	assert_int_equal(v[0].value, 0);
	quota_amounts_finish(&rest);
	forest_undo(w.f, 0);
}

static void test_fits(void **state)
{
	struct quota_amount v[1] = { { .value = CPU(10) } };
	struct quota_amounts req = { .v = v, .n = 1, .cap = 1 };

	(void)state;
	begin("quota a default cpu nominal=10\n");
	v[0].id = cpu;
	assert_true(forest_fits(w.f, id("a"), &req));
	v[0].value++;
	assert_false(forest_fits(w.f, id("a"), &req));
	use("a", CPU(20));
	v[0].value = 0; /* nothing is requested: less than zero fits, too */
	assert_true(forest_fits(w.f, id("a"), &req));
	forest_undo(w.f, 0);
}

/* Kueue: FindHeightOfLowestSubtreeThatFits. */
static void test_level_is_the_height_of_the_smallest_tree_that_holds_it(void **state)
{
	static const struct {
		const char *node;
		int64_t amount;
		unsigned level;
		bool reclaim;
	} rows[] = {
		{ "a", 5, 0, true },   { "a", 6, 1, true },      { "a", 14, 1, true },
		{ "a", 15, 2, false }, { "a", 1000, 2, false },  { "c", 10, 0, true },
		{ "c", 11, 2, false }, { "alone", 1, 0, false }, { "alone", 100, 0, false },
	};

	(void)state;
	begin(three_levels);
	quota_world_add(&w, "quota alone default cpu nominal=5\n");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		bool reclaim = !rows[i].reclaim;

		unit_row(rows[i].node);
		assert_int_equal(
			forest_level(w.f, id(rows[i].node), cpu, CPU(rows[i].amount), &reclaim),
			rows[i].level);
		assert_int_equal(reclaim, rows[i].reclaim);
	}
}

static void test_unlimited(void **state)
{
	(void)state;
	begin("cohort r\nqueue a cohort=r\nqueue b cohort=r\n"
	      "quota a default cpu nominal=unlimited\nquota b default cpu nominal=1\n");
	assert_int_equal(forest_subtree(w.f, id("r"), cpu), QUOTA_UNLIMITED);
	use("b", CPU(1000000));
	assert_int_equal(available("b"), QUOTA_UNLIMITED);
	assert_int_equal(forest_potential(w.f, id("b"), cpu), QUOTA_UNLIMITED);
	forest_undo(w.f, 0);
}

static void test_cycles_are_not_placed(void **state)
{
	(void)state;
	begin("cohort x parent=y\ncohort y parent=x\nqueue a cohort=x\nqueue b\n"
	      "quota a default cpu nominal=7\nquota b default cpu nominal=1\n");
	assert_false(forest_is_placed(w.f, id("a")));
	assert_false(forest_is_placed(w.f, id("x")));
	assert_true(forest_is_placed(w.f, id("b")));
	assert_int_equal(forest_parent(w.f, id("a")), MODEL_NONE);
	assert_int_equal(forest_root(w.f, id("a")), id("a"));
	assert_int_equal(available("a"), CPU(7));
	use("a", CPU(9));
	assert_int_equal(usage("x"), 0);
	assert_int_equal(forest_common(w.f, id("a"), id("x")), MODEL_NONE);
	assert_int_equal(quota_world_node(&w, "a")->queue->inactive, QUOTA_COHORT_CYCLE);
	forest_undo(w.f, 0);
	quota_cohort_find(w.q, STR_LIT("y"))->parent = NULL;
	quota_nodes_changed(w.q);
	forest_sync(w.f);
	assert_true(forest_is_placed(w.f, id("a")));
	assert_int_equal(quota_world_node(&w, "a")->queue->inactive, QUOTA_ACTIVE);
}

static void test_shape(void **state)
{
	const uint32_t *children, *pairs;
	size_t n;
	char path[64], small[6];

	(void)state;
	begin(three_levels);
	quota_world_add(&w, "cohort zz parent=root\nquota b spot memory nominal=1Gi\n"
			    "queue else\nquota else spot cpu nominal=1\n");
	children = forest_children(w.f, id("root"), &n);
	assert_int_equal(n, 3);
	assert_int_equal(children[0], id("mid"));
	assert_int_equal(children[1], id("zz"));
	assert_int_equal(children[2], id("c"));
	(void)forest_children(w.f, id("a"), &n);
	assert_int_equal(n, 0);
	assert_int_equal(forest_root(w.f, id("a")), id("root"));
	assert_int_equal(forest_parent(w.f, id("root")), MODEL_NONE);
	assert_int_equal(forest_common(w.f, id("a"), id("c")), id("root"));
	assert_int_equal(forest_common(w.f, id("a"), id("b")), id("mid"));
	assert_int_equal(forest_common(w.f, id("a"), id("else")), MODEL_NONE);
	assert_int_equal(forest_below(w.f, id("a"), id("root")), id("mid"));
	pairs = forest_pairs(w.f, id("c"), &n);
	assert_int_equal(n, 2);
	assert_int_equal(pairs[0], cpu);
	assert_int_equal(pairs[1], quota_world_pair(&w, "spot", "memory"));
	assert_true(forest_has(w.f, id("root"), pairs[1]));
	assert_false(forest_has(w.f, id("c"), pairs[1]));
	assert_int_equal(forest_path(w.f, id("a"), path, sizeof(path)), strlen("/root/mid/a"));
	assert_string_equal(path, "/root/mid/a");
	assert_int_equal(forest_path(w.f, id("a"), small, sizeof(small)), strlen("/root/mid/a"));
	assert_string_equal(small, "/root");
	assert_int_equal(forest_path(w.f, id("a"), NULL, 0), strlen("/root/mid/a"));
	assert_int_equal(forest_borrowing(w.f, id("mid"), cpu), CPU(3));
	assert_int_equal(forest_borrowing(w.f, id("a"), cpu), QUOTA_NO_LIMIT);
}

static void test_holders_are_charged_and_released(void **state)
{
	struct workload *one, *two;
	const struct cluster_queue *queue;
	uint64_t gen;

	(void)state;
	begin(three_levels);
	quota_world_add(&w, "workload one queue=a cpu=4 holds=default\n"
			    "workload two queue=a pods=2 cpu=2 holds=default\n");
	one = quota_world_workload(&w, "one");
	two = quota_world_workload(&w, "two");
	queue = quota_world_node(&w, "a")->queue;
	assert_int_equal(usage("a"), CPU(8));
	assert_int_equal(usage("mid"), CPU(5));
	gen = queue->allocatable_gen;
	forest_release(w.f, one);
	assert_int_equal(queue->allocatable_gen, gen + 1);
	assert_int_equal(usage("a"), CPU(4));
	assert_int_equal(usage("mid"), CPU(1));
	assert_int_equal(queue->holders.n, 1);
	assert_int_equal(two->holding.pos, 0);
	assert_int_equal(one->holding.node, MODEL_NONE);
	/* The tree changes: holders are charged again. */
	quota_world_add(&w, "quota a default cpu nominal=5 lend=5\n");
	assert_int_equal(usage("a"), CPU(4));
	assert_int_equal(usage("mid"), CPU(4));
	assert_true(queue->allocatable_gen > gen + 1);
	forest_release(w.f, two);
	assert_int_equal(usage("a"), 0);
	assert_int_equal(usage("root"), 0);
}

/* A flavor may be removed from the queue while a workload still holds it. */
static void test_a_pair_without_quota(void **state)
{
	uint32_t gone;

	(void)state;
	begin(three_levels);
	quota_world_add(&w, "workload one queue=a cpu=4 holds=old\n");
	gone = quota_world_pair(&w, "old", "cpu");
	assert_int_equal(forest_usage(w.f, id("a"), gone), CPU(4));
	assert_int_equal(forest_usage(w.f, id("root"), gone), CPU(4));
	assert_int_equal(forest_available(w.f, id("a"), gone), CPU(-4));
	assert_int_equal(forest_usage(w.f, id("a"), 1000), 0);
	assert_int_equal(forest_available(w.f, id("a"), 1000), 0);
}

static void test_sums_that_were_cut_off_come_back(void **state)
{
	(void)state;
	begin("cohort r\nqueue a cohort=r\nqueue b cohort=r\nquota a default cpu nominal=10\n"
	      "quota b default cpu nominal=1\n"
	      "workload huge queue=a cpu=9000000000000000 holds=default\n"
	      "workload huge2 queue=b cpu=9000000000000000 holds=default\n"
	      "workload small queue=b cpu=1 holds=default\n");
	assert_int_equal(usage("r"), INT64_MAX);
	forest_release(w.f, quota_world_workload(&w, "huge"));
	assert_int_equal(usage("r"), CPU(INT64_C(9000000000000001)));
	forest_release(w.f, quota_world_workload(&w, "huge2"));
	assert_int_equal(usage("r"), CPU(1));
}

#define CASE(test) cmocka_unit_test_teardown(test, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_a_lending_limit_keeps_the_rest_private),
		CASE(test_a_borrowing_limit_bounds_what_comes_from_above),
		CASE(test_a_fork_has_usage_of_its_own),
		CASE(test_lending_nothing_and_lending_everything),
		CASE(test_use_beyond_quota_is_negative),
		CASE(test_usage_beyond_local_quota_rises),
		CASE(test_limits_count_between_cohorts_too),
		CASE(test_fits_here_leaves_the_rest_to_the_parent),
		CASE(test_fits),
		CASE(test_level_is_the_height_of_the_smallest_tree_that_holds_it),
		CASE(test_unlimited),
		CASE(test_cycles_are_not_placed),
		CASE(test_shape),
		CASE(test_holders_are_charged_and_released),
		CASE(test_a_pair_without_quota),
		CASE(test_sums_that_were_cut_off_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
