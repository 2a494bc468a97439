/* scheduler/ctl/quota_threats.h: who could take back the quota that a workload holds. One thread.
 */
#ifndef SCHEDULER_CTL_QUOTA_THREATS_H
#define SCHEDULER_CTL_QUOTA_THREATS_H

#include "quota/forest.h"

struct arena;

struct quota_threat { /* by workloads of one ClusterQueue */
	uint32_t node;
	bool may;         /* false: they may not, or have no reason to now */
	const char *text; /* which of them and when, or why not; in the arena */
};

struct quota_threats {
	struct quota_threat *v; /* vec_finish */
	size_t n, cap;
};

/* Its own queue first, then those of its tree whose policy reclaims, in its order. w holds quota in
 * a tree. */
void quota_threats_find(const struct forest *f, const struct workload *w, struct arena *arena,
			struct quota_threats *out);

#endif
