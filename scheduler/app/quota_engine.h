/* scheduler/app/quota_engine.h: the Workload engine without threads and sockets: its cache, cycles,
 * the writing of statuses and events, driven by messages and the time (app/engine.h does). Owner:
 * the sched thread. */
#ifndef SCHEDULER_APP_QUOTA_ENGINE_H
#define SCHEDULER_APP_QUOTA_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/message.h"

struct api_pod;
struct clock;
struct counter_registry;
struct pool;
struct pool_options;
struct quota_cache;
struct quota_conf;
struct owners;
struct quota_engine;
struct recorder;
struct workload;

struct quota_engine_options {
	const struct quota_conf *conf;   /* must outlive the engine */
	const struct pool_options *base; /* of the pools that write; copied */
	struct counter_registry *counters;
	const char *role;          /* replica_role of metrics, static: leader, standalone */
	struct recorder *recorder; /* borrowed */
	void (*post)(void *ctx, struct sched_msg *msg); /* outcomes; ctx is that of base */
	bool costs;                                     /* keep preemption costs */
	/* A pod that quota_engine_holds was said of wrongly, before all was known. */
	void (*on_unheld)(void *ctx, struct str key);
	/* An object that cannot be used. */
	void (*on_bad_object)(void *ctx, enum sched_resource r, struct str key, const char *text);
	/* A Workload is to be preempted for another one (or is on its way out already, and counted
	 * on), before that is written. */
	void (*on_preempt)(void *ctx, const struct workload *victim, const struct workload *by);
	void *ctx;
};

struct quota_engine *quota_engine_create(const struct quota_engine_options *opt);
void quota_engine_destroy(struct quota_engine *e); /* NULL is fine */
/* Looks at every message of objects and outcomes. True: it keeps it, the caller must not free it.
 */
bool quota_engine_handle(struct quota_engine *e, struct sched_msg *m);
/* Only while leading and when it may write: does what is due. Returns the monotonic time at which
 * it wants to be called again without a message. */
int64_t quota_engine_step(struct quota_engine *e);
/* Every pool that writes; returns how many. */
size_t quota_engine_pools(struct quota_engine *e, struct pool **out, size_t max);
/* Whether a Workload holds quota for this pod: it is charged here and nowhere else. */
bool quota_engine_holds(struct quota_engine *e, const struct api_pod *pod);
struct quota_cache *quota_engine_cache(struct quota_engine *e);
const struct owners *quota_engine_owners(const struct quota_engine *e);

#endif
