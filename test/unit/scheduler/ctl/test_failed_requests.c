/* Any request that a verb makes may fail. The verb fails then and says why, rather than to give an
 * answer that lacks a part. */
#include "scheduler/ctl/ctl.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "process/file.h"
#include "scheduler/ctl/cli/verb.h"
#include "unit/scheduler/ctl/live_fixture.h"

#define KUEUE "{apiVersion: kueue.x-k8s.io/v1beta2, kind: "
#define VOLCANO "{apiVersion: scheduling.volcano.sh/v1beta1, kind: "
#define PODS "containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]"

static const char objects[] = KUEUE
	"ResourceFlavor, metadata: {name: f}}\n---\n" KUEUE
	"ClusterQueue, metadata: {name: cq}, spec: {namespaceSelector: {}, resourceGroups: "
	"[{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, "
	"nominalQuota: 9}]}]}]}}\n---\n" KUEUE
	"LocalQueue, metadata: {name: lq, namespace: ns}, spec: {clusterQueue: cq}}\n---\n" KUEUE
	"Workload, metadata: {name: w, namespace: ns}, spec: {queueName: lq, podSets: "
	"[{name: main, count: 1, template: {spec: {" PODS "}}}]}}\n---\n" VOLCANO
	"Queue, metadata: {name: team}, spec: {capability: {cpu: '4'}}}\n---\n" VOLCANO
	"PodGroup, metadata: {name: g, namespace: ns}, spec: {queue: team, minMember: "
	"1}}\n---\n"
	"{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns, annotations: "
	"{scheduling.k8s.io/group-name: g}}, spec: {schedulerName: volcano, schedulingGates: "
	"[{name: scheduling.volcano.sh/queue-allocation-gate}], " PODS "}}\n---\n"
	"{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: ns, labels: "
	"{kueue.x-k8s.io/queue-name: lq}}, spec: {suspend: true, template: {spec: {" PODS "}}}}\n";

static const struct {
	const char *line;
	int code; /* when nothing fails */
} rows[] = {
	{ "list cq", VERB_OK },
	{ "list lq -A", VERB_OK },
	{ "list rf", VERB_OK },
	{ "list cohort", VERB_OK },
	{ "list wl -A", VERB_OK },
	{ "list pods --for job/j -n ns", VERB_OK },
	{ "pending-workloads", VERB_OK },
	{ "pending-workloads cq cq", VERB_OK },
	{ "pending-workloads lq ns/lq", VERB_OK },
	{ "queues", VERB_OK },
	{ "explain pod ns/p", VERB_OK },
	{ "explain pod ns/none", VERB_FAILED },
	{ "explain wl ns/w", VERB_OK },
	{ "explain wl ns/none", VERB_FAILED },
	{ "explain job ns/j", VERB_FAILED },
	{ "explain job ns/none", VERB_FAILED },
	{ "doctor", VERB_OK },
	{ "close queue team", VERB_OK },
	{ "open queue team", VERB_OK },
	{ "stop cq cq", VERB_OK },
	{ "resume cq cq", VERB_OK },
	{ "stop lq ns/lq", VERB_OK },
	{ "stop wl ns/w", VERB_OK },
	{ "drain", VERB_OK },
	{ "drain --yes", VERB_OK },
};

/* The n-th request of the line is refused. False: it makes fewer. */
static bool run_refused(struct live_fixture *f, size_t i, int status, unsigned n)
{
	CLEANUP(strbuf_finish) struct strbuf script = STRBUF_INIT;
	int code;

	strbuf_printf(&script, "[{fault: status, code: %d, from: %u, count: 1}]", status, n);
	live_fixture_fault(f, script.p);
	code = live_fixture_run(f, rows[i].line);
	if (live_fixture_struck(f) == 0) {
		return false;
	}
	/* Without the right to read the whole cluster, some verbs answer from one namespace. */
	if (status == 403 && code == VERB_OK && rows[i].code == VERB_OK) {
		assert_non_null(strstr(f->out.p, "headgatectl: warning: "));
	} else if (code != VERB_FAILED) {
		fail_msg("%s, request %u is answered %d: %d, %s", rows[i].line, n, status, code,
			 f->out.p);
	}
	assert_non_null(
		strstr(f->out.p, rows[i].code == VERB_OK ? "scripted fault" : "headgatectl: "));
	return true;
}

static void test_each_request(void **state UNUSED)
{
	static const int statuses[] = { 500, 403 };
	CLEANUP(strbuf_finish) struct strbuf crd = STRBUF_INIT;
	struct live_fixture f;

	live_fixture_start(&f);
	/* Lists of kinds that the cluster does not serve may be forbidden as well. */
	assert_int_equal(file_read_all("test/play/kube-podgroups.yaml", 1 << 16, &crd, NULL), 0);
	live_fixture_load(&f, crd.p);
	live_fixture_load(&f, objects);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].line);
		for (size_t k = 0; k < ARRAY_LEN(statuses); k++) {
			unsigned n = 1;

			while (run_refused(&f, i, statuses[k], n)) {
				n++;
			}
			assert_true(n > 1);
		}
		live_fixture_fault(&f, "[]");
		assert_int_equal(live_fixture_run(&f, rows[i].line), rows[i].code);
	}
	live_fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_request),
	};

	return cmocka_run_group_tests_name("ctl/failed_requests", tests, NULL, NULL);
}
