/* Pods that queue, alone and in groups. Of the webhook the test plays what it adds. */
#include "controllers/owners.h"

#include "lib/unit.h"

#include "api/namespace.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/decode.h"
#include "enc/jdoc.h"
#include "lib/owners_fixture.h"

#define PODS "/api/v1/namespaces/default/pods"
#define CONF "integrations: {frameworks: [pod]}"
#define C OWNERS_FIXTURE_CONDITION

static void create_pod(struct owners_fixture *f, const char *name, const char *group,
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
	owners_fixture_call(f, HTTP_POST, PODS, APISERVER_FIXTURE_YAML, body.p);
}

static void get_pod(struct owners_fixture *f, const char *name)
{
	CLEANUP(xmalloc_freep) char *url = xmalloc_printf(PODS "/%s", name);

	owners_fixture_call(f, HTTP_GET, url, NULL, NULL);
}

static void expect_no_finalizer(struct owners_fixture *f)
{
	assert_int_equal(jdoc_count(jdoc_path(f->api.doc, "metadata.finalizers")), 0);
}

static bool is_there(struct owners_fixture *f, const char *name)
{
	CLEANUP(xmalloc_freep) char *url = xmalloc_printf(PODS "/%s", name);

	return apiserver_fixture_do(&f->api, HTTP_GET, url, NULL, NULL) == 200;
}

/* As scheduler and kubelet. */
static void set_phase(struct owners_fixture *f, const char *name, const char *phase)
{
	CLEANUP(xmalloc_freep) char *url = xmalloc_printf(PODS "/%s/status", name);
	CLEANUP(xmalloc_freep)
	char *body = xmalloc_printf(
		"{\"status\":{\"phase\":\"%s\",\"conditions\":[{\"type\":\"Ready\",\"status\":"
		"\"%s\"}]}}",
		phase, str_streq(phase, "Running") ? "True" : "False");

	owners_fixture_call(f, HTTP_PATCH, url, APISERVER_FIXTURE_MERGE, body);
}

static void bind(struct owners_fixture *f, const char *name)
{
	CLEANUP(xmalloc_freep) char *url = xmalloc_printf(PODS "/%s/binding", name);
	CLEANUP(xmalloc_freep)
	char *body =
		xmalloc_printf("{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{"
			       "\"name\":\"%s\"},\"target\":{\"kind\":\"Node\",\"name\":\"n\"}}",
			       name);

	owners_fixture_call(f, HTTP_POST, url, "application/json", body);
	set_phase(f, name, "Running");
}

/* As the kubelet, when its containers have stopped. */
static void end_pod(struct owners_fixture *f, const char *name)
{
	CLEANUP(xmalloc_freep) char *url = xmalloc_printf(PODS "/%s", name);

	owners_fixture_call(f, HTTP_DELETE, url, "application/json", "{\"gracePeriodSeconds\":0}");
}

static void expect_gated(struct owners_fixture *f, const char *name, bool gated)
{
	get_pod(f, name);
	owners_fixture_expect(f, "spec.schedulingGates",
			      gated ? "[{\"name\":\"kueue.x-k8s.io/admission\"}]" : "");
	owners_fixture_expect(f, "spec.nodeSelector", gated ? "" : "{\"type\":\"spot\"}");
}

static void start_alone(struct owners_fixture *f)
{
	owners_synced(f->o);
	create_pod(f, "a", NULL, "");
	owners_fixture_settle(f);
	expect_gated(f, "a", true);
	owners_fixture_get_workload(f);
	owners_fixture_expect(f, "spec.queueName", "lq");
	/* The spec is stored as a whole. */
	assert_int_equal(
		jdoc_count(jdoc_path(
			jdoc_at(jdoc_path(jdoc_at(jdoc_path(f->api.doc, "spec.podSets"), 0),
					  "template.spec.containers"),
				0),
			"command")),
		2);
	owners_fixture_admit(f, "main:1");
	owners_fixture_settle(f);
	expect_gated(f, "a", false);
	assert_int_equal(owners_fixture_activity(f), OWNERS_RUN); /* it may begin at any moment */
	bind(f, "a");
	owners_fixture_settle(f);
	assert_int_equal(owners_fixture_activity(f), OWNERS_RUN);
	owners_fixture_get_workload(f);
	owners_fixture_expect_condition(f, "PodsReady", "True", "Started");
}

