#include "scheduler/pods/actions/evict_between.h"
#include "scheduler/pods/actions/evict_step.h"
#include "scheduler/pods/actions/registry.h"

static bool is_wanted(struct session *s, const struct podgroup *g)
{
	return session_podgroup_count(s, g, TASK_RUNNING) > 0 && evict_step_is_starving(s, g);
}

/* One pod after the other, until the first that finds no victim. */
static void preempt_within(struct session *s, const struct queue *q, const struct podgroup *g)
{
	struct evict_work *w = evict_step_collect(s, q, g);
	struct victims *v;

	if (w == NULL) {
		return;
	}
	v = victims_of_podgroup(s, g);
	while (w->next < w->n && evict_step_serve(s, w, v)) {
	}
	victims_finish(v);
}

/* 1. PodGroups that starve take the room of others in their queue.
 * 2. Of those that still starve, pods take the room of pods of a lower priority in the same
 *    PodGroup. */
void preempt_run(struct session *s)
{
	evict_between_podgroups(s, EVICT_GANGS_AS_PLUGINS_SAY);
	order_for_each_podgroup(s, is_wanted, preempt_within);
}
