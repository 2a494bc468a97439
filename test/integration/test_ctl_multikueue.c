/* The whole way of an operator: two workers are joined to a manager by what headgatectl prints, the
 * check finds what is missing there, and the explanation of a Workload shows what both answer. The
 * workers let in the account alone that was made for the manager. */
#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "scheduler/ctl/cli/verb.h"
#include "unit/scheduler/ctl/capture.h"
#include "unit/scheduler/ctl/multikueue/managing_cluster.h"

#define API MANAGING_CLUSTER_API
#define AT ", lastTransitionTime: '2026-01-15T09:03:00Z'}"
#define QUEUE                                                                                      \
	"{apiVersion: v1, kind: Namespace, metadata: {name: ns}}\n---\n{" API                      \
	"kind: LocalQueue, metadata: {name: lq, namespace: ns}, spec: {clusterQueue: cq}}"
#define CONDITIONS                                                                                 \
	"{type: QuotaReserved, status: 'False', reason: AdmissionGated, message: m" AT ", {type: " \
	"BlockedOnPreemptionGates, status: 'True', reason: PreemptionGated, message: m" AT

static struct live_fixture manager;
static struct worker_fixture workers[2];

static int begin(void **state UNUSED)
{
	managing_cluster_start(&manager);
	live_fixture_load(&manager, "{" API "kind: MultiKueueConfig, metadata: {name: all}, spec: "
				    "{clusters: [w1, w2]}}");
	for (size_t i = 0; i < ARRAY_LEN(workers); i++) {
		worker_fixture_start(&workers[i], true);
	}
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

/* headgatectl multikueue kubeconfig ... | kubectl apply -f - */
static void join(struct worker_fixture *worker, const char *name)
{
	CLEANUP(strbuf_finish) struct strbuf config = STRBUF_INIT, out = STRBUF_INIT;
	CLEANUP(xmalloc_freep) char *line = NULL;

	worker_fixture_kubeconfig(worker, "admin", &config);
	folder_write(&manager.folder, name, config.p);
	line = xmalloc_printf("multikueue kubeconfig --name %s --kubeconfig=%s/%s", name,
			      manager.folder.path, name);
	assert_int_equal(capture_ctl(line, &out), VERB_OK);
	live_fixture_load(&manager, out.p);
	worker_fixture_behave(worker, (struct worker_behaviour){ .token = WORKER_FIXTURE_TOKEN });
}

static void expect(const char *line, int code, const char *says)
{
	unit_row(line);
	assert_int_equal(live_fixture_run(&manager, line), code);
	assert_non_null(strstr(manager.out.p, says));
}

static void add_replica(struct worker_fixture *worker, const char *gates)
{
	CLEANUP(xmalloc_freep)
	char *yaml = xmalloc_printf(
		"{" API "kind: Workload, metadata: {name: waits, namespace: ns, labels: "
		"{kueue.x-k8s.io/multikueue-origin: multikueue}}, spec: {queueName: lq, "
		"preemptionGates: [%s], podSets: [{name: main, count: 1, template: {spec: "
		"{restartPolicy: Never, containers: [{name: c, image: i}]}}}]}, status: "
		"{conditions: [" CONDITIONS "]}}",
		gates);

	worker_fixture_load(worker, yaml);
}

static void workers_are_joined_checked_and_explained(void **state UNUSED)
{
	join(&workers[0], "w1");
	join(&workers[1], "w2");
	expect("multikueue check", VERB_OK, "no Workload waits for this cluster");
	managing_cluster_add_workload(&manager, "waits", "lq", "Pending", NULL);
	expect("multikueue check", VERB_FAILED, "missing: ns/lq, and its namespace");
	worker_fixture_load(&workers[0], QUEUE);
	worker_fixture_load(&workers[1], QUEUE);
	expect("multikueue check", VERB_OK, "1 found, in which Workloads wait");
	expect("explain workload ns/waits", VERB_OK,
	       "w1       Unevaluated   -      0                 it has no replica yet");
	add_replica(&workers[0], "{name: kueue.x-k8s.io/multikueue}");
	add_replica(&workers[1], "");
	expect("multikueue check w2", VERB_FAILED, "1 of 1 have no preemption gate");
	expect("explain workload ns/waits", VERB_OK,
	       "w1       Candidate   no victims   0                 would preempt, and may be "
	       "chosen "
	       "next\n"
	       "w2       HeldBack    no victims   0                 the replica has no gate that "
	       "the manager "
	       "may open\n");
	/* The token is withdrawn. */
	worker_fixture_behave(&workers[1], (struct worker_behaviour){ .token = "another" });
	expect("explain workload ns/waits", VERB_OK, "w2       Unreachable   -            0");
	expect("multikueue check w2", VERB_FAILED, "connection");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(workers_are_joined_checked_and_explained, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
