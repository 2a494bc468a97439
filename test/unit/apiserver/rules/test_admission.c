/* Webhook call-outs of the server, and the registrations that ship with the chart. */
#include "lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "apiserver/manifests.h"
#include "base/attrs.h"
#include "base/err.h"
#include "enc/base64.h"
#include "enc/json/jdoc.h"
#include "unit/apiserver/apiserver_fixture.h"

#define PODS "/api/v1/namespaces/default/pods"

struct fixture {
	struct apiserver_fixture api;
	int calls, error;
	bool deny, bad_uid, write_meanwhile;
	const char *patch;
	char url[200];
};

static int review(void *ctx, const struct apiserver_review *call, struct strbuf *out,
		  struct err *err)
{
	struct fixture *f = ctx;
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	CLEANUP(strbuf_finish) struct strbuf patch = STRBUF_INIT;

	f->calls++;
	snprintf(f->url, sizeof(f->url), "%s", call->url);
	assert_int_equal(jdoc_parse(call->body, &d, NULL), 0);
	if (f->error != 0) {
		return err_set(err, (enum err_code)f->error, "no answer");
	}
	if (f->write_meanwhile) {
		struct apiserver_response resp = APISERVER_RESPONSE_INIT;
		const struct http_request req = {
			.method = HTTP_PATCH,
			.path = STR_LIT(PODS "/p"),
			.content_type = STR_LIT(APISERVER_FIXTURE_MERGE),
			.body = STR_LIT("{\"metadata\":{\"labels\":{\"other\":\"1\"}}}"),
		};

		f->write_meanwhile = false;
		apiserver_handle(f->api.server, &req, f->api.now, &resp);
		assert_int_equal(resp.status, 200);
		apiserver_response_finish(&resp);
	}
	strbuf_printf(out,
		      "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\","
		      "\"response\":{\"uid\":\"%s\",\"allowed\":%s,\"warnings\":[\"careful\"]",
		      f->bad_uid ? "x" : jdoc_path_str(d, "request.uid"),
		      f->deny ? "false,\"status\":{\"message\":\"not so\"}" : "true");
	if (f->patch != NULL) {
		base64_encode(str_of(f->patch), &patch);
		strbuf_printf(out, ",\"patchType\":\"JSONPatch\",\"patch\":\"%s\"", patch.p);
	}
	strbuf_add_c(out, "}}");
	return 0;
}

static int setup(void **state)
{
	static struct fixture f;

	f = (struct fixture){ 0 };
	apiserver_fixture_start(&f.api, review, &f);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	apiserver_fixture_stop(&f->api);
	return 0;
}

static int load(struct fixture *f, const char *extra)
{
	char text[1500];

	snprintf(text, sizeof(text),
		 "apiVersion: admissionregistration.k8s.io/v1\n"
		 "kind: MutatingWebhookConfiguration\n"
		 "metadata: {name: w}\n"
		 "webhooks:\n"
		 "- name: a.b.c\n"
		 "  clientConfig: {url: 'https://hook/path'}\n"
		 "  sideEffects: None\n"
		 "  admissionReviewVersions: [v1]\n"
		 "  timeoutSeconds: 3\n"
		 "  rules: [{operations: [CREATE, UPDATE], apiGroups: [''], apiVersions: [v1],"
		 " resources: [pods]}]\n%s",
		 extra);
	return apiserver_fixture_do(
		&f->api, HTTP_POST,
		"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
		APISERVER_FIXTURE_YAML, text);
}

static int create(struct fixture *f, const char *url, const char *meta)
{
	char text[500];

	snprintf(text, sizeof(text), "{metadata: {%s}, spec: {containers: [{name: c, image: i}]}}",
		 meta);
	return apiserver_fixture_do(&f->api, HTTP_POST, url, APISERVER_FIXTURE_YAML, text);
}

static void test_mutation(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(load(f, ""), 201);
	f->patch = "[{\"op\":\"add\",\"path\":\"/spec/schedulingGates\",\"value\":[{\"name\":"
		   "\"a/b\"}]}]";
	assert_int_equal(create(f, PODS, "name: p"), 201);
	assert_int_equal(f->calls, 1);
	assert_string_equal(f->url, "https://hook/path?timeout=3s");
	assert_string_equal(f->api.resp.warning.p, "careful");
	assert_int_equal(jdoc_count(jdoc_path(f->api.doc, "spec.schedulingGates")), 1);
	assert_string_equal(
		jdoc_path_str(jdoc_at(jdoc_path(f->api.doc, "status.conditions"), 0), "reason"),
		"SchedulingGated");
	assert_int_equal(create(f, PODS "?dryRun=All", "name: q"), 201);
	assert_int_equal(f->calls, 2);
	assert_null(apiserver_peek(f->api.server, "", "pods", "default", "q").p);
}

