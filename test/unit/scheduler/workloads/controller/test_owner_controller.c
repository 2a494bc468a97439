/* Jobs; pods are in test_owner_controller_pods.c. */
#include "scheduler/workloads/controller/owner_controller.h"

#include "lib/unit.h"

#include <stdio.h>

#include "api/kueue/kueue_keys.h"
#include "api/meta/meta.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "unit/scheduler/workloads/owners/owner_fixture.h"

#define JOBS "/apis/batch/v1/namespaces/default/jobs"

static void create_job(struct owner_fixture *f, bool suspend)
{
	char body[1000];

	snprintf(body, sizeof(body),
		 "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: default,"
		 " labels: {kueue.x-k8s.io/queue-name: lq}}, spec: {parallelism: 3,"
		 " completions: 3, suspend: %s, template: {metadata: {labels: {app: a}},"
		 " spec: {restartPolicy: Never, nodeSelector: {disk: ssd},"
		 " containers: [{name: c, image: busybox, command: [sleep, '5'],"
		 " resources: {requests: {cpu: '1'}}}]}}}}",
		 suspend ? "true" : "false");
	owner_fixture_call(f, HTTP_POST, JOBS, APISERVER_FIXTURE_YAML, body);
}

static void patch_job(struct owner_fixture *f, const char *body)
{
	owner_fixture_call(f, HTTP_PATCH, JOBS "/j", APISERVER_FIXTURE_MERGE, body);
}

/* Writes a status as the Job controller of Kubernetes does. */
static void job_status(struct owner_fixture *f, const char *status)
{
	char body[600];

	snprintf(body, sizeof(body), "{\"status\":%s}", status);
	owner_fixture_call(f, HTTP_PATCH, JOBS "/j/status", APISERVER_FIXTURE_MERGE, body);
}

static void get_job(struct owner_fixture *f)
{
	owner_fixture_call(f, HTTP_GET, JOBS "/j", NULL, NULL);
}

/* --- tests -------------------------------------------------------------------------------------
 */

static void expect_started(struct owner_fixture *f)
{
	get_job(f);
	owner_fixture_expect(f, "spec.suspend", "false");
	owner_fixture_expect(f, "spec.template.spec.nodeSelector",
			     "{\"disk\":\"ssd\",\"type\":\"spot\"}");
	assert_int_equal(jdoc_count(jdoc_path(f->api.doc, "spec.template.spec.tolerations")), 1);
	assert_true(jdoc_is_str(jdoc_get(jdoc_path(f->api.doc, "spec.template.metadata.labels"),
					 "kueue.x-k8s.io/podset"),
				"main"));
}

static void expect_restored(struct owner_fixture *f)
{
	get_job(f);
	owner_fixture_expect(f, "spec.suspend", "true");
	owner_fixture_expect(f, "spec.template.spec.nodeSelector", "{\"disk\":\"ssd\"}");
	owner_fixture_expect(f, "spec.template.spec.tolerations", "");
	owner_fixture_expect(f, "spec.template.metadata.labels", "{\"app\":\"a\"}");
	owner_fixture_expect(f, "status.startTime", "");
	assert_null(
		jdoc_get(jdoc_path(f->api.doc, "metadata.annotations"), "kueue.x-k8s.io/stopping"));
}

static void run(struct owner_fixture *f)
{
	owner_controller_synced(f->o);
	owner_fixture_settle(f);
	owner_fixture_get_workload(f);
	owner_fixture_expect(f, "spec.queueName", "lq");
	owner_fixture_expect(f, "metadata.finalizers", "[\"kueue.x-k8s.io/resource-in-use\"]");
	assert_int_equal(
		jdoc_int(jdoc_path(jdoc_at(jdoc_path(f->api.doc, "spec.podSets"), 0), "count"), 0),
		3);
	owner_fixture_admit(f, "main:3");
	owner_fixture_look(f);
	/* Its start is in flight: its quota is not released. */
	assert_int_equal(owner_fixture_activity(f), OWNER_CONTROLLER_RUN);
	owner_fixture_settle(f);
	expect_started(f);
	job_status(f, "{\"startTime\":\"2026-01-01T00:00:00Z\",\"active\":3,\"ready\":3}");
	owner_fixture_settle(f);
	assert_int_equal(owner_fixture_activity(f), OWNER_CONTROLLER_RUN);
	owner_fixture_get_workload(f);
	owner_fixture_expect_condition(f, "PodsReady", "True", "Started");
	owner_fixture_evict(f, "main:3");
	owner_fixture_settle(f);
	get_job(f);
	owner_fixture_expect(f, "spec.suspend", "true");
}

