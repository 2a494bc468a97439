/* scheduler/pods/engine/sched_metrics.h: the scheduler's metrics: Volcano's names where the thing
 * exists here (volcano_*), and the gate feature's own (headgate_*). Owner: the sched thread writes;
 * scraping threads read the registry. */
#ifndef SCHEDULER_PODS_ENGINE_SCHED_METRICS_H
#define SCHEDULER_PODS_ENGINE_SCHED_METRICS_H

#include <stdint.h>

#include "scheduler/base/message.h"

struct cluster;
struct metric_registry;
struct decisions;
struct queue_totals;
struct sched_metrics;

struct sched_metrics *sched_metrics_create(struct metric_registry *r);
void sched_metrics_destroy(struct sched_metrics *m);
/* Counts what a cycle decided. now: wall ns. */
void sched_metrics_decisions(struct sched_metrics *m, const struct cluster *c,
			     const struct decisions *d, int64_t now);
/* Per-queue gauges; series of queues that are gone are removed. */
void sched_metrics_totals(struct sched_metrics *m, const struct cluster *c,
			  const struct queue_totals *totals);
void sched_metrics_cycle(struct sched_metrics *m, int64_t duration_ns);
void sched_metrics_action(struct sched_metrics *m, const char *action, int64_t duration_ns);
void sched_metrics_request(struct sched_metrics *m, const struct sched_msg *done);
void sched_metrics_bad_object(struct sched_metrics *m, const char *resource);
/* so_far: since the start. */
void sched_metrics_events_dropped(struct sched_metrics *m, uint64_t so_far);
void sched_metrics_conf(struct sched_metrics *m, bool ok);

#endif