static void a_pod_that_runs_to_its_end(void **state)
{
	struct owners_fixture f;

	(void)state;
	owners_fixture_begin(&f, CONF);
	start_alone(&f);
	set_phase(&f, "a", "Succeeded");
	owners_fixture_settle(&f);
	owners_fixture_get_workload(&f);
	owners_fixture_expect_condition(&f, "Finished", "True", "Succeeded");
	expect_no_finalizer(&f);
	assert_int_equal(owners_fixture_activity(&f), OWNERS_STOPPED);
	get_pod(&f, "a");
	expect_no_finalizer(&f);
	assert_true(owners_fixture_has_event(&f, "CreatedWorkload"));
	assert_true(owners_fixture_has_event(&f, "Started"));
	assert_false(owners_fixture_has_event(&f, "WorkloadWriteRefused"));
	owners_fixture_end(&f);
}

static void quota_stays_while_a_pod_may_be_let_go(void **state)
{
	struct owners_fixture f;

	(void)state;
	owners_fixture_begin(&f, CONF);
	owners_synced(f.o);
	create_pod(&f, "a", NULL, "");
	owners_fixture_settle(&f);
	assert_int_equal(owners_fixture_activity(&f), OWNERS_STOPPED);
	owners_fixture_admit(&f, "main:1");
	owners_fixture_look(&f); /* the write that lets it go is under way */
	assert_int_equal(owners_fixture_activity(&f), OWNERS_RUN);
	owners_fixture_evict(&f, "main:1");
	owners_fixture_look(&f);
	assert_int_equal(owners_fixture_activity(&f), OWNERS_RUN);
	owners_fixture_settle(&f);
	assert_int_equal(owners_fixture_activity(&f), OWNERS_STOPPED);
	get_pod(&f, "a");
	owners_fixture_expect(&f, "spec.schedulingGates",
			      "[{\"name\":\"kueue.x-k8s.io/admission\"}]");
	owners_fixture_expect_condition(&f, "TerminationTarget", "False", "Held");
	owners_fixture_admit(&f, "main:1");
	owners_fixture_settle(&f);
	expect_gated(&f, "a", false);
	owners_fixture_end(&f);
}

static void a_pod_that_is_preempted(void **state)
{
	struct owners_fixture f;

	(void)state;
	owners_fixture_begin(&f, CONF);
	start_alone(&f);
	owners_fixture_evict(&f, "main:1");
	owners_fixture_settle(&f);
	if (is_there(&f, "a")) {
		owners_fixture_expect_condition(&f, "TerminationTarget", "True", "WorkloadEvicted");
		expect_no_finalizer(&f);
		assert_string_not_equal(
			jdoc_str_or(jdoc_path(f.api.doc, "metadata.deletionTimestamp"), ""), "");
		end_pod(&f, "a");
	}
	owners_fixture_settle(&f);
	assert_false(is_there(&f, "a"));
	owners_fixture_get_workload(&f);
	expect_no_finalizer(&f);
	assert_int_equal(owners_fixture_activity(&f), OWNERS_STOPPED);
	assert_true(owners_fixture_has_event(&f, "Stopped"));
	owners_fixture_end(&f);
}

/* The write that lets it go may still wait, for a right say: it is not for a Workload that lost its
 * quota. */
static void a_pod_that_is_preempted_before_it_is_let_go(void **state)
{
	struct owners_fixture f;

	(void)state;
	owners_fixture_begin(&f, CONF);
	owners_synced(f.o);
	create_pod(&f, "a", NULL, "");
	owners_fixture_settle(&f);
	owners_fixture_admit(&f, "main:1");
	owners_fixture_look(&f);
	assert_true(pool_waiting(owners_pool(f.o)) > 0);
	owners_fixture_evict(&f, "main:1");
	owners_fixture_settle(&f);
	expect_gated(&f, "a", true);
	owners_fixture_admit(&f, "main:1");
	owners_fixture_settle(&f);
	expect_gated(&f, "a", false);
	owners_fixture_end(&f);
}

