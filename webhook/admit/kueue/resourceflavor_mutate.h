/* webhook/admit/kueue/resourceflavor_mutate.h: defaults of ResourceFlavors. Any thread. */
#ifndef WEBHOOK_ADMIT_KUEUE_RESOURCEFLAVOR_MUTATE_H
#define WEBHOOK_ADMIT_KUEUE_RESOURCEFLAVOR_MUTATE_H

#include "webhook/admit/admit.h"

/* CREATE: the finalizer that keeps the flavor while ClusterQueues use it. */
int resourceflavor_mutate(const struct admit_request *q, struct admit_answer *ret, struct err *err);

#endif
