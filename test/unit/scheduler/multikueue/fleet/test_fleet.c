/* The orchestrator over embedded API servers in virtual time: its writes, and when they are made.
 */
#include "scheduler/multikueue/fleet/fleet.h"

#include "lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/multikueue/fleet_dialect.h"
#include "lib/multikueue/fleet_split.h"
#include "lib/multikueue/fleet_world.h"
#include "obs/exposition.h"
#include "obs/metric.h"

#define S CLOCK_NS_PER_S
#define MINUTE (60 * S)
#define LOCAL "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads/"

static struct orchestrate_options options(enum orchestrate_mode mode)
{
	struct orchestrate_options o;

	orchestrate_defaults(&o);
	o.mode = mode;
	return o;
}

static struct fleet_world *begin(unsigned workers, enum orchestrate_mode mode)
{
	const struct orchestrate_options o = options(mode);
	struct fleet_world *w = fleet_world_create(workers, &o, 1, 1);

	fleet_world_start(w);
	fleet_world_run(w, 2 * S);
	return w;
}

static void assert_token(struct fleet_world *w, const char *name, const char *part)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	fleet_world_token(w, name, &text);
	if (strstr(text.p == NULL ? "" : text.p, part) == NULL) {
		fail_msg("token %s does not have %s", text.p == NULL ? "" : text.p, part);
	}
}

/* A sample of a metric, as its line begins; -1: there is none. */
static double metric(struct fleet_world *w, const char *line)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT, wanted = STRBUF_INIT;
	const char *at;

	strbuf_printf(&wanted, "\n%s", line);
	exposition_render(fleet_world_metrics(w), &text);
	at = strstr(text.p, wanted.p);
	return at == NULL ? -1 : strtod(at + wanted.len, NULL);
}

static void report_all(struct fleet_world *w, unsigned n, const char *name,
		       enum fleet_world_state state)
{
	for (unsigned i = 0; i < n; i++) {
		fleet_world_report(w, i, name, state);
	}
}

static void settle_locally(struct fleet_world *w, const char *name, const char *state)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT, patch = STRBUF_INIT;

	strbuf_printf(&path, LOCAL "%s/status", name);
	strbuf_printf(&patch,
		      "{\"status\":{\"admissionChecks\":[{\"name\":\"mk\",\"state\":\"%s\","
		      "\"message\":\"\","
		      "\"lastTransitionTime\":\"2027-01-15T08:00:00Z\"}],\"nominatedClusterNames\":"
		      "null}}",
		      state);
	assert_int_equal(fleet_world_patch(w, FLEET_WORLD_MANAGER, path.p, patch.p), 200);
}

static void test_one_gate_is_opened(void **state UNUSED)
{
	struct fleet_world *w = begin(3, ORCHESTRATE_ORDER);

	fleet_world_offer(w, "a", 0);
	fleet_world_run(w, S);
	assert_int_equal(fleet_world_open(w, "a"), -1);
	report_all(w, 3, "a", FLEET_WORLD_GATED);
	fleet_world_run(w, S);
	assert_int_equal(fleet_world_open(w, "a"), 0);
	assert_token(w, "a", "\"holder\":\"w0\"");
	assert_true(metric(w, "headgate_preemption_grants_total{cluster=\"w0\"} ") == 1);

	fleet_world_report(w, 0, "a", FLEET_WORLD_PREEMPTING);
	fleet_world_run(w, MINUTE);
	fleet_world_report(w, 0, "a", FLEET_WORLD_ADMITTED);
	settle_locally(w, "a", "Ready");
	fleet_world_run(w, S);
	assert_token(w, "a", "\"phase\":\"Free\"");
	assert_token(w, "a", "\"outcome\":\"Admitted\",\"victims\":1}");
	assert_true(metric(w, "headgate_preemption_victims_total{cluster=\"w0\"} ") == 1);
	assert_true(metric(w, "headgate_preemption_grants_ended_total{cluster=\"w0\",outcome="
			      "\"Admitted\"} ") == 1);
	fleet_world_destroy(w);
}

/* By hand, or by another manager, while another cluster may preempt. */
static void test_a_gate_that_was_opened_by_hand(void **state UNUSED)
{
	struct fleet_world *w = begin(2, ORCHESTRATE_ORDER);

	fleet_world_offer(w, "a", 0);
	report_all(w, 2, "a", FLEET_WORLD_GATED);
	fleet_world_run(w, S);
	assert_int_equal(fleet_world_open(w, "a"), 0);
	assert_int_equal(fleet_world_patch(w, 1, LOCAL "a/status", fleet_dialect_gate(true)), 200);
	fleet_world_run(w, S);
	assert_int_equal(fleet_world_open(w, "a"), 0);
	assert_int_equal(fleet_world_events(w, "PreemptionGateNotGranted", NULL,
					    "on worker cluster w1 is open without a grant"),
			 1);
	/* One of this manager's is not reported so. */
	fleet_world_run(w, MINUTE);
	assert_int_equal(fleet_world_events(w, "PreemptionGateNotGranted", NULL, NULL), 1);
	fleet_world_destroy(w);
}