static void expect_owner(struct owner_fixture *f, const char *name)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	const struct api_meta *m;

	strbuf_printf(&key, "default/%s", f->workload);
	m = owner_controller_meta(f->o, strbuf_str(&key));
	assert_non_null(m);
	assert_string_equal(meta_controller(m)->name, name);
}

static void a_job_from_its_creation_to_its_end(void **state)
{
	struct owner_fixture f;
	const struct jdoc *container;
	unsigned notified;

	(void)state;
	owner_fixture_begin(&f, "{}");
	create_job(&f, true);
	run(&f);
	expect_owner(&f, "j");
	/* The template is stored as a whole. */
	owner_fixture_get_workload(&f);
	container = jdoc_path(jdoc_at(jdoc_path(f.api.doc, "spec.podSets"), 0), "template.spec");
	container = jdoc_at(jdoc_get(container, "containers"), 0);
	assert_string_equal(jdoc_path_str(container, "image"), "busybox");
	/* Its pods are going: it runs until they are gone. */
	assert_int_equal(owner_fixture_activity(&f), OWNER_CONTROLLER_RUN);
	notified = f.notified;
	job_status(&f, "{\"active\":0,\"ready\":0}");
	owner_fixture_settle(&f);
	expect_restored(&f);
	assert_int_equal(owner_fixture_activity(&f), OWNER_CONTROLLER_STOPPED);
	assert_int_equal(f.notified, notified + 1);
	owner_fixture_workload_status(
		&f,
		OWNER_FIXTURE_CONDITION("False", "QuotaReserved", "PendingEvaluation") "," OWNER_FIXTURE_CONDITION(
			"False", "Admitted",
			"NoReservation") "," OWNER_FIXTURE_CONDITION("True", "Evicted",
								     "Preempted"),
		NULL);
	owner_fixture_settle(&f);
	expect_restored(&f);
	owner_fixture_get_workload(&f);
	owner_fixture_expect_condition(&f, "PodsReady", "False", "WaitForStart");
	owner_fixture_admit(&f, "main:3");
	owner_fixture_settle(&f);
	expect_started(&f);
	job_status(&f, "{\"startTime\":\"2026-01-01T00:00:00Z\",\"succeeded\":3,\"conditions\":"
		       "[" OWNER_FIXTURE_CONDITION("True", "Complete", "CompletionsReached") "]}");
	owner_fixture_settle(&f);
	owner_fixture_get_workload(&f);
	owner_fixture_expect_condition(&f, "Finished", "True", "Succeeded");
	owner_fixture_expect_condition(&f, "QuotaReserved", "True", "QuotaReserved");
	assert_int_equal(owner_fixture_activity(&f), OWNER_CONTROLLER_STOPPED);
	assert_true(owner_fixture_has_event(&f, "CreatedWorkload"));
	assert_true(owner_fixture_has_event(&f, "Started"));
	assert_true(owner_fixture_has_event(&f, "Stopped"));
	assert_false(owner_fixture_has_event(&f, "WorkloadWriteRefused"));
	owner_fixture_call(&f, HTTP_DELETE, JOBS "/j", NULL, NULL);
	owner_fixture_settle(&f);
	owner_fixture_get_workload(&f);
	assert_int_equal(jdoc_count(jdoc_path(f.api.doc, "metadata.finalizers")), 0);
	owner_fixture_end(&f);
}

/* The API server takes no Workload: it is tried again when the Job changes, and not for a Job that
 * is gone or does not queue any more. */
static void a_creation_that_is_refused(void **state)
{
	static const char *const ends[] = { NULL, "{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/"
						  "queue-name\":null}}}" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		struct owner_fixture f;
		uint64_t tries;

		unit_row(ends[i]);
		owner_fixture_begin(&f, "{}");
		assert_int_equal(
			apiserver_set_faults(f.api.server,
					     STR_LIT("[{fault: status, code: 403, method:"
						     " POST, count: 0, path: .*/workloads}]"),
					     NULL),
			0);
		create_job(&f, true);
		owner_controller_synced(f.o);
		do {
			owner_fixture_settle(&f);
		} while (pool_wake_at(owner_controller_pool(f.o)) <=
			 clock_mono(&f.clock.base) + 10 * CLOCK_NS_PER_S);
		tries = apiserver_fault_count(f.api.server, "status");
		assert_int_equal(pool_waiting(owner_controller_pool(f.o)), 1);
		assert_true(pool_wake_at(owner_controller_pool(f.o)) > clock_mono(&f.clock.base));
		assert_true(owner_fixture_has_event(&f, "WorkloadWriteRefused"));
		patch_job(&f, "{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/queue-name\":\"b\"}}}");
		owner_fixture_look(&f);
		assert_true(pool_wake_at(owner_controller_pool(f.o)) <= clock_mono(&f.clock.base));
		owner_fixture_settle(&f);
		assert_true(apiserver_fault_count(f.api.server, "status") > tries);
		assert_int_equal(pool_waiting(owner_controller_pool(f.o)), 1);
		if (ends[i] == NULL) {
			owner_fixture_call(&f, HTTP_DELETE, JOBS "/j", NULL, NULL);
		} else {
			patch_job(&f, ends[i]);
		}
		owner_fixture_settle(&f);
		assert_int_equal(pool_waiting(owner_controller_pool(f.o)), 0);
		owner_fixture_end(&f);
	}
}

