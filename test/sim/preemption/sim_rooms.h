/* test/sim/preemption/sim_rooms.h: the amounts on nodes and in queues while the decisions of a
 * cycle are applied one after the other: plain sums over the model, without code of the session. A
 * pod that is evicted gives its amounts back at once, since pods that wait for its end may have
 * them. Borrows the cluster, which must stay as it is. Owner: the run. */
#ifndef TEST_SIM_PREEMPTION_SIM_ROOMS_H
#define TEST_SIM_PREEMPTION_SIM_ROOMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/pods/values/resources.h"

struct cluster;
struct decision;
struct node;
struct podgroup;
struct queue;
struct task;

struct sim_rooms {
	const struct cluster *cluster;
	struct res *node;      /* by node id: taken by pods that stay, or that room is held for */
	struct res *queue;     /* by queue id: the same of quota, of this queue and all below it */
	struct res *limit;     /* by queue id */
	uint32_t *holds;       /* by task id: the node that it will have, MODEL_NONE: none */
	bool *charged;         /* by task id */
	bool *charged_by_hold; /* of those, since room is held for it */
	bool *evicted;         /* by task id: by a decision */
	bool *busy;            /* by node id: pods terminated there before the cycle, and others may
				  count on their room, without a decision; or a gang may that counts
				  on such a node as well */
	bool any_busy;         /* then neither is known what quota is free */
	bool unsure;           /* charges were moved or taken back: what is free is not known */
};

struct sim_rooms sim_rooms_begin(const struct cluster *c);
void sim_rooms_finish(struct sim_rooms *r);
void sim_rooms_apply(struct sim_rooms *r, const struct decision *d);
/* The pod goes from its node and its queue; undone by sim_rooms_restore. */
void sim_rooms_evict(struct sim_rooms *r, const struct task *t);
void sim_rooms_restore(struct sim_rooms *r, const struct task *t);
bool sim_rooms_fits_node(const struct sim_rooms *r, const struct task *t, const struct node *n);
/* In the queue and all above it. A pod that is charged already fits. */
bool sim_rooms_fits_queue(const struct sim_rooms *r, const struct task *t, const struct queue *q);
/* Whether it runs on a node, or is about to, and is not evicted. */
bool sim_rooms_stays(const struct sim_rooms *r, const struct task *t);
/* How many pods of the PodGroup have a node, have succeeded, or have room held for them. */
int32_t sim_rooms_placed(const struct sim_rooms *r, const struct podgroup *g);
/* The amounts that the queue deserves; 0 where nothing is said. */
struct res sim_rooms_deserved(const struct queue *q);

#endif
