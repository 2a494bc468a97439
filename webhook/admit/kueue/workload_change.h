/* webhook/admit/kueue/workload_change.h: which fields of a Workload may change in which state. Any
 * thread. */
#ifndef WEBHOOK_ADMIT_KUEUE_WORKLOAD_CHANGE_H
#define WEBHOOK_ADMIT_KUEUE_WORKLOAD_CHANGE_H

#include "api/kueue/kueue_workload.h"
#include "webhook/admit/admit_check.h"

/* Immutable while quota is reserved: pod sets, queue, class; while admitted: the execution time.
 * The texts of the request are compared where the decoded form does not hold everything;
 * -ERR_INVALID when they do not decode. */
int workload_change_check_spec(const struct admit_check *c, const struct api_workload *old,
			       const struct api_workload *w, struct err *err);
/* Immutable: the admission once set, the cluster once chosen, the updates of a check that is Ready.
 * Reclaimable pods may only increase while quota is reserved. */
int workload_change_check_status(const struct admit_check *c, const struct api_workload *old,
				 const struct api_workload *w, struct err *err);

#endif
