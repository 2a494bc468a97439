/* scheduler/workloads/owners/job_plan.h: plans the writes about one Job, from the Job and the
 * Workloads that belong to it (Kueue: the generic job reconciler, in its order). Pure: nothing is
 * remembered between calls; everything that happened in between shows in the objects. */
#ifndef SCHEDULER_WORKLOADS_OWNERS_JOB_PLAN_H
#define SCHEDULER_WORKLOADS_OWNERS_JOB_PLAN_H

#include "scheduler/workloads/owners/owner_plan.h"

struct api_job;
struct api_workload;

enum job_plan_place {
	JOB_PLAN_OWN,       /* it queues for itself, if it queues */
	JOB_PLAN_ELSEWHERE, /* its namespace is not managed, or the Job is left to its owner */
	JOB_PLAN_NESTED,    /* its owner queues for it, and is admitted */
	JOB_PLAN_HELD,      /* its owner queues for it and is not admitted, or is not there */
	JOB_PLAN_TOO_DEEP,  /* more levels of owners than are looked at */
};

/* Levels of owners that are looked at above a Job. */
#define JOB_PLAN_MAX_DEPTH 10

/* workloads: those that name this Job (by UID) or an earlier Job of its name as their controller;
 * prebuilt: the Workload that the Job names itself, NULL when there is none. */
struct job_plan_of {
	const struct api_job *job; /* NULL: it is gone */
	const struct api_workload *const *workloads;
	size_t n;
	const struct api_workload *prebuilt;
	bool starting; /* a write that starts the Job as it is may be in flight */
	enum job_plan_place place;
};
/* Appends to ret, which has an arena and which the caller finishes. */
void job_plan(const struct job_plan_of *of, const struct owner_plan_env *env,
	      struct owner_plan *ret);

#endif
