/* scheduler/multikueue/observe.h: keeps what scheduler/orchestrate decides from, out of what the
 * watch of a worker cluster delivers. A worker may be Headgate or Kueue: the dialects of preemption
 * gates are read alike, and where a worker gives no reasons (UnadmittedWorkloadsObservability off)
 * the messages of Kueue are. Times of the worker are compared for equality alone. Pure; owned by
 * the caller. */
#ifndef SCHEDULER_MULTIKUEUE_OBSERVE_H
#define SCHEDULER_MULTIKUEUE_OBSERVE_H

#include "scheduler/orchestrate/replica.h"

#define OBSERVE_MAX_UID 40 /* bytes kept of a UID, with the NUL; UIDs have 36 characters */

struct api_workload;

/* One Workload of a worker as it was read, without what was seen of it before. */
struct observation {
	/* As of struct replica; stray is false unless variants_observe has set it. */
	bool has_gate, is_open, stray, other_gate, signals, reserved, admitted;
	enum replica_answer answer;
	uint32_t victims; /* that it waits for, as its worker says; 0: for none, or it does not say
			   */
	int64_t evicted_at; /* as of struct observed */
};

/* The replica on one cluster. */
struct observed {
	struct replica replica;    /* its uid points to the one below: this struct is not moved */
	char uid[OBSERVE_MAX_UID]; /* "": there is none */
	int64_t evicted_at; /* of the condition, worker's clock; REPLICA_NOT_SEEN: not evicted */
	int64_t evicted_before; /* the same when the token was granted, or first seen */
	uint32_t victims;       /* as its worker names them now */
	bool seen;              /* evicted_before is known */
	bool settled;           /* and it is of a complete list, or of a grant */
};

/* Signals of one Workload are numbered by `signals`, which starts at 0. cluster is borrowed. */
void observe_init(struct observed *o, const char *cluster);
/* gate: the name of the manager's. */
void observe_read(const struct api_workload *w, const char *gate, struct observation *ret);
/* The replica with this UID as it is now; NULL: it does not exist. now: wall ns of the manager. The
 * cluster can be reached, and its list is complete. */
void observe_replica(struct observed *o, const char *uid, const struct observation *seen,
		     int64_t now, uint64_t *signals);
/* The connection is lost, or its list is not complete: the rest stays as last seen. The time in
 * which its worker is to react to an open gate begins again when it is back: it may have evicted,
 * and not have been able to write that. */
void observe_unreachable(struct observed *o);
/* The list is complete in which the replica was. */
void observe_reachable(struct observed *o, int64_t now);
/* The token was granted to this replica: evictions and refusals from now on are of this attempt,
 * and so are the victims that it waits for already. */
void observe_granted(struct observed *o);
/* The API server refused to open the gate. */
void observe_refused(struct observed *o);
/* The first gate of its spec with another name that is not open; NULL: none. Borrowed. */
const char *observe_other_gate(const struct api_workload *w, const char *gate);
/* The same of a variant (variants.h), without the gate that Kueue opens itself. */
const char *observe_other_gate_of_variant(const struct api_workload *w, const char *gate);
/* Why a replica without quota has none. */
enum replica_answer observe_answer(const struct api_workload *w);

#endif
