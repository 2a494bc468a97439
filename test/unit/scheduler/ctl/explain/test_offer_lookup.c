/* headgatectl explain workload on a manager with workers. */
#include "scheduler/ctl/explain/offer_lookup.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/recorded.h"
#include "scheduler/ctl/cli/verb.h"
#include "unit/scheduler/ctl/multikueue/managing_cluster.h"

#define API MANAGING_CLUSTER_API
#define AT ", lastTransitionTime: '2026-01-15T09:03:00Z'}"
#define NAMESPACE "{apiVersion: v1, kind: Namespace, metadata: {name: ns}}\n---\n"
#define PODS                                                                                       \
	"{name: main, count: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, "   \
	"image: i, resources: {requests: {cpu: 1}}}]}}}"
/* A queue that is full with a pod that has quota, and has not run yet: times are the real ones. */
#define FULL_QUEUE                                                                                 \
	"{" API "kind: ResourceFlavor, metadata: {name: f}, spec: {}}\n---\n"                      \
	"{" API "kind: ClusterQueue, metadata: {name: cq}, spec: {namespaceSelector: {}, "         \
	"preemption: {withinClusterQueue: LowerPriority}, resourceGroups: [{coveredResources: "    \
	"[cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 1}]}]}]}}\n---\n"        \
	"{" API "kind: LocalQueue, metadata: {name: lq, namespace: ns}, spec: {clusterQueue: "     \
	"cq}}\n---\n"                                                                              \
	"{" API "kind: Workload, metadata: {name: low, namespace: ns}, spec: {queueName: lq, "     \
	"podSets: [" PODS "]}, status: {admission: {clusterQueue: cq, podSetAssignments: [{name: " \
	"main, count: 1, flavors: {cpu: f}, resourceUsage: {cpu: '1'}}]}, conditions: ["           \
	"{type: QuotaReserved, status: 'True', reason: r, message: m" AT "]}}\n---\n"
#define REPLICA_WITH(gates, conditions, position)                                                  \
	NAMESPACE                                                                                  \
	"{" API "kind: Workload, metadata: {name: waits, namespace: ns, labels: "                  \
	"{kueue.x-k8s.io/multikueue-origin: multikueue}}, spec: {queueName: lq, priority: 10, "    \
	"preemptionGates: [{name: kueue.x-k8s.io/multikueue}" gates "], podSets: [" PODS           \
	"]}, status: {conditions: "                                                                \
	"[" conditions                                                                             \
	"], preemptionGates: [{name: kueue.x-k8s.io/multikueue, position: " position AT "]}}\n"
#define REPLICA(conditions, position) REPLICA_WITH("", conditions, position)
#define NO_QUOTA(reason, message)                                                                  \
	"{type: QuotaReserved, status: 'False', reason: " reason ", message: '" message "'" AT
#define SIGNALS                                                                                    \
	"{type: BlockedOnPreemptionGates, status: 'True', reason: PreemptionGated, message: m" AT
#define TOKEN                                                                                      \
	"{\"epoch\":2,\"phase\":\"Granted\",\"holder\":\"w1\",\"uid\":\"u\",\"grantedAt\":"        \
	"\"2026-01-15T09:04:00.000000Z\",\"attempts\":[{\"cluster\":\"w2\",\"began\":"             \
	"\"2026-01-15T08:50:00.000000Z\",\"ended\":\"2026-01-15T08:55:00.000000Z\",\"outcome\":"   \
	"\"Timeout\"}]}"

static struct live_fixture manager;
static struct worker_fixture workers[3];

/* w1 makes room with its gate open, w2 would preempt, w3 has no replica, w4 does not exist. */
static int begin(void **state UNUSED)
{
	managing_cluster_start(&manager);
	for (size_t i = 0; i < ARRAY_LEN(workers); i++) {
		char name[] = { 'w', (char)('1' + i), '\0' };

		worker_fixture_start(&workers[i], true);
		managing_cluster_add_worker(&manager, name, &workers[i]);
	}
	worker_fixture_load(&workers[0], REPLICA(NO_QUOTA("WaitingForPreemptedWorkloads",
							  "2 victims stop") ", " SIGNALS,
						 "Open"));
	worker_fixture_load(&workers[1], REPLICA(NO_QUOTA("AdmissionGated", "gated") ", " SIGNALS,
						 "Closed") "---\n" FULL_QUEUE);
	worker_fixture_load(&workers[2], NAMESPACE);
	managing_cluster_add_workload(&manager, "waits", "lq", "Pending", TOKEN);
	managing_cluster_add_workload(&manager, "runs", "lq", "Ready", TOKEN);
	return 0;
}

