/* scheduler/workloads/preempt/passed_over.h: why a search for victims passes over a workload that
 * holds quota. A search records it for each holder when victims_request.passed_over is set, for
 * explanations; the scheduler leaves it NULL. Plain data. */
#ifndef SCHEDULER_WORKLOADS_PREEMPT_PASSED_OVER_H
#define SCHEDULER_WORKLOADS_PREEMPT_PASSED_OVER_H

#include "scheduler/workloads/forest/share.h"

enum passed_over_rule {
	PASSED_OVER_NOT,        /* it is a candidate */
	PASSED_OVER_POLICY,     /* the policy is Never */
	PASSED_OVER_INACTIVE,   /* its ClusterQueue is stopped, or lacks something */
	PASSED_OVER_UNWRITABLE, /* its status cannot be written, so it cannot be evicted */
	PASSED_OVER_PRECEDENCE, /* it preempted the preemptor before (forest/precedence.h), or is
				   the victim of another entry of the same cycle */
	PASSED_OVER_PRIORITY,   /* its priority is not lower */
	PASSED_OVER_AGE,        /* its priority is equal, and it is older */
	PASSED_OVER_NOMINAL,    /* its ClusterQueue, or a cohort above it, is within its quota */
	/* The preemptor would borrow, which borrowWithinCohort ... */
	PASSED_OVER_BORROW_POLICY,    /* ... forbids */
	PASSED_OVER_BORROW_PRIORITY,  /* ... allows only for lower priorities */
	PASSED_OVER_BORROW_THRESHOLD, /* ... allows only up to maxPriorityThreshold */
	PASSED_OVER_SHARE,            /* fair sharing: neither strategy allows it */
};

struct passed_over {          /* as things stand before anything is taken */
	bool uses_short_pair; /* it uses what is short, in the preemptor's tree; false: the rest is
			      not set */
	enum passed_over_rule rule;
	uint32_t node; /* NOMINAL: the node that is within its quota; SHARE: the node that has the
			  share `target` */
	/* SHARE: of the preemptor with the request; of the target as it is; of the target without
	 * the workload */
	struct share preemptor, target, after;
};

#endif
