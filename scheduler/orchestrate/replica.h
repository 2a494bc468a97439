/* scheduler/orchestrate/replica.h: the replicas of one Workload as the manager has observed them,
 * one for each cluster that it was offered to, and the class of each that follows (KEP-8303,
 * scheduler section). All times are wall times of the manager's clock, at which it saw a thing for
 * the first time: the times in a replica's status are of its worker's clock, and nothing is decided
 * by them. Plain data, owned by the caller. */
#ifndef SCHEDULER_ORCHESTRATE_REPLICA_H
#define SCHEDULER_ORCHESTRATE_REPLICA_H

#include <stdbool.h>
#include <stdint.h>

#define REPLICA_NOT_SEEN INT64_MIN
#define REPLICA_COST_UNKNOWN (-1)
#define REPLICA_COST_CANNOT INT64_MAX /* nothing that it may preempt there makes room */

/* Why a replica has no quota: the reason of its condition QuotaReserved, when that is False. */
enum replica_answer {
	REPLICA_NO_ANSWER,     /* no condition, or PendingEvaluation: no cycle has looked at it */
	REPLICA_GATED,         /* AdmissionGated, or Pending with the signal: a gate is closed */
	REPLICA_IS_PREEMPTING, /* WaitingForPreemptedWorkloads: its victims have been evicted */
	REPLICA_DOES_NOT_FIT,  /* any other reason */
};

struct replica {
	const char *cluster;
	const char *uid; /* of the Workload on that cluster; NULL: there is none */
	bool reachable;  /* connected, and its list is complete; false: the rest is as last seen */
	bool has_gate;   /* spec.preemptionGates names the manager's gate */
	bool is_open;    /* and the status says that it is open */
	bool stray; /* it consists of several Workloads, and the gate of one is open that is not
		     * to preempt: it is closed first, whatever the class */
	bool other_gate; /* another gate of its spec is not open */
	bool signals;    /* the condition by which a worker asks for the gate is True */
	bool evicted;    /* since the gate was opened for it */
	bool reserved, admitted;
	bool refused; /* the API server refused to open its gate for this grant */
	/* Workloads that were evicted for it since the gate was opened for it: the most that its
	 * worker has named at once; 0: none, or the worker reported none. */
	uint32_t victims;
	bool busy; /* other Workloads hold as many gates of its ClusterQueue as may be open */
	enum replica_answer answer;
	/* It consists of several Workloads (variants of Kueue's ConcurrentAdmission), and a cycle
	 * has not looked at one of them yet: it may fit without preemption. */
	bool unanswered;
	/* When the manager saw first, each time that it became so: the signal; the gate open, where
	 * each time that its cluster is back counts as the first; that it preempts or has quota.
	 * REPLICA_NOT_SEEN: it is not so. Signals are numbered in the
	 * order in which they were seen, from 1. */
	int64_t signal_seen, open_seen, ahead_seen;
	uint64_t signal_number;
	int64_t cost; /* of what would be evicted for it, >= 0; or one of REPLICA_COST_* */
};

enum replica_class {
	REPLICA_UNREACHABLE,
	REPLICA_UNEVALUATED, /* not created yet, or not looked at yet */
	REPLICA_CANNOT,      /* it does not fit, with preemption or without */
	REPLICA_HELD_BACK,   /* it would preempt, but a gate that is not the manager's is closed, or
			      * it   has no gate of the manager's */
	REPLICA_CANDIDATE,   /* it would preempt if its gate was open */
	REPLICA_PREEMPTING,  /* victims are leaving; it is about to fit */
	REPLICA_RESERVED,    /* it has quota, and waits for its worker's admission checks */
	REPLICA_ADMITTED,
	REPLICA_CLASS_COUNT_
};

/* A signal counts while the answer says the same: workers leave it True when a replica has stopped
 * being able to preempt. */
enum replica_class replica_class(const struct replica *r);
const char *replica_class_name(enum replica_class c); /* "Candidate", for explanations */

#endif
