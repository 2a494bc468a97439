/* scheduler/workloads/status/workload_reconcile.h: reconciles one Workload outside scheduling
 * cycles: admission checks, backoffs, stopped queues, deactivation, time limits, eviction and the
 * return of its reservation (Kueue: the Workload controller). The state of one Workload in, its
 * next status, writes, events and the next time to look out. A call settles all that can be settled
 * at once; calling it again on its own result changes nothing, but that a Workload marked for
 * deactivation is deactivated then: its status has to say why before its spec does. Owner: the
 * caller. Pure. */
#ifndef SCHEDULER_WORKLOADS_STATUS_WORKLOAD_RECONCILE_H
#define SCHEDULER_WORKLOADS_STATUS_WORKLOAD_RECONCILE_H

#include "scheduler/workloads/status/workload_status.h"

#define WORKLOAD_RECONCILE_NEVER INT64_MAX

struct workload_reconcile_queue { /* a LocalQueue or a ClusterQueue */
	const char *name;         /* "" when there is none */
	bool exists, terminating;
	bool inactive;          /* a ClusterQueue that may not admit, for whatever reason */
	bool refuses_namespace; /* a ClusterQueue that does not select the Workload's namespace */
	enum quota_stop stop;
};

enum workload_reconcile_job {
	WORKLOAD_RECONCILE_NO_JOB,      /* no owner: nothing runs on behalf of the Workload */
	WORKLOAD_RECONCILE_JOB_UNKNOWN, /* an owner that another controller manages */
	WORKLOAD_RECONCILE_JOB_RUNS,    /* not suspended, or pods are left */
	WORKLOAD_RECONCILE_JOB_STOPPED,
};

/* The Workload besides its status; all borrowed. */
struct workload_reconcile_in {
	uint32_t id; /* goes into events */
	const char *namespace_, *name, *uid;
	bool active; /* spec.active */
	bool deleted, has_finalizer, has_owner;
	bool had_owner;        /* it was made for a job: label kueue.x-k8s.io/job-uid */
	int32_t max_execution; /* spec.maximumExecutionTimeSeconds; 0: no limit */
	const char *gated_by;  /* annotation admission-gated-by; NULL or "": not gated */
	const char *invalid;   /* why it can never be admitted as it is; NULL: it can */
	const char **gates;    /* spec.preemptionGates, NULL behind; NULL: none */
	unsigned gate_fields;  /* that their status is to have; 0: nothing is written of it */
	struct workload_reconcile_queue local, cluster;
	/* Checks that the ClusterQueue asks for with the flavors assigned
	 * (workload_reconcile_checks), any order. */
	const char *const *checks;
	size_t nchecks;
	/* The status in the API, which does not have the changes that wait to be written; NULL:
	 * there are none. */
	const struct workload_status *written;
	bool checks_known; /* false: flavors are not chosen yet, and the checks depend on them */
	enum workload_reconcile_job job;
};

/* The status: struct workload_status and what it does not have. */
struct workload_reconcile_state {
	struct workload_status *status;
	int32_t requeues;   /* requeueState.count; 0: absent */
	int64_t requeue_at; /* requeueState.requeueAt; MODEL_TIME_NONE */
	int32_t ran;        /* accumulatedPastExecutionTimeSeconds */
};

struct workload_reconcile_out {
	bool changed;          /* the status must be written */
	bool deactivate;       /* spec.active=false must be written */
	bool remove_finalizer; /* kueue.x-k8s.io/resource-in-use must go */
	bool remove;           /* the Workload must be deleted (objectRetentionPolicies) */
	bool remove_owner;     /* its Job must be deleted (objectRetentionPolicies) */
	bool released;         /* the reservation was given back */
	int64_t next;          /* wall ns to look again, WORKLOAD_RECONCILE_NEVER */
	struct workload_status_events events;
};

/* Changes s and fills ret, which workload_reconcile_finish frees. now: wall ns. */
void workload_reconcile(const struct workload_reconcile_in *in, const struct quota_times *times,
			struct workload_reconcile_state *s, int64_t now,
			struct workload_reconcile_out *ret);
void workload_reconcile_finish(struct workload_reconcile_out *out);

/* The names of the checks that w must pass in its queue: of the flavors it was assigned, or, before
 * that, of all flavors. Writes at most `most` names, sorted, and how many into *ret. False: they
 * depend on flavors that are not chosen yet, or w is in no queue. */
bool workload_reconcile_checks(const struct quota_model *q, const struct workload *w,
			       const char **names, size_t most, size_t *ret);
/* The backoff before try n (from 1) after pods were not ready in time: base * 2^(n-1) with a
 * jitter of 0.01 % that uid decides, at most times->backoff_max_ns. */
int64_t workload_reconcile_backoff(const struct quota_times *times, int32_t n, const char *uid);

#endif
