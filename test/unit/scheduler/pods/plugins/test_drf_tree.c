#include "scheduler/pods/plugins/drf_tree.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "lib/pods/hooks_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/plugins/registry.h"
#include "scheduler/pods/values/pod_class.h"

static struct hooks_fixture f;
static struct drf_tree *tree;

/* A cluster of 100 of cpu and 100 of memory. */
static int setup(void **state)
{
	struct node *n;

	(void)state;
	hooks_fixture_init(&f, "", plugin_registry, plugin_registry_count);
	n = cluster_fixture_node(f.cluster, "n", 100);
	n->allocatable.v[RES_MEMORY] = f.cluster->total.v[RES_MEMORY] = 100;
	tree = drf_tree_create();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	drf_tree_destroy(tree);
	hooks_fixture_finish(&f);
	return 0;
}

static struct queue *queue(const char *name, const char *hierarchy, const char *weights)
{
	struct queue *q = cluster_fixture_queue(f.cluster, name, NULL, -1);

	free(q->hierarchy);
	free(q->hierarchy_weights);
	q->hierarchy = hierarchy == NULL ? NULL : xmalloc_dup(hierarchy);
	q->hierarchy_weights = weights == NULL ? NULL : xmalloc_dup(weights);
	f.cluster->queues_gen++;
	return q;
}

static struct queue *find(const char *name)
{
	return queue_find(f.cluster, str_of(name));
}

/* A PodGroup that has and asks for these amounts. */
static const struct row {
	const char *queue;
	int64_t cpu, memory;             /* has */
	int64_t wants_cpu, wants_memory; /* in all */
} end = { .queue = NULL };

static struct podgroup *add(const struct row *r, size_t number)
{
	struct res has = { .v = { 0 } };
	char name[32];
	struct podgroup *g;

	(void)snprintf(name, sizeof(name), "g%zu", number);
	g = cluster_fixture_podgroup(f.cluster, name, r->queue, 1);
	has.v[RES_CPU] = r->cpu;
	has.v[RES_MEMORY] = r->memory;
	drf_tree_add(tree, f.s, g, &has);
	return g;
}

static void request(const struct row *r, size_t number)
{
	struct podgroup *g;
	struct pod_class *k;
	struct task *t;
	char name[32];

	(void)snprintf(name, sizeof(name), "g%zu", number);
	g = cluster_fixture_podgroup(f.cluster, name, r->queue, 1);
	t = cluster_fixture_task(f.cluster, name, g, r->wants_cpu);
	k = pod_class_copy(t->klass, "");
	k->request.v[RES_MEMORY] = r->wants_memory;
	pod_class_normalise(k);
	cluster_task_set_class(f.cluster, t, cluster_class_intern(f.cluster, k));
	pod_class_destroy(k);
}

/* In place of what was there. */
static void build(const struct row *rows)
{
	for (size_t i = 0; rows[i].queue != NULL; i++) {
		char key[32];
		struct task *t;

		(void)snprintf(key, sizeof(key), "ns/g%zu", i);
		t = cluster_task_find(f.cluster, str_of(key));
		if (t != NULL) {
			cluster_task_remove(f.cluster, t);
		}
		request(&rows[i], i);
	}
	hooks_fixture_open(&f);
	drf_tree_open(tree, f.s);
	for (size_t i = 0; rows[i].queue != NULL; i++) {
		(void)add(&rows[i], i);
	}
	drf_tree_settle(tree);
}

static int compare(const char *a, const char *b)
{
	int r = drf_tree_compare(tree, find(a), find(b));

	assert_int_equal(drf_tree_compare(tree, find(b), find(a)), -r);
	return r;
}

static void test_smaller_share_first(void **state)
{
	(void)state;
	queue("a", "root/a", "1/1");
	queue("b", "root/b", "1/1");
	build((const struct row[]){ { "a", 10, 0, 99, 0 }, { "b", 20, 0, 99, 0 }, end });
	assert_true(compare("a", "b") < 0);
	build((const struct row[]){ { "a", 10, 0, 99, 0 }, { "b", 10, 0, 99, 0 }, end });
	assert_int_equal(compare("a", "b"), 0);
}

