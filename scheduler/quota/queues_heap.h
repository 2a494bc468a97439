/* scheduler/quota/queues_heap.h: the binary heap of a ClusterQueue's pending workloads, best first
 * by queues_heap_cmp; each workload knows its index (workload.pos). Owner: the sched thread. Pure.
 */
#ifndef SCHEDULER_QUOTA_QUEUES_HEAP_H
#define SCHEDULER_QUOTA_QUEUES_HEAP_H

#include "model/quota_model.h"

/* Adds w, whose `queue` is that of h; sets where and pos. */
void queues_heap_push(struct quota *q, struct quota_queue *h, struct workload *w);
/* Takes the element at pos out; its `where` is QUOTA_NOWHERE then. */
struct workload *queues_heap_remove(struct quota *q, struct quota_queue *h, uint32_t pos);
/* The ids of its first elements in order, at most max; returns how many. */
size_t queues_heap_first(const struct quota *q, const struct quota_queue *h, uint32_t *ret_ids,
			 size_t max);
/* After the key of the element at pos changed. */
void queues_heap_fix(struct quota *q, struct quota_queue *h, uint32_t pos);
/* After the usage of LocalQueues changed, by which admission fair sharing orders: in linear time.
 */
void queues_heap_reorder(struct quota *q, struct quota_queue *h);
/* After the array was changed by hand: orders it anew, in linear time. */
void queues_heap_rebuild(struct quota *q, struct quota_queue *h);
/* The order of the heap, of two that wait in the same ClusterQueue: (admission fair sharing) usage;
 * sticky preemptor; priority; time; uid; key. */
int queues_heap_cmp(const struct quota *q, const struct workload *a, const struct workload *b);

#endif
