/* scheduler/controllers/job_workload.h: batch/v1 Jobs of LocalQueues (Kueue: the batch/job
 * integration). Every Job gets a Workload; it is started with the flavors of its admission and
 * stopped when it is evicted; its progress is told in the Workload's status. What has to be written
 * is decided in job_plan.h from Job and Workloads alone, every time one of them changes: a write
 * that is lost or refused is decided again with the next change.
 *
 * Of a Workload this controller writes: the object itself and its spec (but spec.active), its
 * finalizer, and of the status, as field manager JOB_WORKLOAD_MANAGER, the conditions Finished and
 * PodsReady and reclaimablePods. The rest of the status is the engine's (quota/workload_life.h).
 * Owner: the sched thread calls; the pool works. */
#ifndef SCHEDULER_CONTROLLERS_JOB_WORKLOAD_H
#define SCHEDULER_CONTROLLERS_JOB_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "kube/pool.h"

#define JOB_WORKLOAD_MANAGER "headgate-job"

struct api_job;
struct api_priority_class;
struct api_resource_flavor;
struct api_workload;
struct api_workload_priority_class;
struct job_workload;
struct recorder;

struct job_workload_options {
	/* transport, clock, limiter, workers (0: manual), seed, may_send and its ctx */
	const struct pool_options *base;
	struct recorder *recorder; /* borrowed; NULL: nobody is told */
	bool without_queue_name;   /* manageJobsWithoutQueueName */
	bool wait_pods_ready;      /* waitForPodsReady: PodsReady is told */
};

enum job_workload_activity {
	JOB_WORKLOAD_NO_OWNER, /* the Workload has no controlling owner */
	JOB_WORKLOAD_FOREIGN,  /* its owner is no Job, or its Job is not known here */
	JOB_WORKLOAD_RUNS,     /* the Job is not suspended, or has active pods */
	JOB_WORKLOAD_STOPPED,  /* the Job is suspended without pods, finished, or gone */
};

struct job_workload *job_workload_create(const struct job_workload_options *opt);
void job_workload_destroy(struct job_workload *jw); /* NULL is fine */
struct pool *job_workload_pool(struct job_workload *jw);

/* An object was added or changed; what is needed of it is copied. Nothing is written before
 * job_workload_synced. */
void job_workload_job(struct job_workload *jw, const struct api_job *job);
void job_workload_workload(struct job_workload *jw, const struct api_workload *w);
void job_workload_flavor(struct job_workload *jw, const struct api_resource_flavor *rf);
void job_workload_class(struct job_workload *jw, const struct api_workload_priority_class *pc);
void job_workload_pod_class(struct job_workload *jw, const struct api_priority_class *pc);
/* An object is gone; key: "namespace/name" or "name". Unknown ones have no effect. */
void job_workload_job_gone(struct job_workload *jw, struct str key);
void job_workload_workload_gone(struct job_workload *jw, struct str key);
void job_workload_flavor_gone(struct job_workload *jw, struct str name);
void job_workload_class_gone(struct job_workload *jw, struct str name);
void job_workload_pod_class_gone(struct job_workload *jw, struct str name);
/* All kinds have been listed: Jobs that are not known do not exist. Decides about all. */
void job_workload_synced(struct job_workload *jw);

/* Of a Workload that job_workload_workload was told of (others: FOREIGN). It may change with every
 * job_workload_job: see job_workload_watch. */
enum job_workload_activity job_workload_activity(const struct job_workload *jw, struct str key);
/* fn is called, from within the functions above, with the key of every Workload whose activity has
 * changed; it must not call back into jw but for job_workload_activity. NULL: nobody is told. */
void job_workload_watch(struct job_workload *jw, void (*fn)(void *ctx, struct str key), void *ctx);

#endif
