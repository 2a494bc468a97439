#include <stdio.h>
#include <string.h>

#include "lib/pods/evict_fixture.h"
#include "lib/unit.h"

static const char conf[] = "actions: \"allocate, gangpreempt\"\n"
			   "tiers:\n"
			   "- plugins:\n"
			   "  - name: priority\n"
			   "  - name: gang\n"
			   "  - name: conformance\n"
			   "- plugins:\n"
			   "  - name: predicates\n"
			   "  - name: capacity\n"
			   "    enableHierarchy: true\n";

/* A gang of two on a node in each of two queues, and one of a higher priority that needs a node. */
static const char *run(const char *text)
{
	static char decisions[500];
	const char *const queues[] = { "other", "q" };
	struct cycle_fixture f;

	cycle_fixture_init(&f, text);
	for (int i = 0; i < 2; i++) {
		const char *name = queues[i];
		struct podgroup *g;
		struct node *n;
		char pod[16];

		cluster_fixture_queue(f.cluster, name, NULL, -1);
		g = evict_fixture_podgroup(f.cluster, name, name, 2, 1);
		n = cluster_fixture_node(f.cluster, name, 2000);
		for (int k = 0; k < 2; k++) {
			snprintf(pod, sizeof(pod), "%s-%d", name, k);
			evict_fixture_running(f.cluster, pod, g, 1000, n);
		}
	}
	(void)cycle_fixture_run(&f);
	(void)cycle_fixture_run(&f);
	cluster_fixture_task(f.cluster, "p", evict_fixture_podgroup(f.cluster, "high", "q", 1, 9),
			     1000);
	snprintf(decisions, sizeof(decisions), "%s", cycle_fixture_run(&f));
	cycle_fixture_finish(&f);
	return decisions;
}

static void gangs_of_the_own_queue(void **state)
{
	const char *got;

	(void)state;
	got = run(conf);
	assert_non_null(strstr(got, "Evict q-0; Evict q-1; Await p q"));
	assert_null(strstr(got, "other-"));
}

static void no_gang_as_a_whole_unless_allowed(void **state)
{
	char text[sizeof(conf) + 200];

	(void)state;
	snprintf(text, sizeof(text),
		 "%sconfigurations:\n- name: gangpreempt\n  arguments:\n    allowWholeBundle: %s\n",
		 conf, "false");
	assert_null(strstr(run(text), "Evict"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(gangs_of_the_own_queue),
		cmocka_unit_test(no_gang_as_a_whole_unless_allowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
