/* Server-side apply: ownership of fields, conflicts, removal of fields that their owner drops. */
#include "lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "enc/json/jdoc.h"
#include "unit/apiserver/apiserver_fixture.h"

#define URL "/apis/scheduling.volcano.sh/v1beta1/queues/q"
#define PODS "/api/v1/namespaces/default/pods"

static int setup(void **state)
{
	static struct apiserver_fixture f;

	apiserver_fixture_start(&f, NULL, NULL);
	apiserver_fixture_load(&f, "charts/headgate/files/crds/queues.yaml");
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	apiserver_fixture_stop(*state);
	return 0;
}

static int apply(struct apiserver_fixture *f, const char *url, const char *manager,
		 const char *body)
{
	char whole[200], text[500];
	bool pod = strstr(url, "/pods/") != NULL;

	snprintf(whole, sizeof(whole), "%s?fieldManager=%s", url, manager);
	snprintf(text, sizeof(text), "apiVersion: %s\nkind: %s\n%s",
		 pod ? "v1" : "scheduling.volcano.sh/v1beta1", pod ? "Pod" : "Queue", body);
	return apiserver_fixture_do(f, HTTP_PATCH, whole, APISERVER_FIXTURE_APPLY, text);
}

static void test_ownership(void **state)
{
	struct apiserver_fixture *f = *state;

	assert_int_equal(apply(f, URL, "a", "spec: {weight: 2, capability: {cpu: 4}}"), 201);
	assert_int_equal(apply(f, URL, "b", "spec: {weight: 2}"), 200);
	assert_int_equal(apply(f, URL, "b", "spec: {weight: 3}"), 409);
	assert_string_equal(apiserver_fixture_text(f, "message"),
			    "Apply failed with 1 conflict: conflict with \"a\": .spec.weight");
	assert_int_equal(apply(f, URL, "b&force=true", "spec: {weight: 3}"), 200);
	assert_int_equal(jdoc_int(jdoc_path(f->doc, "spec.weight"), 0), 3);
	assert_int_equal(apply(f, URL, "a", "spec: {weight: 2}"), 409);
	assert_int_equal(apply(f, URL, "a", "spec: {reclaimable: true}"), 200);
	assert_null(jdoc_path(f->doc, "spec.capability"));
	assert_int_equal(jdoc_int(jdoc_path(f->doc, "spec.weight"), 0), 3);
}

/* Owning an empty object is not owning its members. */
static void test_members_of_empty_objects(void **state)
{
	struct apiserver_fixture *f = *state;

	assert_int_equal(apply(f, URL, "a", "spec: {capability: {}}"), 201);
	assert_int_equal(apply(f, URL, "b", "spec: {capability: {cpu: 3}}"), 200);
	assert_int_equal(apply(f, URL, "b", "spec: {capability: {cpu: 2}}"), 200);
	assert_int_equal(apply(f, URL, "c", "spec: {capability: {}}"), 200);
	assert_int_equal(jdoc_int(jdoc_path(f->doc, "spec.capability.cpu"), 0), 2);
	assert_int_equal(apply(f, URL, "c", "spec: {capability: {cpu: 3}}"), 409);
}

static void test_no_change_no_version(void **state)
{
	struct apiserver_fixture *f = *state;
	int64_t version;

	assert_int_equal(apply(f, URL, "a", "spec: {weight: 2}"), 201);
	version = apiserver_version(f->server);
	f->now += 5000000000;
	assert_int_equal(apply(f, URL, "a", "spec: {weight: 2}"), 200);
	assert_int_equal(apiserver_version(f->server), version);
}

static void test_status_has_its_own_entry(void **state)
{
	struct apiserver_fixture *f = *state;
	const char *status = "status: {state: Open, allocated: {cpu: '1'}}";

	assert_int_equal(apply(f, URL, "a", "spec: {weight: 2}"), 201);
	assert_int_equal(apply(f, URL "/status", "a", status), 200);
	assert_string_equal(apiserver_fixture_text(f, "status.state"), "Open");
	assert_int_equal(jdoc_int(jdoc_path(f->doc, "spec.weight"), 0), 2);
	assert_int_equal(jdoc_count(jdoc_path(f->doc, "metadata.managedFields")), 2);
	assert_int_equal(apply(f, URL, "a", "spec: {weight: 4}"), 200);
	assert_string_equal(apiserver_fixture_text(f, "status.state"), "Open");
}

static void test_other_writes_take_ownership(void **state)
{
	struct apiserver_fixture *f = *state;

	assert_int_equal(apply(f, URL, "a", "spec: {weight: 2}"), 201);
	assert_int_equal(apiserver_fixture_do(f, HTTP_PATCH, URL, APISERVER_FIXTURE_MERGE,
					      "{\"spec\":{\"weight\":5}}"),
			 200);
	assert_int_equal(apply(f, URL, "a", "spec: {weight: 2}"), 409);
	assert_non_null(strstr(apiserver_fixture_text(f, "message"),
			       "\"test\" using scheduling.volcano.sh/v1beta1: .spec.weight"));
}

static void test_lists_with_keys(void **state)
{
	struct apiserver_fixture *f = *state;

	assert_int_equal(apply(f, PODS "/p", "a",
			       "spec: {containers: [{name: x, image: i}, {name: y, image: i}]}"),
			 201);
	assert_int_equal(apply(f, PODS "/p/status", "b",
			       "status: {conditions: [{type: A, status: 'True'}]}"),
			 200);
	assert_int_equal(apply(f, PODS "/p/status", "c",
			       "status: {conditions: [{type: B, status: 'True'}]}"),
			 200);
	assert_int_equal(jdoc_count(jdoc_path(f->doc, "status.conditions")), 2);
	assert_int_equal(apply(f, PODS "/p/status", "b", "status: {}"), 200);
	assert_int_equal(jdoc_count(jdoc_path(f->doc, "status.conditions")), 1);
}

static void test_refusals(void **state)
{
	struct apiserver_fixture *f = *state;

	assert_int_equal(apiserver_fixture_do(f, HTTP_PATCH, URL, APISERVER_FIXTURE_APPLY, "{}"),
			 422); /* no manager */
	assert_int_equal(apiserver_fixture_do(f, HTTP_PATCH, URL "?fieldManager=a",
					      APISERVER_FIXTURE_APPLY, "spec: {}"),
			 400); /* no kind */
	assert_int_equal(apply(f, URL, "a", "metadata: {managedFields: [{manager: x}]}"), 400);
	assert_int_equal(apply(f, URL "/status", "a", "status: {allocated: {}}"), 404);
	assert_int_equal(apply(f, URL, "a", "spec: {nonsense: 1}"), 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(test_ownership),
		T(test_members_of_empty_objects),
		T(test_no_change_no_version),
		T(test_status_has_its_own_entry),
		T(test_other_writes_take_ownership),
		T(test_lists_with_keys),
		T(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
