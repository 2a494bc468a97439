/* scheduler/workloads/preempt/ranking.h: candidates in the order in which they are tried. Often the
 * first one is enough, so the others are sorted only when one of them is needed. Owner: the sched
 * thread. Pure. */
#ifndef SCHEDULER_WORKLOADS_PREEMPT_RANKING_H
#define SCHEDULER_WORKLOADS_PREEMPT_RANKING_H

#include "scheduler/workloads/preempt/candidates.h"

struct ranking {
	struct candidate **v; /* that of the list, until it is sorted; then in the arena */
	size_t n;
	struct candidate *first; /* NULL: not found yet */
	bool sorted;
	struct arena *arena;
};

/* Of all that are in the list: by rank, then candidates_cmp. Neither the list nor what is compared
 * may change any more. */
void ranking_init(struct ranking *r, const struct candidates *all, struct arena *arena);
/* The i-th, i < n. The first one costs O(n); so do the others together, unless many have the
 * same priority, cost and time: O(n log n). */
struct candidate *ranking_at(struct ranking *r, size_t i);

#endif