static void test_denial(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(load(f, ""), 201);
	f->deny = true;
	assert_int_equal(create(f, PODS, "name: p"), 403);
	assert_string_equal(apiserver_fixture_text(&f->api, "message"),
			    "admission webhook \"a.b.c\" denied the request: not so");
}

static void test_failure_policy(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(load(f, ""), 201);
	f->error = ERR_TIMEOUT;
	assert_int_equal(create(f, PODS, "name: p"), 500);
	assert_non_null(strstr(apiserver_fixture_text(&f->api, "message"),
			       "failed calling webhook \"a.b.c\""));
	f->error = 0;
	f->bad_uid = true;
	assert_int_equal(create(f, PODS, "name: p"), 500);
	assert_int_equal(apiserver_fixture_do(&f->api, HTTP_DELETE,
					      "/apis/admissionregistration.k8s.io/v1/"
					      "mutatingwebhookconfigurations/w",
					      NULL, NULL),
			 200);
	assert_int_equal(load(f, "  failurePolicy: Ignore\n"), 201);
	assert_int_equal(create(f, PODS, "name: p"), 201);
	assert_int_equal(f->calls, 3);
}

static void test_selection(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(load(f, "  namespaceSelector: {matchLabels: {on: 'yes'}}\n"
				 "  objectSelector: {matchExpressions: [{key: skip, operator: "
				 "DoesNotExist}]}\n"
				 "  matchConditions: [{name: m, expression: "
				 "\"object.metadata.name != 'no'\"}]\n"),
			 201);
	assert_int_equal(apiserver_fixture_do(&f->api, HTTP_POST, "/api/v1/namespaces",
					      APISERVER_FIXTURE_YAML,
					      "metadata: {name: on, labels: {on: 'yes'}}"),
			 201);
	assert_int_equal(create(f, PODS, "name: p"), 201);
	assert_int_equal(f->calls, 0);
	assert_int_equal(create(f, "/api/v1/namespaces/on/pods", "name: p"), 201);
	assert_int_equal(f->calls, 1);
	assert_int_equal(create(f, "/api/v1/namespaces/on/pods", "name: no"), 201);
	assert_int_equal(create(f, "/api/v1/namespaces/on/pods", "name: r, labels: {skip: a}"),
			 201);
	assert_int_equal(f->calls, 1);
}

static void test_condition_outside_the_subset_is_refused(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(load(f, "  matchConditions: [{name: m, expression: \"1 + 1 == 2\"}]\n"),
			 422);
	assert_non_null(strstr(apiserver_fixture_text(&f->api, "message"),
			       "webhooks[0].matchConditions[0].expression"));
}

static void test_write_during_call_out(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(create(f, PODS, "name: p"), 201);
	assert_int_equal(load(f,
			      "  matchConditions: [{name: m, expression: "
			      "\"!has(object.metadata.labels) || !('other' in "
			      "object.metadata.labels) || 'mine' in object.metadata.labels\"}]\n"),
			 201);
	f->write_meanwhile = true;
	assert_int_equal(apiserver_fixture_do(&f->api, HTTP_PATCH, PODS "/p",
					      APISERVER_FIXTURE_MERGE,
					      "{\"metadata\":{\"labels\":{\"mine\":\"1\"}}}"),
			 200);
	assert_string_equal(apiserver_fixture_text(&f->api, "metadata.labels.mine"), "1");
	assert_string_equal(apiserver_fixture_text(&f->api, "metadata.labels.other"), "1");
}

