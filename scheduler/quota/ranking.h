/* scheduler/quota/ranking.h: candidates in the order in which they are tried. Often the first few
 * will do, so it is sorted only as far as somebody looks. Owner: the sched thread. Pure. */
#ifndef SCHEDULER_QUOTA_RANKING_H
#define SCHEDULER_QUOTA_RANKING_H

#include "quota/candidates.h"

#define RANKING_BOUNDS_MAX 32

struct ranked {
	uint64_t key; /* what comes first in the order, as one number */
	struct candidate *c;
};

struct ranking {
	struct ranked *v; /* in the arena */
	size_t n;
	size_t sorted; /* so many are in their places; the others come after them */
	/* Ends of the parts of the rest, the nearest one last: whatever is in a part comes before
	 * whatever is behind its end. */
	uint32_t bounds[RANKING_BOUNDS_MAX], nbounds;
	size_t budget; /* steps until the rest is sorted at one go, so that no input is slow */
};

/* Of all that are in the list: by rank, then candidates_cmp. rank and what is compared must not
 * change any more. */
void ranking_init(struct ranking *r, const struct candidates *all, struct arena *arena);
/* The i-th, i < n. Looking at the first k costs O(n + k log n), at all O(n log n). */
struct candidate *ranking_at(struct ranking *r, size_t i);

#endif
