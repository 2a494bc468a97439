#include "scheduler/ctl/sim/workload_table.h"

#include "lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "lib/workloads/workload_sim_fixture.h"

static void expect_lines(const struct workload_simulation *s,
			 void (*write)(const struct workload_simulation *, FILE *),
			 const char *const *lines)
{
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);

	assert_non_null(to);
	write(s, to);
	fclose(to);
	for (; *lines != NULL; lines++) {
		if (strstr(text, *lines) == NULL) {
			fail_msg("no \"%s\" in\n%s", *lines, text);
		}
	}
	free(text);
}

static void columns_of_the_table(void **state)
{
	CLEANUP(workload_simulation_destroyp)
	struct workload_simulation *s = workload_sim_fixture_create(
		QUOTA_SIM_CLUSTER QUOTA_SIM_WORKLOAD("v", "3", "0", QUOTA_SIM_HOLDS("3"))
			QUOTA_SIM_WORKLOAD("one", "1", "9", "")
				QUOTA_SIM_WORKLOAD("two", "2", "8", "")
					QUOTA_SIM_WORKLOAD("last", "5", "7", ""),
		NULL);

	(void)state;
	(void)workload_simulation_run_cycle(s);
	(void)workload_simulation_run_cycle(s);
	expect_lines(s, workload_table_decisions,
		     (const char *const[]){
			     "CYCLE   ADMITTED   CLUSTERQUEUE   ASSIGNMENT\n",
			     "1       team/one   cq             main x1: cpu 1 of f\n",
			     "CYCLE   PREEMPTED   CLUSTERQUEUE   PREEMPTOR   REASON\n",
			     "2       team/v      cq             team/two    InClusterQueue\n",
			     NULL });
	expect_lines(
		s, workload_table_waiting,
		(const char *const[]){
			"WAITING     CLUSTERQUEUE   POSITION   REASON",
			"team/two    cq             1          WaitingForPreemptedWorkloads   ",
			"team/last   cq             2          -                              not "
			"tried yet: see --cycles N\n",
			NULL });
	expect_lines(s, workload_table_shares,
		     (const char *const[]){ "KIND           NAME   SHARE   RESOURCE\n",
					    "ClusterQueue   cq     0       -\n", NULL });
	expect_lines(s, workload_table_capacity,
		     (const char *const[]){
			     "CLUSTERQUEUE   FLAVOR   RESOURCE   USED   AVAILABLE   "
			     "AT MOST\n",
			     "cq             f        cpu        4      0           4\n", NULL });
	expect_lines(s, workload_table_workloads,
		     (const char *const[]){ "WORKLOAD   CONDITION", "team/v     Evicted", NULL });
	expect_lines(s, workload_table_events,
		     (const char *const[]){ "CYCLE   EVENT", "2       PreemptedWorkload", NULL });
}

static void those_that_wait_unseen_say_why(void **state)
{
	CLEANUP(workload_simulation_destroyp)
	struct workload_simulation *s = workload_sim_fixture_create(
		QUOTA_SIM_CLUSTER QUOTA_SIM_WORKLOAD("big", "5", "0", "") QUOTA_SIM_WORKLOAD(
			"equal", "5", "0",
			"") "{" QUOTA_SIM_API "kind: ClusterQueue, metadata: {name: off}, spec: "
			    "{namespaceSelector: {}, stopPolicy: Hold}}\n---\n"
			    "{" QUOTA_SIM_API
			    "kind: LocalQueue, metadata: {name: o, namespace: team}, "
			    "spec: {clusterQueue: off}}\n---\n"
			    "{" QUOTA_SIM_API
			    "kind: Workload, metadata: {name: held, namespace: team}, "
			    "spec: {queueName: o, podSets: []}}\n---\n"
			    "{" QUOTA_SIM_API
			    "kind: Workload, metadata: {name: lost, namespace: team}, "
			    "spec: {queueName: x, podSets: []}}\n---\n",
		NULL);

	(void)state;
	(void)workload_simulation_run_cycle(s);
	expect_lines(s, workload_table_waiting,
		     (const char *const[]){
			     "team/big     cq             inadmissible   ExceedsMaxQuota   pod set "
			     "main: ",
			     "team/equal   cq             inadmissible   -                 same "
			     "request as team/big\n",
			     "team/held    off            -              Stopped           "
			     "ClusterQueue off: spec.stopPolicy: it is stopped\n",
			     "team/lost    -              -              Misconfigured     "
			     "spec.queueName: "
			     "LocalQueue team/x does not exist\n",
			     NULL });
}

