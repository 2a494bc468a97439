#include "scheduler/pods/actions/evict_between.h"

#include <string.h>

#include "lib/pods/core_fixture.h"
#include "lib/pods/evict_fixture.h"
#include "lib/unit.h"

/* Of two PodGroups, in the order of their priorities, the first one gets the room of the one pod of
 * the queue that may go; it is asked about the plugin gang or not. */
static const char *run(struct core_fixture *f, bool between_queues, enum evict_gangs gangs,
		       int32_t min_member)
{
	const char *const queue = between_queues ? "b" : "a";
	struct podgroup *g;
	struct cluster *c;

	core_fixture_init(f, "actions: preempt\n"
			     "tiers:\n"
			     "- plugins:\n"
			     "  - name: priority\n"
			     "  - name: gang\n"
			     "  - name: conformance\n"
			     "- plugins:\n"
			     "  - name: predicates\n"
			     "  - name: capacity\n");
	c = f->f.cluster;
	cluster_fixture_queue(c, "a", NULL, -1);
	cluster_fixture_queue(c, "b", NULL, -1)->deserved.v[RES_CPU] = 9000;
	queue_topology_changed(c);
	g = evict_fixture_podgroup(c, "low", "a", min_member, 1);
	evict_fixture_running(c, "v0", g, 1000, cluster_fixture_node(c, "n0", 1000));
	evict_fixture_running(c, "v1", g, 1000, cluster_fixture_node(c, "n1", 1000));
	for (int i = 0; i < 2; i++) {
		g = evict_fixture_podgroup(c, i == 0 ? "mid" : "high", queue, 1, i == 0 ? 5 : 9);
		g->phase = PODGROUP_INQUEUE;
		cluster_fixture_task(c, i == 0 ? "mid" : "high", g, 1000);
	}
	core_fixture_open(f);
	if (between_queues) {
		evict_between_queues(f->s, gangs);
	} else {
		evict_between_podgroups(f->s, gangs);
	}
	return core_fixture_decisions(f);
}

static void which_victims(void **state)
{
	static const struct {
		enum evict_gangs gangs;
		int32_t min_member;
		const char *expected;
	} rows[] = {
		{ EVICT_GANGS_AS_PLUGINS_SAY, 2, "" },
		{ EVICT_GANGS_AS_PLUGINS_SAY, 1, "Evict v0; Await high n0" },
		{ EVICT_GANGS_SPARED, 2, "" },
		{ EVICT_GANGS_SPARED, 1, "Evict v0; Await high n0" },
		/* The second one is placed on what is left of the gang's room, without victims. */
		{ EVICT_GANGS_WHOLE, 2, "Evict v0; Evict v1; Await high n0" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		for (int between = 0; between < 2; between++) {
			struct core_fixture f;
			const char *got;

			unit_row_number(i);
			got = run(&f, between, rows[i].gangs, rows[i].min_member);
			if (strncmp(got, rows[i].expected, strlen(rows[i].expected)) != 0) {
				assert_string_equal(got, rows[i].expected);
			}
			core_fixture_finish(&f);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_victims),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
