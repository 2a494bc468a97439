#include "scheduler/workloads/assign/assign_scan.h"

#include <stdio.h>

#include "lib/unit.h"
#include "unit/scheduler/workloads/assign/assign_fixture.h"

#define expect assign_fixture_expect

/* Flavors a, b, c of 3 cpu, of which 2 are used where a workload says so. */
#define THREE                                                                                      \
	"quota q a cpu nominal=3\nquota q b cpu nominal=3\nquota q c cpu nominal=3\n"              \
	"workload ns/w queue=q cpu=2\n"
#define USED(flavor) "workload ns/used-" flavor " queue=q cpu=2 holds=" flavor "\n"

static void test_the_first_flavor_that_fits_is_taken(void **state)
{
	(void)state;
	expect("queue q\n" THREE, NULL, "Fit 0 | main*1 cpu=a/Fit/0/0");
	expect("queue q\n" THREE USED("a"), NULL, "Fit 0 | main*1 cpu=b/Fit/0/1");
	/* The scan reached the last flavor: the next one begins with the first. */
	expect("queue q\n" THREE USED("a") USED("b"), NULL, "Fit 0 | main*1 cpu=c/Fit/0/-1");
}

static void test_a_flavor_that_is_too_small_is_passed_over(void **state)
{
	(void)state;
	expect("queue q\nquota q a cpu nominal=1\nquota q b cpu nominal=2\n"
	       "workload ns/w queue=q cpu=2\n",
	       NULL, "Fit 0 | main*1 cpu=b/Fit/0/-1");
}

static void test_a_flavor_that_is_missing_is_passed_over(void **state)
{
	(void)state;
	expect("queue q\n" THREE "flavor a missing\n", NULL, "Fit 0 | main*1 cpu=b/Fit/0/1");
	expect("queue q\nquota q a cpu nominal=3\nworkload ns/w queue=q cpu=2\nflavor a missing\n",
	       NULL, "NoFit 0 NoMatchingFlavor | main*1");
}

static void test_a_flavor_with_topology_is_passed_over(void **state)
{
	(void)state;
	expect("flavor a topology=t\nqueue q\n" THREE, NULL, "Fit 0 | main*1 cpu=b/Fit/0/1");
	expect("option topology=false\nflavor a topology=t\nqueue q\n" THREE, NULL,
	       "Fit 0 | main*1 cpu=a/Fit/0/0");
}

static void test_a_flavor_that_is_not_allowed_is_passed_over(void **state)
{
	static const char two[] = "queue q\nquota q a cpu nominal=3\nquota q b cpu nominal=3\n";
	char text[200];

	(void)state;
	(void)snprintf(text, sizeof(text), "%sworkload ns/w queue=q cpu=2 allowed=x,b\n", two);
	expect(text, NULL, "Fit 0 | main*1 cpu=b/Fit/0/-1");
	(void)snprintf(text, sizeof(text), "%sworkload ns/w queue=q cpu=2 allowed=x\n", two);
	expect(text, NULL, "NoFit 0 NoMatchingFlavor | main*1");
}

static void test_topology_needs_a_flavor_with_topology(void **state)
{
	(void)state;
	expect("queue q\nquota q a cpu nominal=3\nworkload ns/w queue=q cpu=2 topology\n", NULL,
	       "NoFit 0 NoMatchingFlavor | main*1");
}

static void test_a_taint_that_is_not_tolerated_is_passed_over(void **state)
{
	(void)state;
	expect("flavor a taint:spot=yes:NoSchedule\nqueue q\n" THREE, NULL,
	       "Fit 0 | main*1 cpu=b/Fit/0/1");
	expect("flavor a taint:spot=yes:NoSchedule toleration:spot=yes:NoSchedule\nqueue q\n" THREE,
	       NULL, "Fit 0 | main*1 cpu=a/Fit/0/0");
	expect("flavor a taint:spot=yes:NoSchedule\nqueue q\n"
	       "quota q a cpu nominal=3\nquota q b cpu nominal=3\n"
	       "workload ns/w queue=q cpu=2 toleration:spot=yes:NoSchedule\n",
	       NULL, "Fit 0 | main*1 cpu=a/Fit/0/0");
}

