/* webhook/admit/kueue/clusterqueue_validate.h: validation of ClusterQueues. Any thread. */
#ifndef WEBHOOK_ADMIT_KUEUE_CLUSTERQUEUE_VALIDATE_H
#define WEBHOOK_ADMIT_KUEUE_CLUSTERQUEUE_VALIDATE_H

#include "webhook/admit/admit.h"

/* CREATE and UPDATE: resource groups, policies, selector, AdmissionChecks; concurrent admission
 * is refused. */
int clusterqueue_validate(const struct admit_request *q, struct admit_answer *ret, struct err *err);

#endif
