#include "scheduler/pods/plugins/capacity_limits.h"

#include <stdlib.h>

#include "base/attrs.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"
#include "scheduler/base/tree.h"

enum { MAX_QUEUES = 16 };

static struct cluster *cluster;
static struct res limits[MAX_QUEUES];

static int setup(void **state)
{
	(void)state;
	cluster = cluster_create();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	cluster_destroy(cluster);
	return 0;
}

static struct queue *queue(const char *name, const char *parent, int64_t capability,
			   int64_t guarantee)
{
	struct queue *q = cluster_fixture_queue(cluster, name, parent, capability);

	q->guarantee.v[RES_CPU] = guarantee;
	return q;
}

static void compute_tree(void)
{
	uint32_t parent[MAX_QUEUES];
	struct tree *t;

	assert_true(cluster->queues.n <= MAX_QUEUES);
	queue_topology_changed(cluster);
	for (size_t i = 0; i < cluster->queues.n; i++) {
		parent[i] = cluster->queues.v[i] == NULL ? TREE_NONE : cluster->queues.v[i]->parent;
	}
	t = tree_create(parent, cluster->queues.n);
	capacity_limits_tree(cluster, t, limits);
	tree_destroy(t);
}

static int64_t cpu_of(const char *name)
{
	return limits[queue_find(cluster, str_of(name))->id].v[RES_CPU];
}

static void test_guarantees_are_taken_from_siblings(void **state)
{
	(void)state;
	queue("root", NULL, 100, 0);
	queue("a", NULL, -1, 30);
	queue("b", NULL, -1, 10);
	queue("c", NULL, 50, 0);
	queue("a1", "a", -1, 20);
	queue("a2", "a", 200, 0);
	compute_tree();
	assert_int_equal(cpu_of("root"), 100);
	assert_int_equal(cpu_of("a"), 100 - 40 + 30);
	assert_int_equal(cpu_of("b"), 100 - 40 + 10);
	assert_int_equal(cpu_of("c"), 50); /* 100 - 40 clipped to its own */
	assert_int_equal(cpu_of("a1"), 90 - 20 + 20);
	assert_int_equal(cpu_of("a2"), 90 - 20);
}

static void test_without_a_configured_ancestor_there_is_nothing_to_guarantee_from(void **state)
{
	(void)state;
	queue("x", NULL, -1, 30);
	queue("y", NULL, 50, 10);
	queue("y1", "y", -1, 20);
	queue("y2", "y", -1, 0);
	compute_tree();
	assert_int_equal(cpu_of("root"), RES_UNLIMITED);
	assert_int_equal(cpu_of("x"), RES_UNLIMITED);
	assert_int_equal(cpu_of("y"), 50);
	assert_int_equal(cpu_of("y1"), 50);
	assert_int_equal(cpu_of("y2"), 30);
}

static void test_the_present_cluster_does_not_matter(void **state)
{
	(void)state;
	cluster_fixture_node(cluster, "n", 8);
	queue("a", NULL, 50, 0);
	queue("b", NULL, -1, 0);
	compute_tree();
	assert_int_equal(cpu_of("a"), 50);
	assert_int_equal(cpu_of("b"), RES_UNLIMITED);
}

static void test_guarantees_beyond_the_parent_do_not_add_room(void **state)
{
	(void)state;
	queue("p", NULL, 4, 0);
	queue("greedy", "p", -1, 10);
	queue("rest", "p", -1, 0);
	compute_tree();
	assert_int_equal(cpu_of("greedy"), 4); /* max0(4 - 10) + 10, within the inherited 4 */
	assert_int_equal(cpu_of("rest"), 0);
}

static void test_dimensions_are_independent(void **state)
{
	struct queue *root = queue("root", NULL, -1, 0), *a = queue("a", NULL, 5, 0);
	struct queue *b = queue("b", NULL, -1, 0);

	(void)state;
	root->capability.v[RES_MEMORY] = 1000;
	a->guarantee.v[RES_MEMORY] = 300;
	compute_tree();
	assert_int_equal(limits[a->id].v[RES_CPU], 5);
	assert_int_equal(limits[a->id].v[RES_MEMORY], 1000);
	assert_int_equal(limits[b->id].v[RES_CPU], RES_UNLIMITED);
	assert_int_equal(limits[b->id].v[RES_MEMORY], 700);
	assert_int_equal(limits[b->id].v[RES_EPHEMERAL], RES_UNLIMITED);
}

/* Volcano takes a capability of 0 cpu or memory for one that is not set. */
static void test_deviation_a_capability_of_zero_is_zero(void **state)
{
	(void)state;
	queue("root", NULL, 100, 0);
	queue("a", NULL, 0, 0);
	compute_tree();
	assert_int_equal(cpu_of("a"), 0);
	capacity_limits_flat(cluster, limits);
	assert_int_equal(cpu_of("a"), 0);
}

static void test_a_deleted_queue_guarantees_nothing(void **state)
{
	struct queue *gone;

	(void)state;
	queue("root", NULL, 100, 0);
	gone = queue("gone", NULL, -1, 60);
	queue("a", NULL, -1, 0);
	compute_tree();
	assert_int_equal(cpu_of("a"), 40);
	gone->exists = false;
	compute_tree();
	assert_int_equal(cpu_of("a"), 100);
	cluster_fixture_node(cluster, "n", 100);
	capacity_limits_flat_clipped(cluster, limits);
	assert_int_equal(cpu_of("a"), 100);
}

