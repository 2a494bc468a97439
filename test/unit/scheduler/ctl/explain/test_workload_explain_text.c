#include "scheduler/ctl/explain/workload_explain_text.h"

#include "lib/unit.h"

#include <stdlib.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/workloads/workload_sim_fixture.h"
#include "unit/scheduler/ctl/workload_explain_fixture.h"

#define WORKLOAD QUOTA_SIM_WORKLOAD

static void print_with(const char *yaml, const char *conf, const char *key, struct strbuf *out)
{
	struct workload_explain_fixture f;
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	workload_explain_fixture_init(&f, yaml, conf, key);
	workload_explain_text_print(&f.x, to);
	fclose(to);
	strbuf_add_c(out, text);
	free(text);
	workload_explain_fixture_finish(&f);
}

static void print(const char *yaml, const char *key, struct strbuf *out)
{
	print_with(yaml, NULL, key, out);
}

static void test_what_blocks_a_workload(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	(void)state;
	print_with(
		QUOTA_SIM_CLUSTER
		"{" QUOTA_SIM_API "kind: Workload, metadata: {name: w, namespace: team, "
		"annotations: {kueue.x-k8s.io/admission-gated-by: example.com/a}}, spec: "
		"{queueName: lq, preemptionGates: [{name: g1}], podSets: []}, status: "
		"{preemptionGates: [{name: g1, position: Open}], admissionChecks: [{name: k, "
		"state: Retry, message: no nodes}]}}\n",
		"featureGates: {AdmissionGatedBy: true, MultiKueueOrchestratedPreemption: true}\n",
		"team/w", &out);
	assert_non_null(strstr(
		out.p,
		"\nBLOCKED BY       NAME            STATE    MESSAGE\n"
		"AdmissionGate    example.com/a   Closed   it is not queued while it has this "
		"annotation\n"
		"PreemptionGate   g1              Open     -\n"
		"AdmissionCheck   k               Retry    no nodes\n"));
}

static void test_a_waiting_workload(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	(void)state;
	print(QUOTA_SIM_CLUSTER WORKLOAD("w", "2", "1", "")
		      WORKLOAD("v", "3", "0", QUOTA_SIM_HOLDS("3")),
	      "team/w", &out);
	assert_string_equal(
		out.p, "Workload:     team/w\n"
		       "Verdict:      would preempt 1 workload: pod set main: cpu in flavor f: 2 "
		       "requested, 1 free, 1 too little\n"
		       "Reason:       WaitingForPreemptedWorkloads\n"
		       "LocalQueue:   team/lq, number 1 of 1\n"
		       "ClusterQueue: cq, number 1 of 1\n"
		       "Priority:     1\n"
		       "Requests:     main x1: cpu 2\n"
		       "Would get:    main x1: cpu 2 of f\n"
		       "\n"
		       "FLAVOR   RESOURCE   LEVEL   NOMINAL   LENDING LIMIT   BORROWING LIMIT   "
		       "QUOTA   USED   "
		       "REQUESTED   LEFT\n"
		       "f        cpu        cq      4         -               -                 4  "
		       "     3      "
		       "2           1      <- short by 1\n"
		       "\n"
		       "HOLDER   CLUSTERQUEUE   PRIORITY   SINCE                  HOLDS        "
		       "PREEMPTION   WHY\n"
		       "team/v   cq             0          2026-01-15T09:01:00Z   cpu 3 of f   "
		       "victim       InClusterQueue\n");
}

static void test_a_workload_with_quota(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	(void)state;
	print(QUOTA_SIM_CLUSTER WORKLOAD("w", "2", "1", "")
		      WORKLOAD("v", "3", "0", QUOTA_SIM_HOLDS("3")),
	      "team/v", &out);
	assert_string_equal(
		out.p,
		"Workload:     team/v\n"
		"Verdict:      has had its quota since 2026-01-15T09:01:00Z and waits for its "
		"admission\n"
		"Reason:       QuotaReserved\n"
		"LocalQueue:   team/lq\n"
		"ClusterQueue: cq\n"
		"Priority:     0\n"
		"Holds:        cpu 3 of f\n"
		"Preemptor:    team/w, which would preempt it in the next cycle\n"
		"\n"
		"FLAVOR   RESOURCE   LEVEL   NOMINAL   LENDING LIMIT   BORROWING LIMIT   QUOTA   "
		"USED   "
		"HOLDS   LEFT\n"
		"f        cpu        cq      4         -               -                 4       3 "
		"     "
		"3       1\n"
		"\n"
		"WORKLOADS OF         CAN PREEMPT IT   WHICH ONES, OR WHY NOT\n"
		"cq (its own queue)   yes              of a priority above 0\n");
}

/* A long table is cut, with a line about the rows that are missing. */
static void test_many_holders(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf yaml = STRBUF_INIT, out = STRBUF_INIT;

	(void)state;
	strbuf_add_c(&yaml, QUOTA_SIM_CLUSTER WORKLOAD("w", "4", "0", ""));
	for (int i = 0; i < WORKLOAD_EXPLAIN_TEXT_ROWS + 3; i++) {
		strbuf_printf(&yaml,
			      "{" QUOTA_SIM_API "kind: Workload, metadata: {name: v%d, namespace: "
			      "team}, spec: {queueName: lq, podSets: [{name: main, count: "
			      "1}]}" QUOTA_SIM_HOLDS("100m") "}\n---\n",
			      i);
	}
	print(yaml.p, "team/w", &out);
	assert_non_null(strstr(out.p, "protected    its priority is not below 0\n"));
	assert_non_null(strstr(
		out.p,
		"... and 3 more: 3 protected by priority or age; -o json has all of them\n"));
}

static void test_a_flavor_that_is_not_for_it(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	(void)state;
	print(QUOTA_SIM_CLUSTER
	      "{" QUOTA_SIM_API "kind: ResourceFlavor, metadata: {name: f}, spec: {nodeTaints: "
	      "[{key: gpu, value: x, effect: NoSchedule}]}}\n---\n" WORKLOAD("w", "2", "1", ""),
	      "team/w", &out);
	assert_non_null(strstr(out.p, "Verdict:      no flavor matches its pods: "));
	assert_non_null(strstr(out.p, "\nFlavor f: its pods do not tolerate the taint gpu\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_blocks_a_workload),
		cmocka_unit_test(test_a_waiting_workload),
		cmocka_unit_test(test_a_workload_with_quota),
		cmocka_unit_test(test_many_holders),
		cmocka_unit_test(test_a_flavor_that_is_not_for_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
