#include "scheduler/workloads/assign/assign.h"

#include <stdio.h>

#include "base/arena.h"
#include "lib/unit.h"
#include "unit/scheduler/workloads/assign/assign_fixture.h"

#define expect assign_fixture_expect

#define AB(cpu) "quota q a cpu nominal=" cpu "\nquota q b cpu nominal=" cpu "\n"

/* --- what is asked for
 * --------------------------------------------------------------------------*/

static void test_all_pods_of_a_pod_set_count(void **state)
{
	(void)state;
	expect("queue q\n" AB("6") "workload ns/w queue=q cpu=2 pods=3\n", NULL,
	       "Fit 0 | main*3 cpu=a/Fit/0/0");
	expect("queue q\n" AB("6") "workload ns/w queue=q cpu=2 pods=4\n", NULL,
	       "NoFit 0 ExceedsMaxQuota | main*4");
}

static void test_pods_count_where_the_queue_covers_them(void **state)
{
	static const char pods[] = "queue q\nquota q a cpu nominal=9\nquota q a pods nominal=%s\n"
				   "workload ns/w queue=q cpu=1 pods=3\n";
	char world[256];

	(void)state;
	snprintf(world, sizeof(world), pods, "3");
	expect(world, NULL, "Fit 0 | main*3 cpu=a/Fit/0/-1 pods=a/Fit/0/-1");
	snprintf(world, sizeof(world), pods, "2");
	expect(world, NULL, "NoFit 0 ExceedsMaxQuota | main*3");
	expect("queue q\nquota q a cpu nominal=9\nworkload ns/w queue=q cpu=1 pods=3\n", NULL,
	       "Fit 0 | main*3 cpu=a/Fit/0/-1");
}

static void test_counts_can_be_smaller(void **state)
{
	struct assign_fixture x;
	int32_t counts[] = { 2, 1 };

	(void)state;
	assign_fixture_init(
		&x,
		"queue q\n" AB("5") "workload ns/w queue=q cpu=1 pods=4 min=1\npodset ps cpu=3\n");
	assert_string_equal(assign_fixture_run(&x),
			    "Fit 0 | main*4 cpu=a/Fit/0/0; ps*1 cpu=b/Fit/0/-1");
	assert_false(x.result.is_partial);
	x.request.counts = counts;
	assert_string_equal(assign_fixture_run(&x),
			    "Fit 0 | main*2 cpu=a/Fit/0/0; ps*1 cpu=a/Fit/0/0");
	assert_true(x.result.is_partial);
	assert_int_equal(x.result.usage.n, 1);
	assert_int_equal(x.result.usage.v[0].value, 5000);
	counts[0] = 4;
	assert_string_equal(assign_fixture_run(&x),
			    "Fit 0 | main*4 cpu=a/Fit/0/0; ps*1 cpu=b/Fit/0/-1");
	assert_false(x.result.is_partial);
	assign_fixture_finish(&x);
}

static void test_usage_is_what_each_flavor_gives(void **state)
{
	struct assign_fixture x;

	(void)state;
	assign_fixture_init(
		&x, "queue q\n" AB(
			    "5") "quota q g gpu nominal=8\n"
				 "workload ns/w queue=q cpu=2 gpu=1 pods=2\npodset ps cpu=1 gpu=2\n"
				 "podset late cpu=3\n");
	assert_string_equal(assign_fixture_run(&x),
			    "Fit 0 | main*2 cpu=a/Fit/0/0 gpu=g/Fit/0/-1; "
			    "ps*1 cpu=a/Fit/0/0 gpu=g/Fit/0/-1; late*1 cpu=b/Fit/0/-1");
	assert_int_equal(x.result.usage.n, 3);
	assert_int_equal(quota_amounts_get(&x.result.usage, quota_world_pair(&x.world, "a", "cpu")),
			 5000);
	assert_int_equal(quota_amounts_get(&x.result.usage, quota_world_pair(&x.world, "b", "cpu")),
			 3000);
	assert_int_equal(quota_amounts_get(&x.result.usage, quota_world_pair(&x.world, "g", "gpu")),
			 4);
	assert_null(x.result.message);
	assert_null(x.result.podsets[0].message);
	assign_fixture_finish(&x);
}

/* --- groups of pod sets
 * -------------------------------------------------------------------------*/

