#include "scheduler/ctl/ctl.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "enc/json/jdoc.h"
#include "lib/folder.h"
#include "lib/workloads/workload_sim_fixture.h"
#include "scheduler/ctl/cli/verb.h"

#define API QUOTA_SIM_API
#define TIME "2026-01-15T09:00:00Z"

static struct folder folder;

static const char world[] = QUOTA_SIM_CLUSTER
	"{" API "kind: Cohort, metadata: {name: side, creationTimestamp: \"" TIME "\"}, spec: "
	"{parentName: all}}\n---\n"
	"{" API "kind: ResourceFlavor, metadata: {name: gpu, creationTimestamp: \"" TIME "\"}, "
	"spec: {nodeLabels: {a: x, b: y}}}\n---\n"
	"{" API "kind: ClusterQueue, metadata: {name: held, creationTimestamp: \"" TIME "\"}, "
	"spec: {cohortName: side, stopPolicy: Hold}, status: {pendingWorkloads: 2, conditions: "
	"[{type: Active, status: \"False\"}]}}\n---\n"
	"{" API "kind: LocalQueue, metadata: {name: two, namespace: other, creationTimestamp: "
	"\"" TIME "\"}, spec: {clusterQueue: held}, status: {admittedWorkloads: 1}}\n---\n"
	"{" API "kind: Workload, metadata: {name: job-x, namespace: team, labels: {app: web}, "
	"creationTimestamp: "
	"\"2026-01-15T09:03:00Z\", ownerReferences: [{apiVersion: batch/v1, kind: Job, name: x, "
	"uid: u}]}, spec: {queueName: lq, podSets: []}}\n---\n"
	"{" API "kind: Workload, metadata: {name: done, namespace: team, creationTimestamp: "
	"\"" TIME "\"}, spec: {queueName: lq, podSets: []}, status: {conditions: [{type: Admitted, "
	"status: \"True\", lastTransitionTime: \"2026-01-15T09:01:00Z\"}, {type: Finished, status: "
	"\"True\", lastTransitionTime: \"2026-01-15T09:02:00Z\"}]}}\n---\n" QUOTA_SIM_WORKLOAD(
		"runs", "3", "0", QUOTA_SIM_HOLDS("3"));

static int begin(void **state)
{
	(void)state;
	folder_make(&folder);
	folder_write(&folder, "world.yaml", world);
	folder_write(&folder, "bad.yaml", "a: [\n");
	return 0;
}

static int end(void **state)
{
	(void)state;
	folder_remove(&folder);
	return 0;
}

static void test_tables(void **state)
{
	static const struct {
		const char *line, *out;
	} rows[] = {
		{ "list clusterqueues",
		  "NAME   COHORT   PENDING WORKLOADS   ADMITTED WORKLOADS   ACTIVE   STOP POLICY   "
		  "AGE\n"
		  "cq     <none>   -                   -                    -        None          "
		  "<unknown>\n"
		  "held   side     2                   0                    False    Hold          "
		  "3m\n" },
		{ "list cq --active=true", "" },
		{ "list lq -A -c held",
		  "NAMESPACE   NAME   CLUSTERQUEUE   PENDING WORKLOADS   ADMITTED WORKLOADS   STOP "
		  "POLICY   AGE\n"
		  "other       two    held           0                   1                    None "
		  " "
		  "        3m\n" },
		{ "list workloads -n team",
		  "NAMESPACE   NAME    JOB TYPE    JOB NAME   LOCALQUEUE   CLUSTERQUEUE   STATUS   "
		  "  "
		  "     POSITION IN QUEUE   EXEC TIME   AGE\n"
		  "team        done    <none>      <none>     lq           cq             FINISHED "
		  "  "
		  "     -                   60s         3m\n"
		  "team        job-x   job.batch   x          lq           cq             PENDING  "
		  "  "
		  "     1                   -           0s\n"
		  "team        runs    <none>      <none>     lq           cq             "
		  "QUOTARESERVED   -                   -           3m\n" },
		{ "list cohorts", "NAME   PARENT   AGE\nside   all      3m\n" },
		{ "list rf", "NAME   NODE LABELS   AGE\nf      <none>        <unknown>\n"
			     "gpu    a=x, b=y      3m\n" },
		{ "list wl", "" }, /* none in namespace default */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf line = STRBUF_INIT, out = STRBUF_INIT;

		unit_row(rows[i].line);
		strbuf_printf(&line, "headgatectl %s --as-is -f @world.yaml", rows[i].line);
		assert_int_equal(folder_run(&folder, ctl_run, line.p, &out), VERB_OK);
		assert_string_equal(out.p == NULL ? "" : out.p, rows[i].out);
	}
}

