/* scheduler/workloads/preempt/protection.h: why a workload that holds quota may not be preempted
 * for a request: the rules of both searches for victims (victims_classical.c, victims_fair.c) asked
 * about one workload, as things stand. For people who ask; the searches do not use it. Owner: the
 * sched thread. Pure. */
#ifndef SCHEDULER_WORKLOADS_PREEMPT_PROTECTION_H
#define SCHEDULER_WORKLOADS_PREEMPT_PROTECTION_H

#include "scheduler/workloads/forest/share.h"
#include "scheduler/workloads/preempt/victims.h"

enum protection_rule {
	PROTECTION_NONE,        /* it may be preempted */
	PROTECTION_UNCONCERNED, /* it uses nothing of what is short, or is of another tree */
	PROTECTION_INACTIVE,    /* its ClusterQueue is stopped, or lacks something */
	PROTECTION_POLICY,      /* the policy is Never */
	PROTECTION_PRIORITY,    /* its priority is not lower */
	PROTECTION_AGE,         /* its priority is equal, and it is older */
	PROTECTION_NOMINAL,     /* its ClusterQueue, or a cohort above it, is within its quota */
	/* The preemptor would borrow, which borrowWithinCohort ... */
	PROTECTION_BORROW_POLICY,    /* ... forbids */
	PROTECTION_BORROW_PRIORITY,  /* ... allows only for lower priorities */
	PROTECTION_BORROW_THRESHOLD, /* ... allows only up to maxPriorityThreshold */
	PROTECTION_SHARE,            /* fair sharing: neither strategy allows it */
};

struct protection {
	enum protection_rule rule;
	uint32_t node; /* NOMINAL: the one that is within its quota; SHARE: whose share `target` is
			*/
	struct share preemptor, target, after; /* SHARE: with the request; as it is; without w */
};

/* w holds quota and is not the preemptor. A victim of victims_find has no protection, but for
 * PROTECTION_SHARE: the search may have changed shares by what it took before. Usage is as before
 * on return. */
struct protection protection_of(const struct victims_request *r, const struct workload *w);

#endif
