/* scheduler/workloads/controller/owner_controller.h: what owns Workloads: batch/v1 Jobs of
 * LocalQueues, and pods that queue alone or as a group (Kueue: the batch/job and pod integrations).
 * Every owner gets a Workload; it is started with the flavors of its admission and stopped when it
 * is evicted; its progress is told in the Workload's status. What has to be written is decided in
 * job_plan.h and pod_plan.h from owner and Workloads alone, every time one of them changes: a write
 * that is lost or refused is sent again, or decided again with the next change.
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
	struct recorder *recorder;             /* borrowed; NULL: nobody is told */
	const struct kueue_conf_owners *which; /* are managed; borrowed */
	bool wait_pods_ready;                  /* waitForPodsReady: PodsReady is told */
	/* Whether a Workload that was seen admitted is so still: its eviction may have been decided
	 * already. NULL: it is. */
	bool (*may_start)(void *ctx, struct str workload);
	/* Most Workloads are nobody's here and are not kept. Whether there is one of this name, and
	 * a wish to be told of it once more: a Job names it. May be NULL: all of them are ours. */
	bool (*knows)(void *ctx, struct str workload);
	void (*read)(void *ctx, struct str workload);
	/* What took how long; NULL: nobody asks. A Workload is there, so long after its Job or pod
	 * (kind) was created. */
	void (*on_created)(void *ctx, const char *kind, const struct api_workload *w, int64_t ns);
	/* A pod of an admitted Workload is without its gate, so long after the admission. */
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
/* Of a Workload that is of interest here, good until o is told of it again; NULL: it is not. */
const struct api_meta *owner_controller_meta(const struct owner_controller *o, struct str key);
/* The Job that a Workload is for is to be deleted, with its pods; false takes that back as long as
 * it was not sent. Of other owners, and said again, it has no effect. */
void owner_controller_retire(struct owner_controller *o, struct str key, bool retire);
/* Whether a Workload holds quota for the pod of a Job, a group or for the pod itself; one that has
 * a node stays with its Workload after that. Before owner_controller_synced the pod's labels are
 * believed. */
bool owner_controller_hold(struct owner_controller *o, const struct api_pod *pod);
/* Tells once, after owner_controller_synced, of pods that were believed wrongly; key:
 * "namespace/name". */
void owner_controller_hold_recheck(struct owner_controller *o,
				   void (*fn)(void *ctx, struct str key), void *ctx);
/* fn is called, from within the functions above, with the key of every Workload whose activity has
 * changed; it must not call back into o but for owner_controller_activity. NULL: nobody is told. */
void owner_controller_watch(struct owner_controller *o, void (*fn)(void *ctx, struct str key),
			    void *ctx);

#endif
