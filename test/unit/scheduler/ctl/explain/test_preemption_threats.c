#include "scheduler/ctl/explain/preemption_threats.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/quota/quota_world.h"

/* Lines of "queue yes|no: text" about ns/w. */
static void expect(const char *world, const char *expected)
{
	CLEANUP(quota_world_finish) struct quota_world w;
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct preemption_threats found = { NULL, 0, 0 };

	quota_world_init(&w, world);
	preemption_threats_find(w.f, quota_world_workload(&w, "w"), arena, &found);
	for (size_t i = 0; i < found.n; i++) {
		strbuf_printf(&text, "%s %s: %s\n", w.q->nodes.v[found.v[i].node]->name,
			      found.v[i].may ? "yes" : "no", found.v[i].text);
	}
	assert_string_equal(text.p, expected);
	vec_finish(&found);
}

#define THREE(a, b, c)                                                                             \
	"cohort t\nqueue a cohort=t " a "\nqueue b cohort=t " b "\nqueue c cohort=t " c "\n"       \
	"quota a default cpu nominal=4\nquota b default cpu nominal=4\n"                           \
	"quota c default cpu nominal=4\n"

static void test_which_queues_could_preempt_it(void **state)
{
	(void)state;
	expect(THREE("within=LowerPriority", "reclaim=Any",
		     "") "workload ns/w queue=a cpu=6 prio=3 holds=default\n"
			 "workload ns/b1 queue=b cpu=1 holds=default\n",
	       "a yes: of a priority above 3\n"
	       "b yes: of any priority, for its own quota: cpu 3 of default unused\n");
	expect(THREE("within=LowerOrNewerEqualPriority", "reclaim=LowerPriority",
		     "reclaim=Any") "workload ns/w queue=a cpu=6 prio=3 holds=default\n"
				    "workload ns/b1 queue=b cpu=4 holds=default\n",
	       "a yes: of a priority above 3, or of the same and older\n"
	       "b no: it uses all of its own quota\n"
	       "c yes: of any priority, for its own quota: cpu 4 of default unused\n");
	expect(THREE("", "reclaim=Any", "") "workload ns/w queue=a cpu=4 holds=default\n",
	       "a no: withinClusterQueue is Never\n"
	       "b no: a does not borrow\n");
	expect(THREE("", "reclaim=Any borrow=LowerPriority threshold=5",
		     "reclaim=LowerPriority borrow=LowerPriority threshold=2") "workload ns/w "
									       "queue=a cpu=6 "
									       "prio=3 "
									       "holds=default\n"
									       "workload ns/b1 "
									       "queue=b cpu=4 "
									       "holds=default\n"
									       "workload ns/c1 "
									       "queue=c cpu=4 "
									       "holds=default\n",
	       "a no: withinClusterQueue is Never\n"
	       "b yes: of a priority above 3, also to borrow\n"
	       "c no: it uses all of its own quota\n");
	expect("option fair_sharing=true\n" THREE(
		       "", "reclaim=Any", "") "workload ns/w queue=a cpu=6 prio=3 holds=default\n",
	       "a no: withinClusterQueue is Never\n"
	       "b yes: of any priority, as far as fair sharing allows\n");
}

static void test_all_queues_of_the_tree_are_named(void **state)
{
	(void)state;
	expect(THREE("reclaim=Any", "",
		     "reclaim=Any") "workload ns/w queue=b cpu=6 prio=3 holds=default\n",
	       "b no: withinClusterQueue is Never\n"
	       "a yes: of any priority, for its own quota: cpu 4 of default unused\n"
	       "c yes: of any priority, for its own quota: cpu 4 of default unused\n");
}

static void test_workloads_in_a_stopped_queue_go_on(void **state)
{
	(void)state;
	expect(THREE("within=LowerPriority stop=Hold", "reclaim=Any",
		     "") "workload ns/w queue=a cpu=6 holds=default\n",
	       "a no: the ClusterQueue is not active, and its workloads are not preempted\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_which_queues_could_preempt_it),
		cmocka_unit_test(test_all_queues_of_the_tree_are_named),
		cmocka_unit_test(test_workloads_in_a_stopped_queue_go_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
