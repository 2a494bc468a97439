/* Both engines at once: pods of Jobs, pods that queue alone and in groups, scheduled by us, with
 * their quota held by Workloads. The test plays the Job controller and the webhook. */
#include "lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "play/scene.h"
#include "play/workload_scene.h"

#define JOBS "/apis/batch/v1/namespaces/default/jobs"
#define WORKLOADS "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"
#define PODS "/api/v1/namespaces/default/pods"
#define CHARGED "volcano_queue_allocated_milli_cpu{queue_name=\"default\"} "

static struct scene scene;
static char conf[] = "/tmp/headgate-quota-XXXXXX";
static char conf_flag[64];
static const char *const scheduler_args[] = { "--controllers=*,workload", conf_flag, NULL };

static const char world[] =
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: any}}\n"
	"---\n"
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: high},"
	" value: 10}\n"
	"---\n"
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: team},"
	" spec: {namespaceSelector: {}, preemption: {withinClusterQueue: LowerPriority},"
	" resourceGroups: [{coveredResources: [cpu], flavors: [{name: any,"
	" resources: [{name: cpu, nominalQuota: 3}]}]}]}}\n"
	"---\n"
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: lq,"
	" namespace: default}, spec: {clusterQueue: team}}\n";

static int begin(void **state)
{
	static const char text[] = "integrations: {frameworks: [batch/job, pod]}\n";
	int fd = mkstemp(conf);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), (ssize_t)sizeof(text) - 1);
	assert_int_equal(close(fd), 0);
	snprintf(conf_flag, sizeof(conf_flag), "--quota-conf=%s", conf);
	workload_scene_start_with(&scene, scheduler_args, world);
	/* The limit of the Queue "default" is 1 cpu. */
	scene_patch_queue(&scene, "default", "{\"spec\":{\"capability\":{\"cpu\":\"1\"}}}");
	*state = &scene;
	return 0;
}

static int end(void **state)
{
	scene_stop(*state);
	unlink(conf);
	return 0;
}

/* --- as other controllers ----------------------------------------------------------------------*/

/* The member of the object at this path; the caller frees it. */
static char *text_at(struct scene *s, const char *path, const char *member)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;

	scene_call(s, "GET", path, NULL, &d);
	return xmalloc_dup(jdoc_str_or(jdoc_path(d, member), ""));
}

/* As the Job controller: with the labels of the template and the Job as owner. */
static void add_job_pods(struct scene *s, const char *job, unsigned n)
{
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf(JOBS "/%s", job);
	CLEANUP(xmalloc_freep) char *uid = text_at(s, path, "metadata.uid");

	for (unsigned i = 0; i < n; i++) {
		CLEANUP(xmalloc_freep)
		char *yaml = xmalloc_printf(
			"{apiVersion: v1, kind: Pod, metadata: {name: %s-%u, namespace: default,"
			" labels: {kueue.x-k8s.io/managed: 'true', kueue.x-k8s.io/podset: main},"
			" ownerReferences: [{apiVersion: batch/v1, kind: Job, name: %s, uid: %s,"
			" controller: true}]}, spec: {schedulerName: volcano, containers: [{name: "
			"c,"
			" image: i, resources: {requests: {cpu: '1'}}}]}}",
			job, i, job, uid);

		scene_apply(s, yaml);
	}
}

static void add_job(struct scene *s, const char *name, unsigned pods)
{
	CLEANUP(xmalloc_freep)
	char *yaml = xmalloc_printf(
		"{apiVersion: batch/v1, kind: Job, metadata: {name: %s, namespace: default,"
		" labels: {kueue.x-k8s.io/queue-name: lq}}, spec: {suspend: true, parallelism: %u,"
		" completions: %u, template: {spec: {schedulerName: volcano, restartPolicy: Never,"
		" containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}}}}",
		name, pods, pods);

	scene_apply(s, yaml);
}

