/* scheduler/workloads/metrics/queue_gauges.h: the gauges of the Workload engine: how things stand
 * with ClusterQueues, Cohorts and LocalQueues. Told as a whole, so that what is gone is not there
 * any more. Owner: the sched thread. */
#ifndef SCHEDULER_WORKLOADS_METRICS_QUEUE_GAUGES_H
#define SCHEDULER_WORKLOADS_METRICS_QUEUE_GAUGES_H

struct workload_cache;
struct metric_families;

/* One pass over all; costs as much as there is. */
void queue_gauges_tell(struct metric_families *f, const struct workload_cache *cache);

#endif
