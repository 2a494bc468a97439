/* scheduler/workloads/pending/pending_heap.h: the binary heap of a ClusterQueue's pending
 * workloads, best first by pending_heap_cmp; each workload knows its index (workload.pos). Owner:
 * the sched thread. Pure.
 */
#ifndef SCHEDULER_WORKLOADS_PENDING_PENDING_HEAP_H
#define SCHEDULER_WORKLOADS_PENDING_PENDING_HEAP_H

#include "scheduler/workloads/model/quota_model.h"

/* Adds w, which waits in the queue; sets where and pos. */
void pending_heap_push(struct quota_model *model, struct cluster_queue *queue, struct workload *w);
/* Removes the element at pos; sets its `where` to QUOTA_NOWHERE. */
struct workload *pending_heap_remove(struct quota_model *model, struct cluster_queue *queue,
				     uint32_t pos);
/* The ids of its first elements in order, at most max; returns how many. */
size_t pending_heap_first(const struct quota_model *model, const struct cluster_queue *queue,
			  uint32_t *ret_ids, size_t max);
/* After the key of the element at pos changed. */
void pending_heap_fix(struct quota_model *model, struct cluster_queue *queue, uint32_t pos);
/* After the usage of LocalQueues changed, by which admission fair sharing orders: in linear time.
 */
void pending_heap_reorder(struct quota_model *model, struct cluster_queue *queue);
/* After the caller changed the array itself: orders it again, in linear time. */
void pending_heap_rebuild(struct quota_model *model, struct cluster_queue *queue);
/* The order of the heap, of two that wait in the same ClusterQueue: (admission fair sharing) usage;
 * sticky preemptor; priority; time; uid; key. It may be one that is not known: then neither usage
 * nor a preemptor counts. */
int pending_heap_cmp(const struct quota_model *model, const struct workload *a,
		     const struct workload *b);

#endif
