/* webhook/admit/jobs/job_validate.h: labels and annotations of queued batch/v1 Jobs. Any thread.
 */
#ifndef WEBHOOK_ADMIT_JOBS_JOB_VALIDATE_H
#define WEBHOOK_ADMIT_JOBS_JOB_VALIDATE_H

#include "webhook/admit/admit.h"

/* CREATE and UPDATE: the labels and annotations about queueing, and which of them may not change
 * while the Job runs. */
int job_validate(const struct admit_request *q, struct admit_answer *ret, struct err *err);

#endif
