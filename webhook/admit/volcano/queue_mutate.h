/* webhook/admit/volcano/queue_mutate.h: defaults of queues. Any thread. */
#ifndef WEBHOOK_ADMIT_VOLCANO_QUEUE_MUTATE_H
#define WEBHOOK_ADMIT_VOLCANO_QUEUE_MUTATE_H

#include "webhook/admit/admit.h"

/* CREATE: reclaimable true and weight 1 where missing; hierarchy annotations begin at the root. */
int queue_mutate(const struct admit_request *q, struct admit_answer *ret, struct err *err);

#endif
