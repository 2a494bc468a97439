/* scheduler/pods/model/queue.h: Queues of a cluster by name and by id, and the tree that their
 * spec.parent makes. Owner: the sched thread. Pure: no I/O, no clock. */
#ifndef SCHEDULER_PODS_MODEL_QUEUE_H
#define SCHEDULER_PODS_MODEL_QUEUE_H

#include "base/str.h"
#include "scheduler/pods/model/model.h"

#define QUEUE_MAX_DEPTH 64 /* levels below the root; deeper queues are broken */

struct tree; /* scheduler/base/tree.h */

/* Makes a placeholder (exists = false) when it is unknown. */
struct queue *queue_get(struct cluster *c, struct str name);
struct queue *queue_find(const struct cluster *c, struct str name);        /* NULL: unknown */
static inline struct queue *queue_at(const struct cluster *c, uint32_t id) /* NULL: MODEL_NONE */
{
	return id == MODEL_NONE ? NULL : c->queues.v[id];
}
/* q is the queue with the id from (MODEL_NONE: none), then each queue above it. */
#define QUEUE_FOR_EACH_UP(q, c, from)                                                              \
	for ((q) = queue_at((c), (from)); (q) != NULL; (q) = queue_at((c), (q)->parent))
/* Whether the queue with this id is top or lies below it; false for MODEL_NONE. */
bool queue_is_within(const struct cluster *c, uint32_t id, const struct queue *top);
/* Removes a placeholder to which nothing refers any more. */
void queue_prune(struct cluster *c, struct queue *q);

/* Call after changing parent_name, exists, capability, guarantee, deserved, state of any queue:
 * recomputes parents, children, depth, broken and bumps queues_gen. Charges must be re-rolled by
 * ledger_rebuild_sums afterwards when parents changed (returns true then). */
bool queue_topology_changed(struct cluster *c);
/* The queues by id, as they lie now; free ids are roots. The caller destroys it. */
struct tree *queue_topology_tree(const struct cluster *c);

#endif
