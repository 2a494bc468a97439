/* The Workload engine against an API server, as processes: ClusterQueues and Workloads made by
 * hand, the test plays the jobs. */
#include "lib/unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "kube/rest.h"
#include "lib/wait.h"
#include "play/scene.h"
#include "play/workload_scene.h"

#define WAIT_NS WORKLOAD_SCENE_WAIT_NS
#define WORKLOADS "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"
#define QUEUES "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/"

static struct scene scene;

static const char world[] =
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: default}}\n"
	"---\n"
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: team},"
	" spec: {namespaceSelector: {}, preemption: {withinClusterQueue: LowerPriority},"
	" resourceGroups: [{coveredResources: [cpu], flavors: [{name: default,"
	" resources: [{name: cpu, nominalQuota: 3}]}]}]}}\n"
	"---\n"
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: lq,"
	" namespace: default}, spec: {clusterQueue: team}}\n";

static int begin(void **state)
{
	workload_scene_start(&scene, world);
	*state = &scene;
	return 0;
}

/* --- objects in the API ------------------------------------------------------------------------*/

static struct jdoc *get(struct scene *s, const char *path)
{
	struct jdoc *object = NULL;

	scene_call(s, "GET", path, NULL, &object);
	return object;
}

static void wait_workload(struct scene *s, const char *name, const char *type, const char *status,
			  const char *reason)
{
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf(WORKLOADS "/%s", name);

	workload_scene_wait(s, path, type, status, reason);
}

static void wait_admitted(struct scene *s, const char *name)
{
	wait_workload(s, name, "QuotaReserved", "True", "QuotaReserved");
	wait_workload(s, name, "Admitted", "True", "Admitted");
}

static void add_workload(struct scene *s, const char *name, int priority, const char *cpu)
{
	CLEANUP(xmalloc_freep)
	char *yaml = xmalloc_printf(
		"{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: %s,"
		" namespace: default, ownerReferences: [{apiVersion: example.com/v1, kind: Thing,"
		" name: t, uid: t-1, controller: true}]}, spec: {queueName: lq, priority: %d, "
		"podSets: [{name: main,"
		" count: 1, template: {spec: {restartPolicy: Never, containers: [{name: c,"
		" image: i, resources: {requests: {cpu: '%s'}}}]}}}]}}",
		name, priority, cpu);

	scene_apply(s, yaml);
}

static void delete_workload(struct scene *s, const char *name)
{
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf(WORKLOADS "/%s", name);

	scene_call(s, "DELETE", path, NULL, NULL);
}

/* As the job's controller does when its pods have stopped. */
static void give_back(struct scene *s, const char *name)
{
	CLEANUP(xmalloc_freep)
	char *path = xmalloc_printf(WORKLOADS "/%s/status?fieldManager=kueue-admission&force=true",
				    name);
	CLEANUP(xmalloc_freep)
	char *body = xmalloc_printf(
		"{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: %s,"
		" namespace: default}, status: {conditions: ["
		"{type: Evicted, status: 'True', reason: Preempted, message: m,"
		" lastTransitionTime: '2026-01-01T00:00:00Z'},"
		"{type: Requeued, status: 'True', reason: Preempted, message: m,"
		" lastTransitionTime: '2026-01-01T00:00:00Z'},"
		"{type: QuotaReserved, status: 'False', reason: PendingEvaluation, message: m,"
		" lastTransitionTime: '2026-01-01T00:00:00Z'},"
		"{type: Admitted, status: 'False', reason: NoReservation, message: m,"
		" lastTransitionTime: '2026-01-01T00:00:00Z'}]}}",
		name);
	struct err err = ERR_INIT;

	if (rest_call(s->transport, HTTP_PATCH, path, "application/apply-patch+yaml", str_of(body),
		      WAIT_NS, NULL, &err) < 0) {
		scene_fail(s, "%s: %s", path, err.text);
	}
}

/* --- tests -------------------------------------------------------------------------------------*/

