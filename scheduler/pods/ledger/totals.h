/* scheduler/pods/ledger/totals.h: amounts that each queue holds and waits for, counted from the
 * tasks in one pass and rolled up to the ancestors: for status.allocated, metrics and headgatectl
 * queues. Pure; O(tasks + queues * log queues). */
#ifndef SCHEDULER_PODS_LEDGER_TOTALS_H
#define SCHEDULER_PODS_LEDGER_TOTALS_H

#include <stdint.h>

#include "scheduler/pods/model/model.h"

struct queue_totals {
	struct res allocated; /* pods with a node (or a bind decided) that are not terminating, at
				 the queue that they are charged to: Volcano's status.allocated */
	struct res reserved;  /* charges of pods without a node */
	struct res held;    /* charges that allocated does not count: of pods without a node and of
			       terminating ones */
	struct res request; /* allocated plus everything pending, gated included */
	struct res published; /* pods with PodScheduled=False/Unschedulable that opted in */
	uint32_t gated; /* pods that carry our gate, without those that have a patch in flight */
	uint32_t patching, ungated, published_pods, withdrawn, overdue, stuck;
	uint32_t podgroups[PODGROUP_PHASE_COUNT_];
};

/* out: one element per queue id (cluster->queues.n), overwritten. */
void totals_compute(const struct cluster *c, struct queue_totals *out);

#endif