/* Kueue opens the gate of the first that asks, even where another cluster would admit the Workload
 * a second later. */
static void test_waits_for_all_answers(void **state UNUSED)
{
	struct fleet_world *w = begin(3, ORCHESTRATE_ORDER);

	fleet_world_offer(w, "a", 0);
	fleet_world_report(w, 0, "a", FLEET_WORLD_GATED);
	fleet_world_report(w, 1, "a", FLEET_WORLD_NO_FIT);
	fleet_world_run(w, 9 * S);
	assert_int_equal(fleet_world_open(w, "a"), -1);
	fleet_world_report(w, 2, "a", FLEET_WORLD_ADMITTED);
	fleet_world_run(w, MINUTE);
	assert_int_equal(fleet_world_open(w, "a"), -1);
	assert_true(metric(w, "headgate_preemptions_avoided_total ") == 1);
	fleet_world_destroy(w);
}

static void test_window_ends(void **state UNUSED)
{
	struct fleet_world *w = begin(3, ORCHESTRATE_ORDER);

	fleet_world_offer(w, "a", 0);
	fleet_world_report(w, 1, "a", FLEET_WORLD_GATED);
	fleet_world_run(w, 9 * S);
	assert_int_equal(fleet_world_open(w, "a"), -1);
	fleet_world_run(w, 2 * S);
	assert_int_equal(fleet_world_open(w, "a"), 1);
	fleet_world_destroy(w);
}

/* Kueue never closes a gate that it has opened, so that after some time-outs all clusters preempt.
 */
static void test_closes_before_it_opens_the_next(void **state UNUSED)
{
	struct fleet_world *w = begin(2, ORCHESTRATE_ORDER);

	fleet_world_offer(w, "a", 0);
	report_all(w, 2, "a", FLEET_WORLD_GATED);
	fleet_world_run(w, S);
	assert_int_equal(fleet_world_open(w, "a"), 0);
	/* It does not react: after 20 s the other one has its turn. */
	for (unsigned i = 0; i < 30; i++) {
		fleet_world_run(w, S);
		assert_int_not_equal(fleet_world_open(w, "a"), -2);
	}
	assert_int_equal(fleet_world_open(w, "a"), 1);
	assert_token(w, "a", "NoReaction");
	assert_true(metric(w, "headgate_preemption_gates_closed_total{cluster=\"w0\"} ") == 1);
	fleet_world_destroy(w);
}

/* Kueue forgets an open gate on a cluster that it cannot reach, and opens the next one at once. */
static void test_lost_holder_keeps_the_token(void **state UNUSED)
{
	struct fleet_world *w = begin(2, ORCHESTRATE_ORDER);

	fleet_world_offer(w, "a", 0);
	report_all(w, 2, "a", FLEET_WORLD_GATED);
	fleet_world_run(w, S);
	assert_int_equal(fleet_world_open(w, "a"), 0);
	fleet_world_report(w, 0, "a", FLEET_WORLD_PREEMPTING);
	fleet_world_run(w, S);
	fleet_world_cut(w, 0, true);
	fleet_world_run(w, 4 * MINUTE);
	assert_int_equal(fleet_world_open(w, "a"), 0);
	fleet_world_run(w, 2 * MINUTE);
	assert_int_equal(fleet_world_open(w, "a"), -2); /* w0 cannot be reached, and had its time */
	assert_token(w, "a", "\"holder\":\"w1\"");
	assert_token(w, "a", "Unreachable");
	fleet_world_report(w, 1, "a", FLEET_WORLD_PREEMPTING);
	fleet_world_cut(w, 0, false);
	fleet_world_run(w, 6 * MINUTE); /* the back-off of the connection */
	assert_int_equal(fleet_world_open(w, "a"), 1);
	fleet_world_destroy(w);
}

/* A connection is given up some seconds after its watch has failed. A worker that evicts meanwhile
 * must not seem to do nothing. */
static void test_cut_during_the_reaction(void **state UNUSED)
{
	struct orchestrate_options o = options(ORCHESTRATE_ORDER);
	struct fleet_world *w;

	o.probe_ns = 5 * S;
	w = fleet_world_create(2, &o, 1, 1);
	fleet_world_start(w);
	fleet_world_run(w, 2 * S);
	fleet_world_offer(w, "a", 0);
	report_all(w, 2, "a", FLEET_WORLD_GATED);
	fleet_world_run(w, S);
	assert_int_equal(fleet_world_open(w, "a"), 0);
	fleet_world_cut(w, 0, true);
	fleet_world_report(w, 0, "a", FLEET_WORLD_PREEMPTING);
	fleet_world_run(w, 10 * S);
	fleet_world_cut(w, 0, false);
	fleet_world_run(w, 20 * S);
	assert_int_equal(fleet_world_open(w, "a"), 0);
	assert_token(w, "a", "\"epoch\":1,\"phase\":\"Granted\",\"holder\":\"w0\"");
	fleet_world_destroy(w);
}

/* The API server of a worker is away for longer than the worker may take to react. It cannot show a
 * reaction meanwhile, and has its time after that: what it has evicted may not be written yet. */