static void test_admission_says_what_it_holds(void **state)
{
	struct scene *s = *state;
	CLEANUP(jdoc_destroyp) struct jdoc *w = NULL;
	const struct jdoc *set;

	add_workload(s, "one", 0, "2");
	wait_admitted(s, "one");
	w = get(s, WORKLOADS "/one");
	assert_string_equal(jdoc_path_str(w, "status.admission.clusterQueue"), "team");
	set = jdoc_at(jdoc_path(w, "status.admission.podSetAssignments"), 0);
	assert_string_equal(jdoc_path_str(set, "name"), "main");
	assert_string_equal(jdoc_path_str(set, "flavors.cpu"), "default");
	assert_string_equal(jdoc_path_str(set, "resourceUsage.cpu"), "2");
	assert_null(jdoc_path(w, "status.resourceRequests"));
	scene_wait_event(s, "QuotaReserved", "one");
	scene_wait_event(s, "Admitted", "one");
}

static void test_one_waits_until_another_goes(void **state)
{
	struct scene *s = *state;
	CLEANUP(jdoc_destroyp) struct jdoc *w = NULL;

	add_workload(s, "one", 0, "2");
	wait_admitted(s, "one");
	add_workload(s, "two", 0, "2");
	wait_workload(s, "two", "QuotaReserved", "False", "WaitingForQuota");
	scene_wait_event(s, "WaitingForQuota", "two");
	w = get(s, WORKLOADS "/two");
	assert_null(jdoc_path(w, "status.admission"));
	assert_string_equal(
		jdoc_path_str(jdoc_at(jdoc_path(w, "status.resourceRequests"), 0), "resources.cpu"),
		"2");
	delete_workload(s, "one");
	wait_admitted(s, "two");
}

static void test_a_status_is_written_once(void **state)
{
	struct scene *s = *state;
	CLEANUP(jdoc_destroyp) struct jdoc *before = NULL, *after = NULL;

	add_workload(s, "one", 5, "2");
	wait_admitted(s, "one");
	add_workload(s, "two", 5, "2");
	wait_workload(s, "two", "QuotaReserved", "False", "WaitingForQuota");
	before = get(s, WORKLOADS "/two");
	/* Cycles that decide the same about it: a Workload that goes has it looked at again, before
	 * those of a lower priority. They get nothing, since the message contains how much is free.
	 */
	for (int i = 0; i < 5; i++) {
		add_workload(s, "huge", 0, "4");
		wait_workload(s, "huge", "QuotaReserved", "False", "ExceedsMaxQuota");
		delete_workload(s, "huge");
	}
	after = get(s, WORKLOADS "/two");
	assert_string_equal(jdoc_path_str(before, "metadata.resourceVersion"),
			    jdoc_path_str(after, "metadata.resourceVersion"));
}

static void test_preemption(void **state)
{
	struct scene *s = *state;
	CLEANUP(jdoc_destroyp) struct jdoc *w = NULL;

	add_workload(s, "low", 0, "2");
	wait_admitted(s, "low");
	add_workload(s, "high", 10, "3");
	wait_workload(s, "low", "Preempted", "True", "InClusterQueue");
	wait_workload(s, "low", "Evicted", "True", "Preempted");
	wait_workload(s, "high", "QuotaReserved", "False", "WaitingForPreemptedWorkloads");
	/* It keeps its quota until its job has stopped. */
	w = get(s, WORKLOADS "/low");
	assert_non_null(jdoc_path(w, "status.admission"));
	assert_string_equal(
		jdoc_path_str(jdoc_at(jdoc_path(w, "status.schedulingStats.evictions"), 0),
			      "reason"),
		"Preempted");
	scene_wait_event(s, "EvictedDueToPreempted", "low");
	scene_wait_event(s, "PreemptedWorkload", "high");
	scene_wait_metric(s, STACK_SCHEDULER,
			  "kueue_evicted_workloads_total{cluster_queue=\"team\","
			  "reason=\"Preempted\",underlying_cause=\"\",priority_class=\"\","
			  "replica_role=\"leader\"} 1");
	give_back(s, "low");
	wait_admitted(s, "high");
	wait_workload(s, "low", "QuotaReserved", "False", "WaitingForQuota");
	delete_workload(s, "high");
	wait_admitted(s, "low");
	wait_workload(s, "low", "Evicted", "False", "QuotaReserved");
}