/* Which Workloads are left. */
static void test_filters(void **state)
{
	static const struct {
		const char *filter;
		const char *names[4];
	} rows[] = {
		{ "", { "done", "job-x", "runs" } },
		{ "--status=pending", { "job-x" } },
		{ "--status=QuotaReserved", { "runs" } },
		{ "--status=finished", { "done" } },
		{ "--status=admitted", { NULL } },
		{ "--status=finished,pending", { "done", "job-x" } },
		{ "--status=all", { "done", "job-x", "runs" } },
		{ "--for=job/x", { "job-x" } },
		{ "--for=jobs.batch/x", { "job-x" } },
		{ "--for=Job/x", { "job-x" } },
		{ "--for=pod/x", { NULL } },
		{ "--localqueue=lq", { "done", "job-x", "runs" } },
		{ "--localqueue=two", { NULL } },
		{ "--clusterqueue=cq", { "done", "job-x", "runs" } },
		{ "--clusterqueue=held", { NULL } },
		{ "-l app=web", { "job-x" } },
		{ "--selector=app!=web,!tier", { "done", "runs" } },
		{ "--field-selector=metadata.name=done", { "done" } },
		{ "--field-selector=metadata.name!=done,metadata.namespace=team",
		  { "job-x", "runs" } },
		{ "--field-selector=metadata.namespace=other", { NULL } },
		{ "-l app=web --field-selector=metadata.name=done", { NULL } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf line = STRBUF_INIT, out = STRBUF_INIT;
		CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
		const struct jdoc *item;

		unit_row(rows[i].filter);
		strbuf_printf(&line,
			      "headgatectl list workloads -n team -o json --as-is -f "
			      "@world.yaml%s%s",
			      rows[i].filter[0] == '\0' ? "" : " ", rows[i].filter);
		assert_int_equal(folder_run(&folder, ctl_run, line.p, &out), VERB_OK);
		assert_int_equal(jdoc_parse(strbuf_str(&out), &d, NULL), 0);
		item = jdoc_first(jdoc_get(d, "items"));
		for (size_t k = 0; k < 4 && rows[i].names[k] != NULL; k++) {
			assert_string_equal(jdoc_path_str(item, "metadata.name"), rows[i].names[k]);
			assert_string_equal(jdoc_path_str(item, "kind"), "Workload");
			item = jdoc_next(item);
		}
		assert_null(item);
	}
}

static void test_whole_objects(void **state)
{
	static const struct {
		const char *line, *out;
	} rows[] = {
		{ "list cq -o name",
		  "clusterqueue.kueue.x-k8s.io/cq\nclusterqueue.kueue.x-k8s.io/held\n" },
		{ "list wl -n team -o name --for=job/x", "workload.kueue.x-k8s.io/job-x\n" },
		{ "list wl -o name", "" },
		{ "list cohorts -o yaml",
		  "apiVersion: v1\nkind: List\nitems:\n- apiVersion: kueue.x-k8s.io/v1beta2\n"
		  "  kind: Cohort\n  metadata:\n    name: side\n    creationTimestamp: \"" TIME
		  "\"\n    uid: \"\"\n  spec:\n    parentName: all\n" },
		{ "list cohorts -o yaml -l a=b", "apiVersion: v1\nkind: List\nitems: []\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf line = STRBUF_INIT, out = STRBUF_INIT;

		unit_row(rows[i].line);
		strbuf_printf(&line, "headgatectl %s --as-is -f @world.yaml", rows[i].line);
		assert_int_equal(folder_run(&folder, ctl_run, line.p, &out), VERB_OK);
		assert_string_equal(out.p == NULL ? "" : out.p, rows[i].out);
	}
}

static void test_exit_codes(void **state)
{
	static const struct {
		const char *line;
		int code;
	} rows[] = {
		{ "list", VERB_USAGE },
		{ "list pods", VERB_USAGE },
		{ "list nodes", VERB_USAGE },
		{ "list cq more", VERB_USAGE },
		{ "list cq -o wide", VERB_USAGE },
		{ "pending-workloads -o yaml", VERB_USAGE },
		{ "list pods --for=jobset/x --as-is -f @world.yaml", VERB_FAILED },
		{ "list pods --for=job/x --as-is -f @bad.yaml", VERB_FAILED },
		{ "list pods --for=pod/x --as-is -f @missing.yaml", VERB_FAILED },
		{ "list wl --status=lost", VERB_USAGE },
		{ "list wl --for=job", VERB_USAGE },
		{ "list cq --active=maybe", VERB_USAGE },
		{ "list cq --now=yesterday", VERB_USAGE },
		{ "list cq --help", VERB_OK },
		{ "list wl -l =x", VERB_USAGE },
		{ "list wl --field-selector=spec.queueName=lq", VERB_USAGE },
		{ "list cq --field-selector=metadata.namespace=x", VERB_USAGE },
		{ "list cq --as-is -f @bad.yaml", VERB_FAILED },
		{ "list wl --as-is -f @bad.yaml", VERB_FAILED },
		{ "list wl --as-is -f @missing.yaml", VERB_FAILED },
		{ "list wl --as-is -f @world.yaml --config @bad.yaml", VERB_FAILED },
		{ "list cq --server=https://127.0.0.1:1 --kubeconfig=@missing", VERB_FAILED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf line = STRBUF_INIT, out = STRBUF_INIT;

		unit_row(rows[i].line);
		strbuf_printf(&line, "headgatectl %s", rows[i].line);
		assert_int_equal(folder_run(&folder, ctl_run, line.p, &out), rows[i].code);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_whole_objects),
		cmocka_unit_test(test_exit_codes),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