static void test_selectors_choose_flavors(void **state)
{
	static const char *const words[] = { "selector:zone=b", "affinity:zone=b" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		char world[512];

		unit_row(words[i]);
		snprintf(world, sizeof(world),
			 "flavor a label:zone=a\nflavor b label:zone=b\nqueue q\n"
			 "quota q a cpu nominal=3\nquota q b cpu nominal=3\n"
			 "workload ns/w queue=q cpu=2 %s\n",
			 words[i]);
		expect(world, NULL, "Fit 0 | main*1 cpu=b/Fit/0/-1");
	}
}

static void test_every_pod_set_of_a_group_must_match(void **state)
{
	(void)state;
	expect("flavor a label:zone=a\nflavor b label:zone=b\nqueue q\n"
	       "quota q a cpu nominal=3\nquota q b cpu nominal=3\n"
	       "workload ns/w queue=q cpu=1 group=g\npodset ps cpu=1 group=g selector:zone=b\n",
	       NULL, "Fit 0 | main*1 cpu=b/Fit/0/-1; ps*1 cpu=b/Fit/0/-1");
}

static void test_one_flavor_serves_all_resources_of_the_group(void **state)
{
	(void)state;
	expect("queue q\nquota q a cpu nominal=4\nquota q a memory nominal=1\n"
	       "quota q b cpu nominal=4\nquota q b memory nominal=5\n"
	       "workload ns/w queue=q cpu=3 memory=3\n",
	       NULL, "Fit 0 | main*1 cpu=b/Fit/0/-1 memory=b/Fit/0/-1");
	/* Each has a flavor, but none has both. */
	expect("queue q\nquota q a cpu nominal=4\nquota q a memory nominal=1\n"
	       "quota q b cpu nominal=1\nquota q b memory nominal=5\n"
	       "workload ns/w queue=q cpu=3 memory=3\n",
	       NULL, "NoFit 0 ExceedsMaxQuota | main*1");
}

static void test_a_flavor_is_as_good_as_its_worst_resource(void **state)
{
	/* cpu fits in a, memory needs preemption there; b needs to reclaim for both. */
	static const char world[] = "queue q cohort=c whenpreempt=TryNextFlavor\n"
				    "quota q a cpu nominal=4\nquota q a memory nominal=4\n"
				    "quota q b cpu nominal=4\nquota q b memory nominal=4\n"
				    "workload ns/v queue=q memory=4 holds=a\n"
				    "workload ns/u queue=q cpu=4 memory=4 holds=b\n"
				    "workload ns/w queue=q cpu=3 memory=3\n";

	(void)state;
	expect(world, "a/memory=inside@0 b/cpu=outside@0 b/memory=outside@0",
	       "Preempt 0 | main*1 cpu=b/Reclaim/0/-1 memory=b/Reclaim/0/-1");
	expect(world, "a/memory=outside@0 b/cpu=outside@0 b/memory=inside@0",
	       "Preempt 0 | main*1 cpu=a/Fit/0/-1 memory=a/Reclaim/0/-1");
}

static void test_all_resources_are_looked_at(void **state)
{
	struct assign_fixture x;

	(void)state;
	/* cpu never fits in a, memory would need preemption: the search is called all the same. */
	assign_fixture_init(&x, "queue q\nquota q a cpu nominal=1\nquota q a memory nominal=3\n"
				"workload ns/v queue=q memory=1 holds=a\n"
				"workload ns/w queue=q cpu=3 memory=3\n");
	assert_string_equal(assign_fixture_run(&x), "NoFit 0 ExceedsMaxQuota | main*1");
	assert_string_equal(x.asked.p, "a/memory=3 ");
	assign_fixture_finish(&x);
}

/* --- where the scan stops and what it keeps
 * -----------------------------------------------------*/

static void test_preemption_may_stop_the_search(void **state)
{
	(void)state;
	expect("queue q whenpreempt=MayStopSearch\n" THREE USED("a"), "a/cpu=inside@0",
	       "Preempt 0 | main*1 cpu=a/Preempt/0/0");
	expect("queue q whenpreempt=MayStopSearch\n" THREE USED("a"), "a/cpu=outside@0",
	       "Preempt 0 | main*1 cpu=a/Reclaim/0/0");
	expect("queue q whenpreempt=TryNextFlavor\n" THREE USED("a"), "a/cpu=inside@0",
	       "Fit 0 | main*1 cpu=b/Fit/0/1");
}