static void test_cut_before_the_reaction(void **state UNUSED)
{
	struct fleet_world *w = begin(2, ORCHESTRATE_ORDER);

	fleet_world_offer(w, "a", 0);
	report_all(w, 2, "a", FLEET_WORLD_GATED);
	fleet_world_run(w, S);
	assert_int_equal(fleet_world_open(w, "a"), 0);
	fleet_world_cut(w, 0, true);
	fleet_world_report(w, 0, "a", FLEET_WORLD_GATED); /* its watch fails with the next change */
	fleet_world_run(w, 30 * S);
	fleet_world_cut(w, 0, false);
	fleet_world_run(w, 15 * S); /* some of it for the pause between attempts to connect */
	assert_int_equal(fleet_world_open(w, "a"), 0);
	fleet_world_report(w, 0, "a", FLEET_WORLD_PREEMPTING);
	fleet_world_run(w, MINUTE);
	assert_int_equal(fleet_world_open(w, "a"), 0);
	assert_token(w, "a", "\"epoch\":1,\"phase\":\"Granted\",\"holder\":\"w0\"");
	fleet_world_destroy(w);
}

/* Kueue's memory of an opening is the open gate itself: after a restart it opens the gate of
 * another cluster that happens to be connected first. */
static void test_restart_keeps_the_token(void **state UNUSED)
{
	struct fleet_world *w = begin(2, ORCHESTRATE_ORDER);

	fleet_world_offer(w, "a", 0);
	report_all(w, 2, "a", FLEET_WORLD_GATED);
	fleet_world_run(w, S);
	assert_int_equal(fleet_world_open(w, "a"), 0);
	fleet_world_report(w, 0, "a", FLEET_WORLD_PREEMPTING);
	fleet_world_kill(w, false);
	fleet_world_cut(w, 0, true);
	fleet_world_start(w);
	fleet_world_run(w, MINUTE);
	assert_int_equal(fleet_world_open(w, "a"), 0);
	fleet_world_cut(w, 0, false);
	fleet_world_run(w, MINUTE);
	assert_int_equal(fleet_world_open(w, "a"), 0);
	assert_token(w, "a", "\"holder\":\"w0\"");
	fleet_world_destroy(w);
}

/* Kueue opens the gate of another cluster when a worker's late write has closed this one again. */
static void test_reverted_gate_is_opened_again(void **state UNUSED)
{
	struct fleet_world *w = begin(2, ORCHESTRATE_ORDER);

	fleet_world_offer(w, "a", 0);
	report_all(w, 2, "a", FLEET_WORLD_GATED);
	fleet_world_run(w, S);
	assert_int_equal(fleet_world_open(w, "a"), 0);
	assert_int_equal(fleet_world_patch(w, 0, LOCAL "a/status", fleet_dialect_gate(false)), 200);
	assert_int_equal(fleet_world_open(w, "a"), -1);
	fleet_world_run(w, S);
	assert_int_equal(fleet_world_open(w, "a"), 0);
	assert_true(metric(w, "headgate_preemption_gates_reopened_total{cluster=\"w0\"} ") == 1);
	fleet_world_destroy(w);
}

/* Kueue opens as many gates in one ClusterQueue of a worker as there are preemptors, which then
 * compete for the same victims. */
static void test_one_preemptor_for_each_queue(void **state UNUSED)
{
	struct fleet_world *w = begin(2, ORCHESTRATE_ORDER);

	fleet_world_offer(w, "first", 0);
	fleet_world_offer(w, "second", 0);
	report_all(w, 2, "first", FLEET_WORLD_GATED);
	fleet_world_run(w, S);
	report_all(w, 2, "second", FLEET_WORLD_GATED);
	fleet_world_run(w, S);
	assert_int_equal(fleet_world_open(w, "first"), 0);
	assert_int_equal(fleet_world_open(w, "second"), 1);
	fleet_world_report(w, 0, "first", FLEET_WORLD_PREEMPTING);
	fleet_world_report(w, 1, "second", FLEET_WORLD_PREEMPTING);

	/* Both wait; the one with the higher priority is next. */
	fleet_world_offer(w, "low", 0);
	fleet_world_offer(w, "high", 100);
	report_all(w, 2, "low", FLEET_WORLD_GATED);
	report_all(w, 2, "high", FLEET_WORLD_GATED);
	fleet_world_run(w, MINUTE);
	assert_int_equal(fleet_world_open(w, "low"), -1);
	assert_int_equal(fleet_world_open(w, "high"), -1);
	fleet_world_report(w, 1, "second", FLEET_WORLD_ADMITTED);
	settle_locally(w, "second", "Ready");
	fleet_world_run(w, S);
	assert_int_equal(fleet_world_open(w, "high"), 1);
	assert_int_equal(fleet_world_open(w, "low"), -1);
	fleet_world_destroy(w);
}