static int end(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_LEN(workers); i++) {
		worker_fixture_stop(&workers[i]);
	}
	live_fixture_stop(&manager);
	return 0;
}

static void add_output(const char *line, struct strbuf *all)
{
	strbuf_printf(all, "$ headgatectl %s\n%s\n", line, manager.out.p);
}

static void answers_of_the_workers(void **state UNUSED)
{
	static const char *const lines[] = {
		"explain workload ns/waits",
		"explain workload ns/waits -o json",
		"explain workload ns/runs",
	};
	CLEANUP(strbuf_finish) struct strbuf all = STRBUF_INIT;

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		unit_row(lines[i]);
		assert_int_equal(live_fixture_run(&manager, lines[i]), VERB_OK);
		add_output(lines[i], &all);
	}
	recorded_check("test/unit/scheduler/ctl/outputs/explain_offer.txt", &all);
}

static void without_connections(void **state UNUSED)
{
	static const struct {
		const char *fault, *line;
	} rows[] = {
		{ "[{fault: status, code: 403, count: 0, path: '.*/secrets/.*'}]",
		  "explain workload ns/waits" },
		{ "[{fault: status, code: 403, count: 0, path: '.*/multikueueconfigs/.*'}]",
		  "explain workload ns/waits" },
		{ "[]", "explain workload ns/waits --multikueue-namespace=ns" },
		/* A user of the namespace alone. */
		{ "[{fault: status, code: 403, count: 0, path: "
		  "'/apis/kueue.x-k8s.io/v1beta2/[^n].*'}]",
		  "explain workload ns/waits" },
		{ "[{fault: status, code: 403, count: 0, path: "
		  "'/apis/kueue.x-k8s.io/v1beta2/[^n].*'}]",
		  "explain workload ns/waits -o json" },
	};
	CLEANUP(strbuf_finish) struct strbuf all = STRBUF_INIT;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].fault);
		live_fixture_fault(&manager, rows[i].fault);
		assert_int_equal(live_fixture_run(&manager, rows[i].line), VERB_OK);
		strbuf_printf(&all, "with %s\n", rows[i].fault);
		add_output(rows[i].line, &all);
	}
	recorded_check("test/unit/scheduler/ctl/outputs/explain_offer_token.txt", &all);
}

/* The cost is not known, and everything else is. */
static void a_worker_that_may_not_be_read(void **state UNUSED)
{
	worker_fixture_set_faults(&workers[1],
				  "[{fault: status, code: 403, count: 0, path: '.*/cohorts'}]");
	assert_int_equal(live_fixture_run(&manager, "explain workload ns/waits"), VERB_OK);
	assert_non_null(strstr(manager.out.p, "w2       Candidate     not known"));
	assert_non_null(strstr(manager.out.p, "The cost on w2 is not known: "));
	assert_non_null(strstr(manager.out.p, "cohorts"));
	assert_int_equal(live_fixture_run(&manager, "explain workload ns/waits -o json"), VERB_OK);
	assert_non_null(strstr(manager.out.p, "\"cost\":{\"verdict\":\"Unknown\",\"message\":"));
	worker_fixture_set_faults(&workers[1], "[]");
}

static void a_gate_of_another_controller_is_named(void **state UNUSED)
{
	worker_fixture_load(&workers[2],
			    REPLICA_WITH(", {name: team/freeze}",
					 NO_QUOTA("AdmissionGated", "gated") ", " SIGNALS,
					 "Closed"));
	assert_int_equal(live_fixture_run(&manager, "explain workload ns/waits"), VERB_OK);
	assert_non_null(strstr(manager.out.p, "w3       HeldBack"));
	assert_non_null(strstr(manager.out.p, "team/freeze"));
}

