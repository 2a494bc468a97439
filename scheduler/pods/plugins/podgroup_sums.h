/* scheduler/pods/plugins/podgroup_sums.h: an amount of each PodGroup, which a plugin defines, added
 * up by queue and over all queues. Kept from session to session: each counts anew what has changed.
 * All zero: nothing is counted yet. Owner: the plugin. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_PLUGINS_PODGROUP_SUMS_H
#define SCHEDULER_PODS_PLUGINS_PODGROUP_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "collections/vec.h"
#include "scheduler/pods/values/resources.h"

struct cluster;
struct podgroup;
struct queue;
struct session;
struct tree;

/* Sets ret, which is zero, to the amount of g, which exists and is in a queue. It may be negative,
 * and depends on g and its tasks alone. */
typedef void (*podgroup_sums_amount)(const struct session *s, const struct podgroup *g,
				     struct res *ret);

struct podgroup_part { /* of one PodGroup in the sums */
	uint32_t queue, n;
	struct podgroup_dim *v; /* owned: the dimensions that are not 0 */
};

struct podgroup_sums {
	const struct tree *tree; /* borrowed, of the session; NULL: parents do not count */
	podgroup_sums_amount amount;
	/* Of that these were counted; after a change of it, all is counted anew. */
	const struct cluster *cluster;
	uint64_t queues_gen;
	unsigned width; /* of a sum: names of resources */
	size_t nqueues;
	__int128 *v; /* by queue id, then over all: the largest amounts of many PodGroups do not
			overflow it */
	struct VEC(struct podgroup_part) parts; /* by id of the PodGroup */
};

/* A session begins. tree: over queue ids, must outlive the session; amounts count for the parents
 * in it as well. amount: always the same one. O(PodGroups that changed since the last session)
 * unless queues have changed. */
void podgroup_sums_open(struct podgroup_sums *p, const struct session *s, const struct tree *tree,
			podgroup_sums_amount amount);
void podgroup_sums_finish(struct podgroup_sums *p);
/* Counts the PodGroup with this id as the session has it now; it may be gone. */
void podgroup_sums_count(struct podgroup_sums *p, const struct session *s, uint32_t id);
/* Adds more to the part of g, which is in a queue, until it is counted again. */
void podgroup_sums_add(struct podgroup_sums *p, const struct session *s, const struct podgroup *g,
		       const struct res *more);
/* The sum of one queue, which exists; NULL: of all PodGroups. Cut off at the largest numbers. */
void podgroup_sums_get(const struct podgroup_sums *p, const struct session *s,
		       const struct queue *q, struct res *ret);

#endif
