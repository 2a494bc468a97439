/* The rules of KEP-83's preemption algorithm, one by one, and those of KEP-7990 for the cost of a
 * preemption. The tests of the cycle check that the preemptor waits for the next one. */
#include "scheduler/workloads/preempt/victims.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "lib/quota/quota_world.h"
#include "lib/workloads/victims_fixture.h"

static void expect(const char *world, const char *need, const char *victims)
{
	CLEANUP(quota_world_finish) struct quota_world w;

	quota_world_init(&w, world);
	victims_fixture_expect(&w, "p", need, victims);
}

/* --- 1. whether preemption is allowed and could help --- */

static void test_nothing_when_both_policies_are_never(void **state)
{
	(void)state;
	expect("cohort c\n"
	       "queue a cohort=c\n"
	       "queue b cohort=c\n"
	       "quota a default cpu nominal=4\n"
	       "quota b default cpu nominal=4\n"
	       "workload ns/own queue=a cpu=2 holds=default\n"
	       "workload ns/other queue=b cpu=6 holds=default\n"
	       "workload ns/p queue=a cpu=2 prio=9\n",
	       "default/cpu=2", "");
}

/* --- 2. candidates --- */

static void test_candidates_only_from_borrowing_queues(void **state)
{
	(void)state;
	expect("cohort c\n"
	       "queue a cohort=c reclaim=Any\n"
	       "queue b cohort=c\n"
	       "queue d cohort=c\n"
	       "quota a default cpu nominal=6\n"
	       "quota b default cpu nominal=4\n"
	       "quota d default cpu nominal=2\n"
	       "workload ns/b1 queue=b cpu=4 prio=-5 holds=default\n"
	       "workload ns/d1 queue=d cpu=4 prio=5 holds=default\n"
	       "workload ns/d2 queue=d cpu=4 prio=6 holds=default\n"
	       "workload ns/p queue=a cpu=4\n",
	       "default/cpu=4", "d1:InCohortReclamation");
}

static void test_in_the_cohort_only_lower_priority_when_so_asked(void **state)
{
	static const char world[] = "cohort c\n"
				    "queue a cohort=c reclaim=LowerPriority\n"
				    "queue b cohort=c\n"
				    "quota a default cpu nominal=4\n"
				    "quota b default cpu nominal=4\n"
				    "workload ns/b1 queue=b cpu=4 prio=5 holds=default\n"
				    "workload ns/b2 queue=b cpu=4 prio=4 holds=default\n";
	CLEANUP(quota_world_finish) struct quota_world w;

	(void)state;
	quota_world_init(&w, world);
	quota_world_add(&w, "workload ns/p queue=a cpu=4 prio=5\n"
			    "workload ns/lower queue=a cpu=4 prio=4\n"
			    "workload ns/higher queue=a cpu=4 prio=6\n");
	victims_fixture_expect(&w, "p", "default/cpu=4", "b2:InCohortReclamation");
	victims_fixture_expect(&w, "lower", "default/cpu=4", "");
	quota_world_add(&w, "queue a cohort=c reclaim=Any\n");
	victims_fixture_expect(&w, "lower", "default/cpu=4", "b2:InCohortReclamation");
}

static void test_in_the_own_queue_only_lower_priority(void **state)
{
	CLEANUP(quota_world_finish) struct quota_world w;

	(void)state;
	quota_world_init(&w, "queue a within=LowerPriority\n"
			     "quota a default cpu nominal=6\n"
			     "workload ns/low queue=a cpu=2 prio=1 holds=default\n"
			     "workload ns/same queue=a cpu=2 prio=2 holds=default\n"
			     "workload ns/high queue=a cpu=2 prio=3 holds=default\n"
			     "workload ns/p queue=a cpu=2 prio=2\n");
	victims_fixture_expect(&w, "p", "default/cpu=2", "low:InClusterQueue");
	victims_fixture_expect(&w, "p", "default/cpu=4", "");
}

static void test_workloads_in_other_flavors_are_no_candidates(void **state)
{
	(void)state;
	expect("queue a within=LowerPriority\n"
	       "quota a spot cpu nominal=4\n"
	       "quota a default cpu nominal=4\n"
	       "workload ns/spot queue=a cpu=4 prio=-9 holds=spot\n"
	       "workload ns/v queue=a cpu=4 prio=1 holds=default\n"
	       "workload ns/p queue=a cpu=2 prio=2\n",
	       "default/cpu=2", "v:InClusterQueue");
}

