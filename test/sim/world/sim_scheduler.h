/* test/sim/world/sim_scheduler.h: one process of the scheduler in virtual time: the engine with
 * pools in manual mode, its reflectors, its lease, two transports and the message queue between
 * them, put together as the daemon does. It can die, be stopped, or stand still, at any half step.
 * Owner: the run. */
#ifndef TEST_SIM_WORLD_SIM_SCHEDULER_H
#define TEST_SIM_WORLD_SIM_SCHEDULER_H

#include <stdbool.h>

#include "sim/world/sim_world.h"

struct admission_decisions;
struct cluster;
struct decisions;
struct forest;
struct kueue_conf;
struct sim_scheduler;

struct sim_scheduler_options {
	unsigned number; /* of this process, for the trace */
	bool leader_elect;
	bool gates_admission;
	int64_t reservation_timeout_ns;
	const struct kueue_conf *kueue_conf; /* the Workload engine runs; NULL: it does not */
	/* Every decision list, before it is assumed; now: as sim_scheduler_now. */
	void (*on_decided)(void *ctx, const struct cluster *c, const struct decisions *d,
			   int64_t now);
	/* The decisions of every cycle over Workloads, before they are applied. */
	void (*on_admission)(void *ctx, const struct forest *f,
			     const struct admission_decisions *d);
	void *ctx;
};

struct sim_scheduler *sim_scheduler_create(struct sim_world *w,
					   const struct sim_scheduler_options *opt);
/* The configuration file has changed, to the options given but for those that only the next process
 * reads (flags); NULL: it does not load any more. */
void sim_scheduler_reload(struct sim_scheduler *s, const struct sim_scheduler_options *opt);
/* SIGKILL: requests in flight may still arrive. */
void sim_scheduler_kill(struct sim_scheduler *s);
/* SIGTERM: waits for requests in flight, releases the lease. */
void sim_scheduler_terminate(struct sim_scheduler *s);
/* Adds the half steps that are possible now. */
void sim_scheduler_offer(struct sim_scheduler *s, struct sim_choices *out);
/* Key of a pod with a write in flight; false: none. */
bool sim_scheduler_target(const struct sim_scheduler *s, struct strbuf *ret_key);
void sim_scheduler_pause(struct sim_scheduler *s, bool paused);
bool sim_scheduler_is_paused(const struct sim_scheduler *s);
/* The process must end, since its lease is lost. */
bool sim_scheduler_has_lost(const struct sim_scheduler *s);
bool sim_scheduler_is_leading(const struct sim_scheduler *s);
/* It leads, and its lease is valid. */
bool sim_scheduler_may_write(struct sim_scheduler *s);
/* It leads, may write, its watches are open and no write is in backoff. */
bool sim_scheduler_is_healthy(struct sim_scheduler *s);
/* Writes its model into the trace. */
void sim_scheduler_trace(struct sim_scheduler *s);
const struct cluster *sim_scheduler_cluster(const struct sim_scheduler *s);
/* The current time, comparable with times in its cluster. */
int64_t sim_scheduler_now(const struct sim_scheduler *s);

#endif
