/* headgatectl on the Workload engine of a running system: list, pending-workloads, explain
 * workload, stop and resume. */
#include "lib/unit.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "lib/wait.h"
#include "play/scene.h"
#include "play/workload_scene.h"

#define API "apiVersion: kueue.x-k8s.io/v1beta2, "
#define KUEUE "/apis/kueue.x-k8s.io/v1beta2/"

static struct scene scene;

static const char world[] =
	"{" API "kind: ResourceFlavor, metadata: {name: default}}\n---\n"
	"{" API "kind: ClusterQueue, metadata: {name: team}, spec: {namespaceSelector: {}, "
	"preemption: {withinClusterQueue: LowerPriority}, resourceGroups: [{coveredResources: "
	"[cpu], flavors: [{name: default, resources: [{name: cpu, nominalQuota: 3}]}]}]}}\n---\n"
	"{" API "kind: LocalQueue, metadata: {name: lq, namespace: default}, spec: {clusterQueue: "
	"team}}\n";

/* Runs headgatectl with these words, parted by blanks, and the kubeconfig; returns its code. */
static int ctl(const char *words, struct strbuf *out)
{
	const char *args[16];
	char copy[400], kubeconfig[400];
	size_t n = 0;

	snprintf(kubeconfig, sizeof(kubeconfig), "--kubeconfig=%s", stack_kubeconfig(scene.stack));
	snprintf(copy, sizeof(copy), "%s", words);
	for (char *p = copy; p != NULL && n + 2 < ARRAY_LEN(args);) {
		char *blank = strchr(p, ' ');

		if (blank != NULL) {
			*blank = '\0';
		}
		args[n++] = p;
		p = blank == NULL ? NULL : blank + 1;
	}
	args[n++] = kubeconfig;
	args[n] = NULL;
	return stack_run(scene.stack, "headgatectl", args, out);
}

static void expect(const char *words, int code, const char *says)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	int got = ctl(words, &out);

	if (got != code || strstr(out.p, says) == NULL) {
		scene_fail(&scene, "headgatectl %s: exit code %d, not %d, or no \"%s\" in: %s",
			   words, got, code, says, out.p);
	}
}

static void add_workload(const char *name, int priority, const char *cpu)
{
	CLEANUP(xmalloc_freep)
	char *yaml = xmalloc_printf(
		"{" API "kind: Workload, metadata: {name: %s, namespace: default, ownerReferences: "
		"[{apiVersion: example.com/v1, kind: Thing, name: t-%s, uid: u, controller: "
		"true}]}, spec: {queueName: lq, priority: %d, podSets: [{name: main, count: 1, "
		"template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, "
		"resources: {requests: {cpu: '%s'}}}]}}}]}}",
		name, name, priority, cpu);

	scene_apply(&scene, yaml);
}

/* Asked again until it says so. */
static void wait_says(const char *words, const char *says)
{
	int64_t deadline = wait_deadline(WORKLOAD_SCENE_WAIT_NS);
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	do {
		if (ctl(words, &out) == 0 && strstr(out.p, says) != NULL) {
			return;
		}
	} while (wait_until(deadline));
	scene_fail(&scene, "headgatectl %s: never \"%s\", but: %s", words, says, out.p);
}

static void add_pod(const char *name, const char *label)
{
	CLEANUP(xmalloc_freep)
	char *yaml = xmalloc_printf("{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: "
				    "default, labels: {%s}}, spec: {schedulerName: other, "
				    "containers: [{name: c, image: i}]}}",
				    name, label);

	scene_apply(&scene, yaml);
}

static int begin(void **state)
{
	workload_scene_start(&scene, world);
	add_pod("x-1", "batch.kubernetes.io/job-name: x");
	add_pod("g-1", "kueue.x-k8s.io/pod-group-name: g");
	add_pod("g-2", "kueue.x-k8s.io/pod-group-name: g");
	add_workload("runs", 0, "2");
	wait_says("list workloads --status=admitted", "t-runs");
	add_workload("waits", 0, "2");
	wait_says("explain workload waits -o json", "WaitingForQuota");
	*state = &scene;
	return 0;
}