/* The manager forgets the cluster; the next Workload does not wait for it. */
static void test_removed_holder(void **state UNUSED)
{
	struct fleet_world *w = begin(2, ORCHESTRATE_ORDER);

	fleet_world_offer(w, "first", 0);
	report_all(w, 2, "first", FLEET_WORLD_GATED);
	fleet_world_run(w, S);
	assert_int_equal(fleet_world_open(w, "first"), 0);
	assert_int_equal(fleet_world_delete(w, FLEET_WORLD_MANAGER,
					    "/apis/kueue.x-k8s.io/v1beta2/multikueueclusters/w0"),
			 200);
	fleet_world_run(w, MINUTE);
	fleet_world_offer(w, "second", 0);
	report_all(w, 2, "second", FLEET_WORLD_GATED);
	fleet_world_run(w, MINUTE);
	assert_int_equal(fleet_world_open(w, "second"), 1);
	assert_false(fleet_world_is_open(w, 0, "second"));
	fleet_world_destroy(w);
}

/* The holder has had its time, but a new process has not yet tried to reach it. */
static void test_restart_waits_for_the_holder(void **state UNUSED)
{
	struct fleet_world *w = begin(2, ORCHESTRATE_ORDER);

	fleet_world_offer(w, "a", 0);
	report_all(w, 2, "a", FLEET_WORLD_GATED);
	fleet_world_run(w, S);
	fleet_world_report(w, 0, "a", FLEET_WORLD_PREEMPTING);
	fleet_world_run(w, 6 * MINUTE);
	assert_int_equal(fleet_world_open(w, "a"), 0);
	fleet_world_kill(w, false);
	fleet_world_hang(w, 0, true);
	fleet_world_start(w);
	fleet_world_run(w, 20 * S);
	assert_int_equal(fleet_world_open(w, "a"), 0);
	fleet_world_hang(w, 0, false);
	fleet_world_run(w, MINUTE);
	assert_int_equal(fleet_world_open(w, "a"), 0);
	assert_token(w, "a", "\"holder\":\"w0\"");
	fleet_world_destroy(w);
}

/* A clock that is set back by an hour makes no wait an hour longer. */
static void test_clock_set_back(void **state UNUSED)
{
	struct fleet_world *w = begin(2, ORCHESTRATE_ORDER);

	fleet_world_offer(w, "a", 0);
	fleet_world_report(w, 0, "a", FLEET_WORLD_GATED);
	fleet_world_run(w, S);
	fleet_world_set_clock(w, -3600 * S);
	fleet_world_run(w, 20 * S); /* the window */
	assert_int_equal(fleet_world_open(w, "a"), 0);
	fleet_world_destroy(w);
}

static void test_clock_set_back_after_a_refusal(void **state UNUSED)
{
	struct fleet_world *w = begin(2, ORCHESTRATE_ORDER);

	fleet_world_offer(w, "a", 0);
	fleet_world_refuse(w, FLEET_WORLD_MANAGER, true);
	report_all(w, 2, "a", FLEET_WORLD_GATED);
	fleet_world_run(w, S);
	fleet_world_refuse(w, FLEET_WORLD_MANAGER, false);
	fleet_world_run(w, 20 * S); /* it is not repeated at once */
	assert_int_equal(fleet_world_open(w, "a"), -1);
	fleet_world_set_clock(w, -3600 * S);
	fleet_world_run(w, 5 * S);
	assert_int_equal(fleet_world_open(w, "a"), 0);

	/* The same for a gate that is to be closed. */
	fleet_world_refuse(w, 0, true);
	settle_locally(w, "a", "Retry");
	fleet_world_run(w, S);
	fleet_world_refuse(w, 0, false);
	fleet_world_set_clock(w, -3600 * S);
	fleet_world_run(w, 60 * S);
	assert_int_equal(fleet_world_open(w, "a"), -1);
	fleet_world_destroy(w);
}

/* Whichever list comes first: that of Workloads, or that of the clusters that hold their tokens. */
static void test_restart_keeps_the_place(void **state UNUSED)
{
	const struct orchestrate_options o = options(ORCHESTRATE_ORDER);

	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct fleet_world *w = fleet_world_create(1, &o, 1, seed);

		unit_row_number(seed);
		fleet_world_start(w);
		fleet_world_offer(w, "first", 0);
		fleet_world_report(w, 0, "first", FLEET_WORLD_GATED);
		fleet_world_run(w, 2 * S);
		assert_int_equal(fleet_world_open(w, "first"), 0);
		fleet_world_report(w, 0, "first", FLEET_WORLD_PREEMPTING);
		fleet_world_kill(w, true);
		fleet_world_offer(w, "second", 100);
		fleet_world_report(w, 0, "second", FLEET_WORLD_GATED);
		fleet_world_start(w);
		fleet_world_run(w, MINUTE);
		assert_int_equal(fleet_world_open(w, "first"), 0);
		assert_int_equal(fleet_world_open(w, "second"), -1);
		fleet_world_destroy(w);
	}
}

