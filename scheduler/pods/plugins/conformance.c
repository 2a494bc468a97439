/* Volcano's conformance plugin: keeps pods of system priority classes and of kube-system from being
 * evicted. */
#include "scheduler/pods/plugins/registry.h"

static bool conformance_permits(void *state, struct session *s, const struct task *t,
				const struct task *victim)
{
	(void)state;
	(void)s;
	(void)t;
	return (victim->flags & TASK_CRITICAL) == 0;
}

const struct plugin_ops conformance_ops = {
	.name = "conformance",
	.preemptable = conformance_permits,
	.reclaimable = conformance_permits,
};
