/* webhook/admit/volcano/queue_validate.h: validation of queues, alone and in their tree. Any
 * thread. */
#ifndef WEBHOOK_ADMIT_VOLCANO_QUEUE_VALIDATE_H
#define WEBHOOK_ADMIT_VOLCANO_QUEUE_VALIDATE_H

#include "webhook/admit/admit.h"

/* CREATE, UPDATE and DELETE of queues. */
int queue_validate(const struct admit_request *q, struct admit_answer *ret, struct err *err);

#endif
