/* webhook/admit/kueue/clusterqueue_mutate.h: defaults of ClusterQueues. Any thread. */
#ifndef WEBHOOK_ADMIT_KUEUE_CLUSTERQUEUE_MUTATE_H
#define WEBHOOK_ADMIT_KUEUE_CLUSTERQUEUE_MUTATE_H

#include "webhook/admit/admit.h"

/* CREATE: the finalizer that keeps the queue while workloads hold its quota. Fields are defaulted
 * by the CRD. */
int clusterqueue_mutate(const struct admit_request *q, struct admit_answer *ret, struct err *err);

#endif
