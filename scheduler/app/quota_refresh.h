/* scheduler/app/quota_refresh.h: statuses and gauges of ClusterQueues, LocalQueues and Cohorts
 * follow what changes in the world: gauges once in one to ten seconds, statuses a few at a time, so
 * that each tells how things stand when it is written. Owner: the sched thread. */
#ifndef SCHEDULER_APP_QUOTA_REFRESH_H
#define SCHEDULER_APP_QUOTA_REFRESH_H

#include <stdint.h>

#include "base/str.h"
#include "model/message.h"

struct api_condition;
struct api_meta;
struct pool;
struct pool_options;
struct quota_cache;
struct quota_families;
struct quota_refresh;

/* base, post: of controllers/quota_status.h. The cache and the metrics are borrowed. */
struct quota_refresh *quota_refresh_create(const struct pool_options *base,
					   void (*post)(void *ctx, struct sched_msg *msg),
					   const struct quota_cache *cache,
					   struct quota_families *metrics);
void quota_refresh_destroy(struct quota_refresh *t); /* NULL is fine */
struct pool *quota_refresh_pool(struct quota_refresh *t);
/* As quota_status_seen and quota_status_gone; other kinds have no effect. */
void quota_refresh_seen(struct quota_refresh *t, enum sched_resource r, const struct api_meta *meta,
			const struct api_condition *active);
void quota_refresh_gone(struct quota_refresh *t, enum sched_resource r, struct str key);
/* The outcome of a write. */
void quota_refresh_done(struct quota_refresh *t, const struct sched_msg *m);
/* The world changed otherwise than quota_cache_changes tells. */
void quota_refresh_changed(struct quota_refresh *t);
/* Tells what is due. Returns when it wants to be called again (monotonic ns); CLOCK_NEVER: not
 * before something changes. */
int64_t quota_refresh_step(struct quota_refresh *t);

#endif
