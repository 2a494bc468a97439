#include "scheduler/ctl/sim/waiting_reason.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "lib/workloads/workload_sim_fixture.h"
#include "scheduler/workloads/model/quota_store.h"

#define API QUOTA_SIM_API
#define LOCAL(name, queue, more)                                                                   \
	"{" API "kind: LocalQueue, metadata: {name: " name ", namespace: team}, spec: "            \
	"{clusterQueue: " queue more "}}\n---\n"
/* Of LocalQueue `local`. */
#define WORKLOAD(name, local, spec, status)                                                        \
	"{" API "kind: Workload, metadata: {name: " name                                           \
	", namespace: team}, spec: {queueName: " local spec                                        \
	", podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c, "             \
	"resources: {requests: {cpu: 1}}}]}}}]}" status "}\n---\n"
#define CONDITION(type, value, reason)                                                             \
	", status: {conditions: [{type: " type ", status: \"" value "\", reason: " reason          \
	", message: m, lastTransitionTime: \"2026-01-15T09:01:00Z\"}]}"

#define QUEUE(spec)                                                                                \
	"{" API "kind: ClusterQueue, metadata: {name: cq}, spec: {namespaceSelector: {}" spec "}}" \
	"\n---\n"

static void expect_outside(const struct workload_simulation *s, const char *key, const char *reason,
			   const char *message)
{
	CLEANUP(strbuf_finish) struct strbuf why = STRBUF_INIT;
	const struct quota_model *q = forest_model(workload_simulation_forest(s));
	const struct workload *w = quota_workload_find(q, str_of(key));
	const char *found;

	assert_non_null(w);
	found = waiting_reason_outside(q, w, &why);
	if (reason == NULL) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found, reason);
	assert_string_equal(why.p, message);
}

static void each_that_is_in_no_queue_has_its_reason(void **state)
{
	CLEANUP(workload_simulation_destroyp)
	struct workload_simulation *s = workload_sim_fixture_create(
		QUOTA_SIM_CLUSTER LOCAL("held", "cq", ", stopPolicy: Hold") LOCAL(
			"lost", "gone", "") WORKLOAD("queued", "lq", "", "")
			QUOTA_SIM_WORKLOAD("holder", "1", "0", QUOTA_SIM_HOLDS("1")) WORKLOAD(
				"done", "lq", "", CONDITION("Finished", "True", "Succeeded"))
				WORKLOAD("off", "lq", ", active: false", "") WORKLOAD(
					"going, finalizers: [example.com/a], deletionTimestamp: "
					"'2026-01-15T09:01:00Z'",
					"lq", "", "") WORKLOAD("again", "lq", "",
							       CONDITION("Requeued", "False",
									 "PodsReadyTimeout"))
					WORKLOAD(
						"drained", "held", "",
						CONDITION("Requeued", "False", "LocalQueueStopped"))
						WORKLOAD("hold", "lq", "",
							 CONDITION("QuotaReserved", "False",
								   "OnHold"))
							WORKLOAD("stopped", "held", "", "")
								WORKLOAD("stray", "lost", "", "")
									WORKLOAD("typo", "lqq", "",
										 ""),
		NULL);

	(void)state;
	expect_outside(s, "team/queued", NULL, NULL);
	expect_outside(s, "team/holder", NULL, NULL);
	expect_outside(s, "team/done", NULL, NULL);
	expect_outside(s, "team/off", "Deactivated", "spec.active is false");
	expect_outside(s, "team/going", "Deleting", "it is being deleted");
	expect_outside(s, "team/again", "Suspended", "its condition Requeued is False");
	expect_outside(s, "team/hold", "OnHold", "its condition QuotaReserved has reason OnHold");
	expect_outside(s, "team/stopped", "Suspended", "LocalQueue team/held is stopped");
	expect_outside(s, "team/drained", "Suspended", "LocalQueue team/held is stopped");
	expect_outside(s, "team/stray", "Misconfigured",
		       "LocalQueue team/lost: spec.clusterQueue: ClusterQueue gone does not exist");
	expect_outside(s, "team/typo", "Misconfigured",
		       "spec.queueName: LocalQueue team/lqq does not exist; did you mean lq?");
}

static void each_that_was_evicted_by_a_stop_names_the_queue(void **state)
{
	CLEANUP(workload_simulation_destroyp)
	struct workload_simulation *s = workload_sim_fixture_create(
		QUEUE(", stopPolicy: HoldAndDrain") LOCAL("lq", "cq", "") LOCAL("near", "cp", "")
			WORKLOAD("drained", "lq", "",
				 CONDITION("Requeued", "False", "ClusterQueueStopped"))
				WORKLOAD("stray", "near", "", ""),
		NULL);

	(void)state;
	expect_outside(s, "team/drained", "Stopped",
		       "ClusterQueue cq: spec.stopPolicy: it is stopped");
	expect_outside(s, "team/stray", "Misconfigured",
		       "LocalQueue team/near: spec.clusterQueue: ClusterQueue cp does not exist; "
		       "did you mean cq?");
}

