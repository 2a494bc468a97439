#include "scheduler/ctl/explain/workload_explain.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "lib/workloads/workload_sim_fixture.h"
#include "unit/scheduler/ctl/workload_explain_fixture.h"

#define WORKLOAD QUOTA_SIM_WORKLOAD
#define API QUOTA_SIM_API
#define COND(type, status, reason)                                                                 \
	"{type: " type ", status: \"" status "\", reason: " reason                                 \
	", message: m, lastTransitionTime: \"2026-01-15T09:02:00Z\"}"
#define SAYS(conditions) ", status: {conditions: [" conditions "]}"
#define HOLDS_AND(queue, conditions)                                                               \
	", status: {admission: {clusterQueue: " queue                                              \
	", podSetAssignments: [{name: main, count: 1, flavors: {cpu: f}, resourceUsage: {cpu: "    \
	"3}}]}, admissionChecks: [{name: k1, state: Ready, message: fine}, {name: k2, state: "     \
	"Pending, message: asked}], conditions: [" COND("QuotaReserved", "True", "QuotaReserved")  \
		conditions "]}"

/* Among other texts, about team/w. */
static const struct {
	const char *yaml, *config, *reason, *verdict;
} rows[] = {
	{ WORKLOAD("w", "2", "0", ""), NULL, "", "there is quota for it" },
	{ WORKLOAD("w", "2", "0", "") WORKLOAD("first", "1", "1", ""), NULL, "",
	  "there is quota for it; 1 of its queue goes before it" },
	{ WORKLOAD("w", "2", "0", "") WORKLOAD("v", "3", "0", QUOTA_SIM_HOLDS("3")), NULL,
	  "WaitingForQuota",
	  "waits for quota: pod set main: cpu in flavor f: 2 requested, 1 free, 1 too little" },
	{ WORKLOAD("w", "2", "1", "") WORKLOAD("v", "3", "0", QUOTA_SIM_HOLDS("3")), NULL,
	  "WaitingForPreemptedWorkloads",
	  "would preempt 1 workload: pod set main: cpu in flavor f: 2 requested, 1 free, 1 too "
	  "little" },
	{ WORKLOAD("w", "2", "1", "") WORKLOAD(
		  "v", "3", "0", HOLDS_AND("cq", ", " COND("Evicted", "True", "Preempted"))),
	  NULL, "WaitingForPreemptedWorkloads",
	  "waits for workloads that are being preempted: pod set main: cpu in flavor f: 2 "
	  "requested, 1 free, 1 too little" },
	{ WORKLOAD("w", "5", "0", ""), NULL, "ExceedsMaxQuota",
	  "requests more than the quota can ever be: pod set main: cpu in flavor f: 5 requested, "
	  "the most it can have is 4" },
	{ WORKLOAD("w", "2", "0", SAYS(COND("Finished", "True", "Succeeded"))), NULL, "Finished",
	  "finished at 2026-01-15T09:02:00Z: m" },
	{ WORKLOAD("w", "3", "0", HOLDS_AND("cq", "")), NULL, "QuotaReserved",
	  "has had its quota since 2026-01-15T09:02:00Z and waits for k2" },
	{ WORKLOAD("w", "3", "0", HOLDS_AND("cq", ", " COND("Admitted", "True", "Admitted"))), NULL,
	  "Admitted", "has been admitted since 2026-01-15T09:02:00Z" },
	{ WORKLOAD("w", "3", "0", HOLDS_AND("cq", ", " COND("Evicted", "True", "Preempted"))), NULL,
	  "Evicted",
	  "was evicted at 2026-01-15T09:02:00Z (Preempted) and keeps its quota until its pods are "
	  "gone" },
	{ WORKLOAD("w", "3", "0", HOLDS_AND("gone", "")), NULL, "Misconfigured",
	  "was admitted by ClusterQueue gone, which does not exist" },
	{ WORKLOAD("w", "1", "0", "") WORKLOAD(
		  "v", "3", "0", HOLDS_AND("cq", ", " COND("Admitted", "True", "Admitted"))),
	  "waitForPodsReady: {blockAdmission: true}\n", "WaitingForPodsReady",
	  "waits until the pods of all admitted workloads are ready" },
	{ WORKLOAD("w", "3", "0",
		   ", status: {requeueState: {count: 1, requeueAt: \"2026-01-15T10:00:00Z\"}}"),
	  NULL, "Requeued", "waits for its backoff until 2026-01-15T10:00:00Z" },
};

static void test_verdicts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf yaml = STRBUF_INIT;
		struct workload_explain_fixture f;

		unit_row(rows[i].yaml);
		strbuf_printf(&yaml, "%s%s", QUOTA_SIM_CLUSTER, rows[i].yaml);
		workload_explain_fixture_init(&f, yaml.p, rows[i].config, "team/w");
		assert_string_equal(f.x.verdict, rows[i].verdict);
		assert_string_equal(f.x.reason, rows[i].reason);
		workload_explain_fixture_finish(&f);
	}
}

static void test_one_without_a_queue(void **state)
{
	struct workload_explain_fixture f;

	(void)state;
	workload_explain_fixture_init(&f,
				      QUOTA_SIM_CLUSTER "{" API
							"kind: Workload, metadata: {name: w, "
							"namespace: team}}\n",
				      NULL, "team/w");
	assert_string_equal(f.x.reason, "Misconfigured");
	assert_string_equal(f.x.verdict, "spec.queueName: no LocalQueue is named");
	assert_null(f.x.local);
	assert_null(f.x.queue);
	workload_explain_fixture_finish(&f);
}

