/* scheduler/pods/actions/evict_step.h: common to the actions preempt and reclaim: pods of a
 * PodGroup that lacks nodes are put on nodes from which others are evicted, all or nothing. Thread:
 * sched. Pure. */
#ifndef SCHEDULER_PODS_ACTIONS_EVICT_STEP_H
#define SCHEDULER_PODS_ACTIONS_EVICT_STEP_H

#include "scheduler/pods/search/order.h"
#include "scheduler/pods/search/victims.h"

/* One PodGroup. In the session's arena. */
struct evict_work {
	struct order_podgroup order; /* first member */
	const struct queue *queue;
	const struct podgroup *podgroup;
	const struct task **tasks; /* its candidates for a node or for quota, in task order */
	size_t n, next;            /* tasks[next .. n - 1] are still to be looked at */
	bool reclaims;             /* for the queue, which must be entitled to each pod in turn */
	bool evicts;               /* pods were evicted for it before evict_step_serve */
	bool fits;                 /* evict_step_serve: what it found needs no evictions */
};

/* Whether pods may be evicted for the PodGroup at all: it is complete, and lacks nodes for pods
 * that it needs. */
bool evict_step_is_starving(struct session *s, const struct podgroup *g);
/* The work for such a PodGroup; NULL: no pod of it may preempt now. */
struct evict_work *evict_step_collect(struct session *s, const struct queue *q,
				      const struct podgroup *g);
/* The pod for which whole gangs are evicted, before evict_step_serve. Within a queue: of the pods
 * that the PodGroup needs, the one of the lowest priority (cluster_task_standing), since the room
 * is for all of them. Between queues: the first one. w has pods left. */
const struct task *evict_step_preemptor(const struct session *s, const struct evict_work *w);
/* Places pods until the PodGroup no longer starves, and those that it needs have a node each, now
 * or when the victims are gone; those for which no pod need be evicted are left to allocate. False:
 * nothing has changed, and there is no more to do for w. */
bool evict_step_serve(struct session *s, struct evict_work *w, struct victims *v);

#endif