static void test_a_broken_queue_leaves_the_others_alone(void **state)
{
	(void)state;
	queue("root", NULL, 100, 0);
	queue("x", "y", 7, 50);
	queue("y", "x", 8, 0);
	queue("below", "x", -1, 0);
	queue("a", NULL, -1, 0);
	compute_tree();
	assert_int_equal(cpu_of("a"), 100);
	assert_int_equal(cpu_of("x"), 7);
	assert_int_equal(cpu_of("y"), 8);
	assert_int_equal(cpu_of("below"), 7);
}

static void test_flat_limits_are_the_capability_alone(void **state)
{
	(void)state;
	cluster_fixture_node(cluster, "n", 100);
	queue("a", NULL, 500, 20);
	queue("b", "a", -1, 30);
	capacity_limits_flat(cluster, limits);
	assert_int_equal(cpu_of("a"), 500);
	assert_int_equal(cpu_of("b"), RES_UNLIMITED);
	assert_int_equal(cpu_of("root"), RES_UNLIMITED);
}

static void test_flat_ordinary_scheduling_has_what_others_are_not_guaranteed(void **state)
{
	(void)state;
	cluster_fixture_node(cluster, "n1", 60);
	cluster_fixture_node(cluster, "n2", 40);
	queue("a", NULL, 50, 20);
	queue("b", NULL, -1, 30);
	queue("c", NULL, 10, 0);
	queue("d", NULL, -1, 0);
	capacity_limits_flat_clipped(cluster, limits);
	assert_int_equal(cpu_of("a"), 50); /* 100 - 50 + 20, within its 50 */
	assert_int_equal(cpu_of("b"), 80); /* 100 - 50 + 30 */
	assert_int_equal(cpu_of("c"), 10);
	assert_int_equal(cpu_of("d"), 50);
}

static void test_flat_guarantees_beyond_the_cluster(void **state)
{
	(void)state;
	cluster_fixture_node(cluster, "n", 40);
	queue("a", NULL, -1, 20);
	queue("b", NULL, -1, 30);
	queue("c", NULL, -1, 0);
	capacity_limits_flat_clipped(cluster, limits);
	assert_int_equal(cpu_of("a"), 20);
	assert_int_equal(cpu_of("b"), 30);
	assert_int_equal(cpu_of("c"), 0);
}

static void test_quirk_flat_a_resource_that_no_node_has_is_not_to_be_had(void **state)
{
	int gpu = res_names_add(cluster->res, STR_LIT("nvidia.com/gpu"));
	struct queue *a = queue("a", NULL, 50, 0);

	(void)state;
	cluster_fixture_node(cluster, "n", 40);
	capacity_limits_flat_clipped(cluster, limits);
	assert_int_equal(limits[a->id].v[gpu], 0);
	capacity_limits_flat(cluster, limits); /* but it may be reserved: scale from zero */
	assert_int_equal(limits[a->id].v[gpu], RES_UNLIMITED);
}

static void test_deserved(void **state)
{
	struct queue *a = queue("a", NULL, 50, 20), *b = queue("b", NULL, -1, 30);
	struct queue *c = queue("c", NULL, -1, 0);
	struct res deserved[MAX_QUEUES];

	(void)state;
	a->deserved.v[RES_CPU] = 70;
	b->deserved.v[RES_CPU] = 10;
	cluster_fixture_node(cluster, "n", 100);
	capacity_limits_flat_clipped(cluster, limits);
	capacity_limits_deserved(cluster, limits, deserved);
	assert_int_equal(deserved[a->id].v[RES_CPU], 50); /* clipped to what it can get */
	assert_int_equal(deserved[b->id].v[RES_CPU], 30); /* raised to the guarantee */
	assert_int_equal(deserved[c->id].v[RES_CPU], 0);
	capacity_limits_deserved(cluster, NULL, deserved);
	assert_int_equal(deserved[a->id].v[RES_CPU], 70); /* not clipped in the tree */
	assert_int_equal(deserved[b->id].v[RES_CPU], 30);
}

static void test_free_queue_ids(void **state)
{
	struct queue *q = queue_get(cluster, STR_LIT("passing"));
	uint32_t id = q->id;

	(void)state;
	queue("a", NULL, 5, 0);
	queue_prune(cluster, q);
	assert_null(cluster->queues.v[id]);
	compute_tree();
	assert_int_equal(limits[id].v[RES_CPU], RES_UNLIMITED);
	assert_int_equal(cpu_of("a"), 5);
	capacity_limits_flat(cluster, limits);
	assert_int_equal(limits[id].v[RES_CPU], RES_UNLIMITED);
	capacity_limits_flat_clipped(cluster, limits);
	capacity_limits_deserved(cluster, NULL, limits);
	assert_int_equal(limits[id].v[RES_CPU], 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_guarantees_are_taken_from_siblings),
		TEST(test_without_a_configured_ancestor_there_is_nothing_to_guarantee_from),
		TEST(test_the_present_cluster_does_not_matter),
		TEST(test_guarantees_beyond_the_parent_do_not_add_room),
		TEST(test_dimensions_are_independent),
		TEST(test_deviation_a_capability_of_zero_is_zero),
		TEST(test_a_deleted_queue_guarantees_nothing),
		TEST(test_a_broken_queue_leaves_the_others_alone),
		TEST(test_flat_limits_are_the_capability_alone),
		TEST(test_flat_ordinary_scheduling_has_what_others_are_not_guaranteed),
		TEST(test_flat_guarantees_beyond_the_cluster),
		TEST(test_quirk_flat_a_resource_that_no_node_has_is_not_to_be_had),
		TEST(test_deserved),
		TEST(test_free_queue_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