static void start_group(struct owners_fixture *f)
{
	static const char two[] = ", kueue.x-k8s.io/pod-group-total-count: '2'";

	owners_synced(f->o);
	create_pod(f, "a", "g", two);
	owners_fixture_settle(f);
	owners_fixture_call(f, HTTP_GET, OWNERS_FIXTURE_WORKLOADS, NULL, NULL);
	owners_fixture_expect(f, "items", "[]");
	create_pod(f, "b", "g", two);
	owners_fixture_settle(f);
	assert_string_equal(f->workload, "g");
	owners_fixture_admit(f, "r1:2");
	owners_fixture_settle(f);
	expect_gated(f, "a", false);
	expect_gated(f, "b", false);
	bind(f, "a");
	bind(f, "b");
	owners_fixture_settle(f);
}

static void a_group_whose_pod_fails(void **state)
{
	struct owners_fixture f;

	(void)state;
	owners_fixture_begin(&f, CONF);
	start_group(&f);
	set_phase(&f, "a", "Failed");
	owners_fixture_settle(&f);
	owners_fixture_get_workload(&f);
	owners_fixture_expect_condition(&f, "WaitingForReplacementPods", "True", "PodsFailed");
	create_pod(&f, "c", "g", ", kueue.x-k8s.io/pod-group-total-count: '2'");
	owners_fixture_settle(&f);
	expect_gated(&f, "c", false);
	get_pod(&f, "a"); /* somebody stands in for it: nobody holds it any more */
	expect_no_finalizer(&f);
	owners_fixture_get_workload(&f);
	owners_fixture_expect_condition(&f, "WaitingForReplacementPods", "False", "PodsReady");
	assert_int_equal(jdoc_count(jdoc_path(f.api.doc, "metadata.ownerReferences")), 3);
	/* One too many goes. */
	create_pod(&f, "d", "g", ", kueue.x-k8s.io/pod-group-total-count: '2'");
	owners_fixture_settle(&f);
	assert_false(is_there(&f, "d"));
	bind(&f, "c");
	set_phase(&f, "b", "Succeeded");
	owners_fixture_settle(&f);
	owners_fixture_get_workload(&f);
	owners_fixture_expect(&f, "status.reclaimablePods", "[{\"name\":\"r1\",\"count\":1}]");
	set_phase(&f, "c", "Succeeded");
	owners_fixture_settle(&f);
	owners_fixture_get_workload(&f);
	owners_fixture_expect_condition(&f, "Finished", "True", "Succeeded");
	get_pod(&f, "c");
	expect_no_finalizer(&f);
	assert_false(owners_fixture_has_event(&f, "WorkloadWriteRefused"));
	owners_fixture_end(&f);
}

static void a_group_that_is_preempted_and_comes_back(void **state)
{
	struct owners_fixture f;

	(void)state;
	owners_fixture_begin(&f, CONF);
	start_group(&f);
	owners_fixture_evict(&f, "r1:2");
	owners_fixture_settle(&f);
	get_pod(&f, "a");
	owners_fixture_expect_condition(&f, "TerminationTarget", "True", "WorkloadEvicted");
	assert_int_equal(owners_fixture_activity(&f), OWNERS_RUN);
	set_phase(&f, "a", "Failed");
	set_phase(&f, "b", "Failed");
	owners_fixture_settle(&f);
	assert_int_equal(owners_fixture_activity(&f), OWNERS_STOPPED);
	owners_fixture_get_workload(&f);
	owners_fixture_expect_condition(&f, "WaitingForReplacementPods", "True", "Preempted");
	owners_fixture_workload_status(&f,
				       C("False", "QuotaReserved",
					 "PendingEvaluation") "," C("True", "Evicted", "Preempted"),
				       NULL);
	create_pod(&f, "c", "g", ", kueue.x-k8s.io/pod-group-total-count: '2'");
	owners_fixture_settle(&f);
	expect_gated(&f, "c", true);
	create_pod(&f, "d", "g", ", kueue.x-k8s.io/pod-group-total-count: '2'");
	owners_fixture_settle(&f);
	owners_fixture_get_workload(&f);
	owners_fixture_expect_condition(&f, "WaitingForReplacementPods", "False", "PodsReady");
	owners_fixture_admit(&f, "r1:2");
	owners_fixture_settle(&f);
	expect_gated(&f, "c", false);
	expect_gated(&f, "d", false);
	owners_fixture_end(&f);
}

