/* scheduler/controllers/job_write.h: one write of a Job's plan as work for a pool: sent until it is
 * acknowledged, found pointless (404, a conflict: the object has changed, and the change is looked
 * at anyway) or refused for good, of which the Job is told. Thread: made by the sched thread, then
 * owned by the pool. */
#ifndef SCHEDULER_CONTROLLERS_JOB_WRITE_H
#define SCHEDULER_CONTROLLERS_JOB_WRITE_H

#include "controllers/job_plan.h"
#include "kube/pool.h"

struct job_write;
struct recorder;

struct job_write_job { /* the Job that a write is for */
	const char *namespace_, *name, *uid;
};

/* Copies all texts; the caller owns the item until it is added to the pool. */
struct job_write *job_write_new(const struct job_write_job *job, const struct job_plan_write *w);

/* Context of the pool. */
struct job_write_target {
	struct recorder *recorder; /* NULL: nobody is told */
	bool (*may_send)(void *ctx);
	void *ctx;
};
extern const struct pool_ops job_write_ops; /* ctx: struct job_write_target */
bool job_write_may_send(void *ctx);

#endif
