#include <stdio.h>
#include <string.h>

#include "lib/pods/evict_fixture.h"
#include "lib/unit.h"

static const char conf[] = "actions: \"allocate, gangreclaim\"\n"
			   "tiers:\n"
			   "- plugins:\n"
			   "  - name: priority\n"
			   "  - name: gang\n"
			   "  - name: conformance\n"
			   "- plugins:\n"
			   "  - name: predicates\n"
			   "  - name: capacity\n"
			   "    enableHierarchy: true\n";

/* Queue a has gangs of 2 and 3 pods; b asks for one pod of the 2 that it deserves. */
static const char *run(int64_t deserved_of_a)
{
	static char decisions[500];
	struct cycle_fixture f;
	struct node *n;

	cycle_fixture_init(&f, conf);
	cluster_fixture_queue(f.cluster, "a", NULL, -1)->deserved.v[RES_CPU] = deserved_of_a;
	cluster_fixture_queue(f.cluster, "b", NULL, -1)->deserved.v[RES_CPU] = 2000;
	queue_topology_changed(f.cluster);
	n = cluster_fixture_node(f.cluster, "n", 5000);
	for (int i = 0; i < 5; i++) {
		struct podgroup *g = evict_fixture_podgroup(f.cluster, i < 2 ? "two" : "three", "a",
							    i < 2 ? 2 : 3, i < 2 ? 1 : 5);
		char pod[16];

		snprintf(pod, sizeof(pod), "v%d", i);
		evict_fixture_running(f.cluster, pod, g, 1000, n);
	}
	(void)cycle_fixture_run(&f);
	(void)cycle_fixture_run(&f);
	cluster_fixture_task(f.cluster, "p", evict_fixture_podgroup(f.cluster, "p", "b", 1, 0),
			     1000);
	snprintf(decisions, sizeof(decisions), "%s", cycle_fixture_run(&f));
	cycle_fixture_finish(&f);
	return decisions;
}

static void a_gang_of_a_queue_that_has_more_than_it_deserves(void **state)
{
	(void)state;
	assert_non_null(strstr(run(3000), "Evict v0; Evict v1; Await p n"));
}

/* With its first pod the queue has what it deserves: the second one stays, and so the gang. */
static void no_gang_beyond_what_the_queue_deserves(void **state)
{
	(void)state;
	assert_null(strstr(run(4000), "Evict"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gang_of_a_queue_that_has_more_than_it_deserves),
		cmocka_unit_test(no_gang_beyond_what_the_queue_deserves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
