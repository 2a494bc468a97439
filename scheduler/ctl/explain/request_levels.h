/* scheduler/ctl/explain/request_levels.h: the arithmetic of a request for one flavor and resource,
 * from its ClusterQueue up to the root of its cohorts: what is there at each level, what arrives
 * there, and where it is too little. One thread. */
#ifndef SCHEDULER_CTL_EXPLAIN_REQUEST_LEVELS_H
#define SCHEDULER_CTL_EXPLAIN_REQUEST_LEVELS_H

#include "scheduler/workloads/forest/forest.h"

struct arena;

struct request_level {
	uint32_t pair, node;
	int64_t nominal;            /* of the node itself */
	int64_t lending, borrowing; /* limits; QUOTA_NO_LIMIT */
	int64_t quota;              /* with what those below lend */
	int64_t used;               /* of that */
	int64_t asked;     /* of the request: all of it in the queue, what is not private above */
	int64_t available; /* what may still be had here, of it and of those above */
	const char *lack;  /* why it ends here; NULL: it does not */
};

struct request_levels {
	struct request_level *v; /* vec_finish */
	size_t n, cap;
};

/* Appends one level per node, the queue first. Texts live in the arena. The queue is in a tree. */
void request_levels_add(const struct forest *f, uint32_t queue, struct quota_amount asked,
			struct arena *arena, struct request_levels *out);

#endif
