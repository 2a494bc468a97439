/* webhook/admit/volcano/pod_mutate.h: puts the queue-allocation gate on pods that opted in. Any
 * thread. */
#ifndef WEBHOOK_ADMIT_VOLCANO_POD_MUTATE_H
#define WEBHOOK_ADMIT_VOLCANO_POD_MUTATE_H

#include "webhook/admit/admit.h"

/* CREATE of pods of our schedulers that name no node; all others are allowed unchanged. A pod opts
 * in by annotation or by its namespace's label (then the annotation is written, too). A reservation
 * annotation set by the user is removed from any pod: only the scheduler writes it. */
int pod_mutate(const struct admit_request *q, struct admit_answer *ret, struct err *err);

#endif
