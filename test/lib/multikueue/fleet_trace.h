/* test/lib/multikueue/fleet_trace.h: one trace of Jobs played on a fleet_world with the manager of
 * MultiKueue, once for each rule by which gates are opened, so that the rules can be compared: the
 * same Jobs at the same times on the same workers, and nothing random. Workers are played as Kueue
 * schedules: one queue by priority, preemption of lower priorities, victims in Kueue's order, which
 * keep their room until their grace period is over. One thread. */
#ifndef TEST_LIB_MULTIKUEUE_FLEET_TRACE_H
#define TEST_LIB_MULTIKUEUE_FLEET_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/multikueue/fleet_jobs.h"

#define FLEET_TRACE_WORKERS 4
#define FLEET_TRACE_JOBS 160

enum fleet_trace_rule {
	FLEET_TRACE_NO_GATES, /* each worker preempts when it wants to */
	FLEET_TRACE_COMPAT,   /* the first that asks, at once (ORCHESTRATE_COMPAT, no window) */
	FLEET_TRACE_ORDER,
	FLEET_TRACE_COST,
	FLEET_TRACE_WIDE, /* the same, and 8 Jobs at a time may preempt in a ClusterQueue */
	FLEET_TRACE_RULE_COUNT_
};

struct fleet_trace_job {
	int64_t at_s; /* of the trace; at or before 0: it is there from the beginning */
	int on;       /* the worker on which its own user submits it; -1: the manager's */
	struct fleet_job job;
	int64_t runs_s; /* from its last start on; 0: it never ends */
};

struct fleet_trace {
	const char *name, *says; /* a word, and what the fleet is like */
	unsigned workers, cpus[FLEET_TRACE_WORKERS];
	int64_t looks_s[FLEET_TRACE_WORKERS]; /* between two cycles of a worker */
	/* The connection to a worker is lost for a time. */
	int cut; /* -1: none */
	int64_t cut_at_s, cut_until_s;
	struct fleet_trace_job jobs[FLEET_TRACE_JOBS];
	size_t n;
};

struct fleet_trace_result {
	unsigned managed, ran, twice; /* Jobs of the manager; twice: on two workers at once */
	unsigned victims;             /* evictions by preemption */
	unsigned in_vain;             /* of these, for a Job that did not run there next */
	int64_t lost_pod_s;           /* pods of the victims by the time for which they ran */
	int64_t p50_s, p99_s; /* of the manager's Jobs, from their submission to their first pod */
};

/* For tables. */
const char *fleet_trace_rule_name(enum fleet_trace_rule rule);
/* Plays the trace until all of the manager's Jobs have ended, or two hours have passed. */
void fleet_trace_play(const struct fleet_trace *t, enum fleet_trace_rule rule,
		      struct fleet_trace_result *ret);

#endif