static void test_outputs_and_exit_codes(void **state UNUSED)
{
	static const struct {
		const char *words;
		int code;
		const char *says;
	} rows[] = {
		{ "list workloads", 0, "PENDING" },
		{ "list workloads --for=thing/t-waits", 0, "thing.example.com" },
		{ "list wl -A --status=finished", 0, "No resources found." },
		{ "list clusterqueues", 0, "team" },
		{ "list lq -c team", 0, "lq" },
		{ "list resourceflavors", 0, "default" },
		{ "list cohorts", 0, "No resources found." },
		{ "list cq -o name", 0, "clusterqueue.kueue.x-k8s.io/team" },
		{ "list cq -o yaml", 0, "kind: ClusterQueue" },
		{ "list pods --for=job/none", 0, "No resources found in namespace default." },
		{ "list pods --for=job/x -o json", 0, "\"name\":\"x-1\"" },
		{ "list pods --for=job/x -o json", 0, "\"kind\":\"Pod\"" },
		{ "list pods -A --for=pod/g-1 -o json", 0, "\"name\":\"g-2\"" },
		{ "list pods -A --for=pod/none", 0, "No resources found." },
		{ "pending-workloads", 0, "default/waits" },
		{ "pending-workloads cq team -o json", 0, "PendingWorkloadsSummary" },
		{ "pending-workloads lq default/lq", 0, "default/waits" },
		{ "pending-workloads cq nope", 1, "ClusterQueue nope not found" },
		{ "explain workload default/waits", 0, "waits for quota" },
		{ "explain workload waits -o json", 0, "WaitingForQuota" },
		{ "explain workload runs", 0, "has been admitted since" },
		{ "explain workload absent", 1, "workload default/absent not found" },
		{ "explain workload waits --server=https://127.0.0.1:1", 1, "headgatectl:" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		expect(rows[i].words, rows[i].code, rows[i].says);
	}
}

static void add_job(const char *name, const char *labels, const char *cpu)
{
	CLEANUP(xmalloc_freep)
	char *yaml = xmalloc_printf(
		"{apiVersion: batch/v1, kind: Job, metadata: {name: %s, namespace: default, "
		"labels: {%s}}, spec: {suspend: true, template: {spec: {restartPolicy: Never, "
		"containers: [{name: c, image: i, resources: {requests: {cpu: '%s'}}}]}}}}",
		name, labels, cpu);

	scene_apply(&scene, yaml);
}

#define QUEUE "kueue.x-k8s.io/queue-name: "

/* Mistakes of first-time users: the verdict names each of them. */
static void test_explain_names_the_mistake(void **state UNUSED)
{
	static const struct {
		const char *words;
		int code;
		const char *says;
	} rows[] = {
		{ "explain job mistyped", 0,
		  "spec.queueName: LocalQueue default/lp does not exist; did you mean lq?\n" },
		{ "explain job large", 0,
		  "requests more than the quota can ever be: pod set main: cpu in flavor default: "
		  "4 requested, the most it can have is 3\n" },
		{ "explain job unlabelled", 1,
		  "job default/unlabelled has no Workload: it does not queue, because it has no "
		  "label kueue.x-k8s.io/queue-name with the name of a LocalQueue of namespace "
		  "default (the LocalQueues there: lq)\n" },
		{ "explain job elsewhere/unlabelled", 1, "job elsewhere/unlabelled not found\n" },
		{ "explain job mistype", 1,
		  "job default/mistype not found; did you mean mistyped?\n" },
		{ "explain workload wait", 1,
		  "workload default/wait not found; did you mean default/waits?\n" },
		{ "explain thing.example.com t-wait", 1,
		  "has no Workload; it gets one if it has the label kueue.x-k8s.io/queue-name; did "
		  "you mean t-waits?\n" },
		{ "explain pod x-1", 0, "its spec.schedulerName is other" },
	};

	add_job("mistyped", QUEUE "lp", "1");
	add_job("large", QUEUE "lq", "4");
	add_job("unlabelled", "", "1");
	wait_says("list workloads --for=job/mistyped -o name", "workload");
	wait_says("list workloads --for=job/large -o name", "workload");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		expect(rows[i].words, rows[i].code, rows[i].says);
	}
}

static void expect_field(const char *path, const char *field, const char *value)
{
	CLEANUP(jdoc_destroyp) struct jdoc *object = NULL;
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	scene_call(&scene, "GET", path, NULL, &object);
	jdoc_format(jdoc_path(object, field), &text);
	assert_string_equal(text.p, value);
}

/* A user with rights in one namespace alone: requests for all namespaces, and for objects of the
 * cluster, are refused. */