/* With the changes that the webhook makes. */
static void add_queued_pod(struct scene *s, const char *name, const char *labels,
			   const char *annotations)
{
	CLEANUP(xmalloc_freep)
	char *yaml = xmalloc_printf(
		"{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: default, finalizers:"
		" [kueue.x-k8s.io/managed], labels: {kueue.x-k8s.io/queue-name: lq,"
		" kueue.x-k8s.io/managed: 'true'%s}, annotations: {kueue.x-k8s.io/role-hash: "
		"r1%s}},"
		" spec: {schedulerName: volcano, schedulingGates: [{name: "
		"kueue.x-k8s.io/admission}],"
		" containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}}",
		name, labels, annotations);

	scene_apply(s, yaml);
}

static void add_to_group(struct scene *s, const char *name, const char *group, const char *total)
{
	CLEANUP(xmalloc_freep)
	char *labels = xmalloc_printf(", kueue.x-k8s.io/pod-group-name: %s", group);
	CLEANUP(xmalloc_freep)
	char *notes = xmalloc_printf(", kueue.x-k8s.io/pod-group-total-count: '%s'", total);

	add_queued_pod(s, name, labels, notes);
}

static void wait_group(struct scene *s, const char *group, const char *type, const char *status,
		       const char *reason)
{
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf(WORKLOADS "/%s", group);

	workload_scene_wait(s, path, type, status, reason);
}

static void finish(struct scene *s, const char *pod)
{
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf(PODS "/%s/status", pod);

	scene_call(s, "PATCH", path, "{\"status\":{\"phase\":\"Succeeded\"}}", NULL);
}

/* --- tests -------------------------------------------------------------------------------------*/

/* Each goes on where the one before has ended. */
static bool goes_on = true;

static void go_on(void)
{
	if (!goes_on) {
		print_message("skipped: the test before has failed\n");
		skip();
	}
	goes_on = false;
}

static void add_ordinary(struct scene *s, const char *name)
{
	const struct scene_pod p = { .name = name, .cpu = "1", .not_opted_in = true };

	scene_add_pod(s, &p);
}

/* Three pods run where the Queue has room for one, and leave that one room to others. So it stays
 * when the scheduler starts again: what it sees first are the pods. */
static void a_job_is_charged_once(void **state)
{
	struct scene *s = *state;

	go_on();
	add_job(s, "job", 3);
	scene_wait_event(s, "Started", "job");
	add_job_pods(s, "job", 3);
	scene_wait(s, "job-0", SCENE_RUNNING);
	scene_wait(s, "job-1", SCENE_RUNNING);
	scene_wait(s, "job-2", SCENE_RUNNING);
	scene_wait_metric(s, STACK_SCHEDULER, CHARGED "0");
	scene_restart_scheduler(s, NULL, scheduler_args);
	scene_settle(s);
	scene_wait_metric(s, STACK_SCHEDULER, CHARGED "0");
	add_ordinary(s, "one");
	scene_wait(s, "one", SCENE_RUNNING);
	scene_wait_metric(s, STACK_SCHEDULER, CHARGED "1000");
	scene_delete_pod(s, "one");
	scene_wait(s, "one", SCENE_GONE);
	goes_on = true;
}

/* A pod with the labels of an admitted Workload is charged to its Queue without that Workload. */
static void forged_labels_do_not_avoid_the_charge(void **state)
{
	static const char forged[] =
		"{apiVersion: v1, kind: Pod, metadata: {name: forged, namespace: default, labels:"
		" {kueue.x-k8s.io/managed: 'true', kueue.x-k8s.io/podset: main}}, spec:"
		" {schedulerName: volcano, containers: [{name: c, image: i, resources: {requests:"
		" {cpu: '1'}}}]}}";
	struct scene *s = *state;

	go_on();
	/* The PodGroup of a pod that is gone is still there: no garbage collector runs here. */
	scene_patch_queue(s, "default", "{\"spec\":{\"capability\":{\"cpu\":\"9\"}}}");
	scene_apply(s, forged);
	scene_wait(s, "forged", SCENE_RUNNING);
	scene_wait_metric(s, STACK_SCHEDULER, CHARGED "1000");
	scene_restart_scheduler(s, NULL, scheduler_args);
	scene_settle(s);
	scene_wait_metric(s, STACK_SCHEDULER, CHARGED "1000");
	scene_delete_pod(s, "forged");
	scene_wait(s, "forged", SCENE_GONE);
	goes_on = true;
}