static void test_a_restart_keeps_all(void **state)
{
	struct scene *s = *state;
	CLEANUP(jdoc_destroyp) struct jdoc *before = NULL, *after = NULL;

	add_workload(s, "low", 0, "2");
	wait_admitted(s, "low");
	add_workload(s, "high", 10, "3");
	wait_workload(s, "low", "Evicted", "True", "Preempted");
	wait_workload(s, "high", "QuotaReserved", "False", "WaitingForPreemptedWorkloads");
	before = get(s, WORKLOADS "/low");
	scene_restart_scheduler(s, NULL, workload_scene_args);
	scene_wait_metric(s, STACK_SCHEDULER,
			  "kueue_reserving_active_workloads{cluster_queue=\"team\",replica_role="
			  "\"leader\"} 1");
	after = get(s, WORKLOADS "/low");
	assert_string_equal(jdoc_path_str(before, "metadata.resourceVersion"),
			    jdoc_path_str(after, "metadata.resourceVersion"));
	scene_restart_scheduler(s, NULL, workload_scene_args);
	give_back(s, "low");
	wait_admitted(s, "high");
	scene_restart_scheduler(s, NULL, workload_scene_args);
	delete_workload(s, "high");
	wait_admitted(s, "low");
}

static void wait_queue(struct scene *s, int pending, int reserving, const char *total)
{
	int64_t deadline = wait_deadline(WAIT_NS);
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	static const char *const paths[] = {
		QUEUES "team", "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/localqueues/lq"
	};
	unsigned right;

	do {
		right = 0;
		strbuf_reset(&text);
		for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
			CLEANUP(jdoc_destroyp) struct jdoc *o = get(s, paths[i]);
			const struct jdoc *st = jdoc_path(o, "status");
			const struct jdoc *flavor = jdoc_at(jdoc_path(st, "flavorsReservation"), 0);
			int64_t p = jdoc_int(jdoc_get(st, "pendingWorkloads"), -1);
			int64_t r = jdoc_int(jdoc_get(st, "reservingWorkloads"), -1);

			right += p == pending && r == reserving &&
				 jdoc_is_str(jdoc_get(jdoc_at(jdoc_get(flavor, "resources"), 0),
						      "total"),
					     total);
			jdoc_format(st, &text);
		}
		if (right == ARRAY_LEN(paths)) {
			return;
		}
	} while (wait_until(deadline));
	scene_fail(s, "queues: not %d pending, %d reserving, %s cpu: %s", pending, reserving, total,
		   text.p);
}

static void test_statuses_of_queues(void **state)
{
	struct scene *s = *state;

	workload_scene_wait(s, QUEUES "team", "Active", "True", "Ready");
	add_workload(s, "one", 0, "2");
	wait_admitted(s, "one");
	add_workload(s, "two", 0, "2");
	wait_queue(s, 1, 1, "2");
	scene_call(s, "PATCH", QUEUES "team", "{\"spec\":{\"stopPolicy\":\"Hold\"}}", NULL);
	workload_scene_wait(s, QUEUES "team", "Active", "False", "Stopped");
	workload_scene_wait(s, "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/localqueues/lq",
			    "Active", "False", "ClusterQueueIsInactive");
	delete_workload(s, "one");
	wait_queue(s, 1, 0, "0");
	scene_call(s, "PATCH", QUEUES "team", "{\"spec\":{\"stopPolicy\":\"None\"}}", NULL);
	workload_scene_wait(s, QUEUES "team", "Active", "True", "Ready");
	wait_admitted(s, "two");
}

static int resume_and_clear(void **state)
{
	scene_call(*state, "PATCH", QUEUES "team", "{\"spec\":{\"stopPolicy\":\"None\"}}", NULL);
	return workload_scene_after_each(state);
}

