#include "api/core/node.h"

#include "base/attrs.h"
#include "base/err.h"
#include "lib/unit.h"
#include "scheduler/pods/ingest/from_api.h"
#include "scheduler/pods/model/images.h"
#include "unit/scheduler/pods/ingest/api_fixture.h"

static int read_node(struct cluster *c, const char *json, struct err *err)
{
	struct arena *arena = arena_create(0);
	int r = from_api_node(c, api_fixture_decode(arena, &node_fields, json), err);

	arena_destroy(arena);
	return r;
}

#define NODE(members)                                                                              \
	"{\"metadata\":{\"name\":\"n\",\"labels\":{\"b\":\"2\",\"a\":\"1\"}}" members "}"

static void test_reads_all(void **state)
{
	struct cluster *c = cluster_create();
	const struct node *n;

	(void)state;
	assert_int_equal(
		read_node(c,
			  NODE(",\"spec\":{\"unschedulable\":true,\"taints\":[{\"key\":\"k\","
			       "\"effect\":\"NoExecute\"}]},\"status\":{\"allocatable\":{\"cpu\":"
			       "\"1500500u\",\"memory\":\"1Gi\",\"pods\":\"110\"},\"capacity\":{"
			       "\"cpu\":\"9\"}}"),
			  NULL),
		0);
	n = cluster_node_find(c, STR_LIT("n"));
	assert_true(n->exists && n->unschedulable);
	assert_int_equal(n->allocatable.v[RES_CPU], 1500);
	assert_int_equal(n->allocatable.v[RES_PODS], 110);
	assert_int_equal(n->labels.n, 2);
	assert_string_equal(n->labels.v[0].key, "a");
	assert_string_equal(n->taints.v[0].value, "");
	assert_int_equal(n->taints.v[0].effect, TAINT_NO_EXECUTE);
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

static void test_capacity_stands_in_for_allocatable(void **state)
{
	struct cluster *c = cluster_create();

	(void)state;
	assert_int_equal(read_node(c, NODE(",\"status\":{\"capacity\":{\"cpu\":\"9\"}}"), NULL), 0);
	assert_int_equal(c->total.v[RES_CPU], 9000);
	assert_int_equal(read_node(c,
				   NODE(",\"status\":{\"allocatable\":{},\"capacity\":{\"cpu\":"
					"\"9\"}}"),
				   NULL),
			 0);
	assert_int_equal(c->total.v[RES_CPU], 0);
	cluster_destroy(c);
}

static void test_generations(void **state)
{
	struct cluster *c = cluster_create();
	const struct node *n;
	uint64_t spec, nodes;

	(void)state;
	assert_int_equal(read_node(c, NODE(""), NULL), 0);
	n = cluster_node_find(c, STR_LIT("n"));
	spec = n->spec_gen;
	nodes = c->nodes_gen;
	assert_int_equal(read_node(c, NODE(",\"status\":{\"conditions\":[]}"), NULL), 0);
	assert_int_equal(c->nodes_gen, nodes);
	assert_int_equal(read_node(c, NODE(",\"status\":{\"allocatable\":{\"cpu\":\"1\"}}"), NULL),
			 0);
	assert_true(c->nodes_gen > nodes);
	assert_int_equal(n->spec_gen, spec);
	assert_int_equal(read_node(c,
				   NODE(",\"spec\":{\"taints\":[{\"key\":\"k\",\"effect\":"
					"\"NoSchedule\"}]}"),
				   NULL),
			 0);
	assert_true(n->spec_gen > spec);
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

#define LABELS(a, b) "\"labels\":{" a "," b "}"
#define TAINT(key, value, effect)                                                                  \
	"{\"key\":\"" key "\",\"value\":\"" value "\",\"effect\":\"" effect "\"}"
#define SPEC(labels, taints, more)                                                                 \
	"{\"metadata\":{\"name\":\"n\"," labels "},\"spec\":{\"taints\":[" taints "]" more "}}"
#define A "\"a\":\"1\""
#define B "\"b\":\"2\""
#define K TAINT("k", "v", "NoSchedule")
#define L TAINT("l", "w", "NoExecute")

/* Whatever decides where a pod may go. */
static void test_each_change_of_the_spec_counts(void **state)
{
	static const struct {
		const char *json;
		bool changes;
	} rows[] = {
		{ SPEC(LABELS(A, B), K "," L, ""), false },
		{ SPEC(LABELS(B, A), K "," L, ""), false },
		{ SPEC(LABELS(A, B), K "," L, ",\"unschedulable\":false"), false },
		{ SPEC(LABELS(A, B), K "," L, ",\"unschedulable\":true"), true },
		{ SPEC(LABELS("\"a\":\"2\"", B), K "," L, ""), true },
		{ SPEC(LABELS(A, "\"b\":\"1\""), K "," L, ""), true },
		{ SPEC(LABELS("\"aa\":\"1\"", B), K "," L, ""), true },
		{ SPEC(LABELS(A, "\"c\":\"2\""), K "," L, ""), true },
		{ SPEC("\"labels\":{" A "}", K "," L, ""), true },
		{ SPEC(LABELS(A, B), TAINT("kk", "v", "NoSchedule") "," L, ""), true },
		{ SPEC(LABELS(A, B), TAINT("k", "vv", "NoSchedule") "," L, ""), true },
		{ SPEC(LABELS(A, B), TAINT("k", "v", "NoExecute") "," L, ""), true },
		{ SPEC(LABELS(A, B), K "," TAINT("l", "v", "NoExecute"), ""), true },
		{ SPEC(LABELS(A, B), K "," TAINT("l", "w", "NoSchedule"), ""), true },
		{ SPEC(LABELS(A, B), K, ""), true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cluster *c = cluster_create();
		uint64_t spec;

		unit_row(rows[i].json);
		assert_int_equal(read_node(c, rows[0].json, NULL), 0);
		spec = cluster_node_find(c, STR_LIT("n"))->spec_gen;
		assert_int_equal(read_node(c, rows[i].json, NULL), 0);
		assert_int_equal(cluster_node_find(c, STR_LIT("n"))->spec_gen != spec,
				 rows[i].changes);
		assert_null(cluster_verify(c));
		cluster_destroy(c);
	}
}

#define IMAGES(list) NODE(",\"status\":{\"images\":[" list "]}")

/* Each name of an image is one; what a kubelet leaves out is no error. */
static void test_images(void **state)
{
	struct cluster *c = cluster_create();
	const struct node *n;
	uint64_t nodes;

	(void)state;
	assert_int_equal(read_node(c,
				   IMAGES("{\"names\":[\"r/a@sha256:1\",\"r/a:1\"],\"sizeBytes\":"
					  "77},{\"names\":[\"r/b:1\"]},{\"sizeBytes\":5}"),
				   NULL),
			 0);
	n = cluster_node_find(c, STR_LIT("n"));
	assert_int_equal(n->images.n, 3);
	assert_int_equal(images_find(c, STR_LIT("r/a:1"))->bytes, 77);
	assert_int_equal(images_find(c, STR_LIT("r/a@sha256:1"))->bytes, 77);
	assert_int_equal(images_find(c, STR_LIT("r/b:1"))->bytes, 0);
	/* They decide nothing about whether a pod fits. */
	nodes = c->nodes_gen;
	assert_int_equal(read_node(c, IMAGES("{\"names\":[\"r/b:1\"]}"), NULL), 0);
	assert_int_equal(c->nodes_gen, nodes);
	assert_int_equal(n->images.n, 1);
	assert_null(images_find(c, STR_LIT("r/a:1")));
	assert_int_equal(read_node(c, NODE(""), NULL), 0);
	assert_int_equal(n->images.n, 0);
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

static void test_refuses(void **state)
{
	static const struct {
		const char *json, *text;
	} rows[] = {
		{ "{}", "metadata.name: missing" },
		{ NODE(",\"spec\":{\"taints\":[{\"key\":\"k\",\"effect\":\"Never\"}]}"),
		  "spec.taints[0].effect: unknown" },
		{ NODE(",\"status\":{\"allocatable\":{\"memory\":\"2Pi\"}}"),
		  "status.allocatable: memory: 2Pi is more than can be counted" },
	};
	struct cluster *c = cluster_create();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err err = ERR_INIT;

		assert_int_equal(read_node(c, rows[i].json, &err), -ERR_INVALID);
		assert_string_equal(err.text, rows[i].text);
		assert_int_equal(c->nodes.n, 0);
	}
	assert_int_equal(
		read_node(c, NODE(",\"status\":{\"allocatable\":{\"memory\":\"1Pi\"}}"), NULL), 0);
	cluster_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads_all),
		cmocka_unit_test(test_capacity_stands_in_for_allocatable),
		cmocka_unit_test(test_generations),
		cmocka_unit_test(test_each_change_of_the_spec_counts),
		cmocka_unit_test(test_images),
		cmocka_unit_test(test_refuses),
	};

	return cmocka_run_group_tests_name("pods/ingest/from_api_node", tests, NULL, NULL);
}
