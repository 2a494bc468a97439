/* Pods that queue, alone and in groups. The test adds the members that the webhook adds. */
#include "scheduler/workloads/controller/owner_controller.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "unit/scheduler/workloads/owners/owner_fixture.h"

#define PODS "/api/v1/namespaces/default/pods"
#define CONF "integrations: {frameworks: [pod]}"
#define C OWNER_FIXTURE_CONDITION

static void create_pod(struct owner_fixture *f, const char *name, const char *group,
		       const char *more)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	strbuf_printf(&body,
		      "{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: default,"
		      " finalizers: [kueue.x-k8s.io/managed], labels:"
		      " {kueue.x-k8s.io/queue-name: lq, kueue.x-k8s.io/managed: 'true'%s},"
		      " annotations: {kueue.x-k8s.io/role-hash: r1%s}}, spec: {schedulingGates:"
		      " [{name: kueue.x-k8s.io/admission}], containers: [{name: c, image: busybox,"
		      " command: [sleep, '5'], resources: {requests: {cpu: '1'}}}]}}",
		      name, group == NULL ? "" : ", kueue.x-k8s.io/pod-group-name: g", more);
	owner_fixture_call(f, HTTP_POST, PODS, APISERVER_FIXTURE_YAML, body.p);
}

static void get_pod(struct owner_fixture *f, const char *name)
{
	CLEANUP(xmalloc_freep) char *url = xmalloc_printf(PODS "/%s", name);

	owner_fixture_call(f, HTTP_GET, url, NULL, NULL);
}

static void expect_no_finalizer(struct owner_fixture *f)
{
	assert_int_equal(jdoc_count(jdoc_path(f->api.doc, "metadata.finalizers")), 0);
}

static bool is_there(struct owner_fixture *f, const char *name)
{
	CLEANUP(xmalloc_freep) char *url = xmalloc_printf(PODS "/%s", name);

	return apiserver_fixture_do(&f->api, HTTP_GET, url, NULL, NULL) == 200;
}

/* Binds and starts a pod, as scheduler and kubelet do. */
static void set_phase(struct owner_fixture *f, const char *name, const char *phase)
{
	CLEANUP(xmalloc_freep) char *url = xmalloc_printf(PODS "/%s/status", name);
	CLEANUP(xmalloc_freep)
	char *body = xmalloc_printf(
		"{\"status\":{\"phase\":\"%s\",\"conditions\":[{\"type\":\"Ready\",\"status\":"
		"\"%s\"}]}}",
		phase, str_streq(phase, "Running") ? "True" : "False");

	owner_fixture_call(f, HTTP_PATCH, url, APISERVER_FIXTURE_MERGE, body);
}

static void bind(struct owner_fixture *f, const char *name)
{
	CLEANUP(xmalloc_freep) char *url = xmalloc_printf(PODS "/%s/binding", name);
	CLEANUP(xmalloc_freep)
	char *body =
		xmalloc_printf("{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{"
			       "\"name\":\"%s\"},\"target\":{\"kind\":\"Node\",\"name\":\"n\"}}",
			       name);

	owner_fixture_call(f, HTTP_POST, url, "application/json", body);
	set_phase(f, name, "Running");
}

/* As the kubelet, when its containers have stopped. */
static void end_pod(struct owner_fixture *f, const char *name)
{
	CLEANUP(xmalloc_freep) char *url = xmalloc_printf(PODS "/%s", name);

	owner_fixture_call(f, HTTP_DELETE, url, "application/json", "{\"gracePeriodSeconds\":0}");
}

static void expect_gated(struct owner_fixture *f, const char *name, bool gated)
{
	get_pod(f, name);
	owner_fixture_expect(f, "spec.schedulingGates",
			     gated ? "[{\"name\":\"kueue.x-k8s.io/admission\"}]" : "");
	owner_fixture_expect(f, "spec.nodeSelector", gated ? "" : "{\"type\":\"spot\"}");
}

static void start_alone(struct owner_fixture *f)
{
	owner_controller_synced(f->o);
	create_pod(f, "a", NULL, "");
	owner_fixture_settle(f);
	expect_gated(f, "a", true);
	owner_fixture_get_workload(f);
	owner_fixture_expect(f, "spec.queueName", "lq");
	/* The spec is stored as a whole. */
	assert_int_equal(
		jdoc_count(jdoc_path(
			jdoc_at(jdoc_path(jdoc_at(jdoc_path(f->api.doc, "spec.podSets"), 0),
					  "template.spec.containers"),
				0),
			"command")),
		2);
	owner_fixture_admit(f, "main:1");
	owner_fixture_settle(f);
	expect_gated(f, "a", false);
	assert_int_equal(owner_fixture_activity(f),
			 OWNER_CONTROLLER_RUN); /* it may begin at any moment */
	bind(f, "a");
	owner_fixture_settle(f);
	assert_int_equal(owner_fixture_activity(f), OWNER_CONTROLLER_RUN);
	owner_fixture_get_workload(f);
	owner_fixture_expect_condition(f, "PodsReady", "True", "Started");
}

