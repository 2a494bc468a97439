/* scheduler/workloads/engine/queue_refresh.h: statuses and gauges of ClusterQueues, LocalQueues and
 * Cohorts follow changes of the model: gauges once in one to ten seconds, statuses a few at a time,
 * so that each shows the model at the moment when it is written. Owner: the sched thread. */
#ifndef SCHEDULER_WORKLOADS_ENGINE_QUEUE_REFRESH_H
#define SCHEDULER_WORKLOADS_ENGINE_QUEUE_REFRESH_H

#include <stdint.h>

#include "base/str.h"
#include "scheduler/base/message.h"

struct api_condition;
struct api_meta;
struct pool;
struct pool_options;
struct workload_cache;
struct metric_families;
struct queue_refresh;

/* base, post: of workloads/writes/queue_statuses.h. The cache and the metrics are borrowed. */
struct queue_refresh *queue_refresh_create(const struct pool_options *base,
					   void (*post)(void *ctx, struct sched_msg *msg),
					   const struct workload_cache *cache,
					   struct metric_families *metrics);
void queue_refresh_destroy(struct queue_refresh *t); /* NULL is fine */
struct pool *queue_refresh_pool(struct queue_refresh *t);
/* As queue_statuses_seen and queue_statuses_gone; other kinds have no effect. */
void queue_refresh_seen(struct queue_refresh *t, enum sched_resource r, const struct api_meta *meta,
			const struct api_condition *active);
void queue_refresh_gone(struct queue_refresh *t, enum sched_resource r, struct str key);
/* The outcome of a write. */
void queue_refresh_done(struct queue_refresh *t, const struct sched_msg *m);
/* The model changed in a way that workload_cache_changes does not count. */
void queue_refresh_changed(struct queue_refresh *t);
/* Refreshes what is due. Returns when it wants to be called again (monotonic ns); CLOCK_NEVER: not
 * before something changes. */
int64_t queue_refresh_step(struct queue_refresh *t);

#endif
