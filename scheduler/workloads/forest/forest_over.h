/* scheduler/workloads/forest/forest_over.h: which ClusterQueues use more than their quota. Every
 * search for victims asks that of whole cohorts, and in a cycle there may be as many searches as
 * queues: so it is remembered until somebody gets quota or gives it back. Owner: the sched thread.
 * Pure. */
#ifndef SCHEDULER_WORKLOADS_FOREST_FOREST_OVER_H
#define SCHEDULER_WORKLOADS_FOREST_FOREST_OVER_H

#include "base/vec.h"
#include "scheduler/workloads/forest/forest.h"

struct forest_over_list {
	uint32_t *v; /* ids of nodes; freed by the caller (vec_finish) */
	size_t n, cap;
};

/* Appends the queues right below the cohort that are not forest_within_nominal, each once, in no
 * order that means anything. With all charges undone it costs the number of those found, and that
 * of the children only for the first one who asks. */
void forest_over_collect(struct forest *f, uint32_t cohort, const uint32_t *pairs, size_t n,
			 struct forest_over_list *out);
void forest_over_free(struct forest *f); /* what is remembered */

#endif
