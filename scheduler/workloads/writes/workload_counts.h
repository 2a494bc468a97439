/* scheduler/workloads/writes/workload_counts.h: how many Workloads wait, hold quota and are
 * admitted in each ClusterQueue and each LocalQueue, and what they hold. Not while a cycle runs:
 * who is in flight is not counted. Pure. */
#ifndef SCHEDULER_WORKLOADS_WRITES_WORKLOAD_COUNTS_H
#define SCHEDULER_WORKLOADS_WRITES_WORKLOAD_COUNTS_H

#include "collections/vec.h"
#include "scheduler/workloads/model/quota_model.h"

struct workload_counts_of { /* of a queue */
	int64_t pending, reserving, admitted;
	struct quota_amounts reserved, used; /* by pair; used: of those who are admitted */
};

struct workload_counts_list VEC(struct workload_counts_of); /* by id */

struct workload_counts {
	struct workload_counts_list nodes, locals;
};

/* Those of all queues again: takes as long as there are nodes, LocalQueues, and Workloads that wait
 * or hold quota. */
void workload_counts_sum(struct workload_counts *t, const struct quota_model *q);
void workload_counts_finish(struct workload_counts *t);

#endif