/* Kueue has no notion of cost. */
static void test_cheapest_cluster(void **state UNUSED)
{
	struct fleet_world *w = begin(3, ORCHESTRATE_COST);

	fleet_world_fill(w, 0, "x", "500m");
	fleet_world_fill(w, 0, "y", "500m");
	fleet_world_fill(w, 1, "x", "1");
	fleet_world_fill(w, 2, "x", "500m");
	fleet_world_fill(w, 2, "y", "500m");
	fleet_world_offer(w, "a", 10);
	report_all(w, 3, "a", FLEET_WORLD_GATED);
	fleet_world_run(w, S);
	assert_int_equal(fleet_world_open(w, "a"), 1);

	/* The reading for the first one does not have the second one. The victim of the first is
	 * promised to it, and another worker is cheaper now for want of one. */
	fleet_world_offer(w, "b", 10);
	report_all(w, 3, "b", FLEET_WORLD_GATED);
	fleet_world_run(w, S);
	assert_int_equal(fleet_world_open(w, "b"), 0);
	fleet_world_destroy(w);
}

/* Without answers to the question for costs it goes by the order; other clusters wait no longer. */
static void test_costs_that_cannot_be_read(void **state UNUSED)
{
	struct fleet_world *w = begin(2, ORCHESTRATE_COST);

	fleet_world_offer(w, "a", 10);
	report_all(w, 2, "a", FLEET_WORLD_GATED);
	assert_int_equal(fleet_world_delete(w, 0,
					    "/apis/apiextensions.k8s.io/v1/"
					    "customresourcedefinitions/"
					    "clusterqueues.kueue.x-k8s.io"),
			 200);
	fleet_world_run(w, 10 * S);
	assert_int_equal(fleet_world_open(w, "a"), 0);
	fleet_world_destroy(w);
}

static void test_unreadable_token(void **state UNUSED)
{
	struct fleet_world *w = begin(2, ORCHESTRATE_ORDER);

	fleet_world_offer(w, "a", 0);
	assert_int_equal(fleet_world_patch(w, FLEET_WORLD_MANAGER, LOCAL "a",
					   "{\"metadata\":{\"annotations\":{\"headgate.io/"
					   "preemption-token\":\"{broken\"}}}"),
			 200);
	report_all(w, 2, "a", FLEET_WORLD_GATED);
	fleet_world_run(w, 2 * S);
	assert_int_equal(fleet_world_open(w, "a"), 0); /* both are seen to be closed */
	assert_token(w, "a", "\"holder\":\"w0\"");
	fleet_world_destroy(w);
}

/* Workloads of other checks, and replicas without a local Workload, are left alone. */
static void test_leaves_others_alone(void **state UNUSED)
{
	struct fleet_world *w = begin(2, ORCHESTRATE_ORDER);

	fleet_world_offer(w, "a", 0);
	assert_int_equal(fleet_world_delete(w, FLEET_WORLD_MANAGER, LOCAL "a"), 200);
	report_all(w, 2, "a", FLEET_WORLD_GATED);
	fleet_world_offer(w, "b", 0);
	assert_int_equal(fleet_world_patch(w, FLEET_WORLD_MANAGER,
					   "/apis/kueue.x-k8s.io/v1beta2/admissionchecks/mk",
					   "{\"spec\":{\"parameters\":{\"name\":\"other\"}}}"),
			 200);
	settle_locally(w, "b", "Pending");
	report_all(w, 2, "b", FLEET_WORLD_GATED);
	fleet_world_run(w, MINUTE);
	assert_int_equal(fleet_world_open(w, "a"), -1);
	fleet_world_destroy(w);
}

/* Gates are closed when the Workload runs elsewhere, or does not wait any more. */
static void test_closes_what_is_not_wanted(void **state UNUSED)
{
	struct fleet_world *w = begin(2, ORCHESTRATE_ORDER);

	fleet_world_offer(w, "a", 0);
	report_all(w, 2, "a", FLEET_WORLD_GATED);
	fleet_world_run(w, S);
	assert_int_equal(fleet_world_open(w, "a"), 0);
	settle_locally(w, "a", "Retry");
	fleet_world_run(w, S);
	assert_int_equal(fleet_world_open(w, "a"), -1);
	assert_token(w, "a", "\"phase\":\"Free\"");
	fleet_world_destroy(w);
}

/* One cluster that hangs does not keep the others from anything. */
static void test_hanging_cluster(void **state UNUSED)
{
	const struct orchestrate_options o = options(ORCHESTRATE_ORDER);
	struct fleet_world *w = fleet_world_create(3, &o, 1, 2);

	fleet_world_hang(w, 0, true);
	fleet_world_start(w);
	fleet_world_run(w, 2 * S);
	fleet_world_offer(w, "a", 0);
	report_all(w, 3, "a", FLEET_WORLD_GATED);
	fleet_world_run(w, 12 * S);
	assert_int_equal(fleet_world_open(w, "a"), 1);
	fleet_world_destroy(w);
}

