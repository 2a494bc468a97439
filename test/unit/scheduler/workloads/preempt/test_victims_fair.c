#include "scheduler/workloads/preempt/victims.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "lib/quota/quota_world.h"
#include "lib/workloads/victims_fixture.h"

#define FAIR "option fair_sharing=true lte_final=true lt_initial=true\n"
#define FINAL "option fair_sharing=true lte_final=true lt_initial=false\n"
#define INITIAL "option fair_sharing=true lte_final=false lt_initial=true\n"

/* A cohort with ten; a may preempt with both policies, b and d have no nominal quota. */
#define SHARED                                                                                     \
	"cohort c\n"                                                                               \
	"quota cohort/c default cpu nominal=10\n"                                                  \
	"queue a cohort=c within=LowerPriority reclaim=Any\n"                                      \
	"queue b cohort=c\n"                                                                       \
	"queue d cohort=c\n"                                                                       \
	"quota a default cpu nominal=0\n"                                                          \
	"quota b default cpu nominal=0\n"                                                          \
	"quota d default cpu nominal=0\n"

/* Two queues with a right to five each. */
#define HALVES                                                                                     \
	"cohort c\n"                                                                               \
	"queue a cohort=c within=LowerPriority reclaim=Any\n"                                      \
	"queue b cohort=c\n"                                                                       \
	"quota a default cpu nominal=5\n"                                                          \
	"quota b default cpu nominal=5\n"

struct row {
	const char *name, *world, *need, *victims;
};

