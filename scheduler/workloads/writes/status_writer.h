/* scheduler/workloads/writes/status_writer.h: writes statuses of Workloads by server-side apply
 * as field manager kueue-admission (Kueue: admission patch): each write is the whole of what this
 * manager says, so that what it says no more goes away, and what others say (Finished, PodsReady,
 * reclaimable pods, the cost of preemption) stays. The object's UID is part of what is applied: a
 * namesake is never written to. Writes that wait are coalesced: the latest of a Workload is sent.
 * One with a resourceVersion is only done while the object has it (else: SCHED_STALE). A write that
 * is refused after an attempt of it was never answered ends as SCHED_STALE as well: the object may
 * have been written, so it has to be read before anything is decided from it. Each write
 * that is not replaced by a later one ends in one SCHED_MSG_REQUEST_DONE with its version and, when
 * it was done, the resourceVersion of the answer. Owner: the sched thread calls; the pool works on
 * a thread of its own (or is stepped). */
#ifndef SCHEDULER_WORKLOADS_WRITES_STATUS_WRITER_H
#define SCHEDULER_WORKLOADS_WRITES_STATUS_WRITER_H

#include <stdint.h>

#include "scheduler/workloads/status/workload_status.h"

struct api_workload_status;
struct arena;
struct pool;
struct pool_options;
struct sched_msg;
struct strbuf;
struct status_writer;

/* base: transport, clock, limiter, workers (0: manual), seed, may_send and its ctx. post (with the
 * same ctx) receives the outcomes. */
struct status_writer *status_writer_create(const struct pool_options *base,
					   void (*post)(void *ctx, struct sched_msg *msg));
void status_writer_destroy(struct status_writer *s); /* NULL is fine */
struct pool *status_writer_pool(struct status_writer *s);
struct status_writer_request {
	const struct workload *workload;
	const struct workload_status *status;
	const struct workload_status *before; /* as it stands; NULL: not known */
	int64_t resource_version;             /* the object must have it; 0: whatever it has */
	uint64_t version;                     /* comes back with the outcome */
	bool refused;                         /* the last write of this Workload was */
};
/* Copies all it needs. A list that becomes empty, of which others may own parts, is taken off by a
 * write of its own, which ends as SCHED_STALE: the status is to be sent again then. */
void status_writer_send(struct status_writer *s, const struct quota_model *q,
			const struct status_writer_request *write);
/* The status as an object of the API; all: with the conditions of other managers. *ret is absent as
 * a whole before (decode_init); texts are borrowed, lists live in the arena. */
void status_writer_make(const struct quota_model *q, const struct workload_status *status, bool all,
			struct arena *arena, struct api_workload_status *ret);
/* The object that is applied, as JSON. */
void status_writer_format(const struct quota_model *q, const struct workload *w,
			  const struct workload_status *status, int64_t resource_version,
			  struct strbuf *out);

#endif
