/* scheduler/app/quota_metrics.h: counters and times of the Workload engine, by what cycles decide
 * and by what becomes of the statuses of Workloads, whoever writes them. Gauges:
 * app/quota_gauges.h. Owner: the sched thread. */
#ifndef SCHEDULER_APP_QUOTA_METRICS_H
#define SCHEDULER_APP_QUOTA_METRICS_H

#include "quota/conditions.h"

struct forest;
struct quota_families;

/* What a cycle decided, and how long it took; call before it is applied. */
void quota_metrics_cycle(struct quota_families *f, const struct quota *q,
			 const struct quota_decisions *d, double seconds);
/* The status of a Workload became another one. */
void quota_metrics_status(struct quota_families *f, const struct forest *forest,
			  const struct workload *w, const struct conditions *before,
			  const struct conditions *after);
/* A Workload was created so long after its Job or pod (kind). */
void quota_metrics_created(struct quota_families *f, const char *kind, int64_t ns);
/* A pod lost its gate so long after the admission by the ClusterQueue. */
void quota_metrics_ungated(struct quota_families *f, const char *queue, bool group, int64_t ns);

#endif