/* Kubernetes deletes the pods of a namespace before all else. */
static void a_group_that_goes_with_its_namespace(void **state)
{
	struct owners_fixture f;
	struct api_namespace ns;

	(void)state;
	owners_fixture_begin(&f, CONF);
	start_group(&f);
	end_pod(&f, "a");
	owners_fixture_settle(&f);
	assert_true(is_there(&f, "a"));
	assert_int_equal(decode_text(&namespace_fields,
				     STR_LIT("{\"metadata\":{\"name\":\"default\","
					     "\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"}}"),
				     &ns, f.arena, NULL),
			 0);
	owners_namespace(f.o, &ns);
	owners_fixture_settle(&f);
	assert_false(is_there(&f, "a"));
	assert_true(is_there(&f, "b"));
	end_pod(&f, "b");
	owners_fixture_settle(&f);
	assert_false(is_there(&f, "b"));
	owners_fixture_get_workload(&f);
	expect_no_finalizer(&f);
	owners_fixture_end(&f);
}

static void pods_are_left_alone(void **state)
{
	static const char *const confs[] = {
		"integrations: {frameworks: [batch/job]}",
		CONF "\nmanagedJobsNamespaceSelector: {matchLabels: {team: x}}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(confs); i++) {
		struct owners_fixture f;

		owners_fixture_begin(&f, confs[i]);
		owners_synced(f.o);
		create_pod(&f, "a", NULL, "");
		owners_fixture_settle(&f);
		owners_fixture_call(&f, HTTP_GET, OWNERS_FIXTURE_WORKLOADS, NULL, NULL);
		owners_fixture_expect(&f, "items", "[]");
		owners_fixture_end(&f);
	}
}

/* The name is free when the Workload that had it is gone. */
static void a_name_that_is_taken(void **state)
{
	struct owners_fixture f;

	(void)state;
	owners_fixture_begin(&f, CONF);
	owners_synced(f.o);
	owners_fixture_call(
		&f, HTTP_POST, OWNERS_FIXTURE_WORKLOADS, APISERVER_FIXTURE_YAML,
		"{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: g,"
		" namespace: default}, spec: {queueName: lq, podSets: [{name: main,"
		" template: {spec: {containers: [{name: c}]}}}]}}");
	create_pod(&f, "a", "g", ", kueue.x-k8s.io/pod-group-total-count: '1'");
	owners_fixture_settle(&f);
	assert_true(owners_fixture_has_event(&f, "ErrWorkloadCompose"));
	owners_fixture_call(&f, HTTP_DELETE, OWNERS_FIXTURE_WORKLOADS "/g", NULL, NULL);
	owners_fixture_settle(&f);
	owners_fixture_get_workload(&f);
	assert_true(jdoc_is_str(jdoc_get(jdoc_path(f.api.doc, "metadata.annotations"),
					 "kueue.x-k8s.io/is-group-workload"),
				"true"));
	owners_fixture_end(&f);
}

static void answers_that_are_lost(void **state)
{
	(void)state;
	for (unsigned losses = 1; losses <= 6; losses++) {
		struct owners_fixture f;

		owners_fixture_begin(&f, CONF);
		f.losses = losses;
		start_group(&f);
		owners_fixture_end(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pod_that_runs_to_its_end),
		cmocka_unit_test(quota_stays_while_a_pod_may_be_let_go),
		cmocka_unit_test(a_pod_that_is_preempted),
		cmocka_unit_test(a_pod_that_is_preempted_before_it_is_let_go),
		cmocka_unit_test(a_group_whose_pod_fails),
		cmocka_unit_test(a_group_that_is_preempted_and_comes_back),
		cmocka_unit_test(a_group_that_goes_with_its_namespace),
		cmocka_unit_test(pods_are_left_alone),
		cmocka_unit_test(a_name_that_is_taken),
		cmocka_unit_test(answers_that_are_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