static void test_without_candidates_the_next_flavor_is_tried(void **state)
{
	(void)state;
	expect("queue q whenpreempt=MayStopSearch\n" THREE USED("a"), NULL,
	       "Fit 0 | main*1 cpu=b/Fit/0/1");
	expect("queue q whenpreempt=MayStopSearch\n" THREE USED("a") USED("b") USED("c"),
	       "b/cpu=inside@0", "Preempt 0 | main*1 cpu=b/Preempt/0/1");
}

static void test_without_candidates_anywhere_the_first_flavor_is_kept(void **state)
{
	(void)state;
	expect("queue q\n" THREE USED("a") USED("b") USED("c"), NULL,
	       "Preempt 0 | main*1 cpu=a/NoCandidates/0/-1");
}

static void test_reclaiming_is_better_than_preempting(void **state)
{
	(void)state;
	expect("queue q\n" THREE USED("a") USED("b") USED("c"),
	       "a/cpu=inside@0 b/cpu=outside@0 c/cpu=inside@0",
	       "Preempt 0 | main*1 cpu=b/Reclaim/0/-1");
}

static void test_equally_good_flavors_leave_the_first(void **state)
{
	(void)state;
	expect("queue q\n" THREE USED("a") USED("b") USED("c"),
	       "a/cpu=outside@0 b/cpu=outside@0 c/cpu=outside@0",
	       "Preempt 0 | main*1 cpu=a/Reclaim/0/-1");
}

/* Of a there are 2 to borrow, of b as much as of the queue's own. */
#define BORROW_OR_NEXT                                                                             \
	"queue o cohort=c\nquota o a cpu nominal=2\n"                                              \
	"quota q a cpu nominal=1\nquota q b cpu nominal=3\nworkload ns/w queue=q cpu=2\n"

static void test_borrowing_may_stop_the_search(void **state)
{
	(void)state;
	expect("queue q cohort=c whenborrow=MayStopSearch\n" BORROW_OR_NEXT, NULL,
	       "Fit 1 | main*1 cpu=a/Fit/1/0");
	expect("queue q cohort=c whenborrow=TryNextFlavor\n" BORROW_OR_NEXT, NULL,
	       "Fit 0 | main*1 cpu=b/Fit/0/-1");
}

static void test_borrowing_is_kept_when_nothing_better_follows(void **state)
{
	(void)state;
	expect("queue q cohort=c whenborrow=TryNextFlavor\nqueue o cohort=c\n"
	       "quota o a cpu nominal=2\nquota q a cpu nominal=1\nquota q b cpu nominal=1\n"
	       "workload ns/w queue=q cpu=2\n",
	       NULL, "Fit 1 | main*1 cpu=a/Fit/1/-1");
}

/* a would be borrowed; b is the queue's own, but used. */
#define BORROW_OR_PREEMPT BORROW_OR_NEXT "workload ns/v queue=q cpu=3 holds=b\n"

static void test_borrowing_over_preemption(void **state)
{
	(void)state;
	expect("queue q cohort=c whenborrow=TryNextFlavor "
	       "whenpreempt=TryNextFlavor\n" BORROW_OR_PREEMPT,
	       "b/cpu=inside@0", "Fit 1 | main*1 cpu=a/Fit/1/-1");
	expect("queue q cohort=c whenborrow=TryNextFlavor whenpreempt=TryNextFlavor "
	       "preference=BorrowingOverPreemption\n" BORROW_OR_PREEMPT,
	       "b/cpu=inside@0", "Fit 1 | main*1 cpu=a/Fit/1/-1");
}

static void test_the_flavor_that_stops_the_search_is_taken(void **state)
{
	(void)state;
	expect("queue q cohort=c whenborrow=TryNextFlavor "
	       "whenpreempt=MayStopSearch\n" BORROW_OR_PREEMPT,
	       "b/cpu=inside@0", "Preempt 0 | main*1 cpu=b/Preempt/0/-1");
}

