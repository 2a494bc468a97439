/* scheduler/workloads/forest/share.h: dominant resource share (Kueue: fair sharing). The lendable
 * amounts are computed once per forest generation, not per candidate. Owner: the sched thread.
 * Pure. */
#ifndef SCHEDULER_WORKLOADS_FOREST_SHARE_H
#define SCHEDULER_WORKLOADS_FOREST_SHARE_H

#include "scheduler/workloads/forest/forest.h"

struct share {
	double unweighted; /* 1000 * borrowed / lendable of the dominant resource */
	double weight;
	uint32_t resource; /* the dominant one; MODEL_NONE: nothing is borrowed */
	bool borrowing;    /* above subtree quota of some pair */
};

/* Of a node with `extra` (may be NULL) on top of its usage. Roots have none. */
struct share share_of(const struct forest *f, uint32_t node, const struct quota_amounts *extra);
static inline bool share_is_infinite(struct share s)
{
	return s.weight == 0 && s.unweighted > 0;
}

static inline double share_weighted(const struct share *s)
{
	return s->unweighted > 0 ? s->unweighted / s->weight : 0;
}

/* By weighted share; weight 0 with something borrowed is above all others, two such by the
 * unweighted one. */
static inline int share_cmp(struct share a, struct share b)
{
	bool infinite = share_is_infinite(a);
	double x, y;

	if (infinite != share_is_infinite(b)) {
		return infinite ? 1 : -1;
	}
	x = infinite ? a.unweighted : share_weighted(&a);
	y = infinite ? b.unweighted : share_weighted(&b);
	return x < y ? -1 : x > y;
}

int64_t share_status(struct share s); /* rounded up; INT64_MAX when infinite */

#endif
