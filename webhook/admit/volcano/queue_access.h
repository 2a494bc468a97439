/* webhook/admit/volcano/queue_access.h: which namespaces may use a Queue, as its annotation
 * headgate.io/namespace-selector and those of the queues above say. Any thread. */
#ifndef WEBHOOK_ADMIT_VOLCANO_QUEUE_ACCESS_H
#define WEBHOOK_ADMIT_VOLCANO_QUEUE_ACCESS_H

#include "webhook/admit/admit.h"

/* The nearest queue, from `queue` upwards, that the namespace may not use; a selector that does not
 * parse excludes every namespace. NULL: it may use them all, or is not known here yet (the
 * scheduler checks again). */
const struct api_queue *queue_access_bar(const struct admit_request *q, const char *ns,
					 const struct api_queue *queue);
/* Denies a Queue with a selector that does not parse. */
void queue_access_check(const struct admit_request *q, const struct api_queue *queue,
			struct admit_answer *ret);

#endif
