/* Fields of a pod that may change, resize, eviction under a budget, finalizers, priorities,
 * budgets. */
#include "lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "enc/json/jdoc.h"
#include "unit/apiserver/apiserver_fixture.h"

#define PODS "/api/v1/namespaces/default/pods"

static int setup(void **state)
{
	static struct apiserver_fixture f;

	apiserver_fixture_start(&f, NULL, NULL);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	apiserver_fixture_stop(*state);
	return 0;
}

static int create(struct apiserver_fixture *f, const char *spec)
{
	char text[600];

	snprintf(text, sizeof(text),
		 "{metadata: {name: p, labels: {a: b}}, spec: {%scontainers: [{name: c, image: i, "
		 "resources: {requests: {cpu: 500m}}}]}}",
		 spec);
	return apiserver_fixture_do(f, HTTP_POST, PODS, APISERVER_FIXTURE_YAML, text);
}

static int patch(struct apiserver_fixture *f, const char *sub, const char *body)
{
	char url[100];

	snprintf(url, sizeof(url), PODS "/p%s", sub);
	return apiserver_fixture_do(f, HTTP_PATCH, url, APISERVER_FIXTURE_STRATEGIC, body);
}

static void test_fields_that_may_change(void **state)
{
	static const struct {
		const char *sub, *body;
		int want;
	} rows[] = {
		{ "", "{\"metadata\":{\"annotations\":{\"x\":\"y\"}}}", 200 },
		{ "", "{\"spec\":{\"schedulerName\":\"x\"}}", 422 },
		{ "", "{\"spec\":{\"nodeSelector\":{\"a\":\"b\"}}}", 422 },
		{ "", "{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"j\"}]}}", 200 },
		{ "", "{\"spec\":{\"activeDeadlineSeconds\":5}}", 200 },
		/* Those that admission adds come back, others may not go. */
		{ "", "{\"spec\":{\"tolerations\":[]}}", 200 },
		{ "", "{\"spec\":{\"tolerations\":[{\"key\":\"a\",\"operator\":\"Exists\"}]}}",
		  200 },
		{ "", "{\"spec\":{\"tolerations\":[]}}", 422 },
		{ "",
		  "{\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":"
		  "\"2\"}}}]}}",
		  422 },
		{ "/resize",
		  "{\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":"
		  "\"2\"}}}]}}",
		  200 },
		{ "/resize", "{\"spec\":{\"schedulerName\":\"x\"}}", 200 },
		{ "/status", "{\"status\":{\"phase\":\"Running\"}}", 200 },
		{ "", "{\"status\":{\"phase\":\"Failed\"}}", 200 },
	};
	struct apiserver_fixture *f = *state;

	assert_int_equal(create(f, ""), 201);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int got = patch(f, rows[i].sub, rows[i].body);

		if (got != rows[i].want) {
			fail_msg("%s: %d %s", rows[i].body, got, f->resp.body.p);
		}
	}
	assert_string_equal(apiserver_fixture_text(f, "status.phase"), "Running");
	assert_string_equal(apiserver_fixture_text(f, "spec.schedulerName"), "default-scheduler");
	assert_string_equal(jdoc_path_str(jdoc_at(jdoc_path(f->doc, "spec.containers"), 0),
					  "resources.requests.cpu"),
			    "2");
}

static void test_gated_pods_may_be_narrowed(void **state)
{
	struct apiserver_fixture *f = *state;

	assert_int_equal(create(f, "schedulingGates: [{name: a/b}], nodeSelector: {x: y}, "), 201);
	assert_int_equal(patch(f, "", "{\"spec\":{\"nodeSelector\":{\"a\":\"b\"}}}"), 200);
	assert_int_equal(patch(f, "", "{\"spec\":{\"nodeSelector\":{\"x\":\"z\"}}}"), 422);
	assert_int_equal(patch(f, "", "{\"spec\":{\"nodeSelector\":{\"x\":null}}}"), 422);
}

static void test_refused_creations(void **state)
{
	struct apiserver_fixture *f = *state;

	assert_int_equal(create(f, "schedulingGates: [{name: a/b}], nodeName: n, "), 422);
	assert_int_equal(create(f, "schedulingGates: [{name: a/b}, {name: a/b}], "), 422);
	assert_int_equal(create(f, "schedulingGates: [{name: 'a b'}], "), 422);
	assert_int_equal(create(f, "priorityClassName: none, "), 403);
	assert_int_equal(create(f, "overhead: {cpu: 1x}, "), 400);
	assert_int_equal(create(f, "priorityClassName: system-node-critical, "), 201);
	assert_int_equal(jdoc_int(jdoc_path(f->doc, "spec.priority"), 0), 2000001000);
}

static void test_finalizers_hold(void **state)
{
	struct apiserver_fixture *f = *state;

	assert_int_equal(create(f, ""), 201);
	assert_int_equal(patch(f, "", "{\"metadata\":{\"finalizers\":[\"x/y\"]}}"), 200);
	assert_int_equal(apiserver_fixture_do(f, HTTP_DELETE, PODS "/p", NULL, NULL), 200);
	assert_int_equal(apiserver_fixture_do(f, HTTP_GET, PODS "/p", NULL, NULL), 200);
	assert_int_equal(patch(f, "", "{\"metadata\":{\"finalizers\":[\"x/z\"]}}"), 422);
	assert_int_equal(apiserver_fixture_do(f, HTTP_POST, PODS "/p/binding",
					      APISERVER_FIXTURE_YAML, "target: {name: n}"),
			 409);
	assert_int_equal(
		patch(f, "", "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"x/y\"]}}"),
		200);
	assert_int_equal(apiserver_fixture_do(f, HTTP_GET, PODS "/p", NULL, NULL), 404);
}

