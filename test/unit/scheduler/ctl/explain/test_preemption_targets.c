#include "scheduler/ctl/explain/preemption_targets.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "lib/workloads/victims_fixture.h"

/* Lines of "workload state: text". */
static void expect(const char *world, const char *expected)
{
	static const char *const states[] = { "victim", "could be", "protected" };
	CLEANUP(quota_world_finish) struct quota_world w;
	CLEANUP(victims_fixture_finish) struct victims_fixture v;
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct preemption_targets found = { NULL, 0, 0 };
	struct victims victims;

	quota_world_init(&w, world);
	victims_fixture_init(&v, &w, "p", "default/cpu=3");
	victims_find(&v.r, arena, &victims);
	preemption_targets_find(&v.r, &victims, arena, &found);
	for (size_t i = 0; i < found.n; i++) {
		strbuf_printf(&text, "%s %s: %s\n", found.v[i].order.w->key,
			      states[found.v[i].state], found.v[i].text);
	}
	assert_string_equal(text.p, expected);
	vec_finish(&found);
}

#define PAIR(a)                                                                                    \
	"cohort c\nqueue a cohort=c " a "\nqueue b cohort=c\n"                                     \
	"quota a default cpu nominal=4\nquota b default cpu nominal=4\n"                           \
	"workload ns/p queue=a cpu=3 prio=5 created=-60s\n"

static void test_victims_then_candidates_then_the_others(void **state)
{
	(void)state;
	expect(PAIR("within=LowerPriority reclaim=LowerPriority") "workload ns/own queue=a cpu=1 "
								  "prio=9 holds=default\n"
								  "workload ns/b1 queue=b cpu=3 "
								  "prio=1 holds=default\n"
								  "workload ns/b2 queue=b cpu=2 "
								  "prio=2 holds=default\n"
								  "workload ns/b3 queue=b cpu=2 "
								  "prio=6 holds=default\n",
	       "ns/b1 victim: InCohortReclamation\n"
	       "ns/b2 could be: is not needed\n"
	       "ns/b3 protected: its priority is not below 5\n"
	       "ns/own protected: its priority is not below 5\n");
}

static void test_each_protection_has_its_words(void **state)
{
	(void)state;
	expect(PAIR("") "workload ns/own queue=a cpu=4 holds=default\n"
			"workload ns/b1 queue=b cpu=4 holds=default\n",
	       "ns/b1 protected: reclaimWithinCohort of a is Never\n"
	       "ns/own protected: withinClusterQueue of a is Never\n");
	expect(PAIR("within=LowerOrNewerEqualPriority reclaim=Any") "workload ns/own queue=a cpu=4 "
								    "prio=5 created=-99s "
								    "holds=default\n"
								    "workload ns/b1 queue=b cpu=4 "
								    "holds=default\n",
	       "ns/b1 protected: b does not borrow\n"
	       "ns/own protected: its priority is equal, and it is older\n");
	expect(PAIR("reclaim=Any") "workload ns/own queue=a cpu=2 holds=default\n"
				   "workload ns/b1 queue=b cpu=6 holds=default\n",
	       "ns/b1 protected: a would borrow, and its borrowWithinCohort is Never\n"
	       "ns/own protected: withinClusterQueue of a is Never\n");
	expect(PAIR("reclaim=Any borrow=LowerPriority threshold=1") "workload ns/own queue=a cpu=3 "
								    "holds=default\n"
								    "workload ns/b1 queue=b cpu=2 "
								    "prio=2 holds=default\n"
								    "workload ns/b2 queue=b cpu=1 "
								    "prio=1 holds=default\n"
								    "workload ns/b3 queue=b cpu=2 "
								    "prio=7 holds=default\n",
	       "ns/b2 could be: preempting all candidates is not enough\n"
	       "ns/b1 protected: a would borrow, and may then only preempt priorities up to "
	       "its "
	       "maxPriorityThreshold 1\n"
	       "ns/b3 protected: a would borrow, and may then only preempt priorities below 5\n"
	       "ns/own protected: withinClusterQueue of a is Never\n");
	expect("option fair_sharing=true\n" PAIR(
		       "reclaim=Any") "workload ns/own queue=a cpu=3 holds=default\n"
				      "workload ns/b1 queue=b cpu=5 holds=default\n",
	       "ns/b1 protected: fair sharing: a would have a share of 250; b has 125, without "
	       "this one 0\n"
	       "ns/own protected: withinClusterQueue of a is Never\n");
	expect("cohort root\ncohort side parent=root\nqueue a cohort=root reclaim=Any\n"
	       "queue b cohort=side\nqueue calm cohort=side\nqueue held cohort=root stop=Hold\n"
	       "quota a default cpu nominal=4\nquota b default cpu nominal=1\n"
	       "quota calm default cpu nominal=4\nquota held default cpu nominal=0\n"
	       "workload ns/p queue=a cpu=3\n"
	       "workload ns/b1 queue=b cpu=5 holds=default\n"
	       "workload ns/h1 queue=held cpu=2 holds=default\n",
	       "ns/b1 protected: cohort side does not borrow\n"
	       "ns/h1 protected: held is not active, and its workloads are not preempted\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_victims_then_candidates_then_the_others),
		cmocka_unit_test(test_each_protection_has_its_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