static const struct row rows[] = {
	{ "without a cohort the own queue gives",
	  FAIR "queue a within=LowerPriority reclaim=Any\n"
	       "quota a default cpu nominal=4\n"
	       "workload ns/v1 queue=a cpu=2 prio=1 holds=default\n"
	       "workload ns/v2 queue=a cpu=2 prio=0 holds=default\n"
	       "workload ns/p queue=a cpu=3 prio=2\n",
	  "default/cpu=3", "v2:InClusterQueue v1:InClusterQueue" },
	{ "within its nominal quota a queue takes unasked",
	  FAIR HALVES "workload ns/b1 queue=b cpu=9 holds=default\n"
		      "workload ns/p queue=a cpu=2\n",
	  "default/cpu=2", "b1:InCohortReclamation" },
	{ "room that victims of its own make within it is no right against others",
	  INITIAL HALVES "quota a default cpu nominal=7\n"
			 "quota b default cpu nominal=3\n"
			 "workload ns/own queue=a cpu=5 prio=-1 holds=default\n"
			 "workload ns/b1 queue=b cpu=5 holds=default\n"
			 "workload ns/p queue=a cpu=6\n",
	  "default/cpu=6", "own:InClusterQueue b1:InCohortFairSharing" },
	{ "a queue that does not borrow is safe",
	  FAIR HALVES "workload ns/b1 queue=b cpu=5 prio=-9 holds=default\n"
		      "workload ns/own queue=a cpu=5 prio=9 holds=default\n"
		      "workload ns/p queue=a cpu=2\n",
	  "default/cpu=2", "" },
	{ "of the queue that has most",
	  FAIR SHARED "workload ns/b1 queue=b cpu=2 holds=default reserved=-1s\n"
		      "workload ns/b2 queue=b cpu=2 holds=default reserved=-2s\n"
		      "workload ns/d1 queue=d cpu=2 holds=default reserved=-3s\n"
		      "workload ns/d2 queue=d cpu=2 holds=default reserved=-4s\n"
		      "workload ns/d3 queue=d cpu=2 holds=default reserved=-5s\n"
		      "workload ns/p queue=a cpu=2\n",
	  "default/cpu=2", "d1:InCohortFairSharing" },
	{ "of equals by the order of their first candidates",
	  FAIR SHARED "workload ns/b1 queue=b cpu=2 holds=default reserved=-2s\n"
		      "workload ns/b2 queue=b cpu=3 holds=default reserved=-9s\n"
		      "workload ns/d1 queue=d cpu=2 holds=default reserved=-1s\n"
		      "workload ns/d2 queue=d cpu=3 holds=default reserved=-9s\n"
		      "workload ns/p queue=a cpu=2\n",
	  "default/cpu=2", "d1:InCohortFairSharing" },
	{ "the own queue when that has most",
	  FAIR SHARED "workload ns/own queue=a cpu=5 prio=-1 holds=default\n"
		      "workload ns/b1 queue=b cpu=5 prio=-2 holds=default\n"
		      "workload ns/p queue=a cpu=2\n",
	  "default/cpu=2", "own:InClusterQueue" },
	{ "not so that the target has less than the preemptor in the end",
	  FINAL SHARED "workload ns/b1 queue=b cpu=6 holds=default\n"
		       "workload ns/b2 queue=b cpu=4 holds=default reserved=-60s\n"
		       "workload ns/p queue=a cpu=5\n",
	  "default/cpu=5", "" },
	{ "the next one may do",
	  FINAL SHARED "workload ns/b1 queue=b cpu=7 holds=default\n"
		       "workload ns/b2 queue=b cpu=2 holds=default reserved=-60s\n"
		       "workload ns/p queue=a cpu=3\n",
	  "default/cpu=3", "b2:InCohortFairSharing" },
	{ "the other strategy looks at what the target had",
	  INITIAL SHARED "workload ns/b1 queue=b cpu=6 holds=default\n"
			 "workload ns/b2 queue=b cpu=4 holds=default reserved=-60s\n"
			 "workload ns/p queue=a cpu=5\n",
	  "default/cpu=5", "b1:InCohortFairSharing" },
	{ "strictly less than that",
	  INITIAL SHARED "workload ns/b1 queue=b cpu=5 holds=default\n"
			 "workload ns/d1 queue=d cpu=5 holds=default\n"
			 "workload ns/p queue=a cpu=5\n",
	  "default/cpu=5", "" },
	{ "second pass: one per queue by the second strategy",
	  FAIR SHARED "workload ns/b1 queue=b cpu=10 holds=default\n"
		      "workload ns/p queue=a cpu=9\n",
	  "default/cpu=9", "b1:InCohortFairSharing" },
	{ "and not two",
	  FAIR SHARED "workload ns/b1 queue=b cpu=5 holds=default\n"
		      "workload ns/b2 queue=b cpu=5 holds=default\n"
		      "workload ns/p queue=a cpu=8\n",
	  "default/cpu=8", "" },
	{ "more weight, more to take",
	  FINAL SHARED "queue a cohort=c weight=3 reclaim=Any\n"
		       "workload ns/b1 queue=b cpu=6 holds=default\n"
		       "workload ns/b2 queue=b cpu=4 holds=default reserved=-60s\n"
		       "workload ns/p queue=a cpu=6\n",
	  "default/cpu=6", "b1:InCohortFairSharing" },
	{ "a queue of no weight that borrows has more than any other",
	  FAIR SHARED "queue d cohort=c weight=0\n"
		      "workload ns/b1 queue=b cpu=8 prio=-9 holds=default\n"
		      "workload ns/d1 queue=d cpu=2 prio=9 holds=default\n"
		      "workload ns/p queue=a cpu=2\n",
	  "default/cpu=2", "d1:InCohortFairSharing" },
	{ "a preemptor of no weight may not borrow from those with some",
	  FAIR SHARED "queue a cohort=c weight=0 reclaim=Any\n"
		      "workload ns/b1 queue=b cpu=10 prio=-9 holds=default\n"
		      "workload ns/p queue=a cpu=1\n",
	  "default/cpu=1", "" },
	{ "but from its like",
	  FAIR SHARED "queue a cohort=c weight=0 reclaim=Any\n"
		      "queue b cohort=c weight=0\n"
		      "workload ns/b1 queue=b cpu=2 holds=default\n"
		      "workload ns/b2 queue=b cpu=8 holds=default reserved=-60s\n"
		      "workload ns/p queue=a cpu=1\n",
	  "default/cpu=1", "b1:InCohortFairSharing" },
	{ "cost orders the candidates of a queue",
	  FAIR SHARED "workload ns/b1 queue=b cpu=3 cost=2 holds=default reserved=-1s\n"
		      "workload ns/b2 queue=b cpu=3 cost=1 holds=default reserved=-2s\n"
		      "workload ns/b3 queue=b cpu=4 cost=3 holds=default reserved=-3s\n"
		      "workload ns/p queue=a cpu=3\n",
	  "default/cpu=3", "b2:InCohortFairSharing" },
	/* left has 4 of 10 and is above its quota as a whole; right has 6. Shares are compared
	 * right below the root: what a has within left does not matter. */
	{ "shares are those below the common cohort",
	  FAIR "cohort root\n"
	       "cohort left parent=root\n"
	       "cohort right parent=root\n"
	       "quota cohort/root default cpu nominal=10\n"
	       "queue a cohort=left reclaim=Any\n"
	       "queue l cohort=left\n"
	       "queue r1 cohort=right\n"
	       "queue r2 cohort=right\n"
	       "quota a default cpu nominal=0\n"
	       "quota l default cpu nominal=0\n"
	       "quota r1 default cpu nominal=0\n"
	       "quota r2 default cpu nominal=0\n"
	       "workload ns/l1 queue=l cpu=4 holds=default prio=-9\n"
	       "workload ns/r1a queue=r1 cpu=1 holds=default prio=-1\n"
	       "workload ns/r1b queue=r1 cpu=1 holds=default\n"
	       "workload ns/r2a queue=r2 cpu=1 holds=default\n"
	       "workload ns/r2b queue=r2 cpu=1 holds=default\n"
	       "workload ns/r2c queue=r2 cpu=2 holds=default\n"
	       "workload ns/p queue=a cpu=1\n",
	  "default/cpu=1", "r2a:InCohortFairSharing" },
	/* right does not borrow as a whole; r1 does, from r2. */
	{ "a cohort that does not borrow protects its queues",
	  FAIR "cohort root\n"
	       "cohort left parent=root\n"
	       "cohort right parent=root\n"
	       "queue a cohort=left reclaim=Any\n"
	       "queue l cohort=left\n"
	       "queue r1 cohort=right\n"
	       "queue r2 cohort=right\n"
	       "quota a default cpu nominal=2\n"
	       "quota l default cpu nominal=0\n"
	       "quota r1 default cpu nominal=0\n"
	       "quota r2 default cpu nominal=4\n"
	       "workload ns/l1 queue=l cpu=2 holds=default\n"
	       "workload ns/r1a queue=r1 cpu=4 holds=default prio=-9\n"
	       "workload ns/p queue=a cpu=2\n",
	  "default/cpu=2", "l1:InCohortReclamation" },
	/* kubernetes-sigs/kueue#14543. `own` lowers a's share to 5, less than b's 6, so x may be
	 * taken by the second strategy; then `own` is not needed any more. But with `own` back a
	 * has 9: x would be preempted by the one that has more, and could preempt p in turn. */
	{ "a victim that only was legal because of one given back",
	  FAIR SHARED "workload ns/own queue=a cpu=4 prio=-1 holds=default\n"
		      "workload ns/x queue=b cpu=6 holds=default\n"
		      "workload ns/p queue=a cpu=5\n",
	  "default/cpu=5", "" },
	/* `own` is on its way out already: a will not have 9. */
	{ "one given back that is on its way out",
	  FAIR SHARED "workload ns/own queue=a cpu=4 prio=-1 holds=default evicted=-5s\n"
		      "workload ns/x queue=b cpu=6 holds=default\n"
		      "workload ns/p queue=a cpu=5\n",
	  "default/cpu=5", "x:InCohortFairSharing" },
	/* x is being evicted already: to wait for it costs no further victim. */
	{ "a victim on its way out is not asked",
	  FAIR SHARED "workload ns/own queue=a cpu=4 prio=-1 holds=default\n"
		      "workload ns/x queue=b cpu=6 holds=default evicted=-5s\n"
		      "workload ns/p queue=a cpu=5\n",
	  "default/cpu=5", "x:InCohortFairSharing" },
	/* x is taken before e, as long as b has more than a; y is given back. */
	{ "a workload that is being evicted is taken in its turn",
	  FAIR SHARED "queue a cohort=c weight=3 reclaim=Any\n"
		      "workload ns/e queue=b cpu=5 holds=default evicted=-5s\n"
		      "workload ns/x queue=b cpu=1 prio=-1 holds=default\n"
		      "workload ns/y queue=b cpu=1 holds=default\n"
		      "workload ns/p queue=a cpu=9\n",
	  "default/cpu=9", "x:InCohortFairSharing e:InCohortFairSharing" },
	/* As with the one that only was legal, but another one is, together with `own`. */
	{ "the search goes on without the illegal victim",
	  FAIR SHARED "quota cohort/c default cpu nominal=18500m\n"
		      "queue d cohort=c weight=0.5\n"
		      "workload ns/own queue=a cpu=4400m prio=-1 holds=default\n"
		      "workload ns/x queue=b cpu=9500m holds=default\n"
		      "workload ns/z queue=d cpu=4600m holds=default\n"
		      "workload ns/p queue=a cpu=9\n",
	  "default/cpu=9", "own:InClusterQueue z:InCohortFairSharing" },
	/* Within its nominal quota only while `own` is out, a takes x unasked; with `own` back it
	 * has more than b. */
	{ "within nominal because of one given back",
	  FAIR HALVES "quota cohort/c default cpu nominal=10\n"
		      "queue a cohort=c weight=0.25 within=LowerPriority reclaim=Any\n"
		      "workload ns/own queue=a cpu=3 prio=-1 holds=default\n"
		      "workload ns/o2 queue=a cpu=1 prio=9 holds=default\n"
		      "workload ns/x queue=b cpu=16 holds=default\n"
		      "workload ns/p queue=a cpu=4\n",
	  "default/cpu=4", "" },
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

static void test_within_nominal_is_no_rule_when_its_gate_is_off(void **state)
{
	CLEANUP(quota_world_finish) struct quota_world w;

	(void)state;
	quota_world_init(&w, FAIR HALVES "workload ns/b1 queue=b cpu=9 holds=default\n"
					 "workload ns/p queue=a cpu=2\n");
	w.q->options.preempt_within_nominal = false;
	victims_fixture_expect(&w, "p", "default/cpu=2", "b1:InCohortFairSharing");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_within_nominal_is_no_rule_when_its_gate_is_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
