/* webhook/admit/kueue/localqueue_validate.h: validation of LocalQueues. Any thread. */
#ifndef WEBHOOK_ADMIT_KUEUE_LOCALQUEUE_VALIDATE_H
#define WEBHOOK_ADMIT_KUEUE_LOCALQUEUE_VALIDATE_H

#include "webhook/admit/admit.h"

/* CREATE and UPDATE: names, stop policy and weight; the ClusterQueue cannot be changed. */
int localqueue_validate(const struct admit_request *q, struct admit_answer *ret, struct err *err);

#endif
