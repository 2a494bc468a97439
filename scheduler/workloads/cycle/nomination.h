/* scheduler/workloads/cycle/nomination.h: may a head be looked at, and if so, which flavors and
 * which victims would let it in (Kueue: scheduler.nominate). Owner: the sched thread. Pure. */
#ifndef SCHEDULER_WORKLOADS_CYCLE_NOMINATION_H
#define SCHEDULER_WORKLOADS_CYCLE_NOMINATION_H

#include "scheduler/workloads/cycle/entry_order.h"

struct nominate_context {
	struct forest *forest;
	struct arena *arena;   /* results live here */
	struct arena *scratch; /* of searches for victims; may be NULL */
	int64_t now;
	const uint32_t *gone; /* workloads that are taken out: victims of others */
	size_t ngone;
};

/* e->w and e->node are given. Sets status NOMINATED with an assignment and victims, or
 * NOT_NOMINATED with reason, message and requeue. Where the scan over the flavors stopped is
 * remembered in the workload. */
void nomination(const struct nominate_context *c, struct entry *e);
/* For a nominated entry: assignment and victims anew, from the first flavor, but only with the
 * flavors that it had. */
void nomination_again(const struct nominate_context *c, struct entry *e);
/* What w would use at the queue `node` if it fits there without borrowing; else NULL. Whether it
 * could preempt is not looked at, and nothing is remembered. */
const struct quota_amounts *nomination_nominal(const struct nominate_context *c, struct workload *w,
					       uint32_t node);

#endif
