/* scheduler/multikueue/manager/manager.h: the next actions of MultiKueue for one local Workload:
 * replicas on worker clusters, the one that wins, its job, the way back of the job's status, and
 * the end (Kueue: the workload reconciler of MultiKueue and its dispatchers). A job is a Job, or
 * one of the other kinds of carried.h; it consists of one or more objects. Preemption gates are
 * not here (scheduler/orchestrate). Pure: one call gives all that is to be done now, from the
 * objects as they stand. Nothing is remembered between calls, so that a restart, a lost call and a
 * lost write change nothing; when everything stands as it should, there is nothing to do.
 *
 * Calls. It is called again after each change of the local Workload, its Job, the MultiKueueConfig,
 * the state of a connection, or an object on a worker cluster, and at the time that the step names.
 * Kueue asks again every 2 s or 15 minutes instead where it does not watch.
 *
 * Carrying out. No action needs another one of its step to have succeeded. The caller begins them
 * in their order, and leaves out those on an object to which a write is in flight (so of two on one
 * object the second comes again with the next call), and those on a cluster that it waits for after
 * a failure. The others go on, so that one sick cluster blocks nothing (Kueue gives up the whole
 * pass). After a write was answered, the object is read before
 * the next call: decisions are never made from before a write of this manager. A write that left
 * the resourceVersion as it was had no effect (an API server of another version may drop a field):
 * it is not repeated before one of the objects changes, and neither is one that was refused.
 *
 * Write-ahead. A cluster is nominated in the local status before a replica is created there, and is
 * recorded in status.clusterName before a Job is: a manager that crashes in between, or loses the
 * cluster, knows where the Job may be. Kueue creates first and records afterwards.
 *
 * At most one cluster runs the Job. Another one is started only after the first was seen without
 * the Job, or was lost for worker_lost_ns. A cluster that is connected and keeps the Job although
 * it is deleted holds the others back no longer than that, either, counted from the quota
 * reservation. One gap is left: a manager that restarts while the cluster is away does not know of
 * a Job there if the core has released the quota since, which it does when no active pod was ever
 * reported.
 *
 * Field managers. On the manager's API server:
 *  - NOMINATE, SET_CLUSTER, SET_CHECK: server-side apply of Workload status as "kueue-admission"
 *    (KUEUE_FIELD_MANAGER), forced, with resourceVersion and with everything that this field
 *    manager keeps there (local_body.h). An eviction by the core (Kueue's or ours) clears
 *    clusterName and nominations by leaving them out of its own apply. That removes them only when
 *    no other field manager owns them; and what our apply leaves out is removed in the same way.
 *    A merge patch by the same name is another entry of managedFields, and does not help.
 *  - FINISH: server-side apply as MANAGER_FIELD_MANAGER, of the condition Finished alone. Headgate
 *    leaves Finished to the controller of the job, and its next apply as kueue-admission would
 *    remove it. Nothing ever has to take it back. Where the local object of the job shows the end,
 *    and the core finishes the Workload by it (carried_kind.core_finishes), there is none: Kueue's
 *    manager and its core both write it.
 *  - SYNC_JOB, RESET_JOB: merge patch of the status of the object; only MultiKueue writes it.
 * On a worker's API server:
 *  - CREATE_REPLICA, CREATE_JOB, DELETE_REPLICA, DELETE_JOB: as MANAGER_FIELD_MANAGER.
 *  - UPDATE_REPLICA, UPDATE_JOB, END_JOB: merge patches of one version of the object. Kueue's
 * sample role for managers does not grant the right to patch Jobs.
 *  - EVICT_REPLICA: server-side apply of the status, forced, as MANAGER_EVICT_FIELD_MANAGER, of the
 *    condition DeactivationTarget alone: the field manager of gate_write.h owns the entry of the
 *    gate, which an apply without it would remove. */
#ifndef SCHEDULER_MULTIKUEUE_MANAGER_MANAGER_H
#define SCHEDULER_MULTIKUEUE_MANAGER_MANAGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/kueue/kueue_keys.h"
#include "enc/field.h"
#include "scheduler/multikueue/manager/spec_sync.h"

#define MANAGER_FIELD_MANAGER KUEUE_MULTIKUEUE_CONTROLLER
#define MANAGER_EVICT_FIELD_MANAGER "kueue.x-k8s.io/multikueue-evict"
#define MANAGER_EVENT_REASON "MultiKueue" /* of all events, on the local Workload */
#define MANAGER_NOT_KNOWN INT64_MIN       /* of a time */

struct api_workload;
struct arena;
struct carried_kind;
struct carried_object;

enum manager_dispatcher {
	MANAGER_ALL_AT_ONCE, /* kueue.x-k8s.io/multikueue-dispatcher-all-at-once */
	MANAGER_INCREMENTAL, /* kueue.x-k8s.io/multikueue-dispatcher-incremental */
	MANAGER_EXTERNAL,    /* another program writes status.nominatedClusterNames */
};

struct manager_options {
	int64_t worker_lost_ns; /* workerLostTimeout */
	enum manager_dispatcher dispatcher;
	size_t step_size; /* INCREMENTAL: clusters of a round, at least 1 */
	int64_t round_ns;
	/* Replicas have the preemption gate (MultiKueueOrchestratedPreemption). A round of
	 * INCREMENTAL then ends early when all that it was offered to have answered that they
	 * cannot take it as they are: no cluster is to preempt while another one was not asked. */
	bool gated;
	/* The pause after the second eviction in a row by worker clusters; doubles with each, up to
	 * MANAGER_BOUNCE_MAX_NS; 0: none, as in Kueue. Core Kueue keeps the pause
	 * (requeueAfterSeconds of the check) and the count (retryCount). */
	int64_t bounce_ns;
};

