/* webhook/admit/volcano/podgroup_mutate.h: a namespace's queue for PodGroups that name none. Any
 * thread. */
#ifndef WEBHOOK_ADMIT_VOLCANO_PODGROUP_MUTATE_H
#define WEBHOOK_ADMIT_VOLCANO_PODGROUP_MUTATE_H

#include "webhook/admit/admit.h"

/* CREATE: spec.queue absent or equal to the default queue becomes the queue in the namespace's
 * annotation, when there is one. */
int podgroup_mutate(const struct admit_request *q, struct admit_answer *ret, struct err *err);

#endif
