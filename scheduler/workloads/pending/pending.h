/* scheduler/workloads/pending/pending.h: the pending workloads of each ClusterQueue: heap,
 * inadmissible ones, the one in flight, what moves them between (Kueue: queue manager). Rules:
 * StrictFIFO and BestEffortFIFO, sticky preemptor, equivalence hashing, cohort-wide flushes. Times
 * are handed in. Owner: the sched thread. Pure. */
#ifndef SCHEDULER_WORKLOADS_PENDING_PENDING_H
#define SCHEDULER_WORKLOADS_PENDING_PENDING_H

#include "scheduler/workloads/forest/forest.h"

/* A workload came, changed or lost its quota, or its LocalQueue came or went: puts it where it
 * belongs (heap, inadmissible, nowhere) in the ClusterQueue that its LocalQueue names. `changed`:
 * one of the things that are worth a new try changed (spec, boost, reclaimable pods, Evicted,
 * Requeued, closed gates, requests); else an inadmissible one stays where it is. One that asks for
 * something else than before is looked at even when its like did not fit. In flight: untouched. */
void pending_update(struct quota *q, struct workload *w, bool changed, int64_t now);
/* Out of wherever it is; it is nobody's preemptor any more. */
void pending_remove(struct quota *q, struct workload *w);
struct pending_heads {
	struct workload **v;
	size_t n, cap;
};
/* Takes up to options.heads workloads of every queue that is active; they are in flight. Appends to
 * out, whose array the caller frees (vec_finish). */
void pending_pop(struct quota *q, const struct forest *f, struct pending_heads *out);
/* Back from the cycle. pending: some flavor was not looked at yet. */
void pending_requeue(struct quota *q, struct workload *w, enum quota_requeue why, bool pending,
		     int64_t now);
/* Whether it would go to the heap. */
bool pending_is_immediate(const struct quota *q, const struct workload *w, enum quota_requeue why,
			  bool pending, int64_t now);
/* That workloads like w do not fit is forgotten: the next one of them is looked at. */
void pending_unblock(struct quota *q, const struct workload *w);
/* Capacity may be free in the tree of node (a standalone queue, or any node of its cohort): what is
 * inadmissible there and may be tried goes back to the heaps; blocked hashes are forgotten.
 * Returns how many workloads that were. */
size_t pending_flush(struct quota *q, const struct forest *f, uint32_t node, int64_t now);
/* Those whose back-off is over go to the heap. Returns the next time at which some back-off ends;
 * INT64_MAX: none. */
int64_t pending_timers(struct quota *q, int64_t now);
/* Not blocked by Requeued=False, and requeueState.requeueAt is reached. */
bool pending_backoff_is_over(const struct workload *w, int64_t now);
/* Not gated, finished, inactive, holding, on hold, waiting for replacement pods. */
bool pending_is_admissible(const struct workload *w);
/* The queue has a ClusterQueue object, is not stopped, lacks nothing and is on no cycle. */
bool pending_is_active(const struct forest *f, const struct quota_node *n);
/* Whether its record of who waits for victims names this workload as it is. */
bool pending_is_preemptor(const struct quota *q, const struct workload *w);
/* The namespace of w exists and the queue selects it. */
bool pending_selects(const struct quota *q, const struct cluster_queue *queue,
		     const struct workload *w);

#endif