#define MANAGER_BOUNCE_MAX_NS (INT64_C(1800) * 1000000000)

/* Kueue's: all at once, 15 minutes for lost workers, rounds of 3 clusters and 5 minutes; and a
 * pause of 10 s. */
void manager_defaults(struct manager_options *ret);

enum manager_link {
	MANAGER_UP,    /* connected, and its lists are complete: NULL below is certain */
	MANAGER_LOST,  /* since lost_at; the objects are as last seen */
	MANAGER_NEVER, /* this manager has not been connected to it yet: no object is known */
};

/* An object there is this manager's if replica_body_is_ours says so, and one of a job if it names
 * the Workload besides (replica_body_workload_of). Only such objects are given here: no action is
 * ever about another one. A name is taken if another object has it: the caller has seen it, or an
 * answer AlreadyExists, and looks again at its own pace. Such a cluster is not nominated, and can
 * neither get a replica nor win. */
struct manager_cluster {
	const char *name;
	bool configured; /* the MultiKueueConfig of the check names it. Others are given as long as
			  * they may have something of this Workload */
	enum manager_link link;
	/* Wall ns. LOST: of the first loss (struct connection). NEVER: of the one that a manager
	 * before this one has reported; MANAGER_NOT_KNOWN: none */
	int64_t lost_at;
	const struct api_workload *replica;
	enum spec_sync sync; /* how the replica differs from the local Workload, if both exist */
	bool replica_taken;
	/* Objects of the kind of the job cannot be used there, and why: "Foo.v1.example.com is not
	 * served". NULL: they can. Where they cannot be read either, the link is LOST or NEVER.
	 * Such a cluster is not nominated. */
	const char *kind_problem;
	/* One for each local object, in that order; then those that have no local one any more. */
	const struct carried_object *jobs;
	size_t njobs;
};

struct manager_view {
	const struct manager_options *opt;
	const struct api_workload *local; /* NULL: it is gone */
	/* The kind of the owner; NULL: it is not carried, or not by this manager. */
	const struct carried_kind *kind;
	/* The local objects of the job; none: they do not exist, or are not read yet. */
	const struct carried_object *jobs;
	size_t njobs;
	const char *kind_problem; /* the same here */
	const char *check;        /* name of the AdmissionCheck of MultiKueue; NULL: it has none */
	bool has_config; /* its MultiKueueConfig was read; false: nothing is begun or given up */
	const struct manager_cluster *clusters; /* in configured order, then others; distinct */
	size_t n;
	int64_t began;    /* wall ns at which this manager began to lead: a cluster that is NEVER
			   * counts as lost since then at the latest; one that is up may need a
			   * while */
	int64_t round_at; /* INCREMENTAL: wall ns at which the last NOMINATE was answered;
			   * MANAGER_NOT_KNOWN: a round that was begun before counts from `began` */
	int64_t now;      /* wall ns of the manager */
};

enum manager_act {
	/* On a cluster. */
	MANAGER_CREATE_REPLICA, /* replica_body_create */
	MANAGER_UPDATE_REPLICA, /* its priority: replica_body_priority */
	/* All that is there of it, in this order: the objects of the job, our finalizer, the
	 * Workload (replica_body_delete, replica_body_without_finalizer). Those that are not there,
	 * or are being deleted already, are passed over. */
	MANAGER_DELETE_REPLICA,
	MANAGER_EVICT_REPLICA, /* asks the worker to stop it: replica_body_evict of `message` */
	/* On one object of the job there. */
	MANAGER_CREATE_JOB, /* carried_kind.create */
	MANAGER_UPDATE_JOB, /* its WorkloadPriorityClass, which the worker's job reconciler then
			     * gives to the replica: replica_body_class */
	MANAGER_END_JOB,    /* replica_body_ended */
	MANAGER_DELETE_JOB, /* replica_body_delete */
	/* On the status of a local object of the job. */
	MANAGER_SYNC_JOB,  /* from the object on the cluster: carried_kind.sync */
	MANAGER_RESET_JOB, /* carried_kind.reset */
	/* On the local Workload's status. */
	MANAGER_NOMINATE,    /* `names`, replacing the list; the caller notes the time of the answer
				as round_at */
	MANAGER_SET_CLUSTER, /* the cluster has won: clusterName, no nominations, the check Ready
			      * with `message`, in one write; `names`: pod sets of which the delayed
			      * topology is Ready */
	MANAGER_SET_CHECK,   /* the check to `state` with `message`; maybe `requeue_after` */
	MANAGER_FINISH,      /* condition Finished with `reason` and `message` */
	MANAGER_ACT_COUNT_
};

/* Texts live in the arena, are borrowed from the view, or are static. */
struct manager_action {
	enum manager_act act;
	size_t cluster;      /* in the view; SIZE_MAX: none */
	size_t job;          /* of actions about one object: its place in the lists `jobs` */
	const char *state;   /* of SET_CHECK: KUEUE_CHECK_RETRY, ... */
	const char *reason;  /* of Finished */
	const char *message; /* of the check, Finished, or DeactivationTarget */
	struct field_strs names;
	int32_t requeue_after; /* seconds; 0: none */
	const char *event;     /* recorded once the write was accepted; NULL: none */
	bool warning;          /* type of the event; false: Normal */
};

struct manager_step {
	const struct manager_action *v; /* in the arena */
	size_t n;
	int64_t at; /* wall ns at which to look again; CLOCK_NEVER: only a change matters */
};

/* The view is not changed. */
void manager_next(const struct manager_view *view, struct arena *arena, struct manager_step *ret);
const char *manager_act_name(enum manager_act act); /* "CreateReplica" */

#endif
