/* scheduler/pods/session/order.h: which queue and which PodGroup is next: a heap of queues by queue
 * order, each with a heap of PodGroups by Volcano's jobOrder. Queue order is evaluated again
 * whenever a queue is put back, so that shares are fresh. Owner: the action that made it. Thread:
 * sched. Pure.
 */
#ifndef SCHEDULER_PODS_SESSION_ORDER_H
#define SCHEDULER_PODS_SESSION_ORDER_H

#include "collections/heap.h"
#include "scheduler/pods/session/session.h"

/* To be embedded in the action's own record of a PodGroup. */
struct order_podgroup {
	const struct podgroup *podgroup;
	bool first;  /* before all PodGroups that are not */
	bool filled; /* lacks nothing to start with: behind those that do, where the plugins have
			no preference */
};

struct order_queue {
	const struct queue *queue;
	struct heap podgroups; /* of struct order_podgroup */
};

struct order {
	const struct session *session;
	struct heap queues;         /* of struct order_queue */
	struct order_queue **by_id; /* session arena */
	size_t n;
};

void order_init(struct order *o, const struct session *s);
void order_finish(struct order *o);
/* The PodGroup's queue must be known. Queues join order_next_queue when order_start is called. */
void order_add(struct order *o, struct order_podgroup *g);
void order_start(struct order *o);
struct order_queue *order_next_queue(struct order *o); /* NULL: none left */
void order_put_back(struct order *o, struct order_queue *q);
struct order_podgroup *order_next_podgroup(struct order_queue *q); /* NULL: none left */

/* Serves every PodGroup of a queue that is due and that is wanted once: queues in turn, one
 * PodGroup each. */
void order_for_each_podgroup(struct session *s,
			     bool (*is_wanted)(struct session *s, const struct podgroup *g),
			     void (*serve)(struct session *s, const struct queue *q,
					   const struct podgroup *g));

/* The PodGroup's tasks in task order; in the session's arena. */
const struct task **order_tasks(const struct session *s, const struct podgroup *g, size_t *ret_n);
/* Sorts tasks in task order. */
void order_sort(const struct session *s, const struct task **tasks, size_t n);

#endif
