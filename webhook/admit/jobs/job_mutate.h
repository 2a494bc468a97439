/* webhook/admit/jobs/job_mutate.h: sets defaults on new Jobs and suspends them. Any
 * thread. */
#ifndef WEBHOOK_ADMIT_JOBS_JOB_MUTATE_H
#define WEBHOOK_ADMIT_JOBS_JOB_MUTATE_H

#include "webhook/admit/admit.h"

/* CREATE: 1. a Job without a queue gets the LocalQueue "default" of its namespace, if there is
 * one; 2. a Job with a queue and without a priority class of either kind gets the
 * WorkloadPriorityClass "default", if there is one; 3. a Job with a queue is suspended, and one
 * without a queue only if manageJobsWithoutQueueName is set. Jobs with a controller of an external
 * framework are left alone; one that queues and only pretends to have such a controller is denied.
 * A Job under another Job is suspended like any other. */
int job_mutate(const struct admit_request *q, struct admit_answer *ret, struct err *err);

#endif
