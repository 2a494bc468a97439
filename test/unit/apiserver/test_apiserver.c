/* The server as a whole, one request after the other. */
#include "lib/unit.h"

#include <stdio.h>

#include "apiserver/apiserver.h"
#include "base/clock.h"
#include "base/err.h"
#include "enc/json/jdoc.h"

#define NOW (INT64_C(1767225600) * CLOCK_NS_PER_S)

struct fixture {
	struct apiserver *s;
	struct apiserver_response resp;
	int64_t now;
	struct jdoc *doc;
};

static int setup(void **state)
{
	static struct fixture f;
	const struct apiserver_options opt = { .seed = 1, .now = NOW };

	f = (struct fixture){ .s = apiserver_create(&opt), .now = NOW };
	strbuf_init(&f.resp.body);
	strbuf_init(&f.resp.warning);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	jdoc_destroy(f->doc);
	apiserver_watch_close(f->resp.watch);
	apiserver_response_finish(&f->resp);
	apiserver_destroy(f->s);
	return 0;
}

static int call(struct fixture *f, enum http_method m, const char *url, const char *type,
		const char *body)
{
	const char *q = strchr(url, '?');
	struct http_request req = {
		.method = m,
		.path = { url, q == NULL ? strlen(url) : (size_t)(q - url) },
		.query = str_of(q == NULL ? NULL : q + 1),
		.content_type = str_of(type),
		.body = str_of(body),
		.user_agent = STR_LIT("test/1"),
	};

	apiserver_handle(f->s, &req, f->now, &f->resp);
	jdoc_destroy(f->doc);
	f->doc = NULL;
	if (f->resp.body.len > 0) {
		(void)jdoc_parse(strbuf_str(&f->resp.body), &f->doc, NULL);
	}
	return f->resp.status;
}

static const char json[] = "application/json";
static const char merge[] = "application/merge-patch+json";
static const char strategic[] = "application/strategic-merge-patch+json";
static const char pods[] = "/api/v1/namespaces/default/pods";

static const char *text(struct fixture *f, const char *path)
{
	return jdoc_str_or(jdoc_path(f->doc, path), "");
}

static void make_pod(struct fixture *f, const char *name, bool gated)
{
	char body[400];

	snprintf(body, sizeof(body),
		 "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"app\":\"%s\"}},\"spec\":{"
		 "\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{\"requests\":{"
		 "\"cpu\":\"1000m\"}}}]%s}}",
		 name, name, gated ? ",\"schedulingGates\":[{\"name\":\"a/b\"}]" : "");
	assert_int_equal(call(f, HTTP_POST, pods, json, body), 201);
}

static void test_create_and_get(void **state)
{
	struct fixture *f = *state;

	make_pod(f, "p", false);
	assert_string_equal(text(f, "status.phase"), "Pending");
	assert_null(jdoc_path(f->doc, "status.conditions"));
	assert_string_equal(text(f, "spec.schedulerName"), "default-scheduler");
	assert_int_equal(call(f, HTTP_GET, "/api/v1/namespaces/default/pods/p", NULL, NULL), 200);
	assert_string_equal(jdoc_path_str(jdoc_at(jdoc_path(f->doc, "spec.containers"), 0),
					  "resources.requests.cpu"),
			    "1");
	assert_int_equal(call(f, HTTP_POST, pods, json, f->resp.body.p), 400);
	assert_int_equal(call(f, HTTP_GET, "/api/v1/namespaces/default/pods/q", NULL, NULL), 404);
	assert_string_equal(text(f, "message"), "pods \"q\" not found");
	assert_string_equal(text(f, "reason"), "NotFound");
	assert_int_equal(call(f, HTTP_POST, "/api/v1/namespaces/none/pods", json, "{}"), 404);
	assert_string_equal(text(f, "message"), "namespaces \"none\" not found");
}

static void test_already_exists(void **state)
{
	struct fixture *f = *state;

	make_pod(f, "p", false);
	assert_int_equal(call(f, HTTP_POST, pods, json,
			      "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":"
			      "\"c\",\"image\":\"i\"}]}}"),
			 409);
	assert_string_equal(text(f, "reason"), "AlreadyExists");
	assert_string_equal(text(f, "message"), "pods \"p\" already exists");
}