static void end_job(struct scene *s, const char *name)
{
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf(JOBS "/%s/status", name);

	scene_call(s, "PATCH", path,
		   "{\"status\":{\"conditions\":[{\"type\":\"Complete\",\"status\":\"True\","
		   "\"reason\":\"CompletionsReached\",\"message\":\"m\"}]}}",
		   NULL);
}

static void expect_explained_by_workload(struct scene *s, const char *pod, const char *workload)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	CLEANUP(xmalloc_freep) char *line = xmalloc_printf("Workload:     %s\n", workload);
	CLEANUP(xmalloc_freep)
	char *kubeconfig = xmalloc_printf("--kubeconfig=%s", stack_kubeconfig(s->stack));
	const char *const args[] = { "explain", "pod", pod, kubeconfig, NULL };

	assert_int_equal(stack_run(s->stack, "headgatectl", args, &out), 0);
	assert_non_null(strstr(out.p, line));
}

/* A group runs, is preempted by a pod, waits for others in place of its own, and comes back, the
 * scheduler being another one by then. */
static void a_group_is_preempted_and_comes_back(void **state)
{
	struct scene *s = *state;

	go_on();
	end_job(s, "job");
	for (unsigned i = 0; i < 3; i++) {
		CLEANUP(xmalloc_freep) char *name = xmalloc_printf("job-%u", i);

		scene_delete_pod(s, name);
		scene_wait(s, name, SCENE_GONE);
	}
	add_to_group(s, "a", "g", "3");
	add_to_group(s, "b", "g", "3");
	add_to_group(s, "c", "g", "3");
	scene_wait_event(s, "CreatedWorkload", "a");
	wait_group(s, "g", "Admitted", "True", "Admitted");
	scene_wait(s, "a", SCENE_RUNNING);
	scene_wait(s, "b", SCENE_RUNNING);
	scene_wait(s, "c", SCENE_RUNNING);
	scene_wait_metric(s, STACK_SCHEDULER, CHARGED "0");
	add_queued_pod(s, "high", ", kueue.x-k8s.io/priority-class: high", "");
	wait_group(s, "g", "Evicted", "True", "Preempted");
	wait_group(s, "g", "WaitingForReplacementPods", "True", "Preempted");
	scene_wait(s, "high", SCENE_RUNNING);
	scene_restart_scheduler(s, NULL, scheduler_args);
	add_to_group(s, "d", "g", "3");
	add_to_group(s, "e", "g", "3");
	add_to_group(s, "f", "g", "3");
	wait_group(s, "g", "WaitingForReplacementPods", "False", "PodsReady");
	scene_wait(s, "d", SCENE_GATED);
	expect_explained_by_workload(s, "d", "default/g");
	finish(s, "high");
	scene_wait(s, "d", SCENE_RUNNING);
	scene_wait(s, "e", SCENE_RUNNING);
	scene_wait(s, "f", SCENE_RUNNING);
	finish(s, "d");
	finish(s, "e");
	finish(s, "f");
	wait_group(s, "g", "Finished", "True", "Succeeded");
	scene_wait_metric(s, STACK_SCHEDULER, CHARGED "0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_is_charged_once),
		cmocka_unit_test(forged_labels_do_not_avoid_the_charge),
		cmocka_unit_test(a_group_is_preempted_and_comes_back),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
