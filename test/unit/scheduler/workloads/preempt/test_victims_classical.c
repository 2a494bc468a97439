#include "scheduler/workloads/preempt/victims.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "lib/quota/quota_world.h"
#include "lib/workloads/victims_fixture.h"

struct row {
	const char *name, *world, *need, *victims;
};

/* Two queues of a cohort; a may reclaim, b borrows. */
#define PAIR                                                                                       \
	"cohort c\n"                                                                               \
	"quota a default cpu nominal=4\n"                                                          \
	"quota b default cpu nominal=4\n"                                                          \
	"queue b cohort=c\n"

static const struct row rows[] = {
	{ "without a cohort the own queue is all there is",
	  "queue a within=LowerPriority reclaim=Any\n"
	  "quota a default cpu nominal=4\n"
	  "workload ns/v queue=a cpu=3 holds=default\n"
	  "workload ns/p queue=a cpu=3 prio=1\n",
	  "default/cpu=3", "v:InClusterQueue" },
	{ "newer of the same priority, where the policy says so",
	  "queue a within=LowerOrNewerEqualPriority\n"
	  "quota a default cpu nominal=4\n"
	  "workload ns/older queue=a cpu=2 created=-99s holds=default reserved=-1s\n"
	  "workload ns/newer queue=a cpu=2 created=-1s holds=default reserved=-9s\n"
	  "workload ns/p queue=a cpu=2 created=-60s\n",
	  "default/cpu=2", "newer:InClusterQueue" },
	{ "what the queue has a right to comes before its own workloads",
	  PAIR "queue a cohort=c within=LowerPriority reclaim=Any\n"
	       "workload ns/own queue=a cpu=1 prio=-9 holds=default\n"
	       "workload ns/b1 queue=b cpu=3 prio=9 holds=default\n"
	       "workload ns/b2 queue=b cpu=4 prio=9 holds=default reserved=-60s\n"
	       "workload ns/p queue=a cpu=3\n",
	  "default/cpu=3", "b1:InCohortReclamation" },
	{ "already evicted ones first, wherever they are",
	  PAIR "queue a cohort=c within=LowerPriority reclaim=Any\n"
	       "workload ns/own queue=a cpu=3 prio=5 holds=default evicted=-1s\n"
	       "workload ns/b1 queue=b cpu=5 holds=default\n"
	       "workload ns/p queue=a cpu=1 prio=9\n",
	  "default/cpu=1", "own:InClusterQueue" },
	{ "above its quota a queue that must not borrow by preempting takes of its own",
	  PAIR "queue a cohort=c within=LowerPriority reclaim=Any\n"
	       "workload ns/own queue=a cpu=4 prio=1 holds=default\n"
	       "workload ns/b1 queue=b cpu=4 prio=-1 holds=default\n"
	       "workload ns/p queue=a cpu=2 prio=9\n",
	  "default/cpu=2", "own:InClusterQueue" },
	{ "at its quota in one resource it takes nothing of other queues",
	  PAIR "quota a default memory nominal=4\n"
	       "quota b default memory nominal=4\n"
	       "queue a cohort=c within=LowerPriority reclaim=Any\n"
	       "workload ns/own1 queue=a cpu=1 prio=1 holds=default\n"
	       "workload ns/own2 queue=a cpu=3 prio=9 holds=default\n"
	       "workload ns/b1 queue=b memory=8 holds=default\n"
	       "workload ns/p queue=a cpu=1 memory=2 prio=9\n",
	  "default/cpu=1 default/memory=2", "" },
	{ "under its quota in all it does",
	  PAIR "quota a default memory nominal=4\n"
	       "quota b default memory nominal=4\n"
	       "queue a cohort=c within=LowerPriority reclaim=Any\n"
	       "workload ns/own1 queue=a cpu=1 prio=1 holds=default\n"
	       "workload ns/own2 queue=a cpu=2 prio=9 holds=default\n"
	       "workload ns/b1 queue=b memory=8 holds=default\n"
	       "workload ns/p queue=a cpu=2 memory=2 prio=9\n",
	  "default/cpu=2 default/memory=2", "b1:InCohortReclamation own1:InClusterQueue" },
	{ "under its quota first without borrowing",
	  PAIR "queue a cohort=c within=LowerPriority reclaim=Any\n"
	       "workload ns/own1 queue=a cpu=1 prio=1 holds=default\n"
	       "workload ns/own2 queue=a cpu=1 prio=2 holds=default\n"
	       "workload ns/b1 queue=b cpu=1 prio=1 holds=default\n"
	       "workload ns/b2 queue=b cpu=5 prio=2 holds=default\n"
	       "workload ns/p queue=a cpu=3 prio=9\n",
	  "default/cpu=3", "b2:InCohortReclamation own1:InClusterQueue" },
	{ "then with",
	  PAIR "queue a cohort=c within=LowerPriority reclaim=Any\n"
	       "workload ns/own queue=a cpu=3 holds=default\n"
	       "workload ns/b1 queue=b cpu=5 holds=default\n"
	       "workload ns/p queue=a cpu=5 prio=9\n"
	       "cohort c\n"
	       "quota cohort/c default cpu nominal=2\n",
	  "default/cpu=5", "own:InClusterQueue" },
	{ "while borrowing, of lower priority",
	  PAIR "queue a cohort=c reclaim=LowerPriority borrow=LowerPriority\n"
	       "workload ns/b1 queue=b cpu=3 prio=1 holds=default\n"
	       "workload ns/b2 queue=b cpu=5 prio=5 holds=default\n"
	       "workload ns/p queue=a cpu=1 prio=5\n"
	       "workload ns/own queue=a cpu=4 prio=9 holds=default\n"
	       "cohort c\n"
	       "quota cohort/c default cpu nominal=4\n",
	  "default/cpu=1", "b1:InCohortReclaimWhileBorrowing" },
	{ "while borrowing, up to the threshold",
	  PAIR "queue a cohort=c reclaim=LowerPriority borrow=LowerPriority threshold=1\n"
	       "workload ns/b1 queue=b cpu=3 prio=2 holds=default\n"
	       "workload ns/b2 queue=b cpu=3 prio=1 holds=default reserved=-60s\n"
	       "workload ns/own queue=a cpu=2 prio=9 holds=default\n"
	       "workload ns/p queue=a cpu=3 prio=5\n",
	  "default/cpu=3", "b2:InCohortReclaimWhileBorrowing" },
	{ "above the threshold only without borrowing",
	  PAIR "queue a cohort=c reclaim=LowerPriority borrow=LowerPriority threshold=0\n"
	       "workload ns/b1 queue=b cpu=3 prio=2 holds=default\n"
	       "workload ns/b2 queue=b cpu=3 prio=1 holds=default\n"
	       "workload ns/own queue=a cpu=2 prio=9 holds=default\n"
	       "workload ns/p queue=a cpu=3 prio=5\n",
	  "default/cpu=3", "" },
	{ "not below what the other queue lends",
	  "cohort c\n"
	  "queue a cohort=c reclaim=Any\n"
	  "queue b cohort=c\n"
	  "quota a default cpu nominal=2\n"
	  "quota b default cpu nominal=6 lend=2\n"
	  "workload ns/b1 queue=b cpu=8 holds=default\n"
	  "workload ns/p queue=a cpu=4\n",
	  "default/cpu=4", "" },
	{ "what is not contested must fit too",
	  "queue a within=LowerPriority\n"
	  "quota a default cpu nominal=4\n"
	  "quota a default memory nominal=4\n"
	  "workload ns/v1 queue=a cpu=3 memory=1 prio=1 holds=default\n"
	  "workload ns/v2 queue=a cpu=1 memory=3 prio=2 holds=default\n"
	  "workload ns/p queue=a cpu=1 memory=2 prio=9\n",
	  "default/cpu=1 default/memory=2?", "v2:InClusterQueue" },
	{ "a request of nothing asks for nothing, even where the queue is above its quota",
	  PAIR "quota a default memory nominal=4\n"
	       "quota b default memory nominal=4\n"
	       "queue a cohort=c reclaim=Any\n"
	       "workload ns/own queue=a memory=5 cpu=0 holds=default\n"
	       "workload ns/b1 queue=b cpu=8 memory=0 holds=default\n"
	       "workload ns/p queue=a cpu=4 memory=0\n",
	  "default/cpu=4 default/memory=0?", "b1:InCohortReclamation" },
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(quota_world_finish) struct quota_world w;

		print_message("%s\n", rows[i].name);
		quota_world_init(&w, rows[i].world);
		victims_fixture_expect(&w, "p", rows[i].need, rows[i].victims);
	}
}

