/* Objects of the Workload engine that others write to as well: controllers of admission checks,
 * users that edit a status, users that delete objects in use. */
#include "lib/unit.h"

#include <stdio.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "kube/rest.h"
#include "lib/wait.h"
#include "play/scene.h"
#include "play/workload_scene.h"

#define API "/apis/kueue.x-k8s.io/v1beta2/"
#define WORKLOADS API "namespaces/default/workloads"
#define JOBS "/apis/batch/v1/namespaces/default/jobs"
#define LIMITS "/api/v1/namespaces/default/limitranges"
#define MERGE "application/merge-patch+json"

static struct scene scene;

static const char world[] =
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: default}}\n"
	"---\n"
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: AdmissionCheck, metadata: {name: check},"
	" spec: {controllerName: example.com/check}}\n"
	"---\n"
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: team},"
	" spec: {namespaceSelector: {}, admissionChecksStrategy: {admissionChecks: [{name: "
	"check}]},"
	" resourceGroups: [{coveredResources: [cpu], flavors: [{name: default,"
	" resources: [{name: cpu, nominalQuota: 3}]}]}]}}\n"
	"---\n"
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: lq,"
	" namespace: default}, spec: {clusterQueue: team}}\n";

static void patch(struct scene *s, const char *path, const char *manager, const char *body)
{
	CLEANUP(xmalloc_freep) char *whole = xmalloc_printf("%s?fieldManager=%s", path, manager);
	struct err err = ERR_INIT;

	if (rest_call(s->transport, HTTP_PATCH, whole, MERGE, str_of(body), WORKLOAD_SCENE_WAIT_NS,
		      NULL, &err) < 0) {
		scene_fail(s, "%s: %s", path, err.text);
	}
}

static int begin(void **state)
{
	workload_scene_start(&scene, world);
	patch(&scene, API "admissionchecks/check/status", "checker",
	      "{\"status\":{\"conditions\":[{\"type\":\"Active\",\"status\":\"True\",\"reason\":"
	      "\"Ready\",\"message\":\"m\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}}");
	*state = &scene;
	return 0;
}

static void add_workload(struct scene *s, const char *name)
{
	CLEANUP(xmalloc_freep)
	char *yaml = xmalloc_printf(
		"{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: %s,"
		" namespace: default}, spec: {queueName: lq, podSets: [{name: main, count: 1,"
		" template: {spec: {restartPolicy: Never, containers: [{name: c, image: i,"
		" resources: {requests: {cpu: '2'}}}]}}}]}}",
		name);

	scene_apply(s, yaml);
}

static void set_check(struct scene *s, const char *workload, const char *state)
{
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf(WORKLOADS "/%s/status", workload);
	CLEANUP(xmalloc_freep)
	char *body = xmalloc_printf("{\"status\":{\"admissionChecks\":[{\"name\":\"check\","
				    "\"state\":\"%s\",\"message\":\"from its controller\","
				    "\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}}",
				    state);

	patch(s, path, "checker", body);
}

static void test_a_check_admits_and_retries(void **state)
{
	struct scene *s = *state;
	CLEANUP(jdoc_destroyp) struct jdoc *w = NULL;
	const struct jdoc *check;

	add_workload(s, "one");
	workload_scene_wait(s, WORKLOADS "/one", "QuotaReserved", "True", "QuotaReserved");
	workload_scene_wait(s, WORKLOADS "/one", "Admitted", "False", "UnsatisfiedAdmissionChecks");
	set_check(s, "one", "Ready");
	workload_scene_wait(s, WORKLOADS "/one", "Admitted", "True", "Admitted");
	scene_call(s, "GET", WORKLOADS "/one", NULL, &w);
	check = jdoc_at(jdoc_path(w, "status.admissionChecks"), 0);
	assert_string_equal(jdoc_path_str(check, "state"), "Ready");
	assert_string_equal(jdoc_path_str(check, "message"), "from its controller");
	set_check(s, "one", "Retry");
	workload_scene_wait(s, WORKLOADS "/one", "Requeued", "True", "BackoffFinished");
	workload_scene_wait(s, WORKLOADS "/one", "Admitted", "False", "UnsatisfiedAdmissionChecks");
	set_check(s, "one", "Rejected");
	workload_scene_wait(s, WORKLOADS "/one", "Evicted", "True",
			    "DeactivatedDueToAdmissionCheck");
	scene_wait_event(s, "AdmissionCheckRejected", "one");
}

