/* scheduler/ctl/explain/request_levels.h: the amounts of a request for one flavor and resource,
 * from its ClusterQueue up to the root of its cohorts: the quota of each level, the part of the
 * request that arrives there, and where the quota is too small. One thread. */
#ifndef SCHEDULER_CTL_EXPLAIN_REQUEST_LEVELS_H
#define SCHEDULER_CTL_EXPLAIN_REQUEST_LEVELS_H

#include "collections/vec.h"
#include "scheduler/workloads/forest/forest.h"

struct arena;

struct request_level {
	uint32_t pair, node;
	int64_t nominal;            /* of the node itself */
	int64_t lending, borrowing; /* limits; QUOTA_NO_LIMIT */
	int64_t quota;              /* with what those below lend */
	int64_t used;               /* of that */
	int64_t asked;              /* of the request: all of it in the queue, the rest above */
	int64_t available;          /* free here, with what may be borrowed from above */
	const char *shortage;       /* why the request does not fit here; NULL: it does */
};

struct request_levels VEC(struct request_level); /* vec_finish */

/* Appends one level per node, the queue first. Texts live in the arena. The queue is in a tree. */
void request_levels_add(const struct forest *f, uint32_t queue, struct quota_amount asked,
			struct arena *arena, struct request_levels *out);

#endif