static void answers_that_are_lost(void **state)
{
	(void)state;
	for (unsigned losses = 1; losses <= 6; losses++) {
		struct owner_fixture f;

		owner_fixture_begin(&f, "{}");
		f.losses = losses;
		create_job(&f, true);
		run(&f);
		owner_fixture_end(&f);
	}
}

static void nothing_is_written_before_all_is_known(void **state)
{
	struct owner_fixture f;

	(void)state;
	owner_fixture_begin(&f, "{}");
	create_job(&f, true);
	owner_fixture_settle(&f);
	owner_fixture_call(&f, HTTP_GET, OWNER_FIXTURE_WORKLOADS, NULL, NULL);
	owner_fixture_expect(&f, "items", "[]");
	owner_fixture_end(&f);
}

static void a_job_without_admission_is_stopped(void **state)
{
	struct owner_fixture f;

	(void)state;
	owner_fixture_begin(&f, "{}");
	owner_controller_synced(f.o);
	create_job(&f, false);
	owner_fixture_settle(&f);
	get_job(&f);
	owner_fixture_expect(&f, "spec.suspend", "true");
	owner_fixture_get_workload(&f);
	patch_job(&f, "{\"spec\":{\"suspend\":false}}");
	owner_fixture_settle(&f);
	expect_restored(&f);
	owner_fixture_end(&f);
}

static void a_job_that_changes_while_it_waits_keeps_its_workload(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf uid = STRBUF_INIT;
	struct owner_fixture f;

	(void)state;
	owner_fixture_begin(&f, "{}");
	owner_controller_synced(f.o);
	create_job(&f, true);
	owner_fixture_settle(&f);
	owner_fixture_get_workload(&f);
	strbuf_add_c(&uid, jdoc_path_str(f.api.doc, "metadata.uid"));
	patch_job(&f, "{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/queue-name\":\"other\"}},"
		      "\"spec\":{\"parallelism\":2}}");
	owner_fixture_settle(&f);
	owner_fixture_get_workload(&f);
	owner_fixture_expect(&f, "metadata.uid", uid.p);
	owner_fixture_expect(&f, "spec.queueName", "other");
	assert_int_equal(
		jdoc_int(jdoc_path(jdoc_at(jdoc_path(f.api.doc, "spec.podSets"), 0), "count"), 0),
		2);
	/* With quota, it is another Workload. */
	owner_fixture_admit(&f, "main:3");
	patch_job(&f, "{\"spec\":{\"parallelism\":1}}");
	owner_fixture_settle(&f);
	owner_fixture_get_workload(&f);
	assert_false(jdoc_is_str(jdoc_path(f.api.doc, "metadata.uid"), uid.p));
	owner_fixture_end(&f);
}

/* A DELETE in flight cannot be cancelled: the Job waits for its next Workload to reserve quota.
 */
static void a_job_does_not_start_on_a_workload_that_is_to_be_deleted(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf uid = STRBUF_INIT;
	struct owner_fixture f;

	(void)state;
	owner_fixture_begin(&f, "{}");
	owner_controller_synced(f.o);
	create_job(&f, true);
	owner_fixture_settle(&f);
	owner_fixture_get_workload(&f);
	strbuf_add_c(&uid, jdoc_path_str(f.api.doc, "metadata.uid"));
	assert_int_equal(apiserver_set_faults(f.api.server,
					      STR_LIT("[{fault: status, code: 403, method: DELETE,"
						      " count: 0, path: .*/workloads/.*}]"),
					      NULL),
			 0);
	owner_fixture_admit(&f, "main:3");
	patch_job(&f, "{\"spec\":{\"parallelism\":1}}");
	owner_fixture_settle(&f);
	assert_true(apiserver_fault_count(f.api.server, "status") > 0);
	patch_job(&f, "{\"spec\":{\"parallelism\":3}}");
	owner_fixture_settle(&f);
	get_job(&f);
	owner_fixture_expect(&f, "spec.suspend", "true");
	assert_int_equal(apiserver_set_faults(f.api.server, STR_LIT("[]"), NULL), 0);
	clock_fake_advance(&f.clock, 400 * CLOCK_NS_PER_S);
	owner_fixture_settle(&f);
	owner_fixture_get_workload(&f);
	assert_false(jdoc_is_str(jdoc_path(f.api.doc, "metadata.uid"), uid.p));
	owner_fixture_admit(&f, "main:3");
	owner_fixture_settle(&f);
	expect_started(&f);
	owner_fixture_end(&f);
}