static size_t count_updates(struct scene *s, const char *path)
{
	CLEANUP(jdoc_destroyp) struct jdoc *w = NULL;

	scene_call(s, "GET", path, NULL, &w);
	return jdoc_count(
		jdoc_get(jdoc_at(jdoc_path(w, "status.admissionChecks"), 0), "podSetUpdates"));
}

/* Pod set updates of a check are for one admission and not for the next one: also where its
 * controller applies its status, and so owns the fields. */
static void test_an_eviction_ends_what_a_check_adds_to_pods(void **state)
{
	static const char ready[] =
		"{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"Workload\",\"metadata\":{"
		"\"name\":\"added\",\"namespace\":\"default\"},\"status\":{\"admissionChecks\":[{"
		"\"name\":\"check\",\"state\":\"Ready\",\"message\":\"\",\"lastTransitionTime\":"
		"\"2026-01-01T00:00:00Z\",\"podSetUpdates\":[{\"name\":\"main\",\"labels\":{"
		"\"a\":\"b\"}}]}]}}";
	struct scene *s = *state;
	struct err err = ERR_INIT;

	add_workload(s, "added");
	workload_scene_wait(s, WORKLOADS "/added", "Admitted", "False",
			    "UnsatisfiedAdmissionChecks");
	assert_int_equal(rest_call(s->transport, HTTP_PATCH,
				   WORKLOADS "/added/status?fieldManager=checker&force=true",
				   "application/apply-patch+yaml", str_of(ready),
				   WORKLOAD_SCENE_WAIT_NS, NULL, &err),
			 0);
	workload_scene_wait(s, WORKLOADS "/added", "Admitted", "True", "Admitted");
	assert_int_equal(count_updates(s, WORKLOADS "/added"), 1);
	patch(s, WORKLOADS "/added", "person", "{\"spec\":{\"active\":false}}");
	workload_scene_wait(s, WORKLOADS "/added", "QuotaReserved", "False", "Deactivated");
	assert_int_equal(count_updates(s, WORKLOADS "/added"), 0);
	patch(s, WORKLOADS "/added", "person", "{\"spec\":{\"active\":true}}");
	workload_scene_wait(s, WORKLOADS "/added", "Admitted", "False",
			    "UnsatisfiedAdmissionChecks");
	assert_int_equal(count_updates(s, WORKLOADS "/added"), 0);
}

static int64_t version(struct scene *s, const char *path)
{
	CLEANUP(jdoc_destroyp) struct jdoc *object = NULL;
	int64_t v = 0;

	scene_call(s, "GET", path, NULL, &object);
	assert_true(str_to_i64(str_of(jdoc_path_str(object, "metadata.resourceVersion")), &v));
	return v;
}

/* The requests of waiting Workloads follow the LimitRange of their namespace. */
static void test_limits_count_for_waiting_workloads(void **state)
{
	struct scene *s = *state;

	scene_apply(s,
		    "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: lean,"
		    " namespace: default}, spec: {queueName: lq, podSets: [{name: main, count: 1,"
		    " template: {spec: {restartPolicy: Never, containers: [{name: c, image: i,"
		    " resources: {requests: {cpu: '4'}}}]}}}]}}");
	workload_scene_wait(s, WORKLOADS "/lean", "QuotaReserved", "False", "ExceedsMaxQuota");
	scene_call(s, "POST", LIMITS,
		   "{\"apiVersion\":\"v1\",\"kind\":\"LimitRange\",\"metadata\":{\"name\":\"l\"},"
		   "\"spec\":{\"limits\":[{\"type\":\"Container\",\"max\":{\"cpu\":\"3\"}}]}}",
		   NULL);
	workload_scene_wait(s, WORKLOADS "/lean", "QuotaReserved", "False", "Misconfigured");
	scene_call(s, "DELETE", LIMITS "/l", NULL, NULL);
	workload_scene_wait(s, WORKLOADS "/lean", "QuotaReserved", "False", "ExceedsMaxQuota");
}