static void test_later_pod_sets_see_what_earlier_ones_got(void **state)
{
	(void)state;
	expect("queue q\n" AB("5") "workload ns/w queue=q cpu=3\npodset ps cpu=3\n", NULL,
	       "Fit 0 | main*1 cpu=a/Fit/0/0; ps*1 cpu=b/Fit/0/-1");
	expect("queue q\n" AB("5") "workload ns/w queue=q cpu=3\npodset ps cpu=2\n", NULL,
	       "Fit 0 | main*1 cpu=a/Fit/0/0; ps*1 cpu=a/Fit/0/0");
}

static void test_pod_sets_of_one_group_share_their_flavor(void **state)
{
	(void)state;
	expect("queue q\nquota q a cpu nominal=5\nquota q b cpu nominal=6\n"
	       "workload ns/w queue=q cpu=3 group=g\npodset ps cpu=3 group=g\n",
	       NULL, "Fit 0 | main*1 cpu=b/Fit/0/-1; ps*1 cpu=b/Fit/0/-1");
	expect("queue q\n" AB("5") "workload ns/w queue=q cpu=3 group=g\npodset ps cpu=3 group=g\n",
	       NULL, "NoFit 0 ExceedsMaxQuota | main*1; ps*1");
	expect("queue q\n" AB("5") "workload ns/w queue=q cpu=3 group=g\npodset ps cpu=3 group=h\n",
	       NULL, "Fit 0 | main*1 cpu=a/Fit/0/0; ps*1 cpu=b/Fit/0/-1");
}

static void test_a_member_gets_what_it_asks_for_of_the_group(void **state)
{
	(void)state;
	expect("queue q\nquota q a cpu nominal=9\nquota q a gpu nominal=0\n"
	       "quota q b cpu nominal=9\nquota q b gpu nominal=9\n"
	       "workload ns/w queue=q cpu=1 gpu=1 pods=4 group=g\npodset leader cpu=1 group=g\n",
	       NULL, "Fit 0 | main*4 cpu=b/Fit/0/-1 gpu=b/Fit/0/-1; leader*1 cpu=b/Fit/0/-1");
}

static void test_groups_come_by_their_first_pod_set(void **state)
{
	(void)state;
	/* main and last take a together, so what stands between them gets b. */
	expect("queue q\n" AB("5") "workload ns/w queue=q cpu=2 group=g\npodset mid cpu=2\n"
				   "podset last cpu=2 group=g\n",
	       NULL, "Fit 0 | main*1 cpu=a/Fit/0/0; mid*1 cpu=b/Fit/0/-1; last*1 cpu=a/Fit/0/0");
}

/* --- resource groups
 * ----------------------------------------------------------------------------*/

static void test_resource_groups_are_independent(void **state)
{
	(void)state;
	expect("queue q\n" AB("5") "quota q x gpu nominal=1\nquota q y gpu nominal=4\n"
				   "workload ns/w queue=q cpu=3 gpu=3\n",
	       NULL, "Fit 0 | main*1 cpu=a/Fit/0/0 gpu=y/Fit/0/-1");
}

static void test_groups_in_another_order_than_resources(void **state)
{
	(void)state;
	expect("queue o\nquota o z cpu\nquota o z memory\nquota o z gpu\nqueue q\n"
	       "quota q x gpu nominal=5\nquota q y memory nominal=5\nquota q a cpu nominal=5\n"
	       "workload ns/w queue=q cpu=3 gpu=1 memory=2\n",
	       NULL, "Fit 0 | main*1 cpu=a/Fit/0/-1 memory=y/Fit/0/-1 gpu=x/Fit/0/-1");
}

/* No webhook has seen such a ClusterQueue: each group has cpu and memory. The later one decides. */
static void test_resources_of_two_groups(void **state)
{
	(void)state;
	expect("queue q\nquota q a cpu nominal=5\nquota q a memory nominal=5\n"
	       "quota q b gpu nominal=5\nquota q b cpu nominal=5\nquota q b memory nominal=5\n"
	       "workload ns/w queue=q cpu=3 gpu=1 memory=2\n",
	       NULL, "Fit 0 | main*1 cpu=b/Fit/0/-1 memory=b/Fit/0/-1 gpu=b/Fit/0/-1");
}

static void test_a_group_fails_with_any_of_its_resource_groups(void **state)
{
	(void)state;
	expect("queue q\n" AB("5") "quota q x gpu nominal=1\nworkload ns/w queue=q cpu=3 gpu=3\n",
	       NULL, "NoFit 0 ExceedsMaxQuota | main*1");
}

