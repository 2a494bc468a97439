/* scheduler/workloads/owners/job_status.h: the progress of a Job in the status of its Workload:
 * Finished, PodsReady, reclaimablePods (Kueue: batch/job integration). Pure. */
#ifndef SCHEDULER_WORKLOADS_OWNERS_JOB_STATUS_H
#define SCHEDULER_WORKLOADS_OWNERS_JOB_STATUS_H

#include <stdbool.h>
#include <stdint.h>

struct api_job;
struct api_workload;
struct strbuf;

/* Pods that no longer need their quota: fewer completions are left than pods run at once. 0: none.
 */
int32_t job_status_reclaimable(const struct api_job *job);
/* As many pods are ready or have succeeded as run at once. */
bool job_status_is_ready(const struct api_job *job);

struct job_status_options {
	bool pods_ready;                                /* PodsReady is written */
	const char *finished_reason, *finished_message; /* Finished=True, whatever the Job says;
							   NULL: as the Job says */
	int64_t now;                                    /* wall ns */
};

/* Appends the apply configuration of the status, of all that this controller keeps there. False:
 * the Workload says it already, nothing was appended. */
bool job_status_apply(const struct api_job *job, const struct api_workload *w,
		      const struct job_status_options *opt, struct strbuf *body);

#endif