static int without_limits(void **state)
{
	scene_call(*state, "DELETE", LIMITS, NULL, NULL);
	return workload_scene_after_each(state);
}

/* Another manager edits statuses: they are corrected, once. */
static void test_edited_statuses_are_repaired(void **state)
{
	static const char *const paths[] = { API "clusterqueues/team", WORKLOADS "/one" };
	struct scene *s = *state;
	int64_t versions[ARRAY_LEN(paths)];

	add_workload(s, "one");
	workload_scene_wait(s, WORKLOADS "/one", "QuotaReserved", "True", "QuotaReserved");
	set_check(s, "one", "Ready");
	workload_scene_wait(s, WORKLOADS "/one", "Admitted", "True", "Admitted");
	patch(s, WORKLOADS "/one/status", "editor",
	      "{\"status\":{\"conditions\":[{\"type\":\"QuotaReserved\",\"status\":\"True\","
	      "\"reason\":\"QuotaReserved\",\"message\":\"m\",\"lastTransitionTime\":"
	      "\"2026-01-01T00:00:00Z\"}],\"admissionChecks\":null}}");
	workload_scene_wait(s, WORKLOADS "/one", "Admitted", "False", "UnsatisfiedAdmissionChecks");
	set_check(s, "one", "Ready");
	workload_scene_wait(s, WORKLOADS "/one", "Admitted", "True", "Admitted");
	patch(s, WORKLOADS "/one/status", "editor", "{\"status\":{\"conditions\":null}}");
	workload_scene_wait(s, WORKLOADS "/one", "QuotaReserved", "True", "QuotaReserved");
	workload_scene_wait(s, WORKLOADS "/one", "Admitted", "True", "Admitted");
	workload_scene_wait(s, API "clusterqueues/team", "Active", "True", "Ready");
	patch(s, API "clusterqueues/team/status", "editor",
	      "{\"status\":{\"conditions\":null,\"reservingWorkloads\":7}}");
	workload_scene_wait(s, API "clusterqueues/team", "Active", "True", "Ready");
	scene_wait_metric(s, STACK_SCHEDULER,
			  "kueue_admitted_active_workloads{cluster_queue=\"team\",replica_role="
			  "\"leader\"} 1");
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		versions[i] = version(s, paths[i]);
	}
	/* Other objects change; these two are not written. */
	for (unsigned i = 0; i < 3; i++) {
		patch(s, API "clusterqueues/team", "editor",
		      "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
		add_workload(s, "big");
		workload_scene_wait(s, WORKLOADS "/big", "QuotaReserved", "False",
				    "WaitingForQuota");
		scene_call(s, "DELETE", WORKLOADS "/big", NULL, NULL);
	}
	assert_int_equal(version(s, WORKLOADS "/one"), versions[1]);
}

/* As Kueue leaves them behind: a Job that runs on the flavor's nodes, and its Workload. */
static const char of_kueue[] =
	"{apiVersion: batch/v1, kind: Job, metadata: {name: moved, namespace: default,"
	" labels: {kueue.x-k8s.io/queue-name: lq}}, spec: {suspend: false, parallelism: 1,"
	" completions: 1, template: {metadata: {labels: {kueue.x-k8s.io/podset: main,"
	" kueue.x-k8s.io/managed: 'true', kueue.x-k8s.io/local-queue-name: lq,"
	" kueue.x-k8s.io/cluster-queue-name: team}}, spec: {restartPolicy: Never,"
	" containers: [{name: c, image: i, resources: {requests: {cpu: '2'}}}]}}}}";

static const char of_kueue_workload[] =
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: job-moved-1a2b3,"
	" namespace: default, labels: {kueue.x-k8s.io/job-uid: %1$s},"
	" finalizers: [kueue.x-k8s.io/resource-in-use], ownerReferences: [{apiVersion: batch/v1,"
	" kind: Job, name: moved, uid: %1$s, controller: true, blockOwnerDeletion: true}]},"
	" spec: {active: true, queueName: lq, priority: 0, podSets: [{name: main, count: 1,"
	" template: {metadata: {}, spec: {restartPolicy: Never, containers: [{name: c, image: i,"
	" resources: {requests: {cpu: '2'}}}]}}}]}}";

