#include "base/clock.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"

static void test_new_task_is_blank(void **state)
{
	struct cluster *c = cluster_create();
	struct task *t = cluster_task_add(c, STR_LIT("ns"), STR_LIT("pod-1"), STR_LIT("11-22"));
	char key[8];

	(void)state;
	assert_string_equal(t->name, "pod-1");
	assert_string_equal(t->uid, "11-22");
	assert_string_equal(t->namespace_, "ns");
	assert_int_equal(t->status, TASK_PENDING);
	assert_int_equal(t->podgroup, MODEL_NONE);
	assert_int_equal(t->charge, CHARGE_NONE);
	assert_int_equal(t->published_at, MODEL_TIME_NONE);
	assert_ptr_equal(cluster_task_find(c, STR_LIT("ns/pod-1")), t);
	assert_int_equal(cluster_task_key(t, key, sizeof(key)), 8); /* as snprintf: cut */
	assert_string_equal(key, "ns/pod-");
	cluster_task_remove(c, t);
	assert_null(cluster_task_find(c, STR_LIT("ns/pod-1")));
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

static void test_statuses_in_node_accounts(void **state)
{
	static const struct {
		enum task_status status;
		int64_t used, releasing;
	} rows[] = {
		{ TASK_BINDING, 300, 0 },     { TASK_BOUND, 300, 0 },
		{ TASK_RUNNING, 300, 0 },     { TASK_RELEASING, 300, 300 },
		{ TASK_UNKNOWN, 300, 0 },     { TASK_SUCCEEDED, 0, 0 },
		{ TASK_RUNNING, 300, 0 },     { TASK_FAILED, 0, 0 },
		{ TASK_RELEASING, 300, 300 }, { TASK_PENDING, 0, 0 },
	};
	struct cluster *c = cluster_create();
	struct node *n = cluster_fixture_node(c, "n", 1000);
	struct podgroup *g = cluster_fixture_podgroup(c, "j", NULL, 1);
	struct task *t = cluster_fixture_task(c, "t", g, 300);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cluster_task_set_status(c, t, rows[i].status, n);
		assert_int_equal(n->used.v[RES_CPU], rows[i].used);
		assert_int_equal(n->releasing.v[RES_CPU], rows[i].releasing);
		assert_int_equal(n->used.v[RES_PODS], rows[i].used > 0);
		assert_int_equal(g->by_status[rows[i].status], 1);
		assert_null(cluster_verify(c));
	}
	cluster_destroy(c);
}

static void test_resize_and_move_follow(void **state)
{
	struct cluster *c = cluster_create();
	struct node *n = cluster_fixture_node(c, "n", 1000);
	struct task *t = cluster_fixture_task(c, "t", NULL, 300);
	uint64_t gen;

	(void)state;
	cluster_task_set_status(c, t, TASK_BOUND, n);
	gen = c->nodes_gen;
	cluster_task_set_status(c, t, TASK_RUNNING, n);
	assert_int_equal(c->nodes_gen, gen); /* its request was and is on the node */
	cluster_task_set_class(c, t, cluster_fixture_class(c, 500));
	assert_int_equal(n->used.v[RES_CPU], 500);
	assert_int_equal(slots_count(&c->class_by_id), 1); /* the old class is gone */
	cluster_task_set_class(c, t, cluster_fixture_class(c, 500));
	assert_int_equal(t->klass->refs, 1);
	gen = c->nodes_gen;
	cluster_task_set_status(c, t, TASK_RUNNING, cluster_node_get(c, STR_LIT("m")));
	assert_int_equal(n->used.v[RES_CPU], 0);
	assert_true(c->nodes_gen > gen); /* room appeared */
	assert_int_equal(cluster_node_find(c, STR_LIT("m"))->used.v[RES_CPU], 500);
	cluster_task_remove(c, t);
	assert_null(cluster_node_find(c, STR_LIT("m"))); /* a placeholder goes with its last pod */
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

static void test_changes_wake_the_queue(void **state)
{
	struct cluster *c = cluster_create();
	struct queue *q = cluster_fixture_queue(c, "q", NULL, -1);
	struct podgroup *g = cluster_fixture_podgroup(c, "j", "q", 1);
	struct podgroup *k = cluster_fixture_podgroup(c, "k", "q", 1);
	struct task *t = cluster_fixture_task(c, "t", g, 1);
	uint64_t gen = q->podgroups_gen;

	(void)state;
	cluster_task_changed(c, t);
	assert_true(q->podgroups_gen > gen);
	gen = q->podgroups_gen;
	cluster_task_set_status(c, t, TASK_PENDING, NULL); /* nothing new */
	assert_int_equal(q->podgroups_gen, gen);
	cluster_task_set_podgroup(c, t, k);
	assert_true(q->podgroups_gen > gen);
	assert_int_equal(g->tasks.n, 0);
	assert_int_equal(k->by_status[TASK_PENDING], 1);
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

/* The list of those that await a node stays whole, whichever of them leaves it, and how. */
static void test_awaiting(void **state)
{
	struct cluster *c = cluster_create();
	struct task *t[3];
	struct node *n;

	(void)state;
	n = cluster_fixture_node(c, "n", 1000);
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = { "a", "b", "c" };

		t[i] = cluster_fixture_task(c, names[i], NULL, 1);
		cluster_task_set_awaits(c, t[i], n);
		cluster_task_set_awaits(c, t[i], n);
		assert_null(cluster_verify(c));
	}
	assert_int_equal(c->awaiting.n, 3);
	/* A bind that is decided may fail; one that is seen ends it. */
	cluster_task_set_status(c, t[0], TASK_BINDING, n);
	assert_int_equal(t[0]->awaits, n->id);
	cluster_task_set_status(c, t[0], TASK_RUNNING, n);
	assert_int_equal(t[0]->awaits, MODEL_NONE);
	assert_null(cluster_verify(c));
	cluster_task_remove(c, t[1]);
	assert_null(cluster_verify(c));
	cluster_task_set_awaits(c, t[2], NULL);
	assert_int_equal(c->awaiting.n, 0);
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

static void test_pauses_double(void **state)
{
	(void)state;
	assert_int_equal(cluster_task_pause(0), CLOCK_NS_PER_S);
	assert_int_equal(cluster_task_pause(1), 2 * CLOCK_NS_PER_S);
	assert_int_equal(cluster_task_pause(8), 256 * CLOCK_NS_PER_S);
	assert_int_equal(cluster_task_pause(9), 256 * CLOCK_NS_PER_S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pauses_double),
		cmocka_unit_test(test_new_task_is_blank),
		cmocka_unit_test(test_statuses_in_node_accounts),
		cmocka_unit_test(test_resize_and_move_follow),
		cmocka_unit_test(test_changes_wake_the_queue),
		cmocka_unit_test(test_awaiting),
	};

	return cmocka_run_group_tests_name("pods/model/cluster_task", tests, NULL, NULL);
}
