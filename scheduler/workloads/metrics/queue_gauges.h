/* scheduler/workloads/metrics/queue_gauges.h: the gauges of the Workload engine: the state of
 * ClusterQueues, Cohorts and LocalQueues. They are set all together, so that those of deleted
 * objects are removed. Owner: the sched thread. */
#ifndef SCHEDULER_WORKLOADS_METRICS_QUEUE_GAUGES_H
#define SCHEDULER_WORKLOADS_METRICS_QUEUE_GAUGES_H

struct workload_cache;
struct metric_families;

/* One pass over all objects: O(Workloads). */
void queue_gauges_set(struct metric_families *f, const struct workload_cache *cache);

#endif