/* Opening the manager's gate would be of no use there (Kueue opens it, and waits for 5 minutes). */
static void test_gate_of_another_controller(void **state UNUSED)
{
	struct fleet_world *w = begin(2, ORCHESTRATE_ORDER);

	fleet_world_offer(w, "a", 0);
	assert_int_equal(fleet_world_patch(w, 0, LOCAL "a",
					   "{\"spec\":{\"preemptionGates\":[{\"name\":"
					   "\"team/freeze\"},{\"name\":"
					   "\"kueue.x-k8s.io/multikueue\"}]}}"),
			 200);
	report_all(w, 2, "a", FLEET_WORLD_GATED);
	fleet_world_run(w, MINUTE / 6);
	assert_int_equal(fleet_world_open(w, "a"), 1);
	assert_int_equal(
		fleet_world_events(w, "PreemptionHeldBack", NULL,
				   "on worker cluster w0 it would preempt, but its preemption "
				   "gate team/freeze is closed"),
		1);
	assert_int_equal(fleet_world_events(w, "PreemptionHeldBack", NULL, ""), 1);
	fleet_world_destroy(w);
}

/* Of a replica on w0, Kueue has made the variants a-x and a-y; w1 has no room. */
static struct fleet_world *begin_split(void)
{
	struct fleet_world *w = begin(2, ORCHESTRATE_ORDER);

	fleet_world_offer(w, "a", 0);
	fleet_split_label(w, 0, "a");
	fleet_split_add(w, 0, "a", "x");
	fleet_split_add(w, 0, "a", "y");
	fleet_world_report(w, 1, "a", FLEET_WORLD_NO_FIT);
	fleet_world_run(w, S);
	return w;
}

/* Kueue: the variants have the gate of their replica, and nothing opens it. */
static void hole_5_28_a_variant_may_preempt(void **state UNUSED)
{
	struct fleet_world *w = begin_split();

	fleet_world_report(w, 0, "a-x", FLEET_WORLD_GATED);
	fleet_world_report(w, 0, "a-y", FLEET_WORLD_GATED);
	fleet_world_run(w, S);
	/* Kueue's own gate of each is closed yet. */
	assert_false(fleet_world_is_open(w, 0, "a-x") || fleet_world_is_open(w, 0, "a-y"));
	assert_int_equal(fleet_world_events(w, "PreemptionHeldBack", NULL, ""), 0);
	fleet_split_open(w, 0, "a-x");
	fleet_world_run(w, S);
	assert_token(w, "a", "\"holder\":\"w0\"");
	assert_true(fleet_world_is_open(w, 0, "a-x"));
	assert_false(fleet_world_is_open(w, 0, "a-y") || fleet_world_is_open(w, 0, "a"));

	fleet_world_report(w, 0, "a-x", FLEET_WORLD_PREEMPTING);
	fleet_split_open(w, 0, "a-y"); /* 5 minutes later in Kueue */
	fleet_world_run(w, MINUTE);
	assert_false(fleet_world_is_open(w, 0, "a-y"));
	fleet_world_report(w, 0, "a-x", FLEET_WORLD_ADMITTED);
	fleet_world_report(w, 0, "a", FLEET_WORLD_ADMITTED);
	settle_locally(w, "a", "Ready");
	fleet_world_run(w, S);
	assert_token(w, "a", "\"outcome\":\"Admitted\"");
	assert_false(fleet_world_is_open(w, 0, "a-y"));
	fleet_world_destroy(w);
}

/* Its gate is closed before that of the next one is opened. */
static void hole_5_28_variants_take_turns(void **state UNUSED)
{
	struct fleet_world *w = begin_split();
	bool second = false;

	fleet_world_report(w, 0, "a-x", FLEET_WORLD_GATED);
	fleet_world_report(w, 0, "a-y", FLEET_WORLD_GATED);
	fleet_split_open(w, 0, "a-x");
	fleet_split_open(w, 0, "a-y");
	fleet_world_run(w, S);
	assert_true(fleet_world_is_open(w, 0, "a-x"));
	for (int i = 0; i < 120 && !second; i++) {
		fleet_world_run(w, S);
		second = fleet_world_is_open(w, 0, "a-y");
		assert_false(second && fleet_world_is_open(w, 0, "a-x"));
	}
	assert_true(second);
	assert_token(w, "a", "\"outcome\":\"NoReaction\"");
	fleet_world_destroy(w);
}

/* The one that has not been looked at may fit without preemption. */
static void hole_5_28_all_variants_are_waited_for(void **state UNUSED)
{
	struct fleet_world *w = begin_split();

	fleet_world_report(w, 0, "a-x", FLEET_WORLD_GATED);
	fleet_split_open(w, 0, "a-x");
	fleet_world_run(w, 9 * S);
	assert_false(fleet_world_is_open(w, 0, "a-x"));
	fleet_world_run(w, 2 * S); /* the window is over */
	assert_true(fleet_world_is_open(w, 0, "a-x"));
	fleet_world_destroy(w);

	w = begin_split();
	fleet_world_report(w, 0, "a-x", FLEET_WORLD_GATED);
	fleet_split_open(w, 0, "a-x");
	fleet_world_run(w, 5 * S);
	fleet_world_report(w, 0, "a-y", FLEET_WORLD_RESERVED);
	fleet_world_run(w, MINUTE);
	assert_false(fleet_world_is_open(w, 0, "a-x"));
	fleet_world_destroy(w);
}