static void expect_inactive(const char *yaml, const char *reason, const char *message)
{
	CLEANUP(strbuf_finish) struct strbuf why = STRBUF_INIT;
	CLEANUP(workload_simulation_destroyp)
	struct workload_simulation *s = workload_sim_fixture_create(yaml, NULL);
	const struct forest *f = workload_simulation_forest(s);
	const char *found =
		waiting_reason_inactive(f, quota_queue_find(forest_model(f), STR_LIT("cq")), &why);

	if (reason == NULL) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found, reason);
	assert_string_equal(why.p, message);
}

#define CHECK(name, controller)                                                                    \
	"{" API "kind: AdmissionCheck, metadata: {name: " name                                     \
	"}, spec: {controllerName: kueue.x-k8s.io/" controller                                     \
	"}, status: {conditions: [{type: Active, status: 'True'}]}}\n---\n"
#define CHECKS(list) QUEUE(", admissionChecksStrategy: {admissionChecks: [" list "]}")

static void checks_of_multikueue_exclude_others(void **state)
{
	(void)state;
	expect_inactive(CHECK("k", "multikueue") CHECKS("{name: k}"), NULL, NULL);
	expect_inactive(CHECK("k", "multikueue") CHECK("l", "multikueue")
				CHECKS("{name: k}, {name: l}"),
			"MultipleMultiKueueAdmissionChecks",
			"ClusterQueue cq: spec.admissionChecksStrategy: AdmissionCheck l is its "
			"second one of MultiKueue");
	expect_inactive(CHECK("k", "multikueue") CHECKS("{name: k, onFlavors: [f]}"),
			"MultiKueueAdmissionCheckAppliedPerFlavor",
			"ClusterQueue cq: spec.admissionChecksStrategy: AdmissionCheck k is one of "
			"MultiKueue, and cannot be for some flavors alone (onFlavors)");
	expect_inactive(CHECK("k", "multikueue") CHECK("l", "provisioning-request")
				CHECKS("{name: k}, {name: l}"),
			"MultiKueueWithProvisioningRequest",
			"ClusterQueue cq: spec.admissionChecksStrategy: AdmissionCheck l makes "
			"nodes by ProvisioningRequests, which does not go with MultiKueue");
}

#define FLAVOR(name)                                                                               \
	", resourceGroups: [{coveredResources: [cpu], flavors: [{name: " name                      \
	", resources: [{name: cpu, nominalQuota: 1}]}]}]"

static void an_inactive_queue_says_what_it_lacks(void **state)
{
	(void)state;
	expect_inactive(QUOTA_SIM_CLUSTER, NULL, NULL);
	expect_inactive(QUEUE(", stopPolicy: Hold"), "Stopped",
			"ClusterQueue cq: spec.stopPolicy: it is stopped");
	expect_inactive(QUEUE(FLAVOR("typo")), "FlavorNotFound",
			"ClusterQueue cq: spec.resourceGroups: missing ResourceFlavor typo");
	expect_inactive(QUEUE(", admissionChecksStrategy: {admissionChecks: [{name: k}]}"),
			"AdmissionCheckNotFound",
			"ClusterQueue cq: spec.admissionChecksStrategy: missing AdmissionCheck k");
	expect_inactive(
		"{" API "kind: AdmissionCheck, metadata: {name: k}}\n---\n" QUEUE(
			", admissionChecksStrategy: {admissionChecks: [{name: k}]}"),
		"AdmissionCheckInactive",
		"ClusterQueue cq: spec.admissionChecksStrategy: AdmissionCheck k is not active");
	expect_inactive("{" API "kind: Cohort, metadata: {name: a}, spec: {parentName: b}}\n---\n"
			"{" API
			"kind: Cohort, metadata: {name: b}, spec: {parentName: a}}\n---\n" QUEUE(
				", cohortName: a"),
			"Unknown", "ClusterQueue cq: spec.cohortName: its cohorts form a cycle: a");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_that_is_in_no_queue_has_its_reason),
		cmocka_unit_test(each_that_was_evicted_by_a_stop_names_the_queue),
		cmocka_unit_test(an_inactive_queue_says_what_it_lacks),
		cmocka_unit_test(checks_of_multikueue_exclude_others),
	};

	return cmocka_run_group_tests_name("ctl/sim/waiting_reason", tests, NULL, NULL);
}