/* Two cohorts below a root. a and near are in left, which lends; far is in right. */
static const char tree[] = "cohort root\n"
			   "cohort left parent=root\n"
			   "cohort right parent=root\n"
			   "queue a cohort=left reclaim=LowerPriority\n"
			   "queue near cohort=left\n"
			   "queue far cohort=right\n"
			   "queue calm cohort=right\n"
			   "quota a default cpu nominal=0\n"
			   "quota near default cpu nominal=2\n"
			   "quota far default cpu nominal=2\n"
			   "quota calm default cpu nominal=2\n"
			   "quota cohort/left default cpu nominal=4\n";

/* The request fits into what left has, not into a's own: far's workloads are used up quota of left,
 * near's are of the same tier. Quota of the own cohort is reclaimed first, borrowing or not. */
static void test_the_quota_of_a_cohort_is_a_right_against_the_rest_of_the_tree(void **state)
{
	CLEANUP(quota_world_finish) struct quota_world w;

	(void)state;
	quota_world_init(&w, tree);
	quota_world_add(&w, "workload ns/near1 queue=near cpu=3 prio=-9 holds=default\n"
			    "workload ns/far1 queue=far cpu=5 prio=1 holds=default\n"
			    "workload ns/calm1 queue=calm cpu=2 prio=-9 holds=default\n"
			    "workload ns/p queue=a cpu=3 prio=5\n");
	victims_fixture_expect(&w, "p", "default/cpu=3", "far1:InCohortReclamation");
}