static void a_pod_that_runs_to_its_end(void **state)
{
	struct owner_fixture f;

	(void)state;
	owner_fixture_begin(&f, CONF);
	start_alone(&f);
	set_phase(&f, "a", "Succeeded");
	owner_fixture_settle(&f);
	owner_fixture_get_workload(&f);
	owner_fixture_expect_condition(&f, "Finished", "True", "Succeeded");
	expect_no_finalizer(&f);
	assert_int_equal(owner_fixture_activity(&f), OWNER_CONTROLLER_STOPPED);
	get_pod(&f, "a");
	expect_no_finalizer(&f);
	assert_true(owner_fixture_has_event(&f, "CreatedWorkload"));
	assert_true(owner_fixture_has_event(&f, "Started"));
	assert_false(owner_fixture_has_event(&f, "WorkloadWriteRefused"));
	owner_fixture_end(&f);
}

static void quota_stays_while_a_pod_may_be_let_go(void **state)
{
	struct owner_fixture f;

	(void)state;
	owner_fixture_begin(&f, CONF);
	owner_controller_synced(f.o);
	create_pod(&f, "a", NULL, "");
	owner_fixture_settle(&f);
	assert_int_equal(owner_fixture_activity(&f), OWNER_CONTROLLER_STOPPED);
	owner_fixture_admit(&f, "main:1");
	owner_fixture_look(&f); /* the write that ungates it is in flight */
	assert_int_equal(owner_fixture_activity(&f), OWNER_CONTROLLER_RUN);
	owner_fixture_evict(&f, "main:1");
	owner_fixture_look(&f);
	assert_int_equal(owner_fixture_activity(&f), OWNER_CONTROLLER_RUN);
	owner_fixture_settle(&f);
	assert_int_equal(owner_fixture_activity(&f), OWNER_CONTROLLER_STOPPED);
	get_pod(&f, "a");
	owner_fixture_expect(&f, "spec.schedulingGates",
			     "[{\"name\":\"kueue.x-k8s.io/admission\"}]");
	owner_fixture_expect_condition(&f, "TerminationTarget", "False", "Held");
	owner_fixture_admit(&f, "main:1");
	owner_fixture_settle(&f);
	expect_gated(&f, "a", false);
	owner_fixture_end(&f);
}

static void a_pod_that_is_preempted(void **state)
{
	struct owner_fixture f;

	(void)state;
	owner_fixture_begin(&f, CONF);
	start_alone(&f);
	owner_fixture_evict(&f, "main:1");
	owner_fixture_settle(&f);
	if (is_there(&f, "a")) {
		owner_fixture_expect_condition(&f, "TerminationTarget", "True", "WorkloadEvicted");
		expect_no_finalizer(&f);
		assert_string_not_equal(
			jdoc_str_or(jdoc_path(f.api.doc, "metadata.deletionTimestamp"), ""), "");
		end_pod(&f, "a");
	}
	owner_fixture_settle(&f);
	assert_false(is_there(&f, "a"));
	owner_fixture_get_workload(&f);
	expect_no_finalizer(&f);
	assert_int_equal(owner_fixture_activity(&f), OWNER_CONTROLLER_STOPPED);
	assert_true(owner_fixture_has_event(&f, "Stopped"));
	owner_fixture_end(&f);
}

/* The write that ungates it may wait, e.g. for a missing right: it must not be sent for a Workload
 * that lost its quota. */
static void a_pod_that_is_preempted_before_it_is_let_go(void **state)
{
	struct owner_fixture f;

	(void)state;
	owner_fixture_begin(&f, CONF);
	owner_controller_synced(f.o);
	create_pod(&f, "a", NULL, "");
	owner_fixture_settle(&f);
	owner_fixture_admit(&f, "main:1");
	owner_fixture_look(&f);
	assert_true(pool_waiting(owner_controller_pool(f.o)) > 0);
	owner_fixture_evict(&f, "main:1");
	owner_fixture_settle(&f);
	expect_gated(&f, "a", true);
	owner_fixture_admit(&f, "main:1");
	owner_fixture_settle(&f);
	expect_gated(&f, "a", false);
	owner_fixture_end(&f);
}