static void test_places_in_both_queues(void **state)
{
	struct workload_explain_fixture f;

	(void)state;
	workload_explain_fixture_init(
		&f,
		QUOTA_SIM_CLUSTER
		"{" API "kind: LocalQueue, metadata: {name: other, namespace: team}, "
		"spec: {clusterQueue: cq}}\n---\n"
		"{" API "kind: Workload, metadata: {name: o, namespace: team}, "
		"spec: {queueName: other, priority: 9, podSets: []}}\n---\n" WORKLOAD(
			"w", "1", "0", "") WORKLOAD("x", "1", "1", "") WORKLOAD("y", "1", "-1", ""),
		NULL, "team/w");
	assert_int_equal(f.x.place.at, 3);
	assert_int_equal(f.x.place.of, 4);
	assert_int_equal(f.x.local_place.at, 2);
	assert_int_equal(f.x.local_place.of, 3);
	assert_string_equal(f.x.local, "team/lq");
	workload_explain_fixture_finish(&f);
}

static void test_obstacles_of_a_workload(void **state)
{
	static const struct quota_obstacle expected[] = {
		{ "AdmissionGate", "example.com/a", "Closed",
		  "it is not queued while it has this annotation" },
		{ "PreemptionGate", "g1", "Open", "" },
		{ "PreemptionGate", "g2", "Closed",
		  "it can be admitted when it fits, but cannot preempt" },
		{ "AdmissionCheck", "k", "Retry", "no nodes" },
	};
	struct workload_explain_fixture f;

	(void)state;
	workload_explain_fixture_init(
		&f,
		QUOTA_SIM_CLUSTER
		"{" API "kind: Workload, metadata: {name: w, namespace: team, annotations: "
		"{kueue.x-k8s.io/admission-gated-by: example.com/a}}, spec: {queueName: lq, "
		"preemptionGates: [{name: g1}, {name: g2}], podSets: []}, status: "
		"{preemptionGates: [{name: g1, position: Open}], admissionChecks: [{name: k, "
		"state: Retry, message: no nodes}]}}\n",
		"featureGates: {AdmissionGatedBy: true, MultiKueueOrchestratedPreemption: true}\n",
		"team/w");
	assert_int_equal(f.x.obstacles.n, ARRAY_LEN(expected));
	for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
		unit_row_number(i);
		assert_string_equal(f.x.obstacles.v[i].kind, expected[i].kind);
		assert_string_equal(f.x.obstacles.v[i].name, expected[i].name);
		assert_string_equal(f.x.obstacles.v[i].state, expected[i].state);
		assert_string_equal(f.x.obstacles.v[i].message, expected[i].message);
	}
	assert_string_equal(f.x.reason, "AdmissionGated");
	workload_explain_fixture_finish(&f);
}

static void test_gates_without_the_feature(void **state)
{
	struct workload_explain_fixture f;

	(void)state;
	workload_explain_fixture_init(
		&f,
		QUOTA_SIM_CLUSTER "{" API
				  "kind: Workload, metadata: {name: w, namespace: team}, spec: "
				  "{queueName: lq, preemptionGates: [{name: g}], podSets: []}}\n",
		"featureGates: {MultiKueueOrchestratedPreemption: false}\n", "team/w");
	assert_int_equal(f.x.obstacles.n, 1);
	assert_string_equal(f.x.obstacles.v[0].name, "g");
	assert_string_equal(f.x.obstacles.v[0].message, "no effect: its feature gate is off");
	workload_explain_fixture_finish(&f);
}

static void test_a_holder_and_its_preemptors(void **state)
{
	struct workload_explain_fixture f;

	(void)state;
	workload_explain_fixture_init(
		&f,
		QUOTA_SIM_CLUSTER WORKLOAD("w", "3", "0", QUOTA_SIM_HOLDS("3"))
			WORKLOAD("high", "2", "1", ""),
		NULL, "team/w");
	assert_true(f.x.holds);
	assert_string_equal(f.x.wanted_by, "team/high");
	assert_int_equal(f.x.threats.n, 1);
	assert_int_equal(f.x.levels.n, 1);
	assert_int_equal(f.x.levels.v[0].asked, 3000);
	workload_explain_fixture_finish(&f);
}

static void test_an_unknown_workload(void **state)
{
	struct workload_explain_fixture f;
	struct workload_explanation x = { 0 };
	struct err err = ERR_INIT;

	(void)state;
	workload_explain_fixture_init(&f, QUOTA_SIM_CLUSTER WORKLOAD("w", "1", "0", ""), NULL,
				      "team/w");
	assert_int_equal(workload_explain_workload(&f.source, "team/x", &x, &err), -ERR_NOT_FOUND);
	assert_string_equal(err.text, "workload team/x not found; did you mean team/w?");
	workload_explain_finish(&x);
	workload_explain_fixture_finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_one_without_a_queue),
		cmocka_unit_test(test_places_in_both_queues),
		cmocka_unit_test(test_obstacles_of_a_workload),
		cmocka_unit_test(test_gates_without_the_feature),
		cmocka_unit_test(test_a_holder_and_its_preemptors),
		cmocka_unit_test(test_an_unknown_workload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