/* Kueue opens its gate a moment after the signal of a variant, and the other cluster has its answer
 * before. */
static void test_kueues_own_gate_is_waited_for(void **state UNUSED)
{
	struct fleet_world *w = begin_split();

	fleet_world_report(w, 0, "a-x", FLEET_WORLD_GATED);
	fleet_world_report(w, 0, "a-y", FLEET_WORLD_GATED);
	fleet_world_report(w, 1, "a", FLEET_WORLD_GATED);
	fleet_world_run(w, S);
	assert_int_equal(fleet_world_open(w, "a"), -1);
	fleet_split_open(w, 0, "a-x");
	fleet_world_run(w, S);
	assert_token(w, "a", "\"holder\":\"w0\"");
	assert_true(fleet_world_is_open(w, 0, "a-x"));
	fleet_world_destroy(w);

	/* It never does. */
	w = begin_split();
	fleet_world_report(w, 0, "a-x", FLEET_WORLD_GATED);
	fleet_world_report(w, 0, "a-y", FLEET_WORLD_GATED);
	fleet_world_report(w, 1, "a", FLEET_WORLD_GATED);
	fleet_world_run(w, 9 * S);
	assert_int_equal(fleet_world_open(w, "a"), -1);
	fleet_world_run(w, 2 * S);
	assert_int_equal(fleet_world_open(w, "a"), 1);
	fleet_world_destroy(w);
}

/* One gate is open, and another variant gets room without. The open one could preempt beside it. */
static void test_gate_beside_the_furthest(void **state UNUSED)
{
	static const enum fleet_world_state states[] = { FLEET_WORLD_RESERVED,
							 FLEET_WORLD_PREEMPTING,
							 FLEET_WORLD_ADMITTED };

	for (size_t i = 0; i < ARRAY_LEN(states); i++) {
		struct fleet_world *w = begin_split();

		unit_row_number(i);
		fleet_world_report(w, 0, "a-x", FLEET_WORLD_GATED);
		fleet_world_report(w, 0, "a-y", FLEET_WORLD_NO_FIT);
		fleet_split_open(w, 0, "a-x");
		fleet_world_run(w, S);
		assert_true(fleet_world_is_open(w, 0, "a-x"));
		fleet_world_report(w, 0, "a-y", states[i]);
		fleet_world_run(w, S);
		assert_false(fleet_world_is_open(w, 0, "a-x"));
		fleet_world_destroy(w);
	}
}

/* Kueue may switch it on again. */
static void test_gate_of_a_variant_that_is_off(void **state UNUSED)
{
	struct fleet_world *w = begin_split();

	fleet_world_report(w, 0, "a-x", FLEET_WORLD_GATED);
	fleet_world_report(w, 0, "a-y", FLEET_WORLD_NO_FIT);
	fleet_split_open(w, 0, "a-x");
	fleet_world_run(w, S);
	assert_true(fleet_world_is_open(w, 0, "a-x"));
	assert_int_equal(fleet_world_patch(w, 0, LOCAL "a-x", "{\"spec\":{\"active\":false}}"),
			 200);
	fleet_world_run(w, S);
	assert_false(fleet_world_is_open(w, 0, "a-x"));
	fleet_world_destroy(w);
}

/* An eviction closes the gate, and the variant asks again before the other one does. It had its
 * turn, whether the token is free by then or not. */
static void test_turns_after_an_eviction(void **state UNUSED)
{
	for (unsigned i = 0; i < 2; i++) {
		struct fleet_world *w = begin_split();
		bool second = false;

		unit_row_number(i);
		fleet_world_report(w, 0, "a-x", FLEET_WORLD_GATED);
		fleet_world_report(w, 0, "a-y", FLEET_WORLD_NO_FIT);
		fleet_split_open(w, 0, "a-x");
		fleet_world_run(w, S);
		assert_true(fleet_world_is_open(w, 0, "a-x"));
		fleet_world_report(w, 0, "a-x", FLEET_WORLD_EVICTED);
		if (i == 0) {
			fleet_world_run(w, S);
		}
		fleet_split_open(w, 0, "a-x");
		fleet_split_open(w, 0, "a-y");
		fleet_world_report(w, 0, "a-x", FLEET_WORLD_GATED);
		fleet_world_report(w, 0, "a-y", FLEET_WORLD_GATED);
		for (int s = 0; s < 60 && !second; s++) {
			fleet_world_run(w, S);
			second = fleet_world_is_open(w, 0, "a-y");
			assert_false(fleet_world_is_open(w, 0, "a-x"));
		}
		assert_true(second);
		assert_token(w, "a", "\"outcome\":\"Evicted\"");
		fleet_world_destroy(w);
	}
}