static void test_gates(void **state)
{
	struct fixture *f = *state;
	const char *binding = "{\"target\":{\"kind\":\"Node\",\"name\":\"n\"}}";

	make_pod(f, "p", true);
	assert_string_equal(
		jdoc_path_str(jdoc_at(jdoc_path(f->doc, "status.conditions"), 0), "reason"),
		"SchedulingGated");
	assert_int_equal(
		call(f, HTTP_POST, "/api/v1/namespaces/default/pods/p/binding", json, binding),
		409);
	assert_string_equal(text(f, "message"), "Operation cannot be fulfilled on pods/binding "
						"\"p\": pod p has non-empty .spec.schedulingGates");
	assert_int_equal(call(f, HTTP_PATCH, "/api/v1/namespaces/default/pods/p", strategic,
			      "{\"spec\":{\"schedulingGates\":[{\"name\":\"c/d\"}]}}"),
			 422);
	assert_int_equal(call(f, HTTP_PATCH, "/api/v1/namespaces/default/pods/p", strategic,
			      "{\"metadata\":{\"uid\":\"x\"},\"spec\":{\"schedulingGates\":[{"
			      "\"$patch\":\"delete\",\"name\":\"a/b\"}]}}"),
			 422);
	assert_int_equal(call(f, HTTP_PATCH, "/api/v1/namespaces/default/pods/p", strategic,
			      "{\"spec\":{\"schedulingGates\":[{\"$patch\":\"delete\",\"name\":"
			      "\"a/b\"}]}}"),
			 200);
	assert_int_equal(jdoc_count(jdoc_path(f->doc, "spec.schedulingGates")), 0);
	assert_string_equal(
		jdoc_path_str(jdoc_at(jdoc_path(f->doc, "status.conditions"), 0), "reason"),
		"SchedulingGated");
	assert_int_equal(
		call(f, HTTP_POST, "/api/v1/namespaces/default/pods/p/binding", json, binding),
		201);
	assert_int_equal(
		call(f, HTTP_POST, "/api/v1/namespaces/default/pods/p/binding", json, binding),
		409);
	assert_int_equal(
		call(f, HTTP_GET, "/api/v1/pods?fieldSelector=spec.nodeName%3Dn", NULL, NULL), 200);
	assert_int_equal(jdoc_count(jdoc_get(f->doc, "items")), 1);
}

static void test_locking(void **state)
{
	struct fixture *f = *state;
	const char *url = "/api/v1/namespaces/default/configmaps/c";

	assert_int_equal(call(f, HTTP_POST, "/api/v1/namespaces/default/configmaps", json,
			      "{\"metadata\":{\"name\":\"c\"},\"data\":{\"a\":\"1\"}}"),
			 201);
	assert_int_equal(call(f, HTTP_PUT, url, json,
			      "{\"metadata\":{\"name\":\"c\",\"resourceVersion\":\"1\"}}"),
			 409);
	assert_string_equal(text(f, "reason"), "Conflict");
	assert_int_equal(call(f, HTTP_PATCH, url, merge, "{\"data\":{\"b\":\"2\",\"a\":null}}"),
			 200);
	assert_string_equal(text(f, "data.b"), "2");
	assert_null(jdoc_path(f->doc, "data.a"));
	assert_int_equal(call(f, HTTP_PATCH, url, "application/json-patch+json",
			      "[{\"op\":\"test\",\"path\":\"/data/b\",\"value\":\"3\"}]"),
			 422);
	assert_int_equal(call(f, HTTP_PATCH, url, "text/plain", "x"), 415);
	assert_int_equal(call(f, HTTP_DELETE, url, NULL, NULL), 200);
	assert_string_equal(text(f, "status"), "Success");
	assert_int_equal(call(f, HTTP_DELETE, url, NULL, NULL), 404);
}

static void test_pages_show_one_state(void **state)
{
	struct fixture *f = *state;
	char url[300];

	make_pod(f, "a", false);
	make_pod(f, "b", false);
	make_pod(f, "c", false);
	assert_int_equal(call(f, HTTP_GET, "/api/v1/pods?limit=1", NULL, NULL), 200);
	snprintf(url, sizeof(url), "/api/v1/pods?limit=5&continue=%s",
		 text(f, "metadata.continue"));
	assert_int_equal(call(f, HTTP_DELETE, "/api/v1/namespaces/default/pods/b", NULL, NULL),
			 200);
	make_pod(f, "bb", false);
	assert_int_equal(call(f, HTTP_GET, url, NULL, NULL), 200);
	assert_int_equal(jdoc_count(jdoc_get(f->doc, "items")), 2);
	assert_string_equal(jdoc_path_str(jdoc_at(jdoc_get(f->doc, "items"), 0), "metadata.name"),
			    "b");
	apiserver_compact(f->s);
	assert_int_equal(call(f, HTTP_GET, url, NULL, NULL), 410);
}

