/* scheduler/pods/plugins/capacity_reclaim.h: when a queue takes back from others what it deserves,
 * and what may be taken: Volcano's rules of its capacity plugin. "Allocated" is as in capacity.c.
 * For that file. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_PLUGINS_CAPACITY_RECLAIM_H
#define SCHEDULER_PODS_PLUGINS_CAPACITY_RECLAIM_H

#include <stdbool.h>

#include "scheduler/pods/values/resources.h"

struct queue;
struct session;
struct task;
struct tree;

struct capacity_reclaim {
	const struct tree *tree;             /* over queue ids */
	const struct res *limits, *deserved; /* by queue id */
	unsigned levels;                     /* ancestorReclaimLevel */
	bool hierarchy;
};

/* q is within its limit with t, and within what it deserves in some dimension of t; or one of its
 * ancestors, up to that many levels, is. */
bool capacity_reclaim_is_entitled(const struct capacity_reclaim *r, const struct session *s,
				  const struct queue *q, const struct task *t);
/* The victim's queue stays at its guarantee at least, and has more than it deserves in a dimension
 * that the victim requests, or deserves nothing there. A queue that has what it deserves, or less,
 * loses nothing. q: the queue that reclaims, for t. */
bool capacity_reclaim_may_take(const struct capacity_reclaim *r, const struct session *s,
			       const struct queue *q, const struct task *t,
			       const struct task *victim);
/* False: q has nothing beyond what it deserves. */
bool capacity_reclaim_gives(const struct capacity_reclaim *r, const struct session *s,
			    const struct queue *q);

#endif