static void test_behind_a_group_that_fails_nothing_is_looked_at(void **state)
{
	struct assign_fixture x;

	(void)state;
	assign_fixture_init(&x, "queue q\n" AB("5") "workload ns/w queue=q cpu=3\n"
						    "podset huge cpu=9\npodset ps cpu=1\n");
	assert_string_equal(assign_fixture_run(&x),
			    "NoFit 0 ExceedsMaxQuota | main*1 cpu=a/Fit/0/0; huge*1; ps*1");
	assert_null(x.result.podsets[0].message);
	assert_non_null(x.result.podsets[1].message);
	assert_null(x.result.podsets[2].message);
	assign_fixture_finish(&x);
}

static void test_a_resource_that_is_not_covered_keeps_out(void **state)
{
	(void)state;
	expect("queue q\n" AB("5") "workload ns/w queue=q cpu=1 gpu=1\n", NULL,
	       "NoFit 0 NoMatchingFlavor | main*1");
}

static void test_nothing_of_a_resource_that_is_not_covered_is_fine(void **state)
{
	(void)state;
	expect("queue q\n" AB("5") "workload ns/w queue=q cpu=1 gpu=0\n", NULL,
	       "Fit 0 | main*1 cpu=a/Fit/0/0");
}

static void test_nothing_of_a_resource_that_is_covered_gets_a_flavor(void **state)
{
	(void)state;
	expect("queue q\n" AB("5") "workload ns/w queue=q cpu=0\n", NULL,
	       "Fit 0 | main*1 cpu=a/Fit/0/0");
}

static void test_undeclared_resources_can_be_ignored(void **state)
{
	(void)state;
	expect("option ignore_undeclared=true\nqueue q\n" AB(
		       "5") "workload ns/w queue=q cpu=1 gpu=1\n",
	       NULL, "Fit 0 | main*1 cpu=a/Fit/0/0");
}

/* --- the whole
 * ----------------------------------------------------------------------------------*/

static void test_the_mode_is_the_worst_and_the_level_the_highest(void **state)
{
	static const char world[] = "queue q cohort=c\nqueue o cohort=c\n"
				    "quota q a cpu nominal=2\nquota o a cpu nominal=9\n"
				    "quota q g gpu nominal=4\n"
				    "workload ns/v queue=q gpu=4 holds=g\n"
				    "workload ns/w queue=q cpu=3\npodset ps gpu=3\n";

	(void)state;
	expect(world, "g/gpu=inside@0",
	       "Preempt 1 | main*1 cpu=a/Fit/1/-1; ps*1 gpu=g/Preempt/0/-1");
	expect(world, NULL, "Preempt 1 | main*1 cpu=a/Fit/1/-1; ps*1 gpu=g/NoCandidates/1/-1");
}

static void test_a_workload_without_pod_sets_does_not_fit(void **state)
{
	struct assign_fixture x;

	(void)state;
	assign_fixture_init(&x, "queue q\n" AB("5") "workload ns/w queue=q cpu=1\n");
	x.w->object.npodsets = 0;
	assert_string_equal(assign_fixture_run(&x), "NoFit 0 |");
	x.w->object.npodsets = 1;
	assign_fixture_finish(&x);
}

static void test_a_pod_set_that_asks_for_nothing_fits(void **state)
{
	(void)state;
	expect("queue q\n" AB("5") "workload ns/w queue=q\n", NULL, "Fit 0 | main*1");
}

/* --- reasons
 * ------------------------------------------------------------------------------------*/

static void test_of_alternative_flavors_the_mildest_reason_counts(void **state)
{
	(void)state;
	expect("flavor b label:zone=b\nqueue q\n" AB(
		       "2") "workload ns/w queue=q cpu=3 selector:zone=c\n",
	       NULL, "NoFit 0 ExceedsMaxQuota | main*1");
	/* a is borrowed and in use, b can never fit it. */
	expect("queue q cohort=c\nqueue o cohort=c\nquota q a cpu nominal=0\n"
	       "quota q b cpu nominal=1\nquota o a cpu nominal=4\n"
	       "workload ns/v queue=o cpu=4 holds=a\nworkload ns/w queue=q cpu=3\n",
	       NULL, "NoFit 0 WaitingForQuota | main*1");
}

static void test_of_resources_that_go_together_the_worst_reason_counts(void **state)
{
	/* In flavor a: cpu is borrowed and in use, gpu can never fit. */
	expect("queue q cohort=c\nqueue o cohort=c\n"
	       "quota q a cpu nominal=0\nquota q a gpu nominal=1\n"
	       "quota o a cpu nominal=4\nquota o a gpu nominal=0\n"
	       "workload ns/v queue=o cpu=4 holds=a\nworkload ns/w queue=q cpu=3 gpu=2\n",
	       NULL, "NoFit 0 ExceedsMaxQuota | main*1");
	(void)state;
}

