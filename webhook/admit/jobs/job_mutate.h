/* webhook/admit/jobs/job_mutate.h: batch/v1 Jobs that wait for quota. Any thread. */
#ifndef WEBHOOK_ADMIT_JOBS_JOB_MUTATE_H
#define WEBHOOK_ADMIT_JOBS_JOB_MUTATE_H

#include "webhook/admit/admit.h"

/* CREATE: 1. a Job without a queue gets the LocalQueue "default" of its namespace, if there is
 * one; 2. a Job with a queue and without any class gets the WorkloadPriorityClass "default", if
 * there is one; 3. a Job with a queue is suspended, one without as the options say. Jobs that
 * belong to another queued job are left alone. */
int job_mutate(const struct admit_request *q, struct admit_answer *ret, struct err *err);

#endif