/* right as a whole is within its quota: what far borrows, it borrows from calm. */
static void test_below_a_cohort_within_its_quota_are_no_candidates(void **state)
{
	CLEANUP(quota_world_finish) struct quota_world w;

	(void)state;
	quota_world_init(&w, tree);
	quota_world_add(&w, "workload ns/near1 queue=near cpu=6 prio=1 holds=default\n"
			    "workload ns/far1 queue=far cpu=4 prio=-9 holds=default\n"
			    "workload ns/p queue=a cpu=3 prio=5\n");
	victims_fixture_expect(&w, "p", "default/cpu=3", "");
	quota_world_add(&w, "queue a cohort=left reclaim=LowerPriority borrow=LowerPriority\n");
	victims_fixture_expect(&w, "p", "default/cpu=3", "near1:InCohortReclaimWhileBorrowing");
}

/* By the time far1 is gone, right is within its quota: far2 stays. */
static void test_a_cohort_that_gave_enough_gives_no_more(void **state)
{
	CLEANUP(quota_world_finish) struct quota_world w;

	(void)state;
	quota_world_init(&w, tree);
	quota_world_add(&w, "queue a cohort=left reclaim=LowerPriority borrow=LowerPriority\n"
			    "workload ns/near1 queue=near cpu=3 prio=1 holds=default\n"
			    "workload ns/far1 queue=far cpu=3 prio=-2 holds=default\n"
			    "workload ns/far2 queue=far cpu=4 prio=-1 holds=default\n"
			    "workload ns/p queue=a cpu=4 prio=5\n");
	victims_fixture_expect(
		&w, "p", "default/cpu=4",
		"far1:InCohortReclaimWhileBorrowing near1:InCohortReclaimWhileBorrowing");
}

static void test_boost_counts_as_priority(void **state)
{
	CLEANUP(quota_world_finish) struct quota_world w;

	(void)state;
	quota_world_init(&w, "option priority_boost=true\n"
			     "queue a within=LowerPriority\n"
			     "quota a default cpu nominal=4\n"
			     "workload ns/low queue=a cpu=2 prio=1 boost=5 holds=default\n"
			     "workload ns/high queue=a cpu=2 prio=3 boost=-1 holds=default\n"
			     "workload ns/p queue=a cpu=2 prio=4 boost=1\n");
	victims_fixture_expect(&w, "p", "default/cpu=2", "high:InClusterQueue");
	w.q->options.priority_boost = false;
	victims_fixture_expect(&w, "p", "default/cpu=2", "low:InClusterQueue");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(
			test_the_quota_of_a_cohort_is_a_right_against_the_rest_of_the_tree),
		cmocka_unit_test(test_below_a_cohort_within_its_quota_are_no_candidates),
		cmocka_unit_test(test_a_cohort_that_gave_enough_gives_no_more),
		cmocka_unit_test(test_boost_counts_as_priority),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
