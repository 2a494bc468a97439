/* scheduler/workloads/status/workload_status.h: the parts of a Workload's status that follow from
 * the engine's decisions: conditions, admission, admission checks, preemption gates, scheduling
 * statistics, and the events that go with them. The old status and a decision in, the new status
 * out; both `headgatectl simulate` and the writer of statuses use it. Names as in the API group
 * kueue.x-k8s.io. Owner: the caller. Pure. */
#ifndef SCHEDULER_WORKLOADS_STATUS_WORKLOAD_STATUS_H
#define SCHEDULER_WORKLOADS_STATUS_WORKLOAD_STATUS_H

#include "collections/vec.h"
#include "scheduler/workloads/cycle/admission_cycle.h"

#define WORKLOAD_STATUS_MESSAGE_MAX 32768 /* bytes; longer messages are cut */
#define WORKLOAD_STATUS_EVENT_MAX 1024
/* The message of Admitted=False by checks. The cycle and the reconciler say it alike (Kueue: the
 * latter), or each Workload would be written once more for it. */
#define WORKLOAD_STATUS_UNSATISFIED "The workload has not all checks ready"

struct condition {
	const char *type, *status, *reason, *message; /* status: "True", "False", "Unknown" */
	int64_t at;                                   /* lastTransitionTime, wall ns */
	int64_t generation;                           /* observedGeneration; 0: absent */
};

struct workload_status_check { /* status.admissionChecks[] */
	const char *name, *message;
	enum quota_check_state state;
	int64_t at;
	int32_t retries;
	int32_t requeue_after; /* requeueAfterSeconds; 0: absent */
	bool has_updates;      /* podSetUpdates is not empty; what is in it is the check's affair */
	bool drops_updates;    /* it is to be emptied */
};

struct workload_status_gate { /* status.preemptionGates[] */
	const char *name;
	bool open;
	bool disagrees;  /* its fields: another client has changed one of them */
	unsigned fields; /* that it has (api/kueue/preemption_gate.h) */
	int64_t at;
};

struct workload_status_eviction { /* status.schedulingStats.evictions[] */
	const char *reason, *cause;
	int32_t count;
};

struct workload_status_usage { /* of one resource of a pod set */
	uint32_t resource;
	const char *flavor; /* NULL in resourceRequests */
	int64_t amount;
};
struct workload_status_podset {
	const char *name;
	int32_t count;
	struct workload_status_usage *v;
	size_t n;
};

struct workload_status {
	struct arena *arena; /* borrowed; texts that are added live there */
	struct VEC(struct condition) conditions;
	struct VEC(struct workload_status_check) checks;
	struct VEC(struct workload_status_gate) gates;
	struct VEC(struct workload_status_eviction) evictions;
	bool has_admission;
	const char *queue; /* admission.clusterQueue; NULL: as it was */
	struct VEC(struct workload_status_podset) podsets; /* admission.podSetAssignments of ours */
	struct VEC(struct workload_status_podset) requests; /* resourceRequests; empty: none */
	const char *cluster;                                /* clusterName; NULL: none */
	struct VEC(const char *) nominated, unhealthy; /* nominatedClusterNames, unhealthyNodes */
	bool has_requeue_count, has_requeue_at, has_past_seconds;
	int32_t requeue_count; /* requeueState.count */
	int64_t requeue_at;    /* requeueState.requeueAt, wall ns */
	int32_t past_seconds;  /* accumulatedPastExecutionTimeSeconds */
	int64_t generation;    /* of the object */
};

struct workload_status_event {
	bool warning;
	uint32_t workload;
	const char *reason, *message; /* in the arena */
};
struct workload_status_events VEC(struct workload_status_event);

void workload_status_finish(struct workload_status *status);
/* Appends an event about the workload with this id; the message is cut between characters. */
void workload_status_add_event(struct workload_status *status,
			       struct workload_status_events *events, bool warning,
			       uint32_t workload, const char *reason, const char *message);
/* As in status.admissionChecks[].state. */
const char *workload_status_check_name(enum quota_check_state state);
/* NULL: not there. */
const struct condition *workload_status_condition(const struct workload_status *status,
						  const char *type);
bool workload_status_is_true(const struct workload_status *status, const char *type);
/* Sets status, reason, message and generation; the time of transition changes only with the status.
 * True when anything but the generation changed. Texts are copied. */
bool workload_status_set_condition(struct workload_status *status, const struct condition *to);
/* Takes a condition off; false: it was not there. */
bool workload_status_remove_condition(struct workload_status *status, const char *type);

/* Decides gates of which the fields disagree, of a status that was just read. before: as it stood
 * after our last write; NULL: not known. We write every field that an entry has, so the one that
 * differs from `before` is the one that another client has changed since: its value counts. A gate
 * of which nothing is known stays closed. */
void workload_status_settle_gates(struct workload_status *fresh,
				  const struct workload_status *before);

/* The status of the workload that d is about after d; appends to events (in order). The
 * model may have d applied or not: only names and requests are read from q. To one that has
 * finished nothing happens any more. */
void workload_status_decide(struct workload_status *status, const struct quota_model *q,
			    const struct admission_decision *d, int64_t now,
			    struct workload_status_events *events);

/* Any eviction: Evicted=True with the reason, counted with cause (may be ""); checks start again
 * (without podSetUpdates), gates close, clusters and unhealthy nodes are forgotten. It keeps its
 * reservation until workload_status_release. */
void workload_status_evict(struct workload_status *status, const char *reason, const char *cause,
			   const char *message, int64_t now);
/* The job of an evicted workload has stopped: the reservation is given back. Returns the seconds
 * that it was admitted, for accumulatedPastExecutionTimeSeconds. */
int32_t workload_status_release(struct workload_status *status, const char *message, int64_t now);

#endif