/* An amount that is larger than any that is counted is no number in the table. */
static void amounts_beyond_what_is_counted(void **state)
{
	CLEANUP(workload_simulation_destroyp)
	struct workload_simulation *s = workload_sim_fixture_create(
		"{kind: Namespace, metadata: {name: team}}\n---\n"
		"{" QUOTA_SIM_API "kind: ResourceFlavor, metadata: {name: f}}\n---\n"
		"{" QUOTA_SIM_API "kind: ClusterQueue, metadata: {name: cq}, spec: "
		"{namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: "
		"[{name: f, resources: [{name: cpu, nominalQuota: '1e30'}]}]}]}}\n---\n"
		"{" QUOTA_SIM_API "kind: LocalQueue, metadata: {name: lq, namespace: team}, spec: "
		"{clusterQueue: cq}}\n---\n" QUOTA_SIM_WORKLOAD("a", "1E", "0", "")
			QUOTA_SIM_WORKLOAD("b", "1E", "0", "")
				QUOTA_SIM_WORKLOAD("c", "1E", "0", ""),
		NULL);

	(void)state;
	(void)workload_simulation_run_cycle(s);
	(void)workload_simulation_run_cycle(s);
	(void)workload_simulation_run_cycle(s);
	expect_lines(s, workload_table_decisions,
		     (const char *const[]){ "main x1: cpu more than 9P of f\n", NULL });
	expect_lines(
		s, workload_table_waiting,
		(const char *const[]){ "pod set main: cpu in flavor f: more than 9P requested, "
				       "0 free, more than 9P too little; ",
				       NULL });
	expect_lines(
		s, workload_table_capacity,
		(const char *const[]){
			"USED           AVAILABLE   AT MOST\n",
			"cq             f        cpu        more than 9P   0           unlimited\n",
			NULL });
}

static void an_admission_shows_missing_checks(void **state)
{
	CLEANUP(workload_simulation_destroyp)
	struct workload_simulation *s = workload_sim_fixture_create(
		"{kind: Namespace, metadata: {name: team}}\n---\n"
		"{" QUOTA_SIM_API "kind: ResourceFlavor, metadata: {name: f}}\n---\n"
		"{" QUOTA_SIM_API "kind: AdmissionCheck, metadata: {name: k}, status: {conditions: "
		"[{type: Active, status: \"True\", reason: Active, message: m, "
		"lastTransitionTime: \"2026-01-15T09:00:00Z\"}]}}\n---\n"
		"{" QUOTA_SIM_API "kind: ClusterQueue, metadata: {name: cq}, spec: "
		"{namespaceSelector: {}, admissionChecksStrategy: {admissionChecks: [{name: k}]}, "
		"resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: "
		"[{name: cpu, nominalQuota: 4}]}]}]}}\n---\n"
		"{" QUOTA_SIM_API "kind: LocalQueue, metadata: {name: lq, namespace: team}, spec: "
		"{clusterQueue: cq}}\n---\n"
		"{" QUOTA_SIM_API "kind: Workload, metadata: {name: w, namespace: team}, spec: "
		"{queueName: lq, podSets: [{name: main, count: 6, minCount: 2, template: {spec: "
		"{containers: [{name: c, resources: {requests: {cpu: 1}}}]}}}]}}\n",
		NULL);

	(void)state;
	(void)workload_simulation_run_cycle(s);
	expect_lines(s, workload_table_decisions,
		     (const char *const[]){ "main x4 of 6: cpu 4 of f; starts after its admission "
					    "checks\n",
					    NULL });
}

static void nothing_is_printed_about_nothing(void **state)
{
	CLEANUP(workload_simulation_destroyp)
	struct workload_simulation *s = workload_sim_fixture_create(QUOTA_SIM_CLUSTER, NULL);
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);

	(void)state;
	assert_non_null(to);
	(void)workload_simulation_run_cycle(s);
	workload_table_decisions(s, to);
	workload_table_waiting(s, to);
	workload_table_workloads(s, to);
	workload_table_events(s, to);
	fclose(to);
	assert_string_equal(text, "");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_of_the_table),
		cmocka_unit_test(those_that_wait_unseen_say_why),
		cmocka_unit_test(amounts_beyond_what_is_counted),
		cmocka_unit_test(an_admission_shows_missing_checks),
		cmocka_unit_test(nothing_is_printed_about_nothing),
	};

	return cmocka_run_group_tests_name("ctl/sim/workload_table", tests, NULL, NULL);
}
