/* test/lib/pods/cycle_fixture.h: a cluster and a cycle over it, decisions as text. Owner: the test.
 */
#ifndef TEST_LIB_PODS_CYCLE_FIXTURE_H
#define TEST_LIB_PODS_CYCLE_FIXTURE_H

#include "base/strbuf.h"
#include "lib/pods/cluster_fixture.h"
#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/cycle/cycle.h"

#define CYCLE_FIXTURE_START (INT64_C(1700000000) * 1000000000)
#define CYCLE_FIXTURE_S INT64_C(1000000000)

struct cycle_fixture {
	struct cluster *cluster;
	struct sched_conf *conf;
	struct cycle *cycle;
	int64_t now;
	struct strbuf text;                /* of the last cycle: see cycle_fixture_run */
	const struct decisions *decisions; /* of the last cycle */
};

/* conf_text NULL: the built-in configuration. Asserts that it parses. */
void cycle_fixture_init(struct cycle_fixture *f, const char *conf_text);
void cycle_fixture_finish(struct cycle_fixture *f);
/* For options that are set by flags: creates the cycle again with the changed conf. */
void cycle_fixture_reconfigure(struct cycle_fixture *f);
/* Runs a cycle twice (same answer, cluster unchanged), and one that looks at everything (it does
 * the same), checks the invariants and assumes the
 * decisions. Returns all but events and scans, in order: "Ungate p1; Bind p2 n1; JobPhase j
 * Inqueue". */
const char *cycle_fixture_run(struct cycle_fixture *f);
/* The API server answered: gates that were patched are off, bound pods run. */
void cycle_fixture_acknowledge(struct cycle_fixture *f);
/* Only the withdrawals are answered: autoscalers do not see these pods any more. */
void cycle_fixture_acknowledge_withdrawals(struct cycle_fixture *f);
/* Appends one decision as in cycle_fixture_run. */
void cycle_fixture_format(const struct cluster *c, const struct decision *d, struct strbuf *out);
/* A gated task that opted in. */
struct task *cycle_fixture_gated(struct cycle_fixture *f, const char *name, struct podgroup *g,
				 int64_t cpu);

#endif