static void test_preemption_over_borrowing(void **state)
{
	static const char world[] =
		"queue q cohort=c whenborrow=TryNextFlavor whenpreempt=TryNextFlavor "
		"preference=PreemptionOverBorrowing\n" BORROW_OR_PREEMPT;

	(void)state;
	expect(world, "b/cpu=inside@0", "Preempt 0 | main*1 cpu=b/Preempt/0/-1");
	/* But not when there is no victim. */
	expect(world, NULL, "Fit 1 | main*1 cpu=a/Fit/1/-1");
	/* Nor when that, too, borrows. */
	expect(world, "b/cpu=inside@1", "Fit 1 | main*1 cpu=a/Fit/1/-1");
}

static void test_without_flavor_fungibility_the_first_best_mode_wins(void **state)
{
	static const char *const off = "option flavor_fungibility=false\n";
	static const struct {
		const char *world, *answers, *expected;
	} rows[] = {
		{ "queue q\n" THREE, NULL, "Fit 0 | main*1 cpu=a/Fit/0/-1" },
		/* The policies do not count: the scan goes on to a flavor that fits. */
		{ "queue q whenpreempt=MayStopSearch\n" THREE USED("a"), "a/cpu=inside@0",
		  "Fit 0 | main*1 cpu=b/Fit/0/-1" },
		{ "queue q cohort=c whenborrow=TryNextFlavor\n" BORROW_OR_NEXT, NULL,
		  "Fit 1 | main*1 cpu=a/Fit/1/-1" },
		/* Nor does the level. */
		{ "queue q\n" THREE USED("a") USED("b") USED("c"),
		  "a/cpu=outside@2 b/cpu=outside@0 c/cpu=inside@0",
		  "Preempt 2 | main*1 cpu=a/Reclaim/2/-1" },
		{ "queue q\n" THREE USED("a") USED("b") USED("c"), "c/cpu=inside@0",
		  "Preempt 0 | main*1 cpu=c/Preempt/0/-1" },
		{ "queue q\n" THREE USED("a") USED("b") USED("c"), NULL,
		  "Preempt 0 | main*1 cpu=a/NoCandidates/0/-1" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char world[1024];

		unit_row(rows[i].world);
		snprintf(world, sizeof(world), "%s%s", off, rows[i].world);
		expect(world, rows[i].answers, rows[i].expected);
	}
}

/* --- where it starts
 * ----------------------------------------------------------------------------*/

static const char *run_from(struct assign_fixture *x, int32_t tried)
{
	struct last_assignment t = { 0, quota_world_resource(&x->world, "cpu"), tried };

	vec_clear(&x->w->pending.tried);
	vec_push(&x->w->pending.tried, t);
	return assign_fixture_run(x);
}

static void test_the_scan_goes_on_where_it_stopped(void **state)
{
	struct assign_fixture x;

	(void)state;
	assign_fixture_init(&x, "queue q\n" THREE);
	assert_string_equal(run_from(&x, 0), "Fit 0 | main*1 cpu=b/Fit/0/1");
	assert_string_equal(run_from(&x, 1), "Fit 0 | main*1 cpu=c/Fit/0/-1");
	assert_string_equal(run_from(&x, -1), "Fit 0 | main*1 cpu=a/Fit/0/0");
	/* The queue has fewer flavors than it had. */
	assert_string_equal(run_from(&x, 2), "Fit 0 | main*1 cpu=a/Fit/0/0");
	x.request.from_start = true;
	assert_string_equal(run_from(&x, 0), "Fit 0 | main*1 cpu=a/Fit/0/0");
	x.request.from_start = false;
	x.world.q->options.flavor_fungibility = false;
	assert_string_equal(run_from(&x, 0), "Fit 0 | main*1 cpu=a/Fit/0/-1");
	assign_fixture_finish(&x);
}

static void test_the_first_pod_set_of_a_group_says_where(void **state)
{
	struct assign_fixture x;
	struct last_assignment t = { .podset = 1, .flavor = 0 };

	(void)state;
	assign_fixture_init(&x, "queue q\nquota q a cpu nominal=9\nquota q b cpu nominal=9\n"
				"workload ns/w queue=q cpu=1 group=g\npodset ps cpu=1 group=g\n"
				"podset other cpu=1\n");
	t.resource = quota_world_resource(&x.world, "cpu");
	vec_push(&x.w->pending.tried, t);
	assert_string_equal(assign_fixture_run(&x), "Fit 0 | main*1 cpu=a/Fit/0/0; "
						    "ps*1 cpu=a/Fit/0/0; other*1 cpu=a/Fit/0/0");
	x.w->pending.tried.v[0].podset = 0;
	assert_string_equal(assign_fixture_run(&x), "Fit 0 | main*1 cpu=b/Fit/0/-1; "
						    "ps*1 cpu=b/Fit/0/-1; other*1 cpu=a/Fit/0/0");
	x.w->pending.tried.v[0].podset = 2;
	assert_string_equal(assign_fixture_run(&x), "Fit 0 | main*1 cpu=a/Fit/0/0; "
						    "ps*1 cpu=a/Fit/0/0; other*1 cpu=b/Fit/0/-1");
	assign_fixture_finish(&x);
}

static void test_a_recomputation_stays_with_its_flavors(void **state)
{
	struct assign_fixture x;
	struct assignment before;

	(void)state;
	assign_fixture_init(&x, "queue q whenpreempt=MayStopSearch\n" THREE USED("a") USED("b"));
	assign_fixture_set(&x, "b", "cpu", ASSIGN_TARGETS_INSIDE, 0);
	assert_string_equal(assign_fixture_run(&x), "Preempt 0 | main*1 cpu=b/Preempt/0/1");
	before = x.result;
	x.request.pinned = &before;
	x.nanswers = 0;
	/* c would fit. */
	assert_string_equal(assign_fixture_run(&x), "Preempt 0 | main*1 cpu=b/NoCandidates/0/-1");
	forest_remove(x.world.f, quota_world_id(&x.world, "q"),
		      &quota_world_workload(&x.world, "used-b")->holding.usage);
	assert_string_equal(assign_fixture_run(&x), "Fit 0 | main*1 cpu=b/Fit/0/1");
	forest_undo(x.world.f, 0);
	/* Where it had no flavor it may take any. */
	before.podsets[0].nflavors = 0;
	assert_string_equal(assign_fixture_run(&x), "Fit 0 | main*1 cpu=c/Fit/0/-1");
	assign_fixture_finish(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_flavor_that_fits_is_taken),
		cmocka_unit_test(test_a_flavor_that_is_too_small_is_passed_over),
		cmocka_unit_test(test_a_flavor_that_is_missing_is_passed_over),
		cmocka_unit_test(test_a_flavor_with_topology_is_passed_over),
		cmocka_unit_test(test_a_flavor_that_is_not_allowed_is_passed_over),
		cmocka_unit_test(test_topology_needs_a_flavor_with_topology),
		cmocka_unit_test(test_a_taint_that_is_not_tolerated_is_passed_over),
		cmocka_unit_test(test_selectors_choose_flavors),
		cmocka_unit_test(test_every_pod_set_of_a_group_must_match),
		cmocka_unit_test(test_one_flavor_serves_all_resources_of_the_group),
		cmocka_unit_test(test_a_flavor_is_as_good_as_its_worst_resource),
		cmocka_unit_test(test_all_resources_are_looked_at),
		cmocka_unit_test(test_preemption_may_stop_the_search),
		cmocka_unit_test(test_without_candidates_the_next_flavor_is_tried),
		cmocka_unit_test(test_without_candidates_anywhere_the_first_flavor_is_kept),
		cmocka_unit_test(test_reclaiming_is_better_than_preempting),
		cmocka_unit_test(test_equally_good_flavors_leave_the_first),
		cmocka_unit_test(test_borrowing_may_stop_the_search),
		cmocka_unit_test(test_borrowing_is_kept_when_nothing_better_follows),
		cmocka_unit_test(test_borrowing_over_preemption),
		cmocka_unit_test(test_the_flavor_that_stops_the_search_is_taken),
		cmocka_unit_test(test_preemption_over_borrowing),
		cmocka_unit_test(test_without_flavor_fungibility_the_first_best_mode_wins),
		cmocka_unit_test(test_the_scan_goes_on_where_it_stopped),
		cmocka_unit_test(test_the_first_pod_set_of_a_group_says_where),
		cmocka_unit_test(test_a_recomputation_stays_with_its_flavors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