/* --- 3. order --- */

static void test_other_queues_first(void **state)
{
	(void)state;
	expect("cohort c\n"
	       "queue a cohort=c within=LowerPriority reclaim=LowerPriority\n"
	       "queue b cohort=c\n"
	       "quota a default cpu nominal=6\n"
	       "quota b default cpu nominal=2\n"
	       "workload ns/own queue=a cpu=3 prio=0 holds=default\n"
	       "workload ns/b1 queue=b cpu=3 prio=3 holds=default\n"
	       "workload ns/b2 queue=b cpu=2 prio=4 holds=default\n"
	       "workload ns/p queue=a cpu=3 prio=5\n",
	       "default/cpu=3", "b1:InCohortReclamation");
}

static void test_lower_priority_first(void **state)
{
	(void)state;
	expect("queue a within=LowerPriority\n"
	       "quota a default cpu nominal=6\n"
	       "workload ns/mid queue=a cpu=2 prio=2 holds=default reserved=-1s\n"
	       "workload ns/low queue=a cpu=2 prio=1 holds=default reserved=-9s\n"
	       "workload ns/high queue=a cpu=2 prio=3 holds=default reserved=-1s\n"
	       "workload ns/p queue=a cpu=4 prio=5\n",
	       "default/cpu=4", "low:InClusterQueue mid:InClusterQueue");
}

static void test_shortest_running_time_first(void **state)
{
	(void)state;
	expect("queue a within=LowerPriority\n"
	       "quota a default cpu nominal=6\n"
	       "workload ns/hour queue=a cpu=2 holds=default reserved=-3600s\n"
	       "workload ns/second queue=a cpu=2 holds=default reserved=-1s\n"
	       "workload ns/minute queue=a cpu=2 holds=default reserved=-60s\n"
	       "workload ns/p queue=a cpu=4 prio=5\n",
	       "default/cpu=4", "second:InClusterQueue minute:InClusterQueue");
}

/* --- 4. removing until it fits --- */

static void test_stops_when_the_workload_fits(void **state)
{
	(void)state;
	expect("queue a within=LowerPriority\n"
	       "quota a default cpu nominal=4\n"
	       "workload ns/v1 queue=a cpu=1 holds=default reserved=-1s\n"
	       "workload ns/v2 queue=a cpu=1 holds=default reserved=-2s\n"
	       "workload ns/v3 queue=a cpu=1 holds=default reserved=-3s\n"
	       "workload ns/p queue=a cpu=3 prio=5\n",
	       "default/cpu=3", "v1:InClusterQueue v2:InClusterQueue");
}

/* b goes down to its quota with one workload, whatever the priorities: the rest comes from d. */
static void test_stops_at_the_min_quota_of_a_queue(void **state)
{
	(void)state;
	expect("cohort c\n"
	       "queue a cohort=c reclaim=Any\n"
	       "queue b cohort=c\n"
	       "queue d cohort=c\n"
	       "quota a default cpu nominal=4\n"
	       "quota b default cpu nominal=4\n"
	       "quota d default cpu nominal=2\n"
	       "workload ns/b1 queue=b cpu=2 prio=-3 holds=default\n"
	       "workload ns/b2 queue=b cpu=2 prio=-2 holds=default\n"
	       "workload ns/b3 queue=b cpu=2 prio=-1 holds=default\n"
	       "workload ns/d1 queue=d cpu=2 prio=1 holds=default\n"
	       "workload ns/d2 queue=d cpu=2 prio=2 holds=default\n"
	       "workload ns/p queue=a cpu=4\n",
	       "default/cpu=4", "b1:InCohortReclamation d1:InCohortReclamation");
}

