/* scheduler/workloads/engine/workload_engine.h: the Workload engine without threads and sockets:
 * its cache, cycles, the writing of statuses and events, driven by messages and the time
 * (app/engine.h does). Owner: the sched thread. */
#ifndef SCHEDULER_WORKLOADS_ENGINE_WORKLOAD_ENGINE_H
#define SCHEDULER_WORKLOADS_ENGINE_WORKLOAD_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/base/message.h"

struct admission_decisions;
struct api_pod;
struct clock;
struct forest;
struct metric_registry;
struct pool;
struct pool_options;
struct workload_cache;
struct kueue_conf;
struct owner_controller;
struct workload_engine;
struct recorder;

struct workload_engine_options {
	const struct kueue_conf *conf;   /* must outlive the engine */
	const struct pool_options *base; /* of the pools that write; copied */
	struct metric_registry *counters;
	const char *role;          /* replica_role of metrics, static: leader, standalone */
	struct recorder *recorder; /* borrowed */
	void (*post)(void *ctx, struct sched_msg *msg); /* outcomes; ctx is that of base */
	bool costs;                                     /* keep preemption costs */
	/* A pod of which workload_engine_holds was wrong, before all kinds were listed. */
	void (*on_unheld)(void *ctx, struct str key);
	/* An object that cannot be used. */
	void (*on_bad_object)(void *ctx, enum sched_resource r, struct str key, const char *text);
	/* The decisions of every cycle, before they are written and applied. */
	void (*on_admission)(void *ctx, const struct forest *f,
			     const struct admission_decisions *d);
	void *ctx;
};

struct workload_engine *workload_engine_create(const struct workload_engine_options *opt);
void workload_engine_destroy(struct workload_engine *e); /* NULL is fine */
/* Looks at every message of objects and outcomes; the caller still frees it. */
void workload_engine_handle(struct workload_engine *e, struct sched_msg *m);
/* Only while leading and when it may write: does what is due. Returns the monotonic time at which
 * it wants to be called again without a message. */
int64_t workload_engine_step(struct workload_engine *e);
/* Every pool that writes; returns how many. */
size_t workload_engine_pools(struct workload_engine *e, struct pool **out, size_t max);
/* Whether a Workload holds quota for this pod: it is charged here and nowhere else. */
bool workload_engine_holds(struct workload_engine *e, const struct api_pod *pod);
struct workload_cache *workload_engine_cache(struct workload_engine *e);
const struct owner_controller *workload_engine_owners(const struct workload_engine *e);

#endif
