/* Together with the scheduler it is in test/integration/test_ctl_quota.c. */
#include "scheduler/ctl/list/stop_resume.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/folder.h"
#include "scheduler/ctl/cli/verb.h"
#include "scheduler/ctl/ctl.h"
#include "unit/scheduler/ctl/live_fixture.h"

static void test_exit_codes(void **state)
{
	static const struct {
		const char *line;
		int code;
	} rows[] = {
		{ "stop", VERB_USAGE },
		{ "stop --help", VERB_OK },
		{ "stop clusterqueue", VERB_USAGE },
		{ "stop clusterqueue a b", VERB_USAGE },
		{ "stop clusterqueue ns/a", VERB_USAGE },
		{ "stop cohort a", VERB_USAGE },
		{ "stop wl ns/a --keep-already-running", VERB_USAGE },
		{ "stop cq a --dry-run=maybe", VERB_USAGE },
		{ "resume cq a --keep-already-running", VERB_USAGE },
		{ "resume", VERB_USAGE },
		{ "resume --help", VERB_OK },
		{ "stop cq a --kubeconfig=@missing", VERB_FAILED },
		{ "resume lq ns/a --kubeconfig=@missing", VERB_FAILED },
	};
	struct folder folder;

	(void)state;
	folder_make(&folder);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf line = STRBUF_INIT, out = STRBUF_INIT;

		unit_row(rows[i].line);
		strbuf_printf(&line, "headgatectl %s", rows[i].line);
		assert_int_equal(folder_run(&folder, ctl_run, line.p, &out), rows[i].code);
	}
	folder_remove(&folder);
}

#define API "{apiVersion: kueue.x-k8s.io/v1beta2, kind: "
static const char objects[] =
	API "ClusterQueue, metadata: {name: q}, spec: {stopPolicy: %s}}\n---\n" API
	    "LocalQueue, metadata: {name: q, namespace: ns}, spec: {clusterQueue: q, stopPolicy: "
	    "%s}}\n---\n" API
	    "LocalQueue, metadata: {name: q, namespace: default}, spec: {clusterQueue: q, "
	    "stopPolicy: %s}}\n---\n" API
	    "Workload, metadata: {name: q, namespace: ns}, spec: {active: %s, podSets: [{name: "
	    "main, count: 1, template: {spec: {containers: [{name: c, image: i}]}}}]}}";

static void expect_policy(struct live_fixture *f, const char *plural, const char *ns,
			  const char *policy)
{
	CLEANUP(jdoc_destroyp)
	struct jdoc *d = live_fixture_get(f, "kueue.x-k8s.io", plural, ns, "q");

	assert_non_null(d);
	assert_string_equal(jdoc_path_str(d, "spec.stopPolicy"), policy);
}

static void expect_active(struct live_fixture *f, bool active)
{
	CLEANUP(jdoc_destroyp)
	struct jdoc *d = live_fixture_get(f, "kueue.x-k8s.io", "workloads", "ns", "q");

	assert_non_null(d);
	assert_int_equal(jdoc_bool(jdoc_path(d, "spec.active"), !active), active);
}

/* Each verb changes its object alone, in the namespace that it names. */
static void test_changes(void **state)
{
	static const struct {
		const char *was, *line, *says;
		const char *cluster_queue, *in_ns, *in_default; /* policies afterwards */
		bool active;
		int code;
	} rows[] = {
		{ "None", "stop cq q", "clusterqueue.kueue.x-k8s.io/q stopped\n", "HoldAndDrain",
		  "None", "None", true, VERB_OK },
		{ "None", "stop cq q --keep-already-running",
		  "clusterqueue.kueue.x-k8s.io/q stopped\n", "Hold", "None", "None", true,
		  VERB_OK },
		{ "Hold", "resume cq q", "clusterqueue.kueue.x-k8s.io/q resumed\n", "None", "Hold",
		  "Hold", false, VERB_OK },
		{ "None", "stop cq q --dry-run=client",
		  "clusterqueue.kueue.x-k8s.io/q stopped (dry run)\n", "None", "None", "None", true,
		  VERB_OK },
		{ "None", "stop cq q --dry-run=server",
		  "clusterqueue.kueue.x-k8s.io/q stopped (server dry run)\n", "None", "None",
		  "None", true, VERB_OK },
		{ "None", "stop cq ns/q", "headgatectl: ns/q: a clusterqueue has no namespace\n",
		  "None", "None", "None", true, VERB_USAGE },
		{ "None", "stop lq ns/q", "localqueue.kueue.x-k8s.io/q stopped\n", "None",
		  "HoldAndDrain", "None", true, VERB_OK },
		{ "None", "stop lq q", "localqueue.kueue.x-k8s.io/q stopped\n", "None", "None",
		  "HoldAndDrain", true, VERB_OK },
		{ "None", "stop lq q -n ns --keep-already-running",
		  "localqueue.kueue.x-k8s.io/q stopped\n", "None", "Hold", "None", true, VERB_OK },
		{ "Hold", "resume lq ns/q", "localqueue.kueue.x-k8s.io/q resumed\n", "Hold", "None",
		  "Hold", false, VERB_OK },
		{ "None", "stop wl ns/q", "workload.kueue.x-k8s.io/q stopped\n", "None", "None",
		  "None", false, VERB_OK },
		{ "Hold", "resume wl ns/q", "workload.kueue.x-k8s.io/q resumed\n", "Hold", "Hold",
		  "Hold", true, VERB_OK },
		{ "None", "stop wl ns/gone", "headgatectl: workload ns/gone: ", "None", "None",
		  "None", true, VERB_FAILED },
		{ "None", "stop wl ns/gone --dry-run=client",
		  "headgatectl: workload ns/gone: ", "None", "None", "None", true, VERB_FAILED },
		{ "None", "stop cq gone", "headgatectl: clusterqueue gone: ", "None", "None",
		  "None", true, VERB_FAILED },
	};
	struct live_fixture f;

	(void)state;
	live_fixture_start(&f);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf yaml = STRBUF_INIT;

		unit_row(rows[i].line);
		strbuf_printf(&yaml, objects, rows[i].was, rows[i].was, rows[i].was,
			      strcmp(rows[i].was, "None") == 0 ? "true" : "false");
		live_fixture_load(&f, yaml.p);
		assert_int_equal(live_fixture_run(&f, rows[i].line), rows[i].code);
		assert_memory_equal(f.out.p, rows[i].says, strlen(rows[i].says));
		expect_policy(&f, "clusterqueues", NULL, rows[i].cluster_queue);
		expect_policy(&f, "localqueues", "ns", rows[i].in_ns);
		expect_policy(&f, "localqueues", "default", rows[i].in_default);
		expect_active(&f, rows[i].active);
	}
	live_fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit_codes),
		cmocka_unit_test(test_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