/* Below for one flavor and above for another: for all the flavors involved. */
static void test_min_quota_counts_for_all_flavors_involved(void **state)
{
	(void)state;
	expect("cohort c\n"
	       "queue a cohort=c reclaim=Any\n"
	       "queue b cohort=c\n"
	       "quota a default cpu nominal=4\n"
	       "quota a default memory nominal=4\n"
	       "quota b default cpu nominal=4\n"
	       "quota b default memory nominal=4\n"
	       "workload ns/b1 queue=b cpu=6 memory=2 holds=default prio=-1\n"
	       "workload ns/b2 queue=b cpu=2 memory=6 holds=default\n"
	       "workload ns/p queue=a cpu=4 memory=4\n",
	       "default/cpu=4 default/memory=4", "b1:InCohortReclamation b2:InCohortReclamation");
}

static void test_preemption_does_not_borrow(void **state)
{
	(void)state;
	expect("cohort c\n"
	       "queue a cohort=c reclaim=Any\n"
	       "queue b cohort=c\n"
	       "quota a default cpu nominal=4\n"
	       "quota b default cpu nominal=6\n"
	       "workload ns/own queue=a cpu=2 holds=default\n"
	       "workload ns/b1 queue=b cpu=8 holds=default\n"
	       "workload ns/p queue=a cpu=3\n",
	       "default/cpu=3", "");
}

/* --- 5. giving back --- */

/* Taken are one, two, four; five are needed. Backwards: two goes back (five are left), one would
 * leave four. Forwards it would have been one that goes back. */
static void test_gives_back_in_reverse_order(void **state)
{
	(void)state;
	expect("queue a within=LowerPriority\n"
	       "quota a default cpu nominal=7\n"
	       "workload ns/one queue=a cpu=1 prio=1 holds=default\n"
	       "workload ns/two queue=a cpu=2 prio=2 holds=default\n"
	       "workload ns/four queue=a cpu=4 prio=3 holds=default\n"
	       "workload ns/p queue=a cpu=5 prio=5\n",
	       "default/cpu=5", "one:InClusterQueue four:InClusterQueue");
}

static void test_the_last_one_makes_all_others_superfluous(void **state)
{
	(void)state;
	expect("queue a within=LowerPriority\n"
	       "quota a default cpu nominal=7\n"
	       "workload ns/one queue=a cpu=1 prio=1 holds=default\n"
	       "workload ns/two queue=a cpu=2 prio=2 holds=default\n"
	       "workload ns/four queue=a cpu=4 prio=3 holds=default\n"
	       "workload ns/p queue=a cpu=4 prio=5\n",
	       "default/cpu=4", "four:InClusterQueue");
}

/* --- KEP-7990 --- */

static void test_cheaper_first_among_equal_priorities(void **state)
{
	(void)state;
	expect("queue a within=LowerPriority\n"
	       "quota a default cpu nominal=6\n"
	       "workload ns/dear queue=a cpu=2 cost=250 holds=default reserved=-1s\n"
	       "workload ns/cheap queue=a cpu=2 cost=3 holds=default reserved=-9s\n"
	       "workload ns/cheaper queue=a cpu=2 cost=2500m holds=default reserved=-99s\n"
	       "workload ns/p queue=a cpu=4 prio=5\n",
	       "default/cpu=4", "cheaper:InClusterQueue cheap:InClusterQueue");
}

static void test_no_cost_is_zero(void **state)
{
	(void)state;
	expect("queue a within=LowerPriority\n"
	       "quota a default cpu nominal=6\n"
	       "workload ns/one queue=a cpu=2 cost=1 holds=default reserved=-1s\n"
	       "workload ns/zero queue=a cpu=2 cost=0 holds=default reserved=-8s\n"
	       "workload ns/none queue=a cpu=2 holds=default reserved=-9s\n"
	       "workload ns/p queue=a cpu=4 prio=5\n",
	       "default/cpu=4", "zero:InClusterQueue none:InClusterQueue");
}

static void test_cost_below_zero_is_cheaper_than_none(void **state)
{
	(void)state;
	expect("queue a within=LowerPriority\n"
	       "quota a default cpu nominal=4\n"
	       "workload ns/none queue=a cpu=2 holds=default reserved=-1s\n"
	       "workload ns/less queue=a cpu=2 cost=-1 holds=default reserved=-9s\n"
	       "workload ns/p queue=a cpu=2 prio=5\n",
	       "default/cpu=2", "less:InClusterQueue");
}

