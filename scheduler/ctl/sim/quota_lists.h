/* scheduler/ctl/sim/quota_lists.h: sorted lists of the objects of a quota model, for reports. The
 * caller frees the lists. One thread. */
#ifndef SCHEDULER_CTL_SIM_QUOTA_LISTS_H
#define SCHEDULER_CTL_SIM_QUOTA_LISTS_H

#include "scheduler/workloads/model/quota_model.h"

/* ClusterQueues, then (if cohorts) Cohorts, by name, including Cohorts that only exist by
 * reference. */
const struct quota_node **quota_lists_nodes(const struct quota_model *q, size_t *ret_n);
/* All Workloads by key. */
const struct workload **quota_lists_workloads(const struct quota_model *q, size_t *ret_n);
/* The Workloads that wait in a queue, first to be tried first: those in the heap, or the
 * inadmissible ones. Those that may not be queued for now (Requeued=False) are left out. */
const struct workload **quota_lists_waiting(const struct quota_model *q,
					    const struct cluster_queue *queue, bool heap,
					    size_t *ret_n);
/* The Workloads of a LocalQueue ("namespace/name") that may wait and hold no quota of a
 * ClusterQueue of the model, first to be tried first; whether there is such a ClusterQueue or not.
 */
const struct workload **quota_lists_local(const struct quota_model *q, const char *local,
					  size_t *ret_n);
/* All Workloads that wait in a queue, first to be tried first, inadmissible or not: the order of
 * positions in Kueue's visibility API. */
const struct workload **quota_lists_pending(const struct quota_model *q,
					    const struct cluster_queue *queue, size_t *ret_n);
/* The number of pods of the set; w NULL, a workload that has been removed since: 0. */
int32_t quota_lists_pod_count(const struct workload *w, const char *podset);

#endif
