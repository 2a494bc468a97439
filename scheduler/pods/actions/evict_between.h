/* scheduler/pods/actions/evict_between.h: which PodGroup is served next by evictions, within a
 * queue or for a queue from others: the same for the actions that evict pods one by one (preempt,
 * reclaim) and for those that evict gangs (gangpreempt, gangreclaim). Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_ACTIONS_EVICT_BETWEEN_H
#define SCHEDULER_PODS_ACTIONS_EVICT_BETWEEN_H

#include <stdbool.h>

struct session;

enum evict_gangs {
	EVICT_GANGS_AS_PLUGINS_SAY, /* pods one by one, which the plugin gang may protect */
	EVICT_GANGS_SPARED,         /* pods that their gangs can spare */
	EVICT_GANGS_WHOLE,          /* these first, then gangs as a whole (evict_gang.h) */
};

/* PodGroups that starve, in order: their pods take the room of pods of PodGroups of the same queue
 * with a lower priority. */
void evict_between_podgroups(struct session *s, enum evict_gangs gangs);
/* PodGroups that starve, queue by queue: their pods take the room of pods of queues that have more
 * than they deserve, as long as their own queue gets no more than it deserves. */
void evict_between_queues(struct session *s, enum evict_gangs gangs);

#endif
