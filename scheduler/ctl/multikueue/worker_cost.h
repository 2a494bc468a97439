/* scheduler/ctl/multikueue/worker_cost.h: the cost of letting a Workload preempt on one worker
 * cluster (orchestrate/price.h), as the manager would find it at this moment for this Workload
 * alone: victims that it has promised to others are not known here. Any thread; blocks. */
#ifndef SCHEDULER_CTL_MULTIKUEUE_WORKER_COST_H
#define SCHEDULER_CTL_MULTIKUEUE_WORKER_COST_H

#include <stddef.h>
#include <stdint.h>

#include "scheduler/orchestrate/price.h"

struct kueue_conf;
struct transport;

struct worker_cost {
	enum price_verdict verdict;
	int64_t cost;    /* of PREEMPTS, in pod-seconds */
	size_t victims;  /* of PREEMPTS: how many */
	const char *why; /* the reason of UNKNOWN (an error of the worker as well) and CANNOT */
};

struct worker_cost_request {
	struct transport *worker;
	const struct kueue_conf *conf; /* taken to be the worker's as well */
	const char *key;               /* of the replica: "namespace/name" */
	int64_t limit_ns;              /* for all of its requests; more than 0 */
};

/* Texts live in the arena. */
void worker_cost_read(const struct worker_cost_request *r, struct arena *arena,
		      struct worker_cost *ret);

#endif
