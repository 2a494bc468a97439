/* scheduler/workloads/cycle/dry_run.h: a scheduling cycle for one workload alone, as if it came
 * first in the cycle: no other entry takes quota before it. Owner: the thread that owns the forest.
 * Pure. */
#ifndef SCHEDULER_WORKLOADS_CYCLE_DRY_RUN_H
#define SCHEDULER_WORKLOADS_CYCLE_DRY_RUN_H

#include "scheduler/workloads/cycle/entry_order.h"

struct dry_run {
	struct forest *forest;
	int64_t now;
	struct arena *arena; /* holds the result */
	/* Ids of workloads that are no candidates, in any order. The quota that they hold stays
	 * charged: it is not free for w either. */
	const uint32_t *gone;
	size_t ngone;
};

/* Leaves everything unchanged except that the scan position of w is cleared. node: a ClusterQueue
 * in a tree. */
void dry_run_workload(const struct dry_run *t, struct workload *w, uint32_t node,
		      struct entry *ret);
/* The request of the workload for a resource, over the pod sets that may run on the flavor.
 * *ret_why: NULL, or the reason why none of them may; in the arena. */
int64_t dry_run_asked(const struct quota_model *q, const struct workload *w, uint32_t flavor,
		      uint32_t resource, struct arena *arena, const char **ret_why);

#endif