static void test_rights_in_one_namespace(void **state UNUSED)
{
	static const char faults[] = "- {fault: status, code: 403, count: 0, method: GET, path: "
				     "'/api(s/[^/]+)?/v[^/]+/[^/]+$'}\n";
	static const struct {
		const char *words;
		int code;
		const char *says;
	} rows[] = {
		{ "list localqueues -n default", 0, "lq" },
		{ "list pods --for=job/x -n default", 0, "x-1" },
		{ "list workloads -n default", 0, "t-waits" },
		{ "list workloads -n default", 0, "team" },
		{ "list workloads -n default", 0, "positions in queues are not known" },
		{ "list workloads -A", 1, "/api/v1/namespaces:" },
		{ "list clusterqueues", 1, "clusterqueues:" },
		{ "pending-workloads lq default/lq", 0, "default/waits" },
		{ "pending-workloads lq default/lq", 0, "only namespace default is read" },
		{ "pending-workloads lq default/none", 1, "LocalQueue default/none not found" },
		{ "pending-workloads", 1, "/api/v1/namespaces:" },
		{ "explain workload default/waits", 0, "QuotaReserved" },
		{ "explain workload default/waits -o json", 0, "\"conditions\":[" },
		{ "explain workload default/absent", 1, "no Workload found" },
		{ "explain pod default/x-1", 0, "Pod:       default/x-1" },
		{ "explain pod default/absent", 1, "absent" },
		{ "doctor", 1, "/api/v1/pods" },
		{ "doctor -n default", 0, "no problems found" },
	};
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	scene_faults(&scene, faults);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		expect(rows[i].words, rows[i].code, rows[i].says);
	}
	assert_int_equal(ctl("pending-workloads lq default/lq", &out), 0);
	assert_null(strstr(out.p, "default/runs")); /* it holds quota */
}

static int allow_all(void **state UNUSED)
{
	scene_faults(&scene, NULL);
	return 0;
}

static int resume_all(void **state UNUSED)
{
	static const char go[] = "{\"spec\":{\"stopPolicy\":\"None\"}}";

	scene_call(&scene, "PATCH", KUEUE "clusterqueues/team", go, NULL);
	scene_call(&scene, "PATCH", KUEUE "namespaces/default/localqueues/lq", go, NULL);
	scene_call(&scene, "PATCH", KUEUE "namespaces/default/workloads/waits",
		   "{\"spec\":{\"active\":true}}", NULL);
	return 0;
}

static void test_stop_and_resume_a_queue(void **state UNUSED)
{
	static const char queue[] = KUEUE "clusterqueues/team";

	expect("stop clusterqueue team --dry-run=client", 0,
	       "clusterqueue.kueue.x-k8s.io/team stopped (dry run)");
	expect("stop clusterqueue team --dry-run=server", 0, "stopped (server dry run)");
	expect("list cq", 0, "None");
	expect("stop clusterqueue nope --dry-run=client", 1, "clusterqueue nope: ");
	expect("stop clusterqueue nope", 1, "clusterqueue nope: ");
	expect("stop cq team --keep-already-running", 0,
	       "clusterqueue.kueue.x-k8s.io/team stopped");
	expect_field(queue, "spec.stopPolicy", "\"Hold\"");
	wait_says("explain workload waits", "ClusterQueue team: spec.stopPolicy: it is stopped");
	wait_says("list cq --active=false", "team");
	expect("list wl --status=admitted", 0, "t-runs"); /* kept */
	expect("resume clusterqueue team", 0, "clusterqueue.kueue.x-k8s.io/team resumed");
	expect_field(queue, "spec.stopPolicy", "\"None\"");
	wait_says("list cq --active=true", "team");
}

/* A Job that was evicted by the stop waits for its end, as one that has not run does. */
static void test_explain_what_a_stop_has_evicted(void **state UNUSED)
{
	add_job("drained", QUEUE "lq", "0");
	wait_says("explain job drained", "has been admitted since");
	expect("stop clusterqueue team", 0, "clusterqueue.kueue.x-k8s.io/team stopped");
	wait_says("explain job drained",
		  "Verdict:      ClusterQueue team: spec.stopPolicy: it is stopped\n");
	scene_call(&scene, "DELETE", "/apis/batch/v1/namespaces/default/jobs/drained", NULL, NULL);
}

