/* scheduler/workloads/forest/forest_over.h: the ClusterQueues that use more than their quota. Every
 * search for victims needs them for whole cohorts, and a cycle may have as many searches as queues:
 * so they are cached until some workload gets or releases quota. Owner: the sched thread.
 * Pure. */
#ifndef SCHEDULER_WORKLOADS_FOREST_FOREST_OVER_H
#define SCHEDULER_WORKLOADS_FOREST_FOREST_OVER_H

#include "collections/vec.h"
#include "scheduler/workloads/forest/forest.h"

struct forest_over_list VEC(uint32_t); /* ids of nodes; freed by the caller (vec_finish) */

/* Appends the queues right below the cohort that are not forest_within_nominal, each once, in no
 * particular order. With all charges undone it costs the number of queues found; only the first
 * call for a cohort costs the number of its children. */
void forest_over_collect(struct forest *f, uint32_t cohort, const uint32_t *pairs, size_t n,
			 struct forest_over_list *out);
void forest_over_free(struct forest *f); /* the cache */

#endif