static const char of_kueue_status[] =
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: job-moved-1a2b3,"
	" namespace: default}, status: {admission: {clusterQueue: team, podSetAssignments: ["
	"{name: main, flavors: {cpu: default}, resourceUsage: {cpu: '2'}, count: 1}]},"
	" admissionChecks: [{name: check, state: Ready, message: '', lastTransitionTime:"
	" '2026-01-01T00:00:00Z'}],"
	" conditions: [{type: QuotaReserved, status: 'True', reason: QuotaReserved, message:"
	" 'Quota reserved in ClusterQueue team', observedGeneration: 1, lastTransitionTime:"
	" '2026-01-01T00:00:00Z'}, {type: Admitted, status: 'True', reason: Admitted, message:"
	" 'The workload is admitted', observedGeneration: 1, lastTransitionTime:"
	" '2026-01-01T00:00:00Z'}]}}";

static void expect_admitted_since(struct scene *s, const char *path, const char *when)
{
	CLEANUP(jdoc_destroyp) struct jdoc *w = NULL;
	const struct jdoc *admitted;

	scene_call(s, "GET", path, NULL, &w);
	admitted = workload_scene_condition(w, "Admitted");
	assert_true(jdoc_is_str(jdoc_get(admitted, "status"), "True"));
	assert_string_equal(jdoc_path_str(admitted, "lastTransitionTime"), when);
	assert_null(workload_scene_condition(w, "Evicted"));
}

/* The scheduler is stopped; meanwhile objects as Kueue leaves them are put there. */
static void put_work_of_kueue(struct scene *s)
{
	CLEANUP(jdoc_destroyp) struct jdoc *job = NULL;
	CLEANUP(xmalloc_freep) char *yaml = NULL;
	struct err err = ERR_INIT;

	scene_apply(s, of_kueue);
	scene_call(s, "GET", JOBS "/moved", NULL, &job);
	yaml = xmalloc_printf(of_kueue_workload, jdoc_path_str(job, "metadata.uid"));
	scene_apply(s, yaml);
	if (rest_call(s->transport, HTTP_PATCH,
		      WORKLOADS "/job-moved-1a2b3/status?fieldManager=kueue-admission&force=true",
		      "application/apply-patch+yaml", str_of(of_kueue_status),
		      WORKLOAD_SCENE_WAIT_NS, NULL, &err) < 0) {
		scene_fail(s, "%s", err.text);
	}
	patch(s, JOBS "/moved/status", "job-controller",
	      "{\"status\":{\"startTime\":\"2026-01-01T00:00:00Z\",\"active\":1,\"ready\":1}}");
}

/* Also where Kueue has not written PodsReady, however long ago it admitted them. */
static void test_workloads_admitted_by_kueue_go_on(void **state)
{
	static const char *const without[] = { NULL };
	struct scene *s = *state;
	int64_t workload, job;

	scene_restart_scheduler(s, NULL, without);
	put_work_of_kueue(s);
	job = version(s, JOBS "/moved");
	scene_restart_scheduler(s, NULL, workload_scene_args);
	workload_scene_wait(s, WORKLOADS "/job-moved-1a2b3", "PodsReady", "True", "Started");
	workload = version(s, WORKLOADS "/job-moved-1a2b3");
	scene_wait_metric(s, STACK_SCHEDULER,
			  "kueue_admitted_active_workloads{cluster_queue=\"team\","
			  "replica_role=\"leader\"} 1");
	/* Its quota is taken: what comes now waits. */
	add_workload(s, "late");
	workload_scene_wait(s, WORKLOADS "/late", "QuotaReserved", "False", "WaitingForQuota");
	assert_int_equal(version(s, WORKLOADS "/job-moved-1a2b3"), workload);
	expect_admitted_since(s, WORKLOADS "/job-moved-1a2b3", "2026-01-01T00:00:00Z");
	assert_int_equal(version(s, JOBS "/moved"), job);
	patch(s, JOBS "/moved/status", "job-controller",
	      "{\"status\":{\"conditions\":[{\"type\":\"Complete\",\"status\":\"True\","
	      "\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}}");
	workload_scene_wait(s, WORKLOADS "/job-moved-1a2b3", "Finished", "True", "Succeeded");
	workload_scene_wait(s, WORKLOADS "/late", "QuotaReserved", "True", "QuotaReserved");
}