static void test_weights(void **state)
{
	static const struct {
		const char *a, *b;
		int64_t of_a, of_b;
		int order;
	} rows[] = {
		{ "1/2", "1/1", 20, 11, -1 },
		{ "1/2", "1/1", 20, 10, 0 },
		{ "1/2", "1/1", 20, 9, 1 },
		{ "1/2.5", "1/1", 25, 10, 0 },
		/* as 1: too small, no number, none at all */
		{ "1/0.5", "1/1", 10, 10, 0 },
		{ "1/x", "1/1", 10, 10, 0 },
		{ "1", NULL, 10, 10, 0 },
		{ "1/-3", "1/", 10, 10, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		queue("a", "root/a", rows[i].a);
		queue("b", "root/b", rows[i].b);
		build((const struct row[]){
			{ "a", rows[i].of_a, 0, 99, 0 }, { "b", rows[i].of_b, 0, 99, 0 }, end });
		assert_int_equal(compare("a", "b"), rows[i].order);
	}
}

/* The first level that differs decides. */
static void test_levels(void **state)
{
	(void)state;
	queue("a", "root/x/a", "1/1/1");
	queue("b", "root/x/b", "1/1/1");
	queue("c", "root/c", "1/1");
	build((const struct row[]){
		{ "a", 10, 0, 99, 0 }, { "b", 20, 0, 99, 0 }, { "c", 15, 0, 99, 0 }, end });
	assert_true(compare("a", "b") < 0);
	/* x has twice the smaller of both: scaled down to it */
	assert_true(compare("c", "a") < 0);
	assert_true(compare("c", "b") < 0);
}

/* Of shares that are scaled down to the smallest, the dominant resources do not add up. */
static void test_different_dominant_resources(void **state)
{
	(void)state;
	queue("a", "root/x/a", "1/1/1");
	queue("b", "root/x/b", "1/1/1");
	queue("c", "root/c", "1/1");
	build((const struct row[]){
		{ "a", 40, 0, 99, 0 }, { "b", 0, 20, 0, 99 }, { "c", 21, 21, 99, 99 }, end });
	assert_true(compare("a", "c") < 0);
	assert_true(compare("b", "a") < 0);
}

static void test_saturated_last(void **state)
{
	(void)state;
	queue("a", "root/a", "1/1");
	queue("b", "root/b", "1/1");
	/* a has all that it asks for */
	build((const struct row[]){ { "a", 10, 0, 10, 0 }, { "b", 50, 0, 99, 0 }, end });
	assert_true(compare("b", "a") < 0);
	/* b has memory, of which there is no more: so do PodGroups that ask for other things */
	build((const struct row[]){ { "a", 30, 0, 99, 0 }, { "b", 1, 100, 99, 200 }, end });
	assert_true(compare("a", "b") < 0);
}

/* A saturated PodGroup is not scaled down, and does not scale others. */
static void test_saturated_beside_others(void **state)
{
	(void)state;
	queue("a", "root/a", "1/1");
	queue("b", "root/b", "1/1");
	build((const struct row[]){
		{ "a", 5, 0, 5, 0 }, { "a", 30, 0, 99, 0 }, { "b", 34, 0, 99, 0 }, end });
	assert_true(compare("b", "a") < 0);
}

static void test_changes(void **state)
{
	struct res r = { .v = { 0 } };
	struct podgroup *g;

	(void)state;
	queue("a", "root/x/a", "1/1/1");
	queue("b", "root/b", "1/1");
	build((const struct row[]){ { "a", 10, 0, 99, 0 }, { "b", 20, 0, 99, 0 }, end });
	g = cluster_podgroup_find(f.cluster, STR_LIT("ns/g0"));
	assert_true(compare("a", "b") < 0);
	r.v[RES_CPU] = 30;
	drf_tree_change(tree, f.s, g, &r);
	assert_true(compare("b", "a") < 0);
	/* the cluster runs out of cpu: both have some, so both are saturated */
	r.v[RES_CPU] = 80;
	drf_tree_change(tree, f.s, g, &r);
	assert_true(compare("b", "a") < 0);
	r.v[RES_CPU] = 0;
	drf_tree_change(tree, f.s, g, &r);
	assert_true(compare("a", "b") < 0);
}

static void test_queues_without_a_path(void **state)
{
	(void)state;
	queue("a", NULL, NULL);
	queue("b", "root", "1");
	queue("c", "root/c", "1/1");
	build((const struct row[]){
		{ "a", 50, 0, 99, 0 }, { "b", 20, 0, 99, 0 }, { "c", 10, 0, 99, 0 }, end });
	assert_int_equal(compare("a", "b"), 0);
	assert_int_equal(compare("a", "c"), 0);
}

static void test_an_edit_is_seen(void **state)
{
	static const struct row rows[] = { { "a", 10, 0, 99, 0 },
					   { "b", 20, 0, 99, 0 },
					   { NULL, 0, 0, 0, 0 } };

	(void)state;
	queue("a", "root/a", "1/1");
	queue("b", "root/b", "1/1");
	build(rows);
	assert_true(compare("a", "b") < 0);
	queue("b", "root/b", "1/3");
	build(rows);
	assert_true(compare("b", "a") < 0);
}

/* Names beyond the limit are left out: the PodGroups of both hang at the same node. */
static void test_levels_at_the_limit(void **state)
{
	static const int below[] = { DRF_TREE_LEVELS_MAX - 1, DRF_TREE_LEVELS_MAX };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(below); i++) {
		CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
		CLEANUP(xmalloc_freep) char *a = NULL, *b = NULL;

		strbuf_add_c(&path, "root");
		for (int k = 1; k < below[i]; k++) {
			strbuf_add_c(&path, "/x");
		}
		a = xmalloc_printf("%s/a", path.p);
		b = xmalloc_printf("%s/b", path.p);
		queue("a", a, NULL);
		queue("b", b, NULL);
		build((const struct row[]){ { "a", 10, 0, 99, 0 }, { "b", 20, 0, 99, 0 }, end });
		assert_int_equal(compare("a", "b"), below[i] < DRF_TREE_LEVELS_MAX ? -1 : 0);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_smaller_share_first),
		TEST(test_weights),
		TEST(test_levels),
		TEST(test_different_dominant_resources),
		TEST(test_saturated_last),
		TEST(test_saturated_beside_others),
		TEST(test_changes),
		TEST(test_queues_without_a_path),
		TEST(test_an_edit_is_seen),
		TEST(test_levels_at_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
