/* scheduler/workloads/controller/owner_controller.h: the controller of the objects that own
 * Workloads: batch/v1 Jobs of LocalQueues, and pods that queue alone or as a group (Kueue: the
 * batch/job and pod integrations). Every owner gets a Workload; the owner is started with the
 * flavors of the Workload's admission and stopped when the Workload is evicted; the Workload's
 * status shows the owner's progress. The writes are decided in job_plan.h and pod_plan.h from owner
 * and Workloads alone, every time one of them changes: a write that is lost or refused is sent
 * again, or decided again with the next change.
 *
 * Of a Workload this controller writes: the object itself and its spec (but spec.active), its
 * finalizer, and of the status, as field manager OWNER_WRITE_MANAGER, the conditions Finished,
 * PodsReady and WaitingForReplacementPods, and reclaimablePods. The rest of the status is the
 * engine's (workloads/status/workload_reconcile.h). Owner: the sched thread calls; the pool works.
 */
#ifndef SCHEDULER_WORKLOADS_CONTROLLER_OWNER_CONTROLLER_H
#define SCHEDULER_WORKLOADS_CONTROLLER_OWNER_CONTROLLER_H

#include <stdbool.h>

#include "base/str.h"
#include "kube/pool.h"

struct api_meta;
struct api_pod;
struct api_workload;
struct owner_controller;
struct kueue_conf_owners;
struct recorder;
struct sched_msg;

struct owner_controller_options {
	/* transport, clock, limiter, workers (0: manual), seed, may_send and its ctx */
	const struct pool_options *base;
	struct recorder *recorder;             /* borrowed; NULL: no events */
	const struct kueue_conf_owners *which; /* the kinds that are managed; borrowed */
	bool wait_pods_ready;                  /* waitForPodsReady: PodsReady is written */
	/* Whether a Workload that reads as admitted is still admitted: its eviction may have
	 * been decided already. NULL: it is. */
	bool (*may_start)(void *ctx, struct str workload);
	/* Workloads that concern no owner here are not kept. `knows`: whether there is one of this
	 * name; `read`: asks for it once more, because a Job names it as prebuilt. May be NULL: all
	 * Workloads concern an owner here. */
	bool (*knows)(void *ctx, struct str workload);
	void (*read)(void *ctx, struct str workload);
	/* Latencies; NULL: not measured. A Workload was created, so long after its Job or pod
	 * (kind). */
	void (*on_created)(void *ctx, const char *kind, const struct api_workload *w, int64_t ns);
	/* A pod of an admitted Workload lost its gate, so long after the admission. */
	void (*on_ungated)(void *ctx, const struct api_workload *w, bool group, int64_t ns);
	void *ctx;
};

enum owner_controller_activity {
	OWNER_CONTROLLER_FOREIGN, /* its owner is of another kind, or not known here */
	OWNER_CONTROLLER_RUN, /* the Job is not suspended, or has active pods; a pod of the group
				 runs */
	OWNER_CONTROLLER_STOPPED, /* nothing of it runs, it has ended, or is gone */
};

struct owner_controller *owner_controller_create(const struct owner_controller_options *opt);
void owner_controller_destroy(struct owner_controller *o); /* NULL is fine */
struct pool *owner_controller_pool(struct owner_controller *o);

/* An object of any kind but Workloads was added or changed (UPSERT) or is gone (DELETE); kinds that
 * no plan reads have no effect. The messages of Jobs, pods and flavors are kept by a reference.
 * Nothing is written before owner_controller_synced. */
void owner_controller_object(struct owner_controller *o, struct sched_msg *m);
/* The same for Workloads; m->object is one, and is kept if it concerns an owner. */
void owner_controller_workload(struct owner_controller *o, struct sched_msg *m);
/* key: "namespace/name"; an unknown one has no effect. */
void owner_controller_workload_gone(struct owner_controller *o, struct str key);
/* All kinds have been listed: owners that are not known do not exist. Decides about all. */
void owner_controller_synced(struct owner_controller *o);

/* Of a Workload with owners. It may change with every owner_controller_object: see
 * owner_controller_watch. */
enum owner_controller_activity owner_controller_activity(const struct owner_controller *o,
							 struct str key);
/* Of a Workload that concerns an owner here, valid until its next message; NULL: of another one. */
const struct api_meta *owner_controller_meta(const struct owner_controller *o, struct str key);
/* Deletes the Job of a Workload, with its pods; retire false takes that back unless it was sent.
 * No effect on other owners, nor when repeated. */
void owner_controller_retire(struct owner_controller *o, struct str key, bool retire);
/* Whether a Workload holds quota for the pod: that of its Job, of its group or its own; a pod with
 * a node stays with its Workload when the quota is given back. Before owner_controller_synced the
 * pod's labels decide. */
bool owner_controller_hold(struct owner_controller *o, const struct api_pod *pod);
/* To be called once, after owner_controller_synced: calls fn with each pod that had wrong labels;
 * key: "namespace/name". */
void owner_controller_hold_recheck(struct owner_controller *o,
				   void (*fn)(void *ctx, struct str key), void *ctx);
/* fn is called, from within the functions above, with the key of every Workload that changes its
 * activity; it must not call back into o but for owner_controller_activity. NULL: no calls. */
void owner_controller_watch(struct owner_controller *o, void (*fn)(void *ctx, struct str key),
			    void *ctx);

#endif
