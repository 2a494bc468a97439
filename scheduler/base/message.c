#include "scheduler/base/message.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/xmalloc.h"

/* Most messages are one object of 1 to 3 KB in memory, or a short text. Objects of worker clusters
 * are kept, with what is left of their last chunk. Larger requests than 1,024 bytes make glibc join
 * all that is free first. */
#define ARENA_CHUNK 960

struct sched_msg *message_new(enum sched_msg_kind kind)
{
	struct sched_msg *m = xmalloc_zero(1, sizeof(*m));

	m->kind = kind;
	m->refs = 1;
	m->arena = arena_create(ARENA_CHUNK);
	return m;
}

/* Not atomic: once a message is pushed, the sched thread alone counts its references. */
struct sched_msg *message_ref(struct sched_msg *m)
{
	m->refs++;
	return m;
}

void message_free(struct sched_msg *m)
{
	if (m != NULL && --m->refs == 0) {
		if (m->payload != NULL) {
			m->free_payload(m->payload);
		}
		arena_destroy(m->arena);
		free(m);
	}
}

const char *message_request_name(enum sched_request r)
{
	static const char *const names[SCHED_REQ_COUNT_] = {
		[SCHED_REQ_UNGATE] = "ungate",
		[SCHED_REQ_BIND] = "bind",
		[SCHED_REQ_EVICT] = "evict",
		[SCHED_REQ_POD_STATUS] = "pod_status",
		[SCHED_REQ_PODGROUP] = "podgroup",
		[SCHED_REQ_QUEUE] = "queue",
		[SCHED_REQ_WORKLOAD] = "workload",
		[SCHED_REQ_QUOTA_STATUS] = "quota_status",
		[SCHED_REQ_QUOTA_FINALIZER] = "quota_finalizer",
		[SCHED_REQ_PREEMPTION_COST] = "preemption_cost",
		[SCHED_REQ_PREEMPTION_TOKEN] = "preemption_token",
		[SCHED_REQ_PREEMPTION_GATE] = "preemption_gate",
		[SCHED_REQ_REPLICA] = "replica",
		[SCHED_REQ_REPLICA_JOB] = "replica_job",
		[SCHED_REQ_DISPATCH] = "dispatch",
		[SCHED_REQ_JOB_STATUS] = "job_status",
		[SCHED_REQ_CLAIM] = "claim",
		[SCHED_REQ_VOLUME] = "volume",
		[SCHED_REQ_CLUSTER_STATUS] = "cluster_status",
	};

	return names[r];
}

const char *message_outcome_name(enum sched_outcome o)
{
	static const char *const names[] = { "done",      "gone",  "rejected",
					     "cancelled", "stale", "unanswered" };

	return names[o];
}
