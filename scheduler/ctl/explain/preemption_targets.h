/* scheduler/ctl/explain/preemption_targets.h: the workloads that hold the quota a workload needs:
 * those that it would preempt, and the reasons that protect the others. One thread. */
#ifndef SCHEDULER_CTL_EXPLAIN_PREEMPTION_TARGETS_H
#define SCHEDULER_CTL_EXPLAIN_PREEMPTION_TARGETS_H

#include "collections/vec.h"
#include "scheduler/workloads/preempt/candidates.h"

enum quota_target_state {
	QUOTA_TARGET_VICTIM,    /* it would be preempted */
	QUOTA_TARGET_POSSIBLE,  /* it could be */
	QUOTA_TARGET_PROTECTED, /* it may not be */
};

struct preemption_target {
	struct candidate order; /* order.w: the workload */
	enum quota_target_state state;
	enum passed_over_rule rule; /* of a protected one */
	const char *text;           /* why, or why not; in the arena */
};

struct preemption_targets VEC(struct preemption_target); /* vec_finish */

/* All workloads in the tree of r->node that use a resource that is short: victims first, then other
 * candidates, each ordered by candidates_cmp, without the lists of the classical search. r->need
 * has no zeros. */
void preemption_targets_find(const struct victims_request *r, const struct victims *victims,
			     struct arena *arena, struct preemption_targets *out);

#endif