static void a_job_that_cannot_start_so_ends(void **state)
{
	struct owner_fixture f;

	(void)state;
	owner_fixture_begin(&f, "{}");
	owner_controller_synced(f.o);
	create_job(&f, true);
	owner_fixture_settle(&f);
	patch_job(&f, "{\"spec\":{\"template\":{\"spec\":{\"nodeSelector\":{\"type\":\"x\"}}}}}");
	owner_fixture_admit(&f, "main:3");
	owner_fixture_settle(&f);
	get_job(&f);
	owner_fixture_expect(&f, "spec.suspend", "true");
	owner_fixture_get_workload(&f);
	owner_fixture_expect_condition(&f, "Finished", "True", "FailedToStart");
	owner_fixture_end(&f);
}

static void workloads_of_others(void **state)
{
	struct owner_fixture f;

	(void)state;
	owner_fixture_begin(&f, "{}");
	owner_controller_synced(f.o);
	owner_fixture_call(
		&f, HTTP_POST, OWNER_FIXTURE_WORKLOADS, APISERVER_FIXTURE_YAML,
		"{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: w,"
		" namespace: default}, spec: {queueName: lq, podSets: [{name: main, template:"
		" {spec: {containers: [{name: c}]}}}]}}");
	owner_fixture_settle(&f);
	assert_int_equal(owner_controller_activity(f.o, STR_LIT("default/none")),
			 OWNER_CONTROLLER_FOREIGN);
	assert_null(owner_controller_meta(f.o, STR_LIT("default/none")));
	owner_fixture_call(
		&f, HTTP_PATCH, OWNER_FIXTURE_WORKLOADS "/w", APISERVER_FIXTURE_MERGE,
		"{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"x/v1\",\"kind\":\"Other\","
		"\"name\":\"o\",\"uid\":\"o-1\",\"controller\":true}]}}");
	owner_fixture_settle(&f);
	assert_int_equal(owner_fixture_activity(&f), OWNER_CONTROLLER_FOREIGN);
	owner_fixture_end(&f);
}

/* It had no owner when it was seen, and nothing of it was kept. */
static void workload_that_a_job_names_later(void **state)
{
	struct owner_fixture f;

	(void)state;
	owner_fixture_begin(&f, "{}");
	owner_controller_synced(f.o);
	owner_fixture_call(
		&f, HTTP_POST, OWNER_FIXTURE_WORKLOADS, APISERVER_FIXTURE_YAML,
		"{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: w,"
		" namespace: default}, spec: {queueName: lq, podSets: [{name: main, count: 3,"
		" template: {spec: {restartPolicy: Never, nodeSelector: {disk: ssd},"
		" containers: [{name: c, resources: {requests: {cpu: '1'}}}]}}}]}}");
	owner_fixture_settle(&f);
	create_job(&f, true);
	patch_job(&f, "{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/prebuilt-workload-name\":"
		      "\"w\"}}}");
	owner_fixture_settle(&f);
	owner_fixture_get_workload(&f);
	owner_fixture_expect(&f, "metadata.name", "w");
	assert_int_equal(jdoc_count(jdoc_path(f.api.doc, "metadata.ownerReferences")), 1);
	assert_int_equal(owner_fixture_activity(&f), OWNER_CONTROLLER_STOPPED);
	/* Without it the Job is not to run. */
	patch_job(&f, "{\"spec\":{\"suspend\":false}}");
	owner_fixture_call(&f, HTTP_PATCH, OWNER_FIXTURE_WORKLOADS "/w", APISERVER_FIXTURE_MERGE,
			   "{\"metadata\":{\"finalizers\":null}}");
	owner_fixture_call(&f, HTTP_DELETE, OWNER_FIXTURE_WORKLOADS "/w", NULL, "");
	owner_fixture_settle(&f);
	get_job(&f);
	owner_fixture_expect(&f, "spec.suspend", "true");
	owner_fixture_end(&f);
}

