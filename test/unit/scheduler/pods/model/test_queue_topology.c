#include <stdio.h>

#include "base/xmalloc.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"

static struct queue *find(const struct cluster *c, const char *name)
{
	return queue_find(c, str_of(name));
}

static void test_parents_children_and_depth(void **state)
{
	struct cluster *c = cluster_create();
	struct queue *root = c->queues.v[c->root_queue];
	struct queue *b = cluster_fixture_queue(c, "b", "a", -1);
	struct queue *a;

	(void)state;
	assert_string_equal(b->broken, "has a parent that does not exist");
	assert_int_equal(b->parent, MODEL_NONE);
	a = cluster_fixture_queue(c, "a", NULL, -1);
	(void)cluster_fixture_queue(c, "aa", "root", -1);
	assert_null(b->broken);
	assert_int_equal(b->parent, a->id);
	assert_int_equal(b->depth, 2);
	assert_int_equal(root->children.n, 2);
	assert_int_equal(root->children.v[0], a->id);
	assert_int_equal(root->children.v[1], find(c, "aa")->id);
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

static void test_a_fault_closes_only_its_own_subtree(void **state)
{
	static const struct {
		const char *name, *parent, *broken;
	} rows[] = {
		{ "fine", NULL, NULL },
		{ "fine-child", "fine", NULL },
		{ "self", "self", "is its own ancestor" },
		{ "x", "y", "is its own ancestor" },
		{ "y", "z", "is its own ancestor" },
		{ "z", "x", "is its own ancestor" },
		{ "below-x", "x", "has an ancestor that cannot be used" },
		{ "below-below-x", "below-x", "has an ancestor that cannot be used" },
		{ "lost", "nowhere", "has a parent that does not exist" },
		{ "below-lost", "lost", "has an ancestor that cannot be used" },
	};
	struct cluster *c = cluster_create();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		(void)cluster_fixture_queue(c, rows[i].name, rows[i].parent, -1);
		assert_null(cluster_verify(c));
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct queue *q = find(c, rows[i].name);

		if (rows[i].broken == NULL) {
			assert_null(q->broken);
		} else {
			assert_string_equal(q->broken, rows[i].broken);
		}
	}
	assert_int_equal(find(c, "x")->parent, MODEL_NONE);
	assert_int_equal(find(c, "below-x")->parent, find(c, "x")->id);
	(void)cluster_fixture_queue(c, "y", NULL, -1); /* mended */
	assert_null(find(c, "below-below-x")->broken);
	assert_int_equal(find(c, "below-below-x")->depth, 4);
	cluster_destroy(c);
}

static void test_depth_at_limit_and_beyond(void **state)
{
	struct cluster *c = cluster_create();
	char name[16], parent[16] = "root";

	(void)state;
	for (int i = 1; i <= QUEUE_MAX_DEPTH + 2; i++) {
		snprintf(name, sizeof(name), "q%d", i);
		(void)cluster_fixture_queue(c, name, parent, -1);
		memcpy(parent, name, sizeof(name));
	}
	snprintf(name, sizeof(name), "q%d", QUEUE_MAX_DEPTH);
	assert_int_equal(find(c, name)->depth, QUEUE_MAX_DEPTH);
	assert_null(find(c, name)->broken);
	snprintf(name, sizeof(name), "q%d", QUEUE_MAX_DEPTH + 1);
	assert_string_equal(find(c, name)->broken, "lies too deep below the root");
	assert_string_equal(find(c, parent)->broken, "has an ancestor that cannot be used");
	cluster_destroy(c);
}

static void test_podgroups_wait_for_their_queue(void **state)
{
	struct cluster *c = cluster_create();
	struct podgroup *g = cluster_fixture_podgroup(c, "j", "late", 1);
	struct queue *q = find(c, "late");

	(void)state;
	assert_int_equal(g->queue, MODEL_NONE);
	assert_int_equal(q->waiting.n, 1);
	(void)cluster_fixture_queue(c, "late", NULL, -1);
	assert_int_equal(g->queue, q->id);
	assert_int_equal(q->podgroups.n, 1);
	q->exists = false;
	(void)queue_topology_changed(c);
	assert_int_equal(g->queue, MODEL_NONE);
	assert_int_equal(q->podgroups.n, 0);
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

static void test_reports_when_charges_must_be_rolled_again(void **state)
{
	struct cluster *c = cluster_create();
	struct queue *b = cluster_fixture_queue(c, "b", NULL, -1);
	uint64_t gen = c->queues_gen;

	(void)state;
	(void)cluster_fixture_queue(c, "a", NULL, -1);
	assert_int_equal(c->queues_gen, gen + 1);
	b->charged.v[RES_CPU] = 5;
	assert_false(queue_topology_changed(c));
	b->parent_name = xmalloc_dup("a");
	assert_true(queue_topology_changed(c));
	assert_false(queue_topology_changed(c));
	/* Deleted while charged: stays below its parent, unusable. */
	b->exists = false;
	assert_false(queue_topology_changed(c));
	assert_int_equal(b->parent, find(c, "a")->id);
	assert_non_null(b->broken);
	cluster_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parents_children_and_depth),
		cmocka_unit_test(test_a_fault_closes_only_its_own_subtree),
		cmocka_unit_test(test_depth_at_limit_and_beyond),
		cmocka_unit_test(test_podgroups_wait_for_their_queue),
		cmocka_unit_test(test_reports_when_charges_must_be_rolled_again),
	};

	return cmocka_run_group_tests_name("pods/model/queue_topology", tests, NULL, NULL);
}