static void start_group(struct owner_fixture *f)
{
	static const char two[] = ", kueue.x-k8s.io/pod-group-total-count: '2'";

	owner_controller_synced(f->o);
	create_pod(f, "a", "g", two);
	owner_fixture_settle(f);
	owner_fixture_call(f, HTTP_GET, OWNER_FIXTURE_WORKLOADS, NULL, NULL);
	owner_fixture_expect(f, "items", "[]");
	create_pod(f, "b", "g", two);
	owner_fixture_settle(f);
	assert_string_equal(f->workload, "g");
	owner_fixture_admit(f, "r1:2");
	owner_fixture_settle(f);
	expect_gated(f, "a", false);
	expect_gated(f, "b", false);
	bind(f, "a");
	bind(f, "b");
	owner_fixture_settle(f);
}

static void a_group_with_a_failed_pod(void **state)
{
	struct owner_fixture f;

	(void)state;
	owner_fixture_begin(&f, CONF);
	start_group(&f);
	set_phase(&f, "a", "Failed");
	owner_fixture_settle(&f);
	owner_fixture_get_workload(&f);
	owner_fixture_expect_condition(&f, "WaitingForReplacementPods", "True", "PodsFailed");
	create_pod(&f, "c", "g", ", kueue.x-k8s.io/pod-group-total-count: '2'");
	owner_fixture_settle(&f);
	expect_gated(&f, "c", false);
	get_pod(&f, "a"); /* it has a replacement: its finalizer is removed */
	expect_no_finalizer(&f);
	owner_fixture_get_workload(&f);
	owner_fixture_expect_condition(&f, "WaitingForReplacementPods", "False", "PodsReady");
	assert_int_equal(jdoc_count(jdoc_path(f.api.doc, "metadata.ownerReferences")), 3);
	/* One too many goes. */
	create_pod(&f, "d", "g", ", kueue.x-k8s.io/pod-group-total-count: '2'");
	owner_fixture_settle(&f);
	assert_false(is_there(&f, "d"));
	bind(&f, "c");
	set_phase(&f, "b", "Succeeded");
	owner_fixture_settle(&f);
	owner_fixture_get_workload(&f);
	owner_fixture_expect(&f, "status.reclaimablePods", "[{\"count\":1,\"name\":\"r1\"}]");
	set_phase(&f, "c", "Succeeded");
	owner_fixture_settle(&f);
	owner_fixture_get_workload(&f);
	owner_fixture_expect_condition(&f, "Finished", "True", "Succeeded");
	get_pod(&f, "c");
	expect_no_finalizer(&f);
	assert_false(owner_fixture_has_event(&f, "WorkloadWriteRefused"));
	owner_fixture_end(&f);
}

static void a_group_that_is_preempted_and_comes_back(void **state)
{
	struct owner_fixture f;

	(void)state;
	owner_fixture_begin(&f, CONF);
	start_group(&f);
	owner_fixture_evict(&f, "r1:2");
	owner_fixture_settle(&f);
	get_pod(&f, "a");
	owner_fixture_expect_condition(&f, "TerminationTarget", "True", "WorkloadEvicted");
	assert_int_equal(owner_fixture_activity(&f), OWNER_CONTROLLER_RUN);
	set_phase(&f, "a", "Failed");
	set_phase(&f, "b", "Failed");
	owner_fixture_settle(&f);
	assert_int_equal(owner_fixture_activity(&f), OWNER_CONTROLLER_STOPPED);
	owner_fixture_get_workload(&f);
	owner_fixture_expect_condition(&f, "WaitingForReplacementPods", "True", "Preempted");
	owner_fixture_workload_status(&f,
				      C("False", "QuotaReserved",
					"PendingEvaluation") "," C("True", "Evicted", "Preempted"),
				      NULL);
	create_pod(&f, "c", "g", ", kueue.x-k8s.io/pod-group-total-count: '2'");
	owner_fixture_settle(&f);
	expect_gated(&f, "c", true);
	create_pod(&f, "d", "g", ", kueue.x-k8s.io/pod-group-total-count: '2'");
	owner_fixture_settle(&f);
	owner_fixture_get_workload(&f);
	owner_fixture_expect_condition(&f, "WaitingForReplacementPods", "False", "PodsReady");
	owner_fixture_admit(&f, "r1:2");
	owner_fixture_settle(&f);
	expect_gated(&f, "c", false);
	expect_gated(&f, "d", false);
	owner_fixture_end(&f);
}

/* Labels can be edited. A pod that has left its group counts there no more: the group waits for
 * another one. */
