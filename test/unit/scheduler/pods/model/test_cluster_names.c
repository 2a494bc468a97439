#include <stdio.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "collections/intern.h"
#include "lib/pods/cache_fixture.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/pods/res_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/dump/dump.h"

enum { PODS = 60, VALUES = 5000 };

/* A pod with many names that no other object has, wherever a pod may have some. */
static void odd_pod(struct cache_fixture *f, int number)
{
	CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT, key = STRBUF_INIT;

	strbuf_printf(&key, "ns/p%d", number);
	strbuf_printf(
		&json,
		"{\"metadata\":{\"name\":\"p%d\",\"namespace\":\"ns\",\"uid\":\"u%d\","
		"\"annotations\":{\"scheduling.k8s.io/group-name\":\"g%d\","
		"\"volcano.sh/task-spec\":\"role-%d\"}},\"spec\":{"
		"\"schedulerName\":\"volcano\",\"nodeSelector\":{\"k%d\":\"v%d\"},"
		"\"tolerations\":[{\"key\":\"t%d\",\"value\":\"u%d\"}],"
		"\"containers\":[{\"ports\":[{\"hostPort\":9,\"hostIP\":\"10.0.0.%d\"}]}],"
		"\"affinity\":{\"nodeAffinity\":{"
		"\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[{"
		"\"matchExpressions\":[{\"key\":\"e%d\",\"operator\":\"In\",\"values\":[\"x\"",
		number, number, number, number, number, number, number, number, number, number);
	for (int i = 0; i < VALUES; i++) {
		strbuf_printf(&json, ",\"%d-%d\"", number, i);
	}
	strbuf_add_c(&json, "]}]}]}}}}}");
	cache_fixture_raw(f, SCHED_PODS, key.p, json.p);
	assert_int_equal(f->bad, 0);
}

static void test_names_go_with_the_pods_that_brought_them(void **state)
{
	struct cache_fixture *f = *state;
	uint32_t most = 0;

	for (int i = 0; i < PODS; i++) {
		char key[16];

		odd_pod(f, i);
		snprintf(key, sizeof(key), "ns/p%d", i);
		cache_fixture_delete(f, SCHED_PODS, key);
		most = intern_live(f->c->names) > most ? intern_live(f->c->names) : most;
	}
	assert_in_range(most, VALUES, 12 * VALUES); /* of 60 times that */
	assert_in_range(intern_count(f->c->names), VALUES, 12 * VALUES);
}

/* Everything that is there keeps its names: the cluster reads as before, and can be dumped. */
static void test_existing_objects_keep_their_names(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf before = STRBUF_INIT, after = STRBUF_INIT;
	struct cache_fixture *f = *state;
	struct cluster *copy;
	struct err err = ERR_INIT;

	odd_pod(f, 1);
	cache_fixture_json(f, SCHED_PODGROUPS,
			   "{\"metadata\":{\"name\":\"g1\",\"namespace\":\"ns\"},\"spec\":{"
			   "\"minMember\":1,\"queue\":\"later\",\"priorityClassName\":\"high\","
			   "\"minTaskMember\":{\"role-1\":1,\"role-other\":1}}}");
	cache_fixture_json(
		f, SCHED_NODES,
		"{\"metadata\":{\"name\":\"n\",\"labels\":{\"k1\":\"v1\",\"only\":\"here\"}}"
		",\"spec\":{\"taints\":[{\"key\":\"mine\",\"value\":\"x\","
		"\"effect\":\"NoSchedule\"}]}}");
	for (int i = 2; i < 30 && intern_live(f->c->names) == intern_count(f->c->names); i++) {
		char key[16];

		odd_pod(f, i);
		snprintf(key, sizeof(key), "ns/p%d", i);
		cache_fixture_delete(f, SCHED_PODS, key);
	}
	assert_true(intern_live(f->c->names) < intern_count(f->c->names));
	dump_format(f->c, &before);
	assert_int_equal(dump_load(strbuf_str(&before), &copy, &err), 0);
	dump_format(copy, &after);
	assert_string_equal(after.p, before.p);
	cluster_destroy(copy);
	for (int i = 0; i < 40; i++) {
		char key[16];

		odd_pod(f, 100 + i);
		snprintf(key, sizeof(key), "ns/p%d", 100 + i);
		cache_fixture_delete(f, SCHED_PODS, key);
	}
	assert_string_equal(f->c->podgroups.v[cache_fixture_task(f, "p1")->podgroup]->namespace_,
			    "ns");
	assert_string_equal(intern_name(f->c->names, cache_fixture_task(f, "p1")->role), "role-1");
	assert_string_equal(
		intern_name(f->c->names, cluster_podgroup_find(f->c, STR_LIT("ns/g1"))->queue_name),
		"later");
	assert_string_equal(cluster_node_find(f->c, STR_LIT("n"))->taints.v[0].key, "mine");
	assert_string_equal(cache_fixture_task(f, "p1")->klass->required[0].exprs[0].key, "e1");
}

/* A sweep frees the vectors of further dimensions that nothing holds: whatever holds one, keeps its
 * amounts. */
static void test_existing_objects_keep_their_amounts(void **state)
{
	struct cluster *c = cluster_create();
	struct queue *q = cluster_fixture_queue(c, "q", NULL, 1000);
	struct node *n = cluster_fixture_node(c, "n", 1000);
	struct podgroup *g = cluster_fixture_podgroup(c, "g", "q", 1);
	struct task *t = cluster_fixture_task(c, "t", g, 1000);
	struct pod_class *k = c->class_by_id.v[t->klass->id];
	struct res *const held[] = {
		&k->request,  &g->min_resources, &q->capability, &q->guarantee,
		&q->deserved, &q->charged,       &q->releasing,  &n->allocatable,
		&n->used,     &n->releasing,     &c->total,
	};
	uint64_t swept = c->res_swept;
	unsigned dim = 0;

	(void)state;
	while (dim < RES_DENSE) {
		char name[24];

		snprintf(name, sizeof(name), "a/r%u", dim);
		dim = (unsigned)res_names_add(c->res, str_of(name));
	}
	for (size_t i = 0; i < ARRAY_LEN(held); i++) {
		res_fixture_set(c->res, held[i], dim, 100 + (int64_t)i);
	}
	for (unsigned i = 0; i < 100000 && c->res_swept == swept; i++) {
		struct res lost = { 0 };

		res_fixture_set(c->res, &lost, dim, 1000 + i);
		cluster_names_sweep(c);
	}
	assert_true(c->res_swept > swept);
	/* Memory that was freed is used again. */
	for (unsigned i = 0; i < 100; i++) {
		struct res lost = { 0 };

		res_fixture_set(c->res, &lost, dim, 5000000 + i);
	}
	for (size_t i = 0; i < ARRAY_LEN(held); i++) {
		unit_row_number(i);
		assert_int_equal(res_get(held[i], dim), 100 + i);
		res_fixture_set(c->res, held[i], dim, 0);
	}
	cluster_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CACHE_FIXTURE_TEST(test_names_go_with_the_pods_that_brought_them),
		CACHE_FIXTURE_TEST(test_existing_objects_keep_their_names),
		cmocka_unit_test(test_existing_objects_keep_their_amounts),
	};

	return cmocka_run_group_tests_name("pods/model/cluster_names", tests, NULL, NULL);
}
