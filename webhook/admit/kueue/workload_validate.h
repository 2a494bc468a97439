/* webhook/admit/kueue/workload_validate.h: validation of Workloads and of their changes. Any
 * thread. */
#ifndef WEBHOOK_ADMIT_KUEUE_WORKLOAD_VALIDATE_H
#define WEBHOOK_ADMIT_KUEUE_WORKLOAD_VALIDATE_H

#include "webhook/admit/admit.h"

/* CREATE and UPDATE of Workloads and of their status. */
int workload_validate(const struct admit_request *q, struct admit_answer *ret, struct err *err);

#endif
