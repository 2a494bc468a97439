/* scheduler/ctl/explain/preemption_threats.h: the ClusterQueues with workloads that could preempt a
 * given workload. One thread. */
#ifndef SCHEDULER_CTL_EXPLAIN_PREEMPTION_THREATS_H
#define SCHEDULER_CTL_EXPLAIN_PREEMPTION_THREATS_H

#include "collections/vec.h"
#include "scheduler/workloads/forest/forest.h"

struct arena;

struct quota_threat { /* by workloads of one ClusterQueue */
	uint32_t node;
	bool may;         /* false: they may not, or have no reason to now */
	const char *text; /* which workloads and when, or why not; in the arena */
};

struct preemption_threats VEC(struct quota_threat); /* vec_finish */

/* Its own queue first, then the other queues of its tree that reclaim, in the order of the tree. w
 * holds quota in a tree. */
void preemption_threats_find(const struct forest *f, const struct workload *w, struct arena *arena,
			     struct preemption_threats *out);

#endif