static void a_pod_that_leaves_its_group(void **state)
{
	static const char two[] = ", kueue.x-k8s.io/pod-group-total-count: '2'";
	static const struct {
		const char *name, *patch;
		bool alone; /* it is queued by itself then */
	} rows[] = {
		{ "without the label of the group",
		  "{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/pod-group-name\":null}}}", true },
		{ "of another group",
		  "{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/pod-group-name\":\"h\"}}}", false },
		{ "not managed", "{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/managed\":null}}}",
		  false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct owner_fixture f;

		unit_row(rows[i].name);
		owner_fixture_begin(&f, CONF);
		owner_controller_synced(f.o);
		create_pod(&f, "a", "g", two);
		owner_fixture_settle(&f);
		owner_fixture_call(&f, HTTP_PATCH, PODS "/a", APISERVER_FIXTURE_MERGE,
				   rows[i].patch);
		owner_fixture_settle(&f);
		create_pod(&f, "b", "g", two);
		owner_fixture_settle(&f);
		assert_int_equal(apiserver_fixture_do(&f.api, HTTP_GET,
						      OWNER_FIXTURE_WORKLOADS "/g", NULL, NULL),
				 404);
		owner_fixture_call(&f, HTTP_GET, OWNER_FIXTURE_WORKLOADS, NULL, NULL);
		assert_int_equal(jdoc_count(jdoc_get(f.api.doc, "items")), rows[i].alone);
		create_pod(&f, "c", "g", two);
		owner_fixture_settle(&f);
		owner_fixture_call(&f, HTTP_GET, OWNER_FIXTURE_WORKLOADS "/g", NULL, NULL);
		assert_int_equal(jdoc_count(jdoc_path(f.api.doc, "metadata.ownerReferences")), 2);
		owner_fixture_end(&f);
	}
}

/* A process ended after the Workload had gone and before the pods were released: the next one finds
 * pods with our finalizer that wait for nothing else. Until all objects are listed, their Workload
 * may still come. */
static void pods_without_a_workload_after_a_restart(void **state)
{
	static const char *const groups[] = { NULL, "g" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
		const char *more =
			groups[i] == NULL ? "" : ", kueue.x-k8s.io/pod-group-total-count: '2'";
		struct owner_fixture f;

		unit_row(groups[i]);
		owner_fixture_begin(&f, CONF);
		create_pod(&f, "a", groups[i], more);
		create_pod(&f, "b", groups[i], more);
		end_pod(&f, "a");
		end_pod(&f, "b");
		owner_fixture_settle(&f);
		assert_true(is_there(&f, "a") && is_there(&f, "b"));
		owner_controller_synced(f.o);
		owner_fixture_settle(&f);
		assert_false(is_there(&f, "a") || is_there(&f, "b"));
		owner_fixture_call(&f, HTTP_GET, OWNER_FIXTURE_WORKLOADS, NULL, NULL);
		owner_fixture_expect(&f, "items", "[]");
		owner_fixture_end(&f);
	}
}

/* Kubernetes deletes the pods of a namespace before all else. */
static void a_group_that_goes_with_its_namespace(void **state)
{
	struct owner_fixture f;

	(void)state;
	owner_fixture_begin(&f, CONF);
	start_group(&f);
	end_pod(&f, "a");
	owner_fixture_settle(&f);
	assert_true(is_there(&f, "a"));
	owner_fixture_see(&f, SCHED_NAMESPACES, STR_LIT("default"),
			  STR_LIT("{\"metadata\":{\"name\":\"default\","
				  "\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"}}"));
	owner_fixture_settle(&f);
	assert_false(is_there(&f, "a"));
	assert_true(is_there(&f, "b"));
	end_pod(&f, "b");
	owner_fixture_settle(&f);
	assert_false(is_there(&f, "b"));
	owner_fixture_get_workload(&f);
	expect_no_finalizer(&f);
	owner_fixture_end(&f);
}

static void pods_are_left_alone(void **state)
{
	static const char *const confs[] = {
		"integrations: {frameworks: [batch/job]}",
		CONF "\nmanagedJobsNamespaceSelector: {matchLabels: {team: x}}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(confs); i++) {
		struct owner_fixture f;

		unit_row_number(i);
		owner_fixture_begin(&f, confs[i]);
		owner_controller_synced(f.o);
		create_pod(&f, "a", NULL, "");
		owner_fixture_settle(&f);
		owner_fixture_call(&f, HTTP_GET, OWNER_FIXTURE_WORKLOADS, NULL, NULL);
		owner_fixture_expect(&f, "items", "[]");
		owner_fixture_end(&f);
	}
}

/* The name is free when the Workload that had it is gone. */
static void a_name_that_is_taken(void **state)
{
	struct owner_fixture f;

	(void)state;
	owner_fixture_begin(&f, CONF);
	owner_controller_synced(f.o);
	owner_fixture_call(
		&f, HTTP_POST, OWNER_FIXTURE_WORKLOADS, APISERVER_FIXTURE_YAML,
		"{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: g,"
		" namespace: default}, spec: {queueName: lq, podSets: [{name: main,"
		" template: {spec: {containers: [{name: c}]}}}]}}");
	create_pod(&f, "a", "g", ", kueue.x-k8s.io/pod-group-total-count: '1'");
	owner_fixture_settle(&f);
	assert_true(owner_fixture_has_event(&f, "ErrWorkloadCompose"));
	owner_fixture_call(&f, HTTP_DELETE, OWNER_FIXTURE_WORKLOADS "/g", NULL, NULL);
	owner_fixture_settle(&f);
	owner_fixture_get_workload(&f);
	assert_true(jdoc_is_str(jdoc_get(jdoc_path(f.api.doc, "metadata.annotations"),
					 "kueue.x-k8s.io/is-group-workload"),
				"true"));
	owner_fixture_end(&f);
}

static void answers_that_are_lost(void **state)
{
	(void)state;
	for (unsigned losses = 1; losses <= 6; losses++) {
		struct owner_fixture f;

		owner_fixture_begin(&f, CONF);
		f.losses = losses;
		start_group(&f);
		owner_fixture_end(&f);
	}
}

/* As MultiKueue makes it on a worker cluster: the pod becomes its owner, and gets no other one. */
static void pod_with_a_prebuilt_workload(void **state)
{
	struct owner_fixture f;

	(void)state;
	owner_fixture_begin(&f, CONF);
	owner_controller_synced(f.o);
	owner_fixture_call(
		&f, HTTP_POST, OWNER_FIXTURE_WORKLOADS, APISERVER_FIXTURE_YAML,
		"{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: w,"
		" namespace: default}, spec: {queueName: lq, podSets: [{name: main, count: 1,"
		" template: {spec: {containers: [{name: c, image: busybox, command: [sleep, '5'],"
		" resources: {requests: {cpu: '1'}}}]}}}]}}");
	owner_fixture_settle(&f);
	create_pod(&f, "a", NULL, ", kueue.x-k8s.io/prebuilt-workload-name: w");
	owner_fixture_settle(&f);
	owner_fixture_get_workload(&f); /* the only one */
	owner_fixture_expect(&f, "metadata.name", "w");
	assert_string_equal(
		jdoc_str_or(jdoc_get(jdoc_at(jdoc_path(f.api.doc, "metadata.ownerReferences"), 0),
				     "name"),
			    ""),
		"a");
	assert_int_equal(owner_fixture_activity(&f), OWNER_CONTROLLER_STOPPED);
	/* When it is gone, a pod that was let go does not run on. */
	owner_fixture_call(&f, HTTP_PATCH, PODS "/a", APISERVER_FIXTURE_MERGE,
			   "{\"spec\":{\"schedulingGates\":null}}");
	owner_fixture_call(&f, HTTP_PATCH, OWNER_FIXTURE_WORKLOADS "/w", APISERVER_FIXTURE_MERGE,
			   "{\"metadata\":{\"finalizers\":null}}");
	owner_fixture_call(&f, HTTP_DELETE, OWNER_FIXTURE_WORKLOADS "/w", NULL, "");
	owner_fixture_settle(&f);
	assert_false(is_there(&f, "a") &&
		     jdoc_path(f.api.doc, "metadata.deletionTimestamp") == NULL);
	owner_fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pod_with_a_prebuilt_workload),
		cmocka_unit_test(a_pod_that_runs_to_its_end),
		cmocka_unit_test(quota_stays_while_a_pod_may_be_let_go),
		cmocka_unit_test(a_pod_that_is_preempted),
		cmocka_unit_test(a_pod_that_is_preempted_before_it_is_let_go),
		cmocka_unit_test(a_group_with_a_failed_pod),
		cmocka_unit_test(a_group_that_is_preempted_and_comes_back),
		cmocka_unit_test(a_pod_that_leaves_its_group),
		cmocka_unit_test(pods_without_a_workload_after_a_restart),
		cmocka_unit_test(a_group_that_goes_with_its_namespace),
		cmocka_unit_test(pods_are_left_alone),
		cmocka_unit_test(a_name_that_is_taken),
		cmocka_unit_test(answers_that_are_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
