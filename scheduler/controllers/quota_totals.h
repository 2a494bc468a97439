/* scheduler/controllers/quota_totals.h: how many Workloads wait, hold quota and are admitted in
 * each ClusterQueue and each LocalQueue, and what they hold. Not while a cycle runs: who is in
 * flight is not counted. Pure. */
#ifndef SCHEDULER_CONTROLLERS_QUOTA_TOTALS_H
#define SCHEDULER_CONTROLLERS_QUOTA_TOTALS_H

#include "model/quota_model.h"

struct quota_totals_of { /* of a queue */
	int64_t pending, reserving, admitted;
	struct quota_amounts reserved, used; /* by pair; used: of those who are admitted */
};

struct quota_totals_list { /* by id */
	struct quota_totals_of *v;
	size_t n, cap;
};

struct quota_totals {
	struct quota_totals_list nodes, locals;
};

/* Those of all queues anew: takes as long as there are nodes, LocalQueues, and Workloads that wait
 * or hold quota. */
void quota_totals_sum(struct quota_totals *t, const struct quota *q);
void quota_totals_finish(struct quota_totals *t);

#endif