/* A failure may have left a scheduler without the engine. */
static int with_the_engine(void **state)
{
	scene_restart_scheduler(*state, NULL, workload_scene_args);
	return workload_scene_after_each(state);
}

static void wait_gone(struct scene *s, const char *list, const char *name)
{
	int64_t deadline = wait_deadline(WORKLOAD_SCENE_WAIT_NS);

	do {
		CLEANUP(jdoc_destroyp) struct jdoc *all = NULL;
		bool found = false;

		scene_call(s, "GET", list, NULL, &all);
		for (const struct jdoc *o = jdoc_first(jdoc_get(all, "items")); o != NULL;
		     o = jdoc_next(o)) {
			found |= jdoc_is_str(jdoc_path(o, "metadata.name"), name);
		}
		if (!found) {
			return;
		}
	} while (wait_until(deadline));
	scene_fail(s, "%s is still in %s", name, list);
}

static void expect_deleting(struct scene *s, const char *path)
{
	CLEANUP(jdoc_destroyp) struct jdoc *object = NULL;

	scene_call(s, "GET", path, NULL, &object);
	assert_non_null(jdoc_path(object, "metadata.deletionTimestamp"));
}

static void wait_finalizer(struct scene *s, const char *path)
{
	int64_t deadline = wait_deadline(WORKLOAD_SCENE_WAIT_NS);

	do {
		CLEANUP(jdoc_destroyp) struct jdoc *object = NULL;

		scene_call(s, "GET", path, NULL, &object);
		if (jdoc_count(jdoc_path(object, "metadata.finalizers")) > 0) {
			return;
		}
	} while (wait_until(deadline));
	scene_fail(s, "%s bears no finalizer", path);
}

/* The last test: nothing is left. */
static void test_objects_in_use_are_not_deleted(void **state)
{
	struct scene *s = *state;

	add_workload(s, "holder");
	workload_scene_wait(s, WORKLOADS "/holder", "QuotaReserved", "True", "QuotaReserved");
	set_check(s, "holder", "Ready");
	workload_scene_wait(s, WORKLOADS "/holder", "Admitted", "True", "Admitted");
	wait_finalizer(s, API "clusterqueues/team");
	wait_finalizer(s, API "resourceflavors/default");
	wait_finalizer(s, API "admissionchecks/check");
	scene_call(s, "DELETE", API "clusterqueues/team", NULL, NULL);
	scene_call(s, "DELETE", API "resourceflavors/default", NULL, NULL);
	scene_call(s, "DELETE", API "admissionchecks/check", NULL, NULL);
	workload_scene_wait(s, API "clusterqueues/team", "Active", "False", "Terminating");
	expect_deleting(s, API "resourceflavors/default");
	expect_deleting(s, API "admissionchecks/check");
	workload_scene_wait(s, WORKLOADS "/holder", "Admitted", "True", "Admitted");
	scene_call(s, "DELETE", WORKLOADS "/holder", NULL, NULL);
	wait_gone(s, API "clusterqueues", "team");
	wait_gone(s, API "resourceflavors", "default");
	wait_gone(s, API "admissionchecks", "check");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_a_check_admits_and_retries,
					  workload_scene_after_each),
		cmocka_unit_test_teardown(test_an_eviction_ends_what_a_check_adds_to_pods,
					  workload_scene_after_each),
		cmocka_unit_test_teardown(test_limits_count_for_waiting_workloads, without_limits),
		cmocka_unit_test_teardown(test_edited_statuses_are_repaired,
					  workload_scene_after_each),
		cmocka_unit_test_teardown(test_workloads_admitted_by_kueue_go_on, with_the_engine),
		cmocka_unit_test(test_objects_in_use_are_not_deleted),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests(tests, begin, scene_end);
}