/* It gets quota as a variant, and is no variant any more, or another replica's. */
static void test_variant_of_another_replica(void **state UNUSED)
{
	static const char *const owners[] = {
		"null",
		"[{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"Workload\",\"name\":"
		"\"b\",\"uid\":\"u\",\"controller\":true}]",
	};

	for (size_t i = 0; i < ARRAY_LEN(owners); i++) {
		CLEANUP(strbuf_finish) struct strbuf patch = STRBUF_INIT;
		struct fleet_world *w = begin_split();

		unit_row_number(i);
		strbuf_printf(&patch, "{\"metadata\":{\"ownerReferences\":%s}}", owners[i]);
		fleet_world_report(w, 0, "a-x", FLEET_WORLD_RESERVED);
		fleet_world_report(w, 0, "a-y", FLEET_WORLD_NO_FIT);
		fleet_world_report(w, 1, "a", FLEET_WORLD_GATED);
		fleet_world_run(w, MINUTE);
		assert_int_equal(fleet_world_open(w, "a"), -1);
		assert_int_equal(fleet_world_patch(w, 0, LOCAL "a-x", patch.p), 200);
		fleet_world_run(w, S);
		assert_int_equal(fleet_world_open(w, "a"), 1);
		fleet_world_destroy(w);
	}
}

/* The connection is lost, and the variant is gone when it is back. */
static void hole_5_28_a_variant_is_lost(void **state UNUSED)
{
	struct fleet_world *w = begin_split();
	bool second = false;

	fleet_world_report(w, 0, "a-x", FLEET_WORLD_GATED);
	fleet_world_report(w, 0, "a-y", FLEET_WORLD_GATED);
	fleet_split_open(w, 0, "a-x");
	fleet_split_open(w, 0, "a-y");
	fleet_world_run(w, S);
	assert_true(fleet_world_is_open(w, 0, "a-x"));
	fleet_world_cut(w, 0, true);
	fleet_world_run(w, 20 * S);
	assert_int_equal(fleet_world_delete(w, 0, LOCAL "a-x"), 200);
	fleet_world_cut(w, 0, false);
	for (int i = 0; i < 60 && !second; i++) {
		fleet_world_run(w, S);
		second = fleet_world_is_open(w, 0, "a-y");
	}
	assert_true(second);
	assert_token(w, "a", "\"holder\":\"w0\"");
	fleet_world_destroy(w);
}

/* /livez takes a thread that has been silent for half a minute for stuck. */
static void test_sign_of_life(void **state UNUSED)
{
	const struct orchestrate_options o = options(ORCHESTRATE_ORDER);
	struct fleet_world *w = fleet_world_create(0, &o, 1, 3);
	int64_t before;

	fleet_world_start(w);
	fleet_world_run(w, S);
	before = fleet_world_heartbeat(w);
	fleet_world_run(w, 25 * S);
	assert_true(fleet_world_heartbeat(w) > before);
	fleet_world_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_gate_is_opened),
		cmocka_unit_test(test_a_gate_that_was_opened_by_hand),
		cmocka_unit_test(test_waits_for_all_answers),
		cmocka_unit_test(test_window_ends),
		cmocka_unit_test(test_closes_before_it_opens_the_next),
		cmocka_unit_test(test_lost_holder_keeps_the_token),
		cmocka_unit_test(test_cut_during_the_reaction),
		cmocka_unit_test(test_cut_before_the_reaction),
		cmocka_unit_test(test_restart_keeps_the_token),
		cmocka_unit_test(test_reverted_gate_is_opened_again),
		cmocka_unit_test(test_one_preemptor_for_each_queue),
		cmocka_unit_test(test_removed_holder),
		cmocka_unit_test(test_restart_waits_for_the_holder),
		cmocka_unit_test(test_clock_set_back),
		cmocka_unit_test(test_clock_set_back_after_a_refusal),
		cmocka_unit_test(test_restart_keeps_the_place),
		cmocka_unit_test(test_cheapest_cluster),
		cmocka_unit_test(test_costs_that_cannot_be_read),
		cmocka_unit_test(test_unreadable_token),
		cmocka_unit_test(test_leaves_others_alone),
		cmocka_unit_test(test_closes_what_is_not_wanted),
		cmocka_unit_test(test_hanging_cluster),
		cmocka_unit_test(test_gate_of_another_controller),
		cmocka_unit_test(hole_5_28_a_variant_may_preempt),
		cmocka_unit_test(hole_5_28_variants_take_turns),
		cmocka_unit_test(hole_5_28_all_variants_are_waited_for),
		cmocka_unit_test(test_kueues_own_gate_is_waited_for),
		cmocka_unit_test(test_gate_beside_the_furthest),
		cmocka_unit_test(test_gate_of_a_variant_that_is_off),
		cmocka_unit_test(test_turns_after_an_eviction),
		cmocka_unit_test(test_variant_of_another_replica),
		cmocka_unit_test(hole_5_28_a_variant_is_lost),
		cmocka_unit_test(test_sign_of_life),
	};

	int failed = 0;

	/* Whatever the workers call a gate, the same happens. */
	for (int d = 0; d < PREEMPTION_GATE_DIALECT_COUNT_; d++) {
		fleet_dialect_set((enum preemption_gate_dialect)d);
		failed += cmocka_run_group_tests_name(
			fleet_dialect_name((enum preemption_gate_dialect)d), tests, NULL, NULL);
	}
	return failed;
}