static void test_of_resource_groups_the_worst_reason_counts(void **state)
{
	static const char *const quotas[] = {
		"quota q a cpu nominal=1\nquota q g gpu nominal=9\n",
		"quota q g gpu nominal=9\nquota q a cpu nominal=1\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(quotas); i++) {
		char world[512];

		unit_row(quotas[i]);
		snprintf(world, sizeof(world),
			 "flavor g taint:dedicated=gpu:NoSchedule\nqueue q\n%s"
			 "workload ns/w queue=q cpu=3 gpu=1\n",
			 quotas[i]);
		expect(world, NULL, "NoFit 0 NoMatchingFlavor | main*1");
	}
}

static void test_messages_name_pod_set_flavor_resource_and_amounts(void **state)
{
	static const struct {
		const char *world, *message;
	} rows[] = {
		{ "queue q\nquota q b cpu nominal=2\nquota q a cpu nominal=1\n"
		  "workload ns/w queue=q cpu=3\n",
		  "pod set main: cpu in flavor a: 3 requested, the most it can have is 1, "
		  "cpu in flavor b: 3 requested, the most it can have is 2" },
		{ "queue q\nquota q a memory nominal=3Gi\nworkload ns/v queue=q memory=1Gi "
		  "holds=a\n"
		  "workload ns/w queue=q memory=1Gi\npodset ps memory=1536Mi\n",
		  "pod set ps: memory in flavor a: 1536Mi requested besides 1Gi of other pod sets, "
		  "2Gi free, 512Mi too little" },
		{ "queue q\nquota q a cpu nominal=1\nworkload ns/w queue=q gpu=1\n",
		  "pod set main: gpu is not covered by the ClusterQueue" },
		{ "flavor a taint:spot=yes:NoExecute\nflavor b label:zone=b\nqueue q\n" AB(
			  "1") "quota q c cpu nominal=1\nquota q d cpu nominal=1\n"
			       "flavor c missing\nflavor d topology=t\n"
			       "workload ns/w queue=q cpu=1 selector:zone=a\n",
		  "pod set main: flavor a has taint spot=yes:NoExecute, which pod set main does "
		  "not tolerate, flavor b has other labels than the node selector or affinity of "
		  "pod set main, flavor c does not exist, flavor d has topology t, which is not "
		  "supported" },
		{ "queue q\nquota q a cpu nominal=1\nworkload ns/v queue=q cpu=1 holds=a\n"
		  "workload ns/w queue=q cpu=1\npodset ps cpu=0\n",
		  "pod set main: cpu in flavor a: 1 requested, 0 free, 1 too little; "
		  "pod set ps: cpu in flavor a: 0 requested besides 1 of other pod sets, "
		  "0 free, 1 too little" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct assign_fixture x;

		unit_row(rows[i].world);
		assign_fixture_init(&x, rows[i].world);
		assign_fixture_run(&x);
		assert_non_null(x.result.message);
		assert_string_equal(x.result.message, rows[i].message);
		assign_fixture_finish(&x);
	}
}

/* --- what is remembered
 * -------------------------------------------------------------------------*/

static void test_flavors_that_were_not_reached_are_remembered(void **state)
{
	struct assign_fixture x;
	bool pending;

	(void)state;
	assign_fixture_init(&x, "queue q\n" AB("5") "quota q g gpu nominal=1\n"
						    "workload ns/w queue=q cpu=1 gpu=1\n");
	x.world.q->cycle = 7;
	x.w->pending.hash = 99;
	assign_fixture_run(&x);
	assign_store_last(&x.result, x.w, x.world.q, x.world.q->nodes.v[x.request.node]->queue,
			  &pending);
	assert_true(pending);
	assert_int_equal(x.w->pending.tried.n, 1);
	assert_int_equal(x.w->pending.tried.v[0].podset, 0);
	assert_int_equal(x.w->pending.tried.v[0].resource, quota_world_resource(&x.world, "cpu"));
	assert_int_equal(x.w->pending.tried.v[0].flavor, 0);
	assert_int_equal(x.w->pending.tried_cycle, 7);
	assert_int_equal(x.w->pending.tried_hash, 99);
	assert_int_equal(x.w->pending.tried_gen,
			 x.world.q->nodes.v[x.request.node]->queue->allocatable_gen);
	/* The next one sees the last flavor. */
	assert_string_equal(assign_fixture_run(&x), "Fit 0 | main*1 cpu=b/Fit/0/-1 gpu=g/Fit/0/-1");
	assign_store_last(&x.result, x.w, x.world.q, x.world.q->nodes.v[x.request.node]->queue,
			  &pending);
	assert_false(pending);
	assert_int_equal(x.w->pending.tried.n, 0);
	assign_fixture_finish(&x);
}

static void test_nothing_is_remembered_of_no_assignment(void **state)
{
	struct assign_fixture x;
	struct cluster_queue *queue;
	bool pending;

	(void)state;
	assign_fixture_init(&x, "queue q\n" AB("5") "workload ns/w queue=q cpu=1\n");
	queue = x.world.q->nodes.v[x.request.node]->queue;
	assign_fixture_run(&x);
	assign_store_last(&x.result, x.w, x.world.q, queue, &pending);
	assert_true(pending);
	assign_store_last(NULL, x.w, x.world.q, queue, &pending);
	assert_false(pending);
	assert_int_equal(x.w->pending.tried.n, 0);
	assign_fixture_finish(&x);
}

static void test_when_the_position_of_the_scan_is_void(void **state)
{
	static const struct {
		const char *name;
		bool preserve;
		bool other_hash;
		uint64_t cycles_ago;
		bool quota_came_free;
		bool outdated;
	} rows[] = {
		/* Without the gate only quota counts. */
		{ "without the gate: nothing changed", false, false, 0, false, false },
		{ "without the gate: quota came free", false, false, 0, true, true },
		{ "without the gate: an old position", false, false, 9, false, false },
		{ "without the gate: another request", false, true, 0, false, false },
		/* With it: another request; else the last cycle's is good; else quota. */
		{ "another request", true, true, 0, false, true },
		{ "the same cycle, quota came free", true, false, 0, true, false },
		{ "the last cycle, quota came free", true, false, 1, true, false },
		{ "an older cycle, quota came free", true, false, 2, true, true },
		{ "an older cycle", true, false, 2, false, false },
		{ "an older cycle, quota came free, another request", true, true, 2, true, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct quota_model q = { .cycle = 10,
					 .options.preserve_scan_progress = rows[i].preserve };
		struct cluster_queue queue = { .allocatable_gen = rows[i].quota_came_free ? 6 : 5 };
		struct workload w = { .pending = { .hash = 1,
						   .tried_hash = rows[i].other_hash ? 2 : 1,
						   .tried_cycle = 10 - rows[i].cycles_ago,
						   .tried_gen = 5 } };

		unit_row(rows[i].name);
		assert_int_equal(assign_last_is_outdated(&q, &w, &queue), rows[i].outdated);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_pods_of_a_pod_set_count),
		cmocka_unit_test(test_pods_count_where_the_queue_covers_them),
		cmocka_unit_test(test_counts_can_be_smaller),
		cmocka_unit_test(test_usage_is_what_each_flavor_gives),
		cmocka_unit_test(test_later_pod_sets_see_what_earlier_ones_got),
		cmocka_unit_test(test_pod_sets_of_one_group_share_their_flavor),
		cmocka_unit_test(test_a_member_gets_what_it_asks_for_of_the_group),
		cmocka_unit_test(test_groups_come_by_their_first_pod_set),
		cmocka_unit_test(test_resource_groups_are_independent),
		cmocka_unit_test(test_groups_in_another_order_than_resources),
		cmocka_unit_test(test_resources_of_two_groups),
		cmocka_unit_test(test_a_group_fails_with_any_of_its_resource_groups),
		cmocka_unit_test(test_behind_a_group_that_fails_nothing_is_looked_at),
		cmocka_unit_test(test_a_resource_that_is_not_covered_keeps_out),
		cmocka_unit_test(test_nothing_of_a_resource_that_is_not_covered_is_fine),
		cmocka_unit_test(test_nothing_of_a_resource_that_is_covered_gets_a_flavor),
		cmocka_unit_test(test_undeclared_resources_can_be_ignored),
		cmocka_unit_test(test_the_mode_is_the_worst_and_the_level_the_highest),
		cmocka_unit_test(test_a_workload_without_pod_sets_does_not_fit),
		cmocka_unit_test(test_a_pod_set_that_asks_for_nothing_fits),
		cmocka_unit_test(test_of_alternative_flavors_the_mildest_reason_counts),
		cmocka_unit_test(test_of_resources_that_go_together_the_worst_reason_counts),
		cmocka_unit_test(test_of_resource_groups_the_worst_reason_counts),
		cmocka_unit_test(test_messages_name_pod_set_flavor_resource_and_amounts),
		cmocka_unit_test(test_flavors_that_were_not_reached_are_remembered),
		cmocka_unit_test(test_nothing_is_remembered_of_no_assignment),
		cmocka_unit_test(test_when_the_position_of_the_scan_is_void),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
