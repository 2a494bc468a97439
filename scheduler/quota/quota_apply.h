/* scheduler/quota/quota_apply.h: what a decision means for the world: an admitted workload holds
 * its quota, a victim is Evicted and keeps its quota until its job has stopped. One meaning for the
 * scheduler, the simulator and tests. Owner: the sched thread. Pure. */
#ifndef SCHEDULER_QUOTA_QUOTA_APPLY_H
#define SCHEDULER_QUOTA_QUOTA_APPLY_H

#include "quota/quota_cycle.h"

/* Nothing may be marked in f. A decision of kind PENDING changes nothing more: the cycle has put
 * the workload back. */
void quota_apply(struct forest *f, const struct quota_decision *d, int64_t now);
/* What `count` pods of a pod set ask of a resource: that of one pod, times count; for "pods" the
 * count itself. */
int64_t quota_apply_amount(const struct quota *q, const struct quota_podset *p, int32_t count,
			   uint32_t resource);
/* Whether an AdmissionCheck of the queue applies to one of the assigned flavors. */
bool quota_apply_needs_check(const struct quota_check *check, const struct assignment *a);

#endif