static void test_priority_outweighs_any_cost(void **state)
{
	(void)state;
	expect("queue a within=LowerPriority\n"
	       "quota a default cpu nominal=4\n"
	       "workload ns/low queue=a cpu=2 prio=1 cost=1000000 holds=default\n"
	       "workload ns/high queue=a cpu=2 prio=2 cost=0 holds=default\n"
	       "workload ns/p queue=a cpu=2 prio=5\n",
	       "default/cpu=2", "low:InClusterQueue");
}

/* A low cost makes no workload eligible. */
static void test_cost_makes_no_workload_eligible(void **state)
{
	CLEANUP(quota_world_finish) struct quota_world w;

	(void)state;
	quota_world_init(&w, "queue a within=LowerPriority\n"
			     "quota a default cpu nominal=2\n"
			     "workload ns/cheap queue=a cpu=2 cost=-1000 holds=default\n"
			     "workload ns/p queue=a cpu=2 cost=1000\n");
	victims_fixture_expect(&w, "p", "default/cpu=2", "");
}

/* A high cost protects no workload. */
static void test_cost_does_not_protect(void **state)
{
	(void)state;
	expect("queue a within=LowerPriority\n"
	       "quota a default cpu nominal=2\n"
	       "workload ns/dear queue=a cpu=2 cost=1000000000 holds=default\n"
	       "workload ns/p queue=a cpu=2 prio=1\n",
	       "default/cpu=2", "dear:InClusterQueue");
}

/* With equal priorities the older may preempt the newer, never the other way round, so there is no
 * circle of preemptions, whatever the costs. */
static void test_equal_priorities_never_preempt_in_a_circle(void **state)
{
	static const char *const costs[] = { "0", "1", "-1", "1000" };
	static const char *const older = "-60s", *const newer = "-10s";

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(costs) * ARRAY_LEN(costs); i++) {
		CLEANUP(quota_world_finish) struct quota_world w;
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

		strbuf_printf(&text,
			      "queue a within=LowerOrNewerEqualPriority\n"
			      "quota a default cpu nominal=2\n"
			      "workload ns/new queue=a cpu=2 cost=%s created=%s holds=default\n"
			      "workload ns/old queue=a cpu=2 cost=%s created=%s\n",
			      costs[i % ARRAY_LEN(costs)], newer, costs[i / ARRAY_LEN(costs)],
			      older);
		quota_world_init(&w, text.p);
		victims_fixture_expect(&w, "old", "default/cpu=2", "new:InClusterQueue");
		forest_release(w.f, quota_world_workload(&w, "new"));
		quota_amounts_add(&quota_world_workload(&w, "old")->holding.usage,
				  quota_world_pair(&w, "default", "cpu"), 2000);
		forest_hold(w.f, quota_world_workload(&w, "old"), quota_world_id(&w, "a"));
		victims_fixture_expect(&w, "new", "default/cpu=2", "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_when_both_policies_are_never),
		cmocka_unit_test(test_candidates_only_from_borrowing_queues),
		cmocka_unit_test(test_in_the_cohort_only_lower_priority_when_so_asked),
		cmocka_unit_test(test_in_the_own_queue_only_lower_priority),
		cmocka_unit_test(test_workloads_in_other_flavors_are_no_candidates),
		cmocka_unit_test(test_other_queues_first),
		cmocka_unit_test(test_lower_priority_first),
		cmocka_unit_test(test_shortest_running_time_first),
		cmocka_unit_test(test_stops_when_the_workload_fits),
		cmocka_unit_test(test_stops_at_the_min_quota_of_a_queue),
		cmocka_unit_test(test_min_quota_counts_for_all_flavors_involved),
		cmocka_unit_test(test_preemption_does_not_borrow),
		cmocka_unit_test(test_gives_back_in_reverse_order),
		cmocka_unit_test(test_the_last_one_makes_all_others_superfluous),
		cmocka_unit_test(test_cheaper_first_among_equal_priorities),
		cmocka_unit_test(test_no_cost_is_zero),
		cmocka_unit_test(test_cost_below_zero_is_cheaper_than_none),
		cmocka_unit_test(test_priority_outweighs_any_cost),
		cmocka_unit_test(test_cost_makes_no_workload_eligible),
		cmocka_unit_test(test_cost_does_not_protect),
		cmocka_unit_test(test_equal_priorities_never_preempt_in_a_circle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
