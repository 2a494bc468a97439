#include "scheduler/ctl/sim/sim_input.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"

static void remember(void *ctx, const char *text)
{
	struct strbuf *b = ctx;

	strbuf_printf(b, "%s;", text);
}

static void test_objects_are_completed_and_ordered(void **state)
{
	static const char *const expected[] = { "p", "q", "default/g", "n", "a/x", "b/x", "cq" };
	CLEANUP(strbuf_finish) struct strbuf warnings = STRBUF_INIT;
	CLEANUP(sim_input_destroyp)
	struct sim_input *in = sim_input_create(remember, &warnings);
	struct sim_object *const *v;
	size_t n;

	(void)state;
	assert_int_equal(
		sim_input_add(in, "f",
			      STR_LIT("kind: Pod\nmetadata: {name: x, namespace: b}\n---\n---\n"
				      "{\"kind\": \"List\", \"apiVersion\": \"v1\", \"items\": [\n"
				      "{\"kind\": \"Node\", \"metadata\": {\"name\": \"n\"}},\n"
				      "{\"kind\": \"Pod\", \"metadata\": {\"name\": \"x\", "
				      "\"namespace\": \"a\", \"uid\": \"u\"}}]}\n---\n"
				      "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\n"
				      "metadata: {name: g}\n---\n"
				      "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\n"
				      "metadata: {name: q, namespace: odd}\n"),
			      NULL),
		0);
	assert_int_equal(
		sim_input_add(in, "g",
			      STR_LIT("apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\n"
				      "metadata: {name: cq}\n---\n"
				      "apiVersion: scheduling.k8s.io/v1\n"
				      "kind: PriorityClass\nmetadata: {name: p}\n---\n"
				      "kind: Secret\nmetadata: {name: s}\n---\n"
				      "kind: Secret\nmetadata: {name: t}\n---\n"
				      "kind: Scenario\nabout: a head is no surprise\n---\n"
				      "apiVersion: example.com/v1\nkind: Queue\n"),
			      NULL),
		0);
	v = sim_input_objects(in, &n);
	assert_int_equal(n, ARRAY_LEN(expected));
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(v[i]->key, expected[i]);
	}
	assert_string_equal(jdoc_path_str(v[2]->json, "metadata.namespace"), "default");
	assert_string_equal(jdoc_path_str(v[5]->json, "metadata.uid"), "");
	assert_string_equal(jdoc_path_str(v[4]->json, "metadata.uid"), "u");
	assert_string_equal(v[0]->where, "g: document 2");
	assert_string_equal(warnings.p, "g: document 3: objects of kind Secret are ignored;"
					"g: document 6: objects of kind Queue are ignored;");
}

/* As the API server answers: items have the kind that the list has in its own. */
static void test_lists_of_one_kind(void **state)
{
	CLEANUP(sim_input_destroyp) struct sim_input *in = sim_input_create(NULL, NULL);

	(void)state;
	assert_int_equal(sim_input_add(in, "f",
				       STR_LIT("kind: ClusterQueueList\n"
					       "apiVersion: kueue.x-k8s.io/v1beta2\n"
					       "items: [{metadata: {name: a}},\n"
					       "{kind: Namespace, apiVersion: v1,"
					       " metadata: {name: n}}]\n"),
				       NULL),
			 0);
	assert_non_null(sim_input_find(in, SCHED_CLUSTER_QUEUES, "a"));
	assert_non_null(sim_input_find(in, SCHED_NAMESPACES, "n"));
}

static void test_the_later_one_wins(void **state)
{
	CLEANUP(sim_input_destroyp) struct sim_input *in = sim_input_create(NULL, NULL);
	struct sim_object *const *v;
	size_t n;

	(void)state;
	assert_int_equal(sim_input_add(in, "f",
				       STR_LIT("kind: Pod\nmetadata: {name: x, uid: old}\n---\n"
					       "kind: Pod\nmetadata: {name: x, uid: new, "
					       "namespace: default}\n"),
				       NULL),
			 0);
	v = sim_input_objects(in, &n);
	assert_int_equal(n, 1);
	assert_string_equal(jdoc_path_str(v[0]->json, "metadata.uid"), "new");
}

static void test_youngest_time(void **state)
{
	CLEANUP(sim_input_destroyp) struct sim_input *in = sim_input_create(NULL, NULL);

	(void)state;
	assert_int_equal(sim_input_youngest(in), 0);
	assert_int_equal(
		sim_input_add(in, "f",
			      STR_LIT("kind: Pod\nmetadata: {name: x, creationTimestamp: "
				      "\"1970-01-01T00:00:05Z\"}\nstatus: {conditions: [{type: A, "
				      "lastTransitionTime: \"1970-01-01T00:00:09Z\"}]}\n"
				      "spec: {other: \"1970-01-01T00:01:00Z\"}\n"),
			      NULL),
		0);
	assert_int_equal(sim_input_youngest(in), INT64_C(9000000000));
	assert_int_equal(sim_input_add(in, "f",
				       STR_LIT("kind: Pod\nmetadata: {name: y, creationTimestamp: "
					       "\"9999-01-01T00:00:00Z\"}\n"),
				       NULL),
			 0);
	assert_int_equal(sim_input_youngest(in), CLOCK_LATEST_NOW);
}

