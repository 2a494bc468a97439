/* scheduler/workloads/cycle/nomination.h: checks a head, and finds the flavors and the victims with
 * which it could be admitted (Kueue: scheduler.nominate). Owner: the sched thread. Pure. */
#ifndef SCHEDULER_WORKLOADS_CYCLE_NOMINATION_H
#define SCHEDULER_WORKLOADS_CYCLE_NOMINATION_H

#include "scheduler/workloads/cycle/entry_order.h"

struct nominate_context {
	struct forest *forest;
	struct arena *arena;   /* results live here */
	struct arena *scratch; /* of searches for victims; may be NULL */
	int64_t now;
	const uint32_t *gone; /* removed workloads: victims of other entries */
	size_t ngone;
};

/* e->w and e->node are given. Sets status NOMINATED with an assignment and victims, or
 * NOT_NOMINATED with reason, message and requeue. Where the scan over the flavors stopped is
 * stored in the workload. */
void nomination(const struct nominate_context *c, struct entry *e);
/* For a nominated entry: assignment and victims again, from the first flavor, but only with the
 * flavors that it had. */
void nomination_recompute(const struct nominate_context *c, struct entry *e);
/* Partial admission: w may be admitted with fewer pods than it asks for. */
bool nomination_may_shrink(const struct quota_model *q, const struct workload *w);
/* The usage of w at the queue `node` if it fits there without borrowing or preemption; else NULL.
 * Nothing is stored in w. */
const struct quota_amounts *nomination_usage_without_borrowing(const struct nominate_context *c,
							       struct workload *w, uint32_t node);

#endif