/* The replica itself is never looked at there. */
static void the_variants_of_a_replica_answer(void **state UNUSED)
{
	CLEANUP(strbuf_finish) struct strbuf yaml = STRBUF_INIT, uid = STRBUF_INIT;

	worker_fixture_load(
		&workers[2], NAMESPACE
		"{" API "kind: Workload, metadata: {name: waits, namespace: ns, labels: "
		"{kueue.x-k8s.io/concurrent-admission-parent: 'true'}}, spec: {queueName: "
		"lq, podSets: [" PODS "]}}\n");
	worker_fixture_uid(&workers[2], "ns", "waits", &uid);
	strbuf_printf(&yaml,
		      "{" API "kind: Workload, metadata: {name: waits-x, namespace: ns, labels: "
		      "{kueue.x-k8s.io/multikueue-origin: multikueue}, ownerReferences: ["
		      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, name: waits, uid: %s, "
		      "controller: true}]}, spec: {queueName: lq, preemptionGates: [{name: "
		      "kueue.x-k8s.io/multikueue}, {name: kueue.x-k8s.io/concurrent-admission}], "
		      "podSets: [" PODS
		      "]}, status: {conditions: [" NO_QUOTA("AdmissionGated", "gated") ", " SIGNALS
										       "]}}\n",
		      uid.p);
	worker_fixture_load(&workers[2], yaml.p);
	assert_int_equal(live_fixture_run(&manager, "explain workload ns/waits"), VERB_OK);
	assert_non_null(strstr(manager.out.p, "w3       HeldBack"));
	assert_non_null(strstr(manager.out.p, "kueue.x-k8s.io/concurrent-admission"));
	/* Without its variants nothing is known of the replica. */
	worker_fixture_set_faults(&workers[2],
				  "[{fault: status, code: 403, count: 0, path: '.*/workloads$'}]");
	assert_int_equal(live_fixture_run(&manager, "explain workload ns/waits"), VERB_OK);
	assert_null(strstr(manager.out.p, "HeldBack"));
	assert_non_null(strstr(manager.out.p, "variants: "));
	worker_fixture_set_faults(&workers[2], "[]");
}

static void a_silent_worker_is_out_of_reach(void **state UNUSED)
{
	worker_fixture_behave(&workers[1], (struct worker_behaviour){ .silent = true });
	assert_int_equal(
		live_fixture_run(&manager, "explain workload ns/waits --request-timeout=2s"),
		VERB_OK);
	assert_non_null(strstr(manager.out.p, "w1       Preempting"));
	assert_non_null(strstr(manager.out.p, "w2       Unreachable"));
}

static void time_limits_of_a_configuration(void **state UNUSED)
{
	folder_write(&manager.folder, "config",
		     "multiKueue: {orchestratedPreemption: {progressTimeout: 7m}}\n");
	assert_int_equal(live_fixture_run(&manager, "explain workload ns/waits --config @config"),
			 VERB_OK);
	assert_non_null(strstr(manager.out.p,
			       "w1 since 2026-01-15T09:04:00Z, until 2026-01-15T09:11:00Z\n"));
}

static void from_manifests(void **state UNUSED)
{
	folder_write(
		&manager.folder, "yaml",
		"{" API "kind: AdmissionCheck, metadata: {name: mk}, spec: {controllerName: "
		"kueue.x-k8s.io/multikueue, parameters: {apiGroup: kueue.x-k8s.io, kind: "
		"MultiKueueConfig, name: all}}}\n---\n"
		"{" API "kind: Workload, metadata: {name: waits, namespace: ns}, spec: {queueName: "
		"lq, podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c, "
		"image: i}]}}}]}, status: {nominatedClusterNames: [w5], admissionChecks: [{name: "
		"mk, state: Pending, message: m" AT "]}}\n");
	assert_int_equal(live_fixture_run(&manager, "explain workload ns/waits --as-is -f @yaml"),
			 VERB_OK);
	assert_non_null(strstr(manager.out.p, "Token:        no worker has it\n"));
	assert_non_null(strstr(manager.out.p,
			       "w5       NotAsked   -      0                 not asked: "
			       "the objects are from manifests\n"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(answers_of_the_workers),
		TEST(without_connections),
		TEST(a_worker_that_may_not_be_read),
		TEST(a_silent_worker_is_out_of_reach),
		TEST(time_limits_of_a_configuration),
		TEST(from_manifests),
		TEST(a_gate_of_another_controller_is_named),
		TEST(the_variants_of_a_replica_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
