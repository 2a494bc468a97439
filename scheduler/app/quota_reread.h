/* scheduler/app/quota_reread.h: reads Workloads once more by GET, because what they ask for depends
 * on other objects that changed (LimitRanges, RuntimeClasses) and only their quantities are kept.
 * Each arrives as an update, unless the watch has told of something newer. Owner: the sched thread
 * calls; the pool works on a thread of its own (or is stepped). */
#ifndef SCHEDULER_APP_QUOTA_REREAD_H
#define SCHEDULER_APP_QUOTA_REREAD_H

#include "base/str.h"

struct pool;
struct pool_options;
struct quota_reread;
struct sched_msg;

/* base: transport, clock, limiter, workers (0: manual) and the ctx of post, which receives
 * SCHED_MSG_UPSERT or SCHED_MSG_BAD_OBJECT. */
struct quota_reread *quota_reread_create(const struct pool_options *base,
					 void (*post)(void *ctx, struct sched_msg *msg));
void quota_reread_destroy(struct quota_reread *r); /* NULL is fine */
struct pool *quota_reread_pool(struct quota_reread *r);
/* "namespace/name"; once, however often it is asked for before it is sent. */
void quota_reread_add(struct quota_reread *r, struct str key);

#endif
