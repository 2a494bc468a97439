/* scheduler/app/engine.h: the scheduler without threads and sockets: cache, cycle, writes and
 * controllers, driven by messages and the time. The sched thread drives it in the daemon; the
 * simulation drives it directly. Owner: the sched thread, except engine_state (atomics: any
 * thread). */
#ifndef SCHEDULER_APP_ENGINE_H
#define SCHEDULER_APP_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "scheduler/base/engine_state.h"
#include "scheduler/base/message.h"

#define ENGINE_MAX_POOLS 24

struct admission_decisions;
struct clock;
struct cluster;
struct metric_registry;
struct decisions;
struct engine;
struct err;
struct foreign;
struct forest;
struct pool;
struct pool_limiter;
struct kueue_conf;
struct workload_engine;
struct sched_conf;
struct transport;

struct engine_options {
	const char *const *scheduler_names; /* NULL-terminated; the first one names the component */
	const char *const *gate_schedulers; /* of pods that others place; NULL: none */
	const char *default_queue;
	struct transport *transport; /* for writes */
	const struct clock *clock;
	struct pool_limiter *limiter;
	struct metric_registry *counters;
	bool standalone; /* no replica takes over: for replica_role of metrics */
	unsigned gate_workers;
	bool manual; /* pools are stepped by the owner */
	bool controllers_podgroup, controllers_queue;
	bool podgroup_per_pod;               /* an object for each pod that has none */
	bool controllers_cost;               /* preemption costs; only with kueue_conf */
	const struct kueue_conf *kueue_conf; /* the Workload engine runs; NULL: it does not. Must
						outlive the engine */
	int64_t min_interval_ns;             /* between cycles */
	int64_t period_ns; /* --schedule-period: longest pause between cycles that have work */
	int64_t request_timeout_ns; /* deadline of each write */
	uint64_t seed;
	void (*post)(void *ctx, struct sched_msg *msg); /* to the sched thread's own queue */
	bool (*may_send)(void *ctx);
	void *ctx;
	/* Called with every decision list right after it was assumed; for the timeline, tests and
	 * tracing. May be NULL. */
	void (*on_decisions)(void *ctx, const struct cluster *c, const struct decisions *d);
	/* The same before it is assumed, for checks of the decisions. May be NULL. */
	void (*on_decided)(void *ctx, const struct cluster *c, const struct decisions *d);
	/* Called with the decisions of every cycle over Workloads, before they are written and
	 * applied. May be NULL. */
	void (*on_admission)(void *ctx, const struct forest *f,
			     const struct admission_decisions *d);
};

/* conf passes to the engine on success only. */
int engine_create(const struct engine_options *opt, struct sched_conf *conf_take,
		  struct engine **ret, struct err *err);
void engine_destroy(struct engine *e);
/* Applies and frees. */
void engine_handle(struct engine *e, struct sched_msg *msg_take);
/* Runs due work. Returns the monotonic time at which to call it again without a message. */
int64_t engine_step(struct engine *e);
const struct engine_state *engine_state(const struct engine *e);
/* Reports about other programs that use our scheduler names; lives as long as the engine. */
struct foreign *engine_foreign(const struct engine *e);
/* Every pool that writes, for stepping in manual mode; returns how many. */
size_t engine_pools(struct engine *e, struct pool **out, size_t max);
const struct cluster *engine_cluster(const struct engine *e);
/* Whether SCHED_BUDGETS is watched for it: it is synced with these only. Does not change. */
bool engine_reads_budgets(const struct engine *e);
struct workload_engine *engine_workloads(struct engine *e); /* NULL: it does not run */
/* Drops waiting writes, awaits those in flight. */
void engine_stop(struct engine *e, int64_t grace_ns);

#endif
