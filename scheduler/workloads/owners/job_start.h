/* scheduler/workloads/owners/job_start.h: from an admission to the patch that starts its Job, and
 * back (Kueue: pod set info). Pure; merge patches are appended to `body`. All patches carry UID and
 * resourceVersion: a Job that has changed in between is looked at again first. */
#ifndef SCHEDULER_WORKLOADS_OWNERS_JOB_START_H
#define SCHEDULER_WORKLOADS_OWNERS_JOB_START_H

struct api_job;
struct api_workload;
struct err;
struct placement_flavors;
struct strbuf;

/* Unsuspends the Job and marks it (KEYS_STARTED), so that it is restored whoever suspends it: node
 * selector and tolerations of the assigned flavors, podSetUpdates of Ready
 * checks, labels, the parallelism of a partial admission. w must hold an admission.
 * -ERR_NOT_FOUND: a flavor is not known (yet). -ERR_INVALID: the Job can never be started so,
 * because two of them want different values of one key. */
int job_start_patch(const struct api_job *job, const struct api_workload *w,
		    const struct placement_flavors *flavors, struct strbuf *body, struct err *err);
/* Suspends it and marks it as Kueue does, so that it is restored even if another program started
 * it. */
void job_start_suspend(const struct api_job *job, struct strbuf *body);
/* Suspends it and nothing else: it belongs to no Workload. */
void job_start_hold(const struct api_job *job, struct strbuf *body);
/* Unsuspends it and nothing else: it belongs to no Workload of its own. */
void job_start_nested(const struct api_job *job, struct strbuf *body);
/* Of the status: forgets when it started, without which the API server refuses a changed template.
 */
void job_start_reset(const struct api_job *job, struct strbuf *body);
/* The template and the parallelism as the Workload remembers them, without the marks. w NULL: only
 * the marks go. */
void job_start_restore(const struct api_job *job, const struct api_workload *w,
		       struct strbuf *body);

#endif
