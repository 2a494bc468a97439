/* scheduler/ctl/quota_try.h: what a scheduling cycle would make of one workload alone, as if it
 * were its turn: nothing else of the cycle takes quota before it. One thread. */
#ifndef SCHEDULER_CTL_QUOTA_TRY_H
#define SCHEDULER_CTL_QUOTA_TRY_H

#include "quota/quota_order.h"

struct quota_try {
	struct forest *forest;
	int64_t now;
	struct arena *arena; /* holds the result */
};

/* The world is as before, but for the scan position of w, which is forgotten. node: a ClusterQueue
 * in a tree. */
void quota_try_workload(const struct quota_try *t, struct workload *w, uint32_t node,
			struct entry *ret);
/* All that the workload asks of a resource, over those of its pod sets that may run on the flavor.
 * *ret_why: NULL, or why none of them may; in the arena. */
int64_t quota_try_asked(const struct quota *q, const struct workload *w, uint32_t flavor,
			uint32_t resource, struct arena *arena, const char **ret_why);

#endif