static void test_chart(void **state)
{
	struct fixture *f = *state;
	const struct manifests_webhooks hooks = { "charts/headgate/files/webhooks.yaml",
						  "https://127.0.0.1:1", NULL };
	struct err err = ERR_INIT;

	apiserver_fixture_load(&f->api, "charts/headgate/files/crds/queues.yaml");
	apiserver_fixture_load(&f->api, "charts/headgate/files/crds/podgroups.yaml");
	assert_int_equal(manifests_load_webhooks(f->api.server, &hooks, f->api.now, &err), 0);
	assert_int_equal(create(f, PODS, "name: plain"), 201);
	assert_int_equal(f->calls, 0);
	assert_int_equal(
		apiserver_fixture_do(
			&f->api, HTTP_POST, PODS, APISERVER_FIXTURE_YAML,
			"metadata: {name: p, annotations: "
			"{scheduling.volcano.sh/queue-allocation-gate: 'true'}}\n"
			"spec: {schedulerName: volcano, containers: [{name: c, image: i}]}"),
		201);
	assert_int_equal(f->calls, 1);
	assert_string_equal(f->url, "https://127.0.0.1:1/pods/mutate?timeout=5s");
	assert_int_equal(apiserver_fixture_do(&f->api, HTTP_POST,
					      "/apis/scheduling.volcano.sh/v1beta1/queues",
					      APISERVER_FIXTURE_YAML,
					      "{apiVersion: scheduling.volcano.sh/v1beta1, "
					      "kind: Queue, metadata: {name: q}}"),
			 201);
	assert_int_equal(f->calls, 3);
	assert_int_equal(apiserver_fixture_do(
				 &f->api, HTTP_PATCH,
				 "/apis/scheduling.volcano.sh/v1beta1/queues/q/status",
				 APISERVER_FIXTURE_MERGE,
				 "{\"status\":{\"allocated\":{\"cpu\":\"1\"},\"state\":\"Open\"}}"),
			 200);
	assert_int_equal(f->calls, 3);
}

#define JOBS "/apis/batch/v1/namespaces/default/jobs"
#define KUEUE "/apis/kueue.x-k8s.io/v1beta2"
#define WORKLOADS KUEUE "/namespaces/default/workloads"

/* Sends a request and returns how often the webhook was asked for it. */
static int asked(struct fixture *f, enum http_method method, const char *url, const char *type,
		 const char *body)
{
	int before = f->calls;
	int status = apiserver_fixture_do(&f->api, method, url, type, body);

	if (status != 200 && status != 201) {
		fail_msg("%s %s: %d %s", url, body, status,
			 apiserver_fixture_text(&f->api, "message"));
	}
	return f->calls - before;
}

static void load_quota(struct fixture *f)
{
	static const char *const crds[] = { "clusterqueues", "workloads", "resourceflavors" };
	const struct manifests_webhooks hooks = { "charts/headgate/files/webhooks-quota.yaml",
						  "https://127.0.0.1:1", NULL };
	struct err err = ERR_INIT;
	char path[200];

	for (size_t i = 0; i < ARRAY_LEN(crds); i++) {
		snprintf(path, sizeof(path), "charts/headgate/files/crds/quota/%s.yaml", crds[i]);
		apiserver_fixture_load(&f->api, path);
	}
	assert_int_equal(manifests_load_webhooks(f->api.server, &hooks, f->api.now, &err), 0);
}

#define TEMPLATE "spec: {template: {spec: {containers: [{name: c}]}}}"

static void test_quota_jobs(void **state)
{
	struct fixture *f = *state;
	const char *queued =
		"metadata: {name: q, labels: {kueue.x-k8s.io/queue-name: a}}\n" TEMPLATE;

	load_quota(f);
	assert_int_equal(asked(f, HTTP_POST, JOBS, APISERVER_FIXTURE_YAML,
			       "metadata: {name: plain}\n" TEMPLATE),
			 0);
	assert_int_equal(asked(f, HTTP_POST, JOBS, APISERVER_FIXTURE_YAML, queued), 2);
	assert_string_equal(f->url, "https://127.0.0.1:1/validate-batch-v1-job?timeout=5s");
	/* Writes of the Job controller are not sent to the webhook; changes of labels are. */
	assert_int_equal(asked(f, HTTP_PATCH, JOBS "/q/status", APISERVER_FIXTURE_MERGE,
			       "{\"status\":{\"active\":1}}"),
			 0);
	assert_int_equal(asked(f, HTTP_PATCH, JOBS "/q", APISERVER_FIXTURE_MERGE,
			       "{\"metadata\":{\"finalizers\":[\"a/b\"]}}"),
			 0);
	assert_int_equal(asked(f, HTTP_PATCH, JOBS "/q", APISERVER_FIXTURE_MERGE,
			       "{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/queue-name\":null}}}"),
			 1);
	assert_int_equal(asked(f, HTTP_PATCH, JOBS "/q", APISERVER_FIXTURE_MERGE,
			       "{\"metadata\":{\"labels\":{\"other\":\"x\"}}}"),
			 0);
	/* Where Jobs without a queue may be given one. */
	assert_int_equal(asked(f, HTTP_PATCH, "/api/v1/namespaces/default", APISERVER_FIXTURE_MERGE,
			       "{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/managed-namespace\":"
			       "\"true\"}}}"),
			 0);
	assert_int_equal(asked(f, HTTP_POST, JOBS, APISERVER_FIXTURE_YAML,
			       "metadata: {name: plain2}\n" TEMPLATE),
			 1);
	assert_string_equal(f->url, "https://127.0.0.1:1/mutate-batch-v1-job?timeout=5s");
}

