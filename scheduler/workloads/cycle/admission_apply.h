/* scheduler/workloads/cycle/admission_apply.h: applies decisions to quota: an admitted workload
 * holds it; a victim keeps it until its job has stopped, but goes behind its preemptor. The caller
 * has applied the decision to the status (conditions.h), and the status to struct workload
 * (workload_status_flags.h), before. The scheduler, the simulator and tests share it. Owner: the
 * sched thread. Pure. */
#ifndef SCHEDULER_WORKLOADS_CYCLE_ADMISSION_APPLY_H
#define SCHEDULER_WORKLOADS_CYCLE_ADMISSION_APPLY_H

#include "scheduler/workloads/cycle/admission_cycle.h"

/* Nothing may be marked in f. A decision of kind PENDING changes nothing more: the cycle has put
 * the workload back. */
void admission_apply(struct forest *f, const struct admission_decision *d);
/* The request of `count` pods of a pod set for a resource: that of one pod, times count; for "pods"
 * the count itself. */
int64_t admission_apply_amount(const struct quota_model *q, const struct podset *p, int32_t count,
			       uint32_t resource);
/* Whether an AdmissionCheck of the queue applies to one of the assigned flavors. */
bool admission_apply_needs_check(const struct quota_check *check, const struct assignment *a);

#endif
