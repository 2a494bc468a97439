/* Volcano's priority plugin: PodGroups and tasks with the higher priority first; within a queue,
 * they may evict those of a lower one. */
#include "scheduler/pods/plugins/registry.h"

#include "scheduler/pods/session/session.h"

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

static bool priority_job_starving(void *state, const struct session *s, const struct podgroup *g)
{
	(void)state;
	return session_podgroup_ready_count(s, g) +
		       (int32_t)session_podgroup_count(s, g, TASK_PIPELINED) <
	       (int32_t)g->tasks.n;
}

/* Pods of two PodGroups are compared by those, pods of one by their own priority. */
static bool priority_preemptable(void *state, struct session *s, const struct task *t,
				 const struct task *victim)
{
	const struct cluster *c = session_cluster(s);

	(void)state;
	if (t->podgroup == victim->podgroup) {
		return victim->priority < t->priority;
	}
	return cluster_task_standing(c, victim) < cluster_task_standing(c, t);
}

const struct plugin_ops priority_ops = {
	.name = "priority",
	.job_order = priority_job_order,
	.task_order = priority_task_order,
	.job_starving = priority_job_starving,
	.preemptable = priority_preemptable,
};
