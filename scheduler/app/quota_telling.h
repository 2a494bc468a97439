/* scheduler/app/quota_telling.h: statuses and gauges of ClusterQueues, LocalQueues and Cohorts
 * follow what changes in the world: gauges once in one to ten seconds, statuses a few at a time, so
 * that each tells how things stand when it is written. Owner: the sched thread. */
#ifndef SCHEDULER_APP_QUOTA_TELLING_H
#define SCHEDULER_APP_QUOTA_TELLING_H

#include <stdint.h>

#include "base/str.h"
#include "model/message.h"

struct api_condition;
struct api_meta;
struct pool;
struct pool_options;
struct quota_cache;
struct quota_families;
struct quota_telling;

/* base, post: of controllers/quota_status.h. The cache and the metrics are borrowed. */
struct quota_telling *quota_telling_create(const struct pool_options *base,
					   void (*post)(void *ctx, struct sched_msg *msg),
					   const struct quota_cache *cache,
					   struct quota_families *metrics);
void quota_telling_destroy(struct quota_telling *t); /* NULL is fine */
struct pool *quota_telling_pool(struct quota_telling *t);
/* As quota_status_seen and quota_status_gone; other kinds have no effect. */
void quota_telling_seen(struct quota_telling *t, enum sched_resource r, const struct api_meta *meta,
			const struct api_condition *active);
void quota_telling_gone(struct quota_telling *t, enum sched_resource r, struct str key);
/* The outcome of a write. */
void quota_telling_done(struct quota_telling *t, const struct sched_msg *m);
/* The world changed otherwise than quota_cache_changes tells. */
void quota_telling_changed(struct quota_telling *t);
/* Tells what is due. Returns when it wants to be called again (monotonic ns); CLOCK_NEVER: not
 * before something changes. */
int64_t quota_telling_step(struct quota_telling *t);

#endif