static void wait_suspended(struct scene *s, const char *name, bool suspended)
{
	CLEANUP(xmalloc_freep)
	char *path = xmalloc_printf("/apis/batch/v1/namespaces/default/jobs/%s", name);
	int64_t deadline = wait_deadline(WAIT_NS);

	do {
		CLEANUP(jdoc_destroyp) struct jdoc *job = get(s, path);
		bool is = jdoc_bool(jdoc_path(job, "spec.suspend"), false);

		if (is == suspended) {
			return;
		}
	} while (wait_until(deadline));
	scene_fail(s, "%s is %s suspended", name, suspended ? "not" : "still");
}

static void add_job(struct scene *s, const char *name, const char *cpu)
{
	CLEANUP(xmalloc_freep)
	char *yaml = xmalloc_printf(
		"{apiVersion: batch/v1, kind: Job, metadata: {name: %s, namespace: default,"
		" labels: {kueue.x-k8s.io/queue-name: lq}}, spec: {suspend: true,"
		" template: {spec: {restartPolicy: Never, containers: [{name: c, image: i,"
		" resources: {requests: {cpu: '%s'}}}]}}}}",
		name, cpu);

	scene_apply(s, yaml);
}

#define JOBS "/apis/batch/v1/namespaces/default/jobs"

static void test_jobs_start_with_their_workloads(void **state)
{
	struct scene *s = *state;

	add_job(s, "first", "2");
	wait_suspended(s, "first", false);
	add_job(s, "second", "2");
	wait_queue(s, 1, 1, "2");
	wait_suspended(s, "second", true);
	scene_call(s, "PATCH", JOBS "/first/status",
		   "{\"status\":{\"conditions\":[{\"type\":\"Complete\",\"status\":\"True\","
		   "\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}}",
		   NULL);
	wait_suspended(s, "second", false);
}

/* Without an owner nothing runs: an evicted Workload releases its reservation at once. */
static void test_deactivation(void **state)
{
	struct scene *s = *state;

	scene_apply(s, "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: one,"
		       " namespace: default}, spec: {queueName: lq, podSets: [{name: main,"
		       " count: 1, template: {spec: {restartPolicy: Never, containers: [{name: c,"
		       " image: i, resources: {requests: {cpu: '2'}}}]}}}]}}");
	wait_admitted(s, "one");
	scene_call(s, "PATCH", WORKLOADS "/one", "{\"spec\":{\"active\":false}}", NULL);
	wait_workload(s, "one", "Evicted", "True", "Deactivated");
	wait_workload(s, "one", "QuotaReserved", "False", "Deactivated");
	wait_queue(s, 0, 0, "0");
	scene_call(s, "PATCH", WORKLOADS "/one", "{\"spec\":{\"active\":true}}", NULL);
	wait_admitted(s, "one");
}

/* The write is refused: nothing is held for it, and it is tried again. */
static void test_a_refused_write_takes_the_decision_back(void **state)
{
	struct scene *s = *state;

	scene_faults(s, "[{fault: status, code: 403, method: PATCH, count: 1,"
			" path: '" WORKLOADS "/one/status'}]");
	add_workload(s, "one", 0, "2");
	wait_admitted(s, "one");
	assert_true(scene_faults_struck(s, "status") == 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_admission_says_what_it_holds,
					  workload_scene_after_each),
		cmocka_unit_test_teardown(test_one_waits_until_another_goes,
					  workload_scene_after_each),
		cmocka_unit_test_teardown(test_a_status_is_written_once, workload_scene_after_each),
		cmocka_unit_test_teardown(test_preemption, workload_scene_after_each),
		cmocka_unit_test_teardown(test_a_restart_keeps_all, workload_scene_after_each),
		cmocka_unit_test_teardown(test_statuses_of_queues, resume_and_clear),
		cmocka_unit_test_teardown(test_jobs_start_with_their_workloads,
					  workload_scene_after_each),
		cmocka_unit_test_teardown(test_deactivation, workload_scene_after_each),
		cmocka_unit_test_teardown(test_a_refused_write_takes_the_decision_back,
					  workload_scene_after_each),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests(tests, begin, scene_end);
}
