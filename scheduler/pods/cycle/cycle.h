/* scheduler/pods/cycle/cycle.h: one scheduling cycle as a pure function: cluster and time in,
 * decisions out. The cluster is not changed; equal input gives equal output. Thread: sched. */
#ifndef SCHEDULER_PODS_CYCLE_CYCLE_H
#define SCHEDULER_PODS_CYCLE_CYCLE_H

#include "scheduler/pods/session/decision.h"

struct cluster;
struct cycle;
struct err;
struct sched_conf;
struct session;

struct cycle_stats {
	uint64_t queues_scanned, queues_skipped, podgroups_seen, tasks_seen, nodes_scored;
	int64_t next_timer; /* when a cycle is needed although nothing changed; INT64_MAX: none */
	bool has_quota_plugin;
};

/* Called at the phases of a cycle, for metrics; may be NULL. The core itself has no clock. */
struct cycle_trace {
	void (*phase)(void *ctx, const char *name, bool begin);
	void *ctx;
};

/* Builds plugins and actions of conf (borrowed, must outlive the cycle object). Unknown plugin
 * arguments that do not parse: -ERR_INVALID. Changing the configuration means a new cycle object.
 */
int cycle_create(const struct sched_conf *conf, struct cycle **ret, struct err *err);
void cycle_destroy(struct cycle *c);
/* Whether its plugins go by PodDisruptionBudgets, which must be read then. */
bool cycle_needs_budgets(const struct cycle *c);
/* The list is valid until the next cycle_run or cycle_destroy. now: of the clock that the times in
 * the cluster are of: it must not go back, nor leap when the time of day is set. */
const struct decisions *cycle_run(struct cycle *cy, const struct cluster *c, int64_t now,
				  const struct cycle_trace *trace);
struct cycle_stats cycle_last_stats(const struct cycle *c);
/* The closed session of the last cycle, to read what it did not decide (pipelined tasks). NULL when
 * there was nothing to look at. Valid until the next cycle_run, and until the cluster changes. */
const struct session *cycle_last_session(const struct cycle *c);

/* Assumes a decision list in the cluster: charges, phases, statuses as if the API calls had been
 * sent. Used by the cache, the simulator and the tests, so that there is one meaning of a decision.
 */
void cycle_assume(struct cluster *cluster, const struct decisions *d, int64_t now);

#endif
