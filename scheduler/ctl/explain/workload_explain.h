/* scheduler/ctl/explain/workload_explain.h: explains one Workload: its position in its queue, its
 * obstacles, the amounts along its cohorts, the workloads that it would preempt and those that are
 * protected from it; or, when it holds quota, its usage and the queues that could preempt it. One
 * thread. */
#ifndef SCHEDULER_CTL_EXPLAIN_WORKLOAD_EXPLAIN_H
#define SCHEDULER_CTL_EXPLAIN_WORKLOAD_EXPLAIN_H

#include "scheduler/ctl/explain/live_workloads.h"
#include "scheduler/ctl/explain/offer_explain.h"
#include "scheduler/ctl/explain/preemption_targets.h"
#include "scheduler/ctl/explain/preemption_threats.h"
#include "scheduler/ctl/explain/request_levels.h"

struct quota_place { /* in a queue, from 1; 0: in none */
	size_t at, of;
};

struct quota_obstacle { /* an object or gate that keeps it from being admitted */
	const char *kind, *name, *state, *message;
};

struct quota_mismatch { /* a flavor that its pods cannot run on */
	uint32_t flavor;
	const char *why;
};

struct workload_explanation {
	const struct forest *forest;
	const struct workload *w;
	const struct workload_status *status;
	const char *verdict, *reason; /* a sentence, and the API's reason for it */
	const char *local;            /* "namespace/name" of its LocalQueue; NULL: it names none */
	const struct quota_node *queue; /* its ClusterQueue; NULL: none that is known */
	struct quota_place place, local_place;
	bool holds;    /* it holds quota: the threats count, not the targets */
	bool has_turn; /* a cycle will nominate it, and `entry` is the result */
	struct entry entry;
	struct VEC(struct quota_obstacle) obstacles;
	struct VEC(struct quota_mismatch) mismatches;
	struct request_levels levels;
	struct preemption_targets targets;
	struct preemption_threats threats;
	struct offer offer;    /* to worker clusters; found by offer_lookup */
	const char *wanted_by; /* holds: the workload that would preempt it in the next cycle; NULL:
				  none */
	struct arena *arena;
};

/* key: "namespace/name". Runs a cycle on the simulation in s; the rest of s is unchanged.
 * -ERR_NOT_FOUND: there is no such Workload, or it could not be read. */
int workload_explain_workload(struct live_workloads *s, const char *key,
			      struct workload_explanation *ret, struct err *err);
void workload_explain_finish(struct workload_explanation *x); /* for CLEANUP; zeroed is fine */

#endif
