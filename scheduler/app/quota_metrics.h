/* scheduler/app/quota_metrics.h: metrics of the Workload engine by the names that Kueue gives them
 * (kueue_*). Labels for priority classes and the role of the replica are left out. Owner: the sched
 * thread writes; scraping threads read the registry. */
#ifndef SCHEDULER_APP_QUOTA_METRICS_H
#define SCHEDULER_APP_QUOTA_METRICS_H

#include <stdbool.h>

#include "quota/quota_cycle.h"

struct counter_registry;
struct quota_metrics;

struct quota_metrics *quota_metrics_create(struct counter_registry *r);
void quota_metrics_destroy(struct quota_metrics *m); /* NULL is fine */
/* What a cycle decided; call before it is applied. */
void quota_metrics_cycle(struct quota_metrics *m, const struct quota *q,
			 const struct quota_decisions *d);
/* What was told about a Workload of this ClusterQueue: admissions and evictions are counted, of
 * whatever cause; other reasons are not looked at. */
void quota_metrics_event(struct quota_metrics *m, const char *queue, const char *reason);
/* Gauges of all ClusterQueues; series of those that are gone are removed. */
void quota_metrics_queues(struct quota_metrics *m, const struct forest *f);

#endif
