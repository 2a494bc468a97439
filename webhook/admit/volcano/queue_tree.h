/* webhook/admit/volcano/queue_tree.h: rules between a queue and its ancestors, siblings and
 * descendants. The view has the other queues, and perhaps an older form of this one, which is
 * ignored. Any thread. */
#ifndef WEBHOOK_ADMIT_VOLCANO_QUEUE_TREE_H
#define WEBHOOK_ADMIT_VOLCANO_QUEUE_TREE_H

#include "webhook/admit/admit.h"

#define QUEUE_TREE_MAX_WALK 1000 /* stored trees may hold cycles: walks end all the same */

/* NULL for the root queue, "root" for those that name none. */
const char *queue_tree_parent(const struct api_queue *queue);
bool queue_tree_has_children(const struct admit_view *v, const char *name);
/* Pods allocated, as the queue's status says. */
bool queue_tree_has_pods(const struct api_queue *queue);

/* The parent exists, is neither the queue itself nor below it, and can have children; the tree is
 * no deeper than allowed. */
void queue_tree_check_place(const struct admit_request *q, const struct api_queue *queue,
			    struct admit_answer *ret);
/* Capability against the nearest ancestor and all descendants that limit the same resource; the
 * sums of guarantee and deserved of children against their parent's, one level up and down. */
void queue_tree_check_amounts(const struct admit_request *q, const struct api_queue *queue,
			      struct admit_answer *ret);

#endif
