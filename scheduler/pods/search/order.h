/* scheduler/pods/search/order.h: which queue and which PodGroup is next. Each queue has a heap of
 * PodGroups by Volcano's jobOrder. Queues are compared by their present shares: what one queue gets
 * counts for its ancestors as well, and so may change the place of every queue below these. The
 * paths of the plugin drf (volcano.sh/hierarchy) are not part of that tree: there a queue may keep
 * its place while another one below the same path is served, as in Volcano. Owner: the action that
 * made it. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_SEARCH_ORDER_H
#define SCHEDULER_PODS_SEARCH_ORDER_H

#include "collections/heap.h"
#include "scheduler/pods/session/session.h"

/* To be embedded in the action's own record of a PodGroup. */
struct order_podgroup {
	const struct podgroup *podgroup;
	bool first;  /* comes before all PodGroups that are not */
	bool filled; /* has all members that it needs to start: comes behind those that lack some,
			where the plugins have no preference */
};

/* A queue with PodGroups to serve, or an ancestor of one. */
struct order_queue {
	const struct queue *queue;
	struct heap podgroups; /* of struct order_podgroup */
	/* For order.c: */
	bool waits;                /* has PodGroups to serve, and is not being served */
	struct order_queue *up;    /* the parent; NULL: struct order has it at the top */
	struct heap below;         /* the children that have a `first` */
	struct order_queue *first; /* of itself and all below it that wait, the one that comes
				      first; NULL: none waits */
	size_t place;              /* in the heap of the parent; SIZE_MAX: not there */
};

struct order {
	const struct session *session;
	struct heap top;            /* of struct order_queue, as their `below` */
	struct order_queue **by_id; /* session arena */
	size_t n;
	struct order_queue *served; /* the last result of order_next_queue */
};

void order_init(struct order *o, const struct session *s);
void order_finish(struct order *o);
/* The PodGroup's queue must be known. Queues join order_next_queue when order_start is called. */
void order_add(struct order *o, struct order_podgroup *g);
void order_start(struct order *o);
/* NULL: none is left. Since the last call only the shares of the queue that it returned may have
 * changed, and those of its ancestors. O(log queues) comparisons at each level above it. */
struct order_queue *order_next_queue(struct order *o);
/* The queue that was next stays in the order. */
void order_put_back(struct order *o, struct order_queue *q);
/* After shares of other queues have changed, too. O(queues). */
void order_refresh(struct order *o);
struct order_podgroup *order_next_podgroup(struct order_queue *q); /* NULL: none left */

/* Calls serve once for each PodGroup that is_wanted, in the queues that are due: queues take turns,
 * with one PodGroup per turn. */
void order_for_each_podgroup(struct session *s,
			     bool (*is_wanted)(struct session *s, const struct podgroup *g),
			     void (*serve)(struct session *s, const struct queue *q,
					   const struct podgroup *g));

/* The PodGroup's tasks in task order; in the session's arena. */
const struct task **order_tasks(const struct session *s, const struct podgroup *g, size_t *ret_n);
/* Sorts tasks in task order. */
void order_sort(const struct session *s, const struct task **tasks, size_t n);

#endif