/* The Job that names it as its own is planned too: it must not run with what is another's. */
static void workload_that_passes_to_another_owner(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf patch = STRBUF_INIT, path = STRBUF_INIT;
	struct owner_fixture f;

	(void)state;
	owner_fixture_begin(&f, "{}");
	owner_controller_synced(f.o);
	create_job(&f, true);
	owner_fixture_settle(&f);
	owner_fixture_admit(&f, "main:3");
	owner_fixture_settle(&f);
	expect_started(&f);
	strbuf_printf(&patch,
		      "{\"metadata\":{\"labels\":{\"" KUEUE_PREBUILT_WORKLOAD "\":\"%s\"}}}",
		      f.workload);
	patch_job(&f, patch.p);
	owner_fixture_settle(&f);
	expect_started(&f);
	owner_fixture_call(&f, HTTP_POST, JOBS, APISERVER_FIXTURE_YAML,
			   "{apiVersion: batch/v1, kind: Job, metadata: {name: k, namespace: "
			   "default}, spec: {suspend: true, template: {spec: {restartPolicy: "
			   "Never, containers: [{name: c, image: i}]}}}}");
	strbuf_reset(&patch);
	strbuf_printf(&patch,
		      "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":"
		      "\"Job\",\"name\":\"k\",\"uid\":\"%s\",\"controller\":true}]}}",
		      jdoc_path_str(f.api.doc, "metadata.uid"));
	strbuf_printf(&path, OWNER_FIXTURE_WORKLOADS "/%s", f.workload);
	owner_fixture_call(&f, HTTP_PATCH, path.p, APISERVER_FIXTURE_MERGE, patch.p);
	owner_fixture_settle(&f);
	get_job(&f);
	owner_fixture_expect(&f, "spec.suspend", "true");
	owner_fixture_end(&f);
}

static bool has_job(struct owner_fixture *f)
{
	return apiserver_fixture_do(&f->api, HTTP_GET, JOBS "/j", NULL, NULL) == 200;
}

static void retire(struct owner_fixture *f, bool yes)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;

	strbuf_printf(&key, "default/%s", f->workload);
	owner_controller_retire(f->o, strbuf_str(&key), yes);
}

/* The deletion can be withdrawn until it is sent. */
static void a_job_that_is_to_go(void **state)
{
	struct owner_fixture f;

	(void)state;
	owner_fixture_begin(&f, "{}");
	owner_controller_retire(f.o, STR_LIT("default/none"), true);
	create_job(&f, true);
	owner_controller_synced(f.o);
	owner_fixture_settle(&f);
	retire(&f, false);
	retire(&f, true);
	retire(&f, true);
	retire(&f, false);
	owner_fixture_settle(&f);
	assert_true(has_job(&f));
	assert_false(owner_fixture_has_event(&f, "Deleted"));
	/* Another write for the Job does not replace it. */
	patch_job(&f, "{\"spec\":{\"suspend\":false}}");
	retire(&f, true);
	owner_fixture_settle(&f);
	assert_false(has_job(&f));
	assert_true(owner_fixture_has_event(&f, "Deleted"));
	owner_fixture_end(&f);
}

static void a_job_stays_when_its_workload_is_gone(void **state)
{
	struct owner_fixture f;
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;

	(void)state;
	owner_fixture_begin(&f, "{}");
	create_job(&f, true);
	owner_controller_synced(f.o);
	owner_fixture_settle(&f);
	retire(&f, true);
	strbuf_printf(&key, "default/%s", f.workload);
	owner_controller_workload_gone(f.o, strbuf_str(&key));
	owner_fixture_settle(&f);
	assert_true(has_job(&f));
	owner_fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_from_its_creation_to_its_end),
		cmocka_unit_test(a_creation_that_is_refused),
		cmocka_unit_test(answers_that_are_lost),
		cmocka_unit_test(nothing_is_written_before_all_is_known),
		cmocka_unit_test(a_job_without_admission_is_stopped),
		cmocka_unit_test(a_job_that_changes_while_it_waits_keeps_its_workload),
		cmocka_unit_test(a_job_does_not_start_on_a_workload_that_is_to_be_deleted),
		cmocka_unit_test(a_job_that_cannot_start_so_ends),
		cmocka_unit_test(workloads_of_others),
		cmocka_unit_test(workload_that_a_job_names_later),
		cmocka_unit_test(workload_that_passes_to_another_owner),
		cmocka_unit_test(a_job_that_is_to_go),
		cmocka_unit_test(a_job_stays_when_its_workload_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
