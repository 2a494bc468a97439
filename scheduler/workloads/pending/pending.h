/* scheduler/workloads/pending/pending.h: the pending workloads of each ClusterQueue: its heap,
 * the inadmissible ones, those in flight, and the moves between them (Kueue: queue manager). Rules:
 * StrictFIFO and BestEffortFIFO, sticky preemptor, equivalence hashing, cohort-wide flushes. Times
 * are handed in. Owner: the sched thread. Pure. */
#ifndef SCHEDULER_WORKLOADS_PENDING_PENDING_H
#define SCHEDULER_WORKLOADS_PENDING_PENDING_H

#include "collections/vec.h"
#include "scheduler/workloads/forest/forest.h"

/* A workload was added, changed or lost its quota, or its LocalQueue was added or deleted: moves it
 * to its place (heap, inadmissible, nowhere) in the ClusterQueue that its LocalQueue names.
 * `changed`: something changed that may help it (spec, boost, reclaimable pods, Evicted, Requeued,
 * closed gates, requests); else an inadmissible one stays where it is. A changed request is tried
 * even when its hash is known not to fit. In flight: unchanged. */
void pending_update(struct quota_model *q, struct workload *w, bool changed, int64_t now);
/* Takes it out of its place; it is no longer the sticky preemptor of its queue. */
void pending_remove(struct quota_model *q, struct workload *w);
struct pending_heads VEC(struct workload *);
/* Takes up to options.heads workloads of every queue that is active; they are in flight. Appends to
 * out; the caller frees its array (vec_finish). */
void pending_pop(struct quota_model *q, const struct forest *f, struct pending_heads *out);
/* Back from the cycle. pending: its scan has flavors left. */
void pending_requeue(struct quota_model *q, struct workload *w, enum quota_requeue why,
		     bool pending, int64_t now);
/* Whether it would go to the heap. */
bool pending_is_immediate(const struct quota_model *q, const struct workload *w,
			  enum quota_requeue why, bool pending, int64_t now);
/* Removes w's hash from the hashes that are known not to fit: the next equal workload is tried. */
void pending_unblock(struct quota_model *q, const struct workload *w);
/* Capacity may be free in the tree of node (a standalone queue, or any node of its cohort): moves
 * the inadmissible workloads that may be tried back to the heaps and clears the blocked hashes.
 * Returns the number of moved workloads. */
size_t pending_flush(struct quota_model *q, const struct forest *f, uint32_t node, int64_t now);
/* Moves the workloads with a backoff that is over to the heap. Returns the next end of a backoff;
 * INT64_MAX: none. */
int64_t pending_timers(struct quota_model *q, int64_t now);
/* Not blocked by Requeued=False, and requeueState.requeueAt is reached. */
bool pending_backoff_is_over(const struct workload *w, int64_t now);
/* Not gated, finished, inactive, holding, on hold, waiting for replacement pods. */
bool pending_is_admissible(const struct workload *w);
/* The queue has a ClusterQueue object, is not stopped, misses no object that it names, and is on no
 * cycle. */
bool pending_is_active(const struct forest *f, const struct quota_node *n);
/* Whether w, in its present generation, is the sticky preemptor of its queue. */
bool pending_is_preemptor(const struct quota_model *q, const struct workload *w);
/* The namespace of w exists and the queue selects it. */
bool pending_selects(const struct quota_model *q, const struct cluster_queue *queue,
		     const struct workload *w);

#endif