#define KIND(kind) "apiVersion: kueue.x-k8s.io/v1beta2\nkind: " kind "\n"

static void test_kueue_kinds(void **state)
{
	struct fixture *f = *state;

	load_quota(f);
	assert_int_equal(
		asked(f, HTTP_POST, KUEUE "/clusterqueues", APISERVER_FIXTURE_YAML,
		      KIND("ClusterQueue") "metadata: {name: q}\nspec: {namespaceSelector: {}}"),
		2);
	assert_string_equal(apiserver_fixture_text(&f->api, "spec.queueingStrategy"),
			    "BestEffortFIFO");
	assert_string_equal(apiserver_fixture_text(&f->api, "spec.preemption.withinClusterQueue"),
			    "Never");
	assert_string_equal(
		apiserver_fixture_text(&f->api, "spec.preemption.borrowWithinCohort.policy"),
		"Never");
	assert_string_equal(
		apiserver_fixture_text(&f->api, "spec.flavorFungibility.whenCanPreempt"),
		"TryNextFlavor");
	assert_string_equal(apiserver_fixture_text(&f->api, "spec.stopPolicy"), "None");
	assert_int_equal(asked(f, HTTP_PATCH, KUEUE "/clusterqueues/q", APISERVER_FIXTURE_MERGE,
			       "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}"),
			 0);
	assert_int_equal(asked(f, HTTP_PATCH, KUEUE "/clusterqueues/q", APISERVER_FIXTURE_MERGE,
			       "{\"spec\":{\"stopPolicy\":\"Hold\"}}"),
			 1);
	assert_int_equal(
		asked(f, HTTP_PATCH, KUEUE "/clusterqueues/q", APISERVER_FIXTURE_MERGE,
		      "{\"metadata\":{\"annotations\":{\"headgate.io/preemption-cost-base\":"
		      "\"1\"}}}"),
		1);
	assert_int_equal(asked(f, HTTP_PATCH, KUEUE "/clusterqueues/q/status",
			       APISERVER_FIXTURE_MERGE, "{\"status\":{\"pendingWorkloads\":1}}"),
			 0);
	assert_int_equal(
		asked(f, HTTP_POST, WORKLOADS, APISERVER_FIXTURE_YAML,
		      KIND("Workload") "metadata: {name: w}\nspec: {podSets: [{template: {}}]}"),
		1);
	assert_int_equal(asked(f, HTTP_PATCH, WORKLOADS "/w/status", APISERVER_FIXTURE_MERGE,
			       "{\"status\":{\"preemptionCost\":\"1\"}}"),
			 1); /* the first status of all */
	assert_int_equal(asked(f, HTTP_PATCH, WORKLOADS "/w/status", APISERVER_FIXTURE_MERGE,
			       "{\"status\":{\"preemptionCost\":\"2\"}}"),
			 0);
	assert_int_equal(
		asked(f, HTTP_PATCH, WORKLOADS "/w/status", APISERVER_FIXTURE_MERGE,
		      "{\"status\":{\"reclaimablePods\":[{\"name\":\"main\",\"count\":1}]}}"),
		1);
	assert_int_equal(asked(f, HTTP_PATCH, WORKLOADS "/w", APISERVER_FIXTURE_MERGE,
			       "{\"spec\":{\"active\":false}}"),
			 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(test_mutation),
		T(test_denial),
		T(test_failure_policy),
		T(test_selection),
		T(test_condition_outside_the_subset_is_refused),
		T(test_write_during_call_out),
		T(test_chart),
		T(test_quota_jobs),
		T(test_kueue_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