static void test_stop_and_resume_in_a_namespace(void **state UNUSED)
{
	static const char queue[] = KUEUE "namespaces/default/localqueues/lq",
			  workload[] = KUEUE "namespaces/default/workloads/waits";

	expect("stop localqueue lq", 0, "localqueue.kueue.x-k8s.io/lq stopped");
	expect_field(queue, "spec.stopPolicy", "\"HoldAndDrain\"");
	wait_says("explain workload waits", "LocalQueue default/lq is stopped");
	expect("resume localqueue default/lq", 0, "localqueue.kueue.x-k8s.io/lq resumed");
	expect_field(queue, "spec.stopPolicy", "\"None\"");
	expect("stop workload waits", 0, "workload.kueue.x-k8s.io/waits stopped");
	expect_field(workload, "spec.active", "false");
	wait_says("explain workload waits", "Deactivated");
	expect("resume workload waits -n default", 0, "workload.kueue.x-k8s.io/waits resumed");
	expect_field(workload, "spec.active", "true");
	expect("stop workload waits -n elsewhere", 1, "workload elsewhere/waits: ");
}

static bool find_dump(char *out, size_t size)
{
	const char *dir = stack_dir(scene.stack);
	DIR *d = opendir(dir);
	bool found = false;

	for (const struct dirent *e = d == NULL ? NULL : readdir(d); e != NULL; e = readdir(d)) {
		if (str_has_prefix(str_of(e->d_name), "headgate-quota-") &&
		    str_has_suffix(str_of(e->d_name), ".json")) {
			snprintf(out, size, "%s/%s", dir, e->d_name);
			found = true;
		}
	}
	if (d != NULL) {
		closedir(d);
	}
	return found;
}

static bool has_dump(void *ctx, const struct mirror *m UNUSED)
{
	return find_dump(ctx, 300);
}

/* Dumps go to the stack's own folder from here on. */
static void dump_here(void)
{
	static const char *args[8];
	static char dir[400];
	size_t n = 0;

	snprintf(dir, sizeof(dir), "--cache-dump-dir=%s", stack_dir(scene.stack));
	for (; workload_scene_args[n] != NULL && n + 2 < ARRAY_LEN(args); n++) {
		args[n] = workload_scene_args[n];
	}
	args[n] = dir;
	scene_restart_scheduler(&scene, NULL, args);
	/* A scheduler that admits has read all objects. */
	add_workload("later", 0, "1");
	wait_says("list workloads --status=admitted", "t-later");
}

/* The same answers as from the cluster. */
static void test_a_dump_explains(void **state UNUSED)
{
	char path[300], words[600];

	dump_here();
	assert_true(stack_signal(scene.stack, STACK_SCHEDULER, SIGUSR1));
	scene_wait_for(&scene, "the dump is there", has_dump, path);
	snprintf(words, sizeof(words), "explain workload waits --as-is -f %s", path);
	expect(words, 0, "Reason:       WaitingForQuota");
	expect(words, 0, "HOLDER");
	snprintf(words, sizeof(words), "list wl --as-is -f %s --status=admitted", path);
	expect(words, 0, "runs");
	snprintf(words, sizeof(words), "pending-workloads cq team --as-is -f %s", path);
	expect(words, 0, "default/waits");
}

/* A Job that was admitted runs with a Workload. */
static void test_doctor(void **state UNUSED)
{
	scene_apply(&scene, "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: "
			    "default, labels: {kueue.x-k8s.io/queue-name: lq}}, spec: {template: "
			    "{spec: {restartPolicy: Never, containers: [{name: c, image: i, "
			    "resources: {requests: {cpu: '0'}}}]}}}}");
	wait_says("list workloads --for=job/j --status=admitted -o name", "workload");
	expect("doctor", 0, "no problems found");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outputs_and_exit_codes),
		cmocka_unit_test(test_explain_names_the_mistake),
		cmocka_unit_test_teardown(test_rights_in_one_namespace, allow_all),
		cmocka_unit_test(test_a_dump_explains),
		cmocka_unit_test(test_doctor),
		cmocka_unit_test_teardown(test_stop_and_resume_a_queue, resume_all),
		cmocka_unit_test_teardown(test_explain_what_a_stop_has_evicted, resume_all),
		cmocka_unit_test_teardown(test_stop_and_resume_in_a_namespace, resume_all),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests(tests, begin, scene_end);
}
