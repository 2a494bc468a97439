/* scheduler/controllers/job_plan.h: what has to be written for one Job, from the Job and the
 * Workloads that belong to it (Kueue: the generic job reconciler, in its order). Pure: nothing is
 * remembered between calls, so that whatever happened in between is seen in the objects. */
#ifndef SCHEDULER_CONTROLLERS_JOB_PLAN_H
#define SCHEDULER_CONTROLLERS_JOB_PLAN_H

#include "base/vec.h"
#include "controllers/job_podset.h"
#include "controllers/job_start.h"

struct api_job;
struct api_workload;
struct arena;

struct job_plan_env {
	struct job_podset_classes classes;
	struct job_start_flavors flavors;
	bool without_queue_name; /* Jobs without queue-name are managed as well */
	bool pods_ready;         /* PodsReady is told */
	int64_t now;             /* wall ns */
};

enum job_plan_kind {
	JOB_PLAN_CREATE,  /* the Workload; the pod template is read from the Job and goes between
			     body and tail */
	JOB_PLAN_UPDATE,  /* merge patch of the Workload, template likewise */
	JOB_PLAN_SYNC,    /* merge patch of the Workload */
	JOB_PLAN_STATUS,  /* apply configuration of the Workload's status */
	JOB_PLAN_RELEASE, /* merge patch of the Workload: without finalizer */
	JOB_PLAN_DELETE,  /* the Workload; the body is DeleteOptions */
	JOB_PLAN_START,   /* merge patch of the Job */
	JOB_PLAN_SUSPEND, /* merge patch of the Job */
	JOB_PLAN_RESET,   /* merge patch of the Job's status */
	JOB_PLAN_RESTORE, /* merge patch of the Job */
	JOB_PLAN_COUNT_
};

struct job_plan_write {
	enum job_plan_kind kind;
	const char *workload;    /* its name; NULL: the write is about the Job */
	const char *body, *tail; /* tail: CREATE, UPDATE */
	/* An event on the Job once it is written; NULL: none. */
	const char *event, *message;
};

struct job_plan {
	struct VEC(struct job_plan_write) writes; /* texts live in the arena */
};

/* workloads: those whose controlling owner is this Job (by UID) and those of an earlier Job of its
 * name; prebuilt: the Workload that the Job names itself, NULL when there is none. Appends to
 * ret->writes, which the caller finishes. */
struct job_plan_of {
	const struct api_job *job; /* NULL: it is gone */
	const struct api_workload *const *workloads;
	size_t n;
	const struct api_workload *prebuilt;
};
void job_plan(const struct job_plan_of *of, const struct job_plan_env *env, struct arena *arena,
	      struct job_plan *ret);
void job_plan_finish(struct job_plan *p);
/* The name of the Workload that the Job brings itself; NULL: it gets one. */
const char *job_plan_prebuilt(const struct api_job *job);

#endif
