/* scheduler/workloads/preempt/victim.h: one workload that is to be preempted, with the reason and
 * message of its Evicted and Preempted conditions and of the event. Owner: the sched thread. Pure.
 */
#ifndef SCHEDULER_WORKLOADS_PREEMPT_VICTIM_H
#define SCHEDULER_WORKLOADS_PREEMPT_VICTIM_H

#include "scheduler/workloads/forest/forest.h"

struct arena;

enum victim_reason { /* of the Preempted condition */
		     VICTIM_IN_CLUSTER_QUEUE,
		     VICTIM_IN_COHORT_RECLAMATION,
		     VICTIM_IN_COHORT_FAIR_SHARING,
		     VICTIM_IN_COHORT_RECLAIM_WHILE_BORROWING,
};

struct victim {
	uint32_t workload;
	enum victim_reason reason;
};

/* "InClusterQueue", ...: as the API spells it. */
const char *victim_reason_name(enum victim_reason r);
/* Names the preemptor (its uid, the uid of its job or UNKNOWN), the reason, and the paths of both
 * ClusterQueues from their roots. `node` is the ClusterQueue of the preemptor; the victim holds
 * quota. In the arena. */
const char *victim_message(const struct forest *f, const struct workload *preemptor, uint32_t node,
			   const struct victim *v, struct arena *arena);

#endif
