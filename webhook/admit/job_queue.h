/* webhook/admit/job_queue.h: what a Job says to the queue. Any thread. */
#ifndef WEBHOOK_ADMIT_JOB_QUEUE_H
#define WEBHOOK_ADMIT_JOB_QUEUE_H

#include <stdbool.h>

struct api_job;

/* The label, NULL when it is absent or empty. */
const char *job_queue_name(const struct api_job *job);
const char *job_queue_class(const struct api_job *job); /* WorkloadPriorityClass, likewise */
/* Does the controller of this Job queue itself, so that the Job waits with it? */
bool job_queue_has_managed_owner(const struct api_job *job);
/* As Go's strconv.ParseBool: 1, t, T, TRUE, true, True and their opposites. False: neither. */
bool job_queue_parse_bool(const char *text, bool *ret);

#endif
