/* scheduler/workloads/metrics/workload_metrics.h: counters and times of the Workload engine, from
 * the decisions of cycles and from changes of the statuses of Workloads by any client. Gauges:
 * workloads/metrics/queue_gauges.h. Owner: the sched thread. */
#ifndef SCHEDULER_WORKLOADS_METRICS_WORKLOAD_METRICS_H
#define SCHEDULER_WORKLOADS_METRICS_WORKLOAD_METRICS_H

#include "scheduler/workloads/status/workload_status.h"

struct forest;
struct metric_families;

/* The decisions of a cycle, and how long it took; call before they are applied. */
void workload_metrics_cycle(struct metric_families *f, const struct quota_model *q,
			    const struct admission_decisions *d, double seconds);
/* The status of a Workload became another one. */
void workload_metrics_status(struct metric_families *f, const struct forest *forest,
			     const struct workload *w, const struct workload_status *before,
			     const struct workload_status *after);
/* A Workload was created so long after its Job or pod (kind). */
void workload_metrics_created(struct metric_families *f, const char *kind, int64_t ns);
/* A pod lost its gate so long after the admission by the ClusterQueue. */
void workload_metrics_ungated(struct metric_families *f, const char *queue, bool group, int64_t ns);

#endif