static void next_type(struct fixture *f, struct apiserver_watch *w, const char *type)
{
	struct strbuf out = STRBUF_INIT;
	struct jdoc *d = NULL;
	int r = apiserver_watch_next(w, f->now, &out);

	if (type == NULL) {
		assert_int_equal(r, 0);
		return;
	}
	assert_int_not_equal(r, 0);
	assert_int_equal(jdoc_parse(strbuf_str(&out), &d, NULL), 0);
	assert_string_equal(jdoc_path_str(d, "type"), type);
	jdoc_destroy(d);
	strbuf_finish(&out);
}

static void test_watch(void **state)
{
	struct fixture *f = *state;
	struct apiserver_watch *w;

	make_pod(f, "a", true);
	assert_int_equal(call(f, HTTP_GET,
			      "/api/v1/pods?watch=1&allowWatchBookmarks=true&timeoutSeconds=100"
			      "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
			      "&labelSelector=app%3Da",
			      NULL, NULL),
			 200);
	w = f->resp.watch;
	next_type(f, w, "ADDED");
	next_type(f, w, "BOOKMARK");
	next_type(f, w, NULL);
	make_pod(f, "b", false);
	next_type(f, w, NULL);
	assert_int_equal(call(f, HTTP_PATCH, "/api/v1/namespaces/default/pods/a", merge,
			      "{\"metadata\":{\"labels\":{\"x\":\"y\"}}}"),
			 200);
	next_type(f, w, "MODIFIED");
	assert_int_equal(call(f, HTTP_PATCH, "/api/v1/namespaces/default/pods/a", merge,
			      "{\"metadata\":{\"labels\":{\"app\":\"z\"}}}"),
			 200);
	next_type(f, w, "DELETED");
	f->now += 60 * CLOCK_NS_PER_S;
	next_type(f, w, "BOOKMARK");
	f->now += 40 * CLOCK_NS_PER_S;
	assert_int_equal(apiserver_watch_next(w, f->now, &f->resp.body), -1);
	apiserver_watch_close(w);
	apiserver_compact(f->s);
	make_pod(f, "c", false);
	assert_int_equal(call(f, HTTP_GET, "/api/v1/pods?watch=1&resourceVersion=3", NULL, NULL),
			 200);
	w = f->resp.watch;
	next_type(f, w, "ERROR");
	apiserver_watch_close(w);
	f->resp.watch = NULL;
}

static void test_graceful_deletion(void **state)
{
	struct fixture *f = *state;
	const char *url = "/api/v1/namespaces/default/pods/p";

	make_pod(f, "p", false);
	assert_int_equal(call(f, HTTP_POST, "/api/v1/namespaces/default/pods/p/binding", json,
			      "{\"target\":{\"name\":\"n\"}}"),
			 201);
	assert_int_equal(call(f, HTTP_DELETE, url, json, "{\"preconditions\":{\"uid\":\"other\"}}"),
			 409);
	assert_int_equal(call(f, HTTP_POST, "/api/v1/namespaces/default/pods/p/eviction", json,
			      "{\"metadata\":{\"name\":\"p\"}}"),
			 201);
	assert_int_equal(call(f, HTTP_GET, url, NULL, NULL), 200);
	assert_string_equal(text(f, "metadata.deletionTimestamp"), "2026-01-01T00:00:30Z");
	assert_int_equal(call(f, HTTP_DELETE, url, json, "{\"gracePeriodSeconds\":0}"), 200);
	assert_int_equal(call(f, HTTP_GET, url, NULL, NULL), 404);
}

static const char crd[] =
	"apiVersion: apiextensions.k8s.io/v1\n"
	"kind: CustomResourceDefinition\n"
	"metadata: {name: things.x.io}\n"
	"spec:\n"
	"  group: x.io\n"
	"  scope: Cluster\n"
	"  names: {plural: things, kind: Thing, shortNames: [th]}\n"
	"  versions:\n"
	"  - name: v1\n"
	"    served: true\n"
	"    storage: true\n"
	"    subresources: {status: {}}\n"
	"    schema:\n"
	"      openAPIV3Schema:\n"
	"        type: object\n"
	"        properties:\n"
	"          spec:\n"
	"            type: object\n"
	"            properties:\n"
	"              weight: {type: integer, minimum: 1, default: 7}\n"
	"          status: {type: object, x-kubernetes-preserve-unknown-fields: true}\n";

