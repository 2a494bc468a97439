/* Volcano's priority plugin: PodGroups and tasks with the higher priority first. */
#include "scheduler/pods/plugins/registry.h"

static int by_priority(int32_t a, int32_t b)
{
	return a > b ? -1 : a < b;
}

static int priority_job_order(void *state, const struct session *s, const struct podgroup *a,
			      const struct podgroup *b)
{
	(void)state;
	(void)s;
	return by_priority(a->priority, b->priority);
}

static int priority_task_order(void *state, const struct session *s, const struct task *a,
			       const struct task *b)
{
	(void)state;
	(void)s;
	return by_priority(a->priority, b->priority);
}

const struct plugin_ops priority_ops = {
	.name = "priority",
	.job_order = priority_job_order,
	.task_order = priority_task_order,
};
