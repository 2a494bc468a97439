/* webhook/admit/volcano/queue_hierarchy.h: the annotations of hierarchical fairness. Any thread. */
#ifndef WEBHOOK_ADMIT_VOLCANO_QUEUE_HIERARCHY_H
#define WEBHOOK_ADMIT_VOLCANO_QUEUE_HIERARCHY_H

#include "webhook/admit/admit.h"

/* Path and weights have the same number of parts, weights are positive numbers, and no queue's path
 * contains the path of another queue. */
void queue_hierarchy_check(const struct admit_request *q, const struct api_queue *queue,
			   struct admit_answer *ret);

#endif
