/* scheduler/workloads/engine/workload_reread.h: reads Workloads once more by GET: their requests
 * depend on other objects that changed (LimitRanges, RuntimeClasses), and only the computed
 * amounts are kept in memory. Each arrives as an update, unless the watch delivered a newer
 * version. Owner: the sched thread calls; the pool works on a thread of its own (or is stepped). */
#ifndef SCHEDULER_WORKLOADS_ENGINE_WORKLOAD_REREAD_H
#define SCHEDULER_WORKLOADS_ENGINE_WORKLOAD_REREAD_H

#include "base/str.h"

struct pool;
struct pool_options;
struct workload_reread;
struct sched_msg;

/* base: transport, clock, limiter, workers (0: manual) and the ctx of post, which receives
 * SCHED_MSG_UPSERT or SCHED_MSG_BAD_OBJECT. */
struct workload_reread *workload_reread_create(const struct pool_options *base,
					       void (*post)(void *ctx, struct sched_msg *msg));
void workload_reread_destroy(struct workload_reread *r); /* NULL is fine */
struct pool *workload_reread_pool(struct workload_reread *r);
/* "namespace/name"; once, however often it is asked for before it is sent. */
void workload_reread_add(struct workload_reread *r, struct str key);

#endif