static void test_custom_resources(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(call(f, HTTP_POST,
			      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
			      "application/yaml", crd),
			 201);
	assert_int_equal(call(f, HTTP_POST, "/apis/x.io/v1/things", json,
			      "{\"apiVersion\":\"x.io/v1\",\"kind\":\"Thing\",\"metadata\":{"
			      "\"name\":\"t\"},\"spec\":{\"zz\":1},\"status\":{\"a\":1}}"),
			 201);
	assert_int_equal(jdoc_int(jdoc_path(f->doc, "spec.weight"), 0), 7);
	assert_null(jdoc_path(f->doc, "spec.zz"));
	assert_null(jdoc_path(f->doc, "status"));
	assert_int_equal(call(f, HTTP_PATCH, "/apis/x.io/v1/things/t", strategic, "{}"), 415);
	assert_int_equal(call(f, HTTP_PATCH, "/apis/x.io/v1/things/t/status", merge,
			      "{\"spec\":{\"weight\":9},\"status\":{\"a\":2}}"),
			 200);
	assert_int_equal(jdoc_int(jdoc_path(f->doc, "spec.weight"), 0), 7);
	assert_int_equal(jdoc_int(jdoc_path(f->doc, "status.a"), 0), 2);
	assert_int_equal(jdoc_int(jdoc_path(f->doc, "metadata.generation"), 0), 1);
	assert_int_equal(
		call(f, HTTP_PATCH, "/apis/x.io/v1/things/t", merge, "{\"spec\":{\"weight\":0}}"),
		422);
	assert_string_equal(text(f, "message"),
			    "Thing.x.io \"t\" is invalid: spec.weight: Invalid value: 0: "
			    "spec.weight in body should be greater than or equal to 1");
	assert_int_equal(
		call(f, HTTP_PATCH, "/apis/x.io/v1/things/t", merge, "{\"spec\":{\"weight\":2}}"),
		200);
	assert_int_equal(jdoc_int(jdoc_path(f->doc, "metadata.generation"), 0), 2);
}

static void test_faults(void **state)
{
	struct fixture *f = *state;
	struct err err = ERR_INIT;
	const char script[] = "- {fault: status, code: 503, method: GET, path: /api/v1/pods}\n"
			      "- {fault: drop-after, method: POST}\n"
			      "- {fault: drop-before, method: POST}\n";

	assert_int_equal(apiserver_set_faults(f->s, str_of(script), &err), 0);
	assert_int_equal(call(f, HTTP_GET, "/api/v1/pods", NULL, NULL), 503);
	assert_int_equal(call(f, HTTP_GET, "/api/v1/pods", NULL, NULL), 200);
	assert_int_equal(call(f, HTTP_POST, pods, json,
			      "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":"
			      "\"c\",\"image\":\"i\"}]}}"),
			 0);
	assert_non_null(apiserver_peek(f->s, "", "pods", "default", "p").p);
	assert_int_equal(call(f, HTTP_POST, pods, json,
			      "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"containers\":[{\"name\":"
			      "\"c\"}]}}"),
			 0);
	assert_null(apiserver_peek(f->s, "", "pods", "default", "q").p);
	assert_int_equal(apiserver_fault_count(f->s, "drop-after"), 1);
}

static void test_apply(void **state)
{
	struct fixture *f = *state;
	const char *type = "application/apply-patch+yaml";
	const char *a = "/api/v1/namespaces/default/configmaps/c?fieldManager=a";
	const char *b = "/api/v1/namespaces/default/configmaps/c?fieldManager=b";

	assert_int_equal(call(f, HTTP_PATCH, a, type,
			      "{apiVersion: v1, kind: ConfigMap, data: {x: '1', y: '1'}}"),
			 201);
	assert_int_equal(
		call(f, HTTP_PATCH, b, type, "{apiVersion: v1, kind: ConfigMap, data: {y: '2'}}"),
		409);
	assert_string_equal(text(f, "message"),
			    "Apply failed with 1 conflict: conflict with \"a\": .data.y");
	assert_int_equal(
		call(f, HTTP_PATCH, b, type, "{apiVersion: v1, kind: ConfigMap, data: {z: '2'}}"),
		200);
	assert_int_equal(
		call(f, HTTP_PATCH, a, type, "{apiVersion: v1, kind: ConfigMap, data: {x: '1'}}"),
		200);
	assert_null(jdoc_path(f->doc, "data.y"));
	assert_string_equal(text(f, "data.z"), "2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(test_create_and_get),
		T(test_already_exists),
		T(test_gates),
		T(test_locking),
		T(test_pages_show_one_state),
		T(test_watch),
		T(test_graceful_deletion),
		T(test_custom_resources),
		T(test_faults),
		T(test_apply),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