static void test_errors_name_the_place(void **state)
{
	static const struct {
		const char *text, *expected;
	} rows[] = {
		{ "kind: Pod\nmetadata: {}\n", "f: document 1: Pod: metadata.name: missing" },
		{ "kind: Pod\nmetadata: {name: 1}\n",
		  "f: document 1: Pod: metadata.name: not a string" },
		{ "kind: Pod\nmetadata: {name: \"\"}\n",
		  "f: document 1: Pod: metadata.name: missing" },
		{ "kind: List\nitems: [{metadata: {name: p}}]\n",
		  "f: document 1: not a Kubernetes object: it has no kind" },
		{ "kind: PodList\nitems: [{metadata: {name: p}}, {}]\n",
		  "f: document 1: Pod: metadata.name: missing" },
		{ "kind: Pod\nmetadata: {name: p, namespace: 1}\n",
		  "f: document 1: Pod: metadata.namespace: not a string" },
		{ "kind: Pod\n", "f: document 1: Pod: metadata.name: missing" },
		{ "kind: Node\nmetadata: {name: n}\n---\n- 1\n",
		  "f: document 2: not a Kubernetes object: it has no kind" },
		{ "a: 1\n", "f: document 1: not a Kubernetes object: it has no kind" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(sim_input_destroyp) struct sim_input *in = sim_input_create(NULL, NULL);
		struct err err = ERR_INIT;

		unit_row(rows[i].text);
		assert_int_equal(sim_input_add(in, "f", str_of(rows[i].text), &err), -ERR_INVALID);
		assert_string_equal(err.text, rows[i].expected);
	}
}

static void test_bad_yaml_names_file_and_line(void **state)
{
	CLEANUP(sim_input_destroyp) struct sim_input *in = sim_input_create(NULL, NULL);
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(sim_input_add(in, "bad.yaml", STR_LIT("a: 1\nb: [\n"), &err),
			 -ERR_INVALID);
	assert_true(str_has_prefix(str_of(err.text), "bad.yaml: "));
	assert_non_null(strstr(err.text, "line 3"));
}

static void test_kinds(void **state)
{
	enum sched_resource r;

	(void)state;
	assert_true(sim_input_kind("PodGroup", &r));
	assert_int_equal(r, SCHED_PODGROUPS);
	assert_true(sim_input_kind("Queue", &r));
	assert_int_equal(r, SCHED_QUEUES);
	assert_true(sim_input_kind("Workload", &r));
	assert_int_equal(r, SCHED_WORKLOADS);
	/* Known, but not simulated. */
	assert_false(sim_input_kind("Job", &r));
	assert_false(sim_input_kind("Secret", &r));
	assert_string_equal(sim_input_kind_name(SCHED_NODES), "Node");
}

static void test_objects_one_by_one(void **state)
{
	CLEANUP(sim_input_destroyp) struct sim_input *in = sim_input_create(NULL, NULL);
	struct jdoc *object = NULL;
	struct err err = ERR_INIT;
	const struct sim_object *o;

	(void)state;
	assert_int_equal(jdoc_parse(STR_LIT("{\"metadata\": {\"name\": \"p\"}}"), &object, NULL),
			 0);
	assert_int_equal(sim_input_take(in, SCHED_PODS, object, "cluster", NULL), 0);
	o = sim_input_find(in, SCHED_PODS, "default/p");
	assert_non_null(o);
	assert_string_equal(o->where, "cluster");
	assert_null(sim_input_find(in, SCHED_NODES, "default/p"));
	assert_int_equal(sim_input_take(in, SCHED_PODS, jdoc_new_object(), "cluster", &err),
			 -ERR_INVALID);
	assert_string_equal(err.text, "Pod: metadata.name: missing");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_objects_are_completed_and_ordered),
		cmocka_unit_test(test_lists_of_one_kind),
		cmocka_unit_test(test_the_later_one_wins),
		cmocka_unit_test(test_youngest_time),
		cmocka_unit_test(test_errors_name_the_place),
		cmocka_unit_test(test_bad_yaml_names_file_and_line),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_objects_one_by_one),
	};

	return cmocka_run_group_tests_name("ctl/sim/sim_input", tests, NULL, NULL);
}