static void test_binding_preconditions(void **state)
{
	struct apiserver_fixture *f = *state;

	assert_int_equal(create(f, ""), 201);
	assert_int_equal(apiserver_fixture_do(f, HTTP_POST, PODS "/p/binding",
					      APISERVER_FIXTURE_YAML,
					      "{metadata: {uid: other}, target: {name: n}}"),
			 409);
	assert_int_equal(apiserver_fixture_do(f, HTTP_POST, PODS "/p/binding",
					      APISERVER_FIXTURE_YAML, "target: {kind: Node}"),
			 500);
	assert_int_equal(apiserver_fixture_do(f, HTTP_POST, PODS "/q/binding",
					      APISERVER_FIXTURE_YAML, "target: {name: n}"),
			 404);
	assert_int_equal(apiserver_fixture_do(f, HTTP_PUT, PODS "/p", APISERVER_FIXTURE_YAML,
					      "{metadata: {name: p, uid: other}, spec: "
					      "{containers: [{name: c}]}}"),
			 409);
}

#define BUDGETS "/apis/policy/v1/namespaces/default/poddisruptionbudgets"

static int evict(struct apiserver_fixture *f, const char *query)
{
	char url[100];

	snprintf(url, sizeof(url), PODS "/p/eviction%s", query);
	return apiserver_fixture_do(f, HTTP_POST, url, APISERVER_FIXTURE_YAML,
				    "metadata: {name: p}");
}

static void set_budget(struct apiserver_fixture *f, const char *status)
{
	char body[200];

	snprintf(body, sizeof(body), "{\"status\":%s}", status);
	assert_int_equal(apiserver_fixture_do(f, HTTP_PATCH, BUDGETS "/b/status",
					      APISERVER_FIXTURE_MERGE, body),
			 200);
}

static void test_budget(void **state)
{
	struct apiserver_fixture *f = *state;

	assert_int_equal(create(f, ""), 201);
	assert_int_equal(apiserver_fixture_do(
				 f, HTTP_POST, BUDGETS, APISERVER_FIXTURE_YAML,
				 "{metadata: {name: b}, spec: {selector: {matchLabels: {a: b}}}}"),
			 201);
	/* It does not run yet: nothing is there to be disrupted. */
	assert_int_equal(evict(f, "?dryRun=All"), 201);
	assert_int_equal(patch(f, "/status", "{\"status\":{\"phase\":\"Running\"}}"), 200);
	assert_int_equal(evict(f, ""), 429);
	assert_true(f->resp.retry_after_s > 0);
	set_budget(f, "{\"observedGeneration\":1,\"disruptionsAllowed\":0}");
	assert_int_equal(evict(f, ""), 429);
	assert_int_equal(f->resp.retry_after_s, 0);
	assert_string_equal(apiserver_fixture_text(f, "message"),
			    "Cannot evict pod as it would violate the pod's disruption budget.");
	/* A pod that is not ready may go when enough others are healthy. */
	set_budget(f, "{\"observedGeneration\":1,\"currentHealthy\":1,\"desiredHealthy\":2}");
	assert_int_equal(evict(f, "?dryRun=All"), 429);
	set_budget(f, "{\"observedGeneration\":1,\"currentHealthy\":2,\"desiredHealthy\":2}");
	assert_int_equal(evict(f, "?dryRun=All"), 201);
	set_budget(f, "{\"observedGeneration\":1,\"currentHealthy\":0,\"desiredHealthy\":0}");
	set_budget(f, "{\"observedGeneration\":1,\"disruptionsAllowed\":2}");
	assert_int_equal(apiserver_fixture_do(
				 f, HTTP_POST, BUDGETS, APISERVER_FIXTURE_YAML,
				 "{metadata: {name: c}, spec: {selector: {matchLabels: {a: b}}}}"),
			 201);
	assert_int_equal(evict(f, ""), 500);
	assert_int_equal(apiserver_fixture_do(f, HTTP_DELETE, BUDGETS "/c", NULL, NULL), 200);
	assert_int_equal(
		apiserver_fixture_do(f, HTTP_POST, PODS "/p/eviction", APISERVER_FIXTURE_YAML,
				     "{metadata: {name: p}, deleteOptions: {preconditions: "
				     "{uid: another}}}"),
		409);
	assert_int_equal(evict(f, ""), 201);
	assert_int_equal(apiserver_fixture_do(f, HTTP_GET, BUDGETS "/b", NULL, NULL), 200);
	assert_int_equal(jdoc_int(jdoc_path(f->doc, "status.disruptionsAllowed"), 0), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(test_fields_that_may_change), T(test_gated_pods_may_be_narrowed),
		T(test_refused_creations),      T(test_finalizers_hold),
		T(test_binding_preconditions),  T(test_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
