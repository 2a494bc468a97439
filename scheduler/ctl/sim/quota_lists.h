/* scheduler/ctl/sim/quota_lists.h: what a quota world holds, in orders that reports print. The
 * caller frees what it gets. One thread. */
#ifndef SCHEDULER_CTL_SIM_QUOTA_LISTS_H
#define SCHEDULER_CTL_SIM_QUOTA_LISTS_H

#include "scheduler/workloads/model/quota.h"

/* ClusterQueues, then Cohorts, by name; those that are only named too, if cohorts. */
const struct quota_node **quota_lists_nodes(const struct quota *q, size_t *ret_n);
/* All Workloads by key. */
const struct workload **quota_lists_workloads(const struct quota *q, size_t *ret_n);
/* Who waits in a queue, best first: the heap, or the inadmissible ones. Those that may not be
 * queued at all for now (Requeued=False) are left out. */
const struct workload **quota_lists_waiting(const struct quota *q,
					    const struct cluster_queue *queue, bool heap,
					    size_t *ret_n);
/* All who wait in a queue, best first, whether they will be tried again soon or not: the order in
 * which Kueue's visibility API counts. */
const struct workload **quota_lists_pending(const struct quota *q,
					    const struct cluster_queue *queue, size_t *ret_n);

#endif
