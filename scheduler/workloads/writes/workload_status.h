/* scheduler/workloads/writes/workload_status.h: writes statuses of Workloads by server-side apply
 * as field manager kueue-admission (Kueue: admission patch): each write is the whole of what this
 * manager says, so that what it says no more goes away, and what others say (Finished, PodsReady,
 * reclaimable pods, the cost of preemption) stays. The object's UID is part of what is applied: a
 * namesake is never written to. Writes that wait are coalesced: the latest of a Workload is sent.
 * One with a resourceVersion is only done while the object has it (else: SCHED_STALE). Each write
 * that is not replaced by a later one ends in one SCHED_MSG_REQUEST_DONE with its version and, when
 * it was done, the resourceVersion of the answer. Owner: the sched thread calls; the pool works on
 * a thread of its own (or is stepped). */
#ifndef SCHEDULER_WORKLOADS_WRITES_WORKLOAD_STATUS_H
#define SCHEDULER_WORKLOADS_WRITES_WORKLOAD_STATUS_H

#include <stdint.h>

#include "scheduler/workloads/status/conditions.h"

struct api_workload_status;
struct arena;
struct pool;
struct pool_options;
struct sched_msg;
struct strbuf;
struct workload_status;

/* base: transport, clock, limiter, workers (0: manual), seed, may_send and its ctx. post (with the
 * same ctx) receives the outcomes. */
struct workload_status *workload_status_create(const struct pool_options *base,
					       void (*post)(void *ctx, struct sched_msg *msg));
void workload_status_destroy(struct workload_status *s); /* NULL is fine */
struct pool *workload_status_pool(struct workload_status *s);
struct workload_status_write {
	const struct workload *workload;
	const struct conditions *status;
	const struct conditions *before; /* as it stands; NULL: not known */
	int64_t resource_version;        /* the object must have it; 0: whatever it has */
	uint64_t version;                /* comes back with the outcome */
};
/* Copies all it needs. A list that becomes empty, of which others may own parts, is taken off by a
 * write of its own, which ends as SCHED_STALE: the status is to be sent again then. */
void workload_status_send(struct workload_status *s, const struct quota_model *q,
			  const struct workload_status_write *write);
/* The status as an object of the API; all: with the conditions of other managers. *ret is absent as
 * a whole before (decode_init); texts are borrowed, lists live in the arena. */
void workload_status_make(const struct quota_model *q, const struct conditions *status, bool all,
			  struct arena *arena, struct api_workload_status *ret);
/* The object that is applied, as JSON. */
void workload_status_format(const struct quota_model *q, const struct workload *w,
			    const struct conditions *status, int64_t resource_version,
			    struct strbuf *out);

#endif
