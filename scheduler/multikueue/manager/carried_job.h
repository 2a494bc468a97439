/* scheduler/multikueue/manager/carried_job.h: batch/v1 Jobs (Kueue: the adapter of its batch/job
 * integration). The local Job has no pods, as spec.managedBy is MultiKueue's: its status is a copy
 * of the remote one, from which users and the local job reconciler read that it runs, that it has
 * stopped, and how it ended. Pure. */
#ifndef SCHEDULER_MULTIKUEUE_MANAGER_CARRIED_JOB_H
#define SCHEDULER_MULTIKUEUE_MANAGER_CARRIED_JOB_H

#include "scheduler/multikueue/manager/carried.h"

/* The remote status is copied while the local Job is not suspended, while both are (so that the
 * number of active pods reaches 0 during an eviction), and when the remote Job has ended. While the
 * local Job alone is suspended, startTime must not be set, since the API server refuses changes of
 * the template of a Job that has it: only the condition Suspended is written, without which the API
 * server of Kubernetes 1.36.0 and 1.36.1 refuses such a change. When the local Job is resumed the
 * status is copied. A Job that was just admitted is about to be: nothing is written until then
 * (winner.c).
 * The remote Job has no ttlSecondsAfterFinished: the worker would delete it before its end is
 * copied, and it would run again. */
extern const struct carried_kind carried_job_kind;

#endif
