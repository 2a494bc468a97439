#include "lib/pods/evict_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/xmalloc.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"

const char evict_fixture_conf[] = "actions: \"allocate, preempt, reclaim\"\n"
				  "tiers:\n"
				  "- plugins:\n"
				  "  - name: priority\n"
				  "  - name: gang\n"
				  "    enablePreemptable: false\n"
				  "    enableReclaimable: false\n"
				  "  - name: conformance\n"
				  "- plugins:\n"
				  "  - name: predicates\n"
				  "  - name: capacity\n"
				  "    enableHierarchy: true\n";

struct podgroup *evict_fixture_podgroup(struct cluster *c, const char *name, const char *queue,
					int32_t min_member, int32_t priority)
{
	struct podgroup *g = cluster_fixture_podgroup(c, name, queue, min_member);

	g->priority = priority;
	free(g->uid);
	g->uid = xmalloc_printf("uid-%s", name);
	return g;
}

struct task *evict_fixture_running(struct cluster *c, const char *name, struct podgroup *g,
				   int64_t cpu, struct node *n)
{
	struct task *t = cluster_fixture_task(c, name, g, cpu);

	t->flags |= TASK_PREEMPTABLE;
	ledger_charge(c, t, c->queues.v[g->queue], CHARGE_BOUND);
	cluster_task_set_status(c, t, TASK_RUNNING, n);
	return t;
}

void evict_fixture_end(struct cluster *c, const char *name)
{
	char key[64];
	struct task *t;

	snprintf(key, sizeof(key), "ns/%s", name);
	t = cluster_task_find(c, str_of(key));
	assert_non_null(t);
	ledger_release(c, t);
	cluster_task_remove(c, t);
}
