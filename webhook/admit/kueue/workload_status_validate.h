/* webhook/admit/kueue/workload_status_validate.h: consistency of a Workload's status. Any thread.
 */
#ifndef WEBHOOK_ADMIT_KUEUE_WORKLOAD_STATUS_VALIDATE_H
#define WEBHOOK_ADMIT_KUEUE_WORKLOAD_STATUS_VALIDATE_H

#include "api/kueue/kueue_workload.h"
#include "webhook/admit/admit_check.h"

/* One assignment per pod set while quota is reserved, usage that divides among the pods,
 * reclaimable pods that exist, updates of pod sets that exist, one cluster or several nominated. */
void workload_status_validate(const struct admit_check *c, const struct api_workload *w);

#endif
