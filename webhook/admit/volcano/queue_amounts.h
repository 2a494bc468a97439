/* webhook/admit/volcano/queue_amounts.h: capability, deserved and guarantee of one queue. Any
 * thread. */
#ifndef WEBHOOK_ADMIT_VOLCANO_QUEUE_AMOUNTS_H
#define WEBHOOK_ADMIT_VOLCANO_QUEUE_AMOUNTS_H

#include "webhook/admit/admit.h"

/* Nothing is negative, extended resources are integers, guarantee is within deserved, and deserved
 * is within the capability where that names the resource. */
void queue_amounts_check(const struct admit_request *q, const struct api_queue *queue,
			 struct admit_answer *ret);
bool queue_amounts_equal(const struct field_resources *a, const struct field_resources *b);

#endif
