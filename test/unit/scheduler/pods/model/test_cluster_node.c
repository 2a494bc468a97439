#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"

static void test_total_counts_existing_nodes(void **state)
{
	struct cluster *c = cluster_create();
	struct node *n = cluster_fixture_node(c, "n", 1000);
	struct res old;

	(void)state;
	(void)cluster_fixture_node(c, "m", 500);
	(void)cluster_node_get(c, STR_LIT("placeholder"));
	assert_int_equal(c->total.v[RES_CPU], 1500);
	(void)cluster_fixture_node(c, "n", 2000);
	assert_int_equal(c->total.v[RES_CPU], 2500);
	old = n->allocatable;
	n->exists = false;
	cluster_node_changed(c, n, &old, true);
	assert_int_equal(c->total.v[RES_CPU], 500);
	cluster_node_prune(c, n);
	cluster_node_prune(c, cluster_node_find(c, STR_LIT("placeholder")));
	assert_null(cluster_node_find(c, STR_LIT("n")));
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

static void test_spec_gen_never_repeats_for_an_id(void **state)
{
	struct cluster *c = cluster_create();
	struct node *n = cluster_fixture_node(c, "n", 1000);
	uint64_t gen = n->spec_gen;
	uint32_t id = n->id;
	struct res old = n->allocatable;

	(void)state;
	cluster_node_changed(c, n, &old, false);
	assert_int_equal(n->spec_gen, gen);
	n->exists = false;
	cluster_node_changed(c, n, &old, true);
	cluster_node_prune(c, n);
	n = cluster_fixture_node(c, "another", 1000);
	assert_int_equal(n->id, id);
	assert_true(n->spec_gen > gen);
	cluster_destroy(c);
}

static void test_node_gone_under_its_pods(void **state)
{
	struct cluster *c = cluster_create();
	struct node *n = cluster_fixture_node(c, "n", 1000);
	struct task *t = cluster_fixture_task(c, "t", NULL, 100);
	struct res old = n->allocatable;

	(void)state;
	cluster_task_set_status(c, t, TASK_RUNNING, n);
	n->exists = false;
	cluster_node_changed(c, n, &old, true);
	cluster_node_prune(c, n);
	assert_ptr_equal(cluster_node_find(c, STR_LIT("n")), n);
	assert_int_equal(n->used.v[RES_CPU], 100);
	cluster_task_set_status(c, t, TASK_FAILED, NULL);
	assert_null(cluster_node_find(c, STR_LIT("n")));
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

static void test_used_counts_existing_nodes(void **state)
{
	struct cluster *c = cluster_create();
	struct node *n = cluster_fixture_node(c, "n", 1000);
	struct task *t = cluster_fixture_task(c, "t", NULL, 100);
	struct task *u = cluster_fixture_task(c, "u", NULL, 20);
	struct res old = n->allocatable;

	(void)state;
	cluster_task_set_status(c, t, TASK_RUNNING, n);
	cluster_task_set_status(c, u, TASK_RUNNING, cluster_node_get(c, STR_LIT("later")));
	assert_int_equal(c->used.v[RES_CPU], 100);
	(void)cluster_fixture_node(c, "later", 1000);
	assert_int_equal(c->used.v[RES_CPU], 120);
	n->exists = false;
	cluster_node_changed(c, n, &old, true);
	assert_int_equal(c->used.v[RES_CPU], 20);
	cluster_task_set_status(c, t, TASK_FAILED, NULL);
	cluster_task_set_status(c, u, TASK_FAILED, NULL);
	assert_int_equal(c->used.v[RES_CPU], 0);
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

/* The sum over two nodes is cut off at the largest number, and comes back from there. */
static void test_the_largest_use_leaves_nothing_behind(void **state)
{
	struct cluster *c = cluster_create();
	struct task *t = cluster_fixture_task(c, "t", NULL, INT64_MAX - 1);
	struct task *u = cluster_fixture_task(c, "u", NULL, INT64_MAX - 1);
	struct node *n = cluster_fixture_node(c, "n", 1000);

	(void)state;
	cluster_task_set_status(c, t, TASK_RUNNING, cluster_fixture_node(c, "m", 1000));
	cluster_task_set_status(c, u, TASK_RUNNING, n);
	assert_true(c->used.v[RES_CPU] == INT64_MAX);
	cluster_task_set_status(c, u, TASK_FAILED, NULL);
	assert_true(c->used.v[RES_CPU] == INT64_MAX - 1);
	assert_int_equal(c->drift, 0);
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

static void test_nominated_tasks_keep_the_id(void **state)
{
	struct cluster *c = cluster_create();
	struct task *t = cluster_fixture_task(c, "t", NULL, 100);
	struct node *n = cluster_node_get(c, STR_LIT("n"));

	(void)state;
	cluster_task_set_nominated(c, t, n);
	cluster_node_prune(c, n);
	assert_ptr_equal(c->nodes.v[t->nominated], n);
	assert_null(cluster_verify(c));
	cluster_task_set_nominated(c, t, cluster_node_get(c, STR_LIT("m")));
	assert_null(cluster_node_find(c, STR_LIT("n")));
	cluster_task_remove(c, t);
	assert_null(cluster_node_find(c, STR_LIT("m")));
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_total_counts_existing_nodes),
		cmocka_unit_test(test_spec_gen_never_repeats_for_an_id),
		cmocka_unit_test(test_node_gone_under_its_pods),
		cmocka_unit_test(test_used_counts_existing_nodes),
		cmocka_unit_test(test_the_largest_use_leaves_nothing_behind),
		cmocka_unit_test(test_nominated_tasks_keep_the_id),
	};

	return cmocka_run_group_tests_name("pods/model/cluster_node", tests, NULL, NULL);
}
