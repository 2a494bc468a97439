#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"

static void test_get_makes_a_placeholder_once(void **state)
{
	struct cluster *c = cluster_create();
	struct queue *q = queue_get(c, STR_LIT("a"));

	(void)state;
	assert_false(q->exists);
	assert_non_null(q->broken);
	assert_int_equal(q->parent, MODEL_NONE);
	assert_int_equal(q->capability.v[RES_CPU], RES_UNLIMITED);
	assert_ptr_equal(queue_get(c, STR_LIT("a")), q);
	assert_ptr_equal(queue_find(c, STR_LIT("a")), q);
	assert_null(queue_find(c, STR_LIT("b")));
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

static void test_prune_spares_what_is_needed(void **state)
{
	struct cluster *c = cluster_create();
	struct queue *a = cluster_fixture_queue(c, "a", NULL, -1);
	struct podgroup *g = cluster_fixture_podgroup(c, "j", "b", 1);
	struct queue *b = queue_find(c, STR_LIT("b"));
	uint32_t id = b->id;

	(void)state;
	queue_prune(c, a); /* exists */
	queue_prune(c, b); /* a PodGroup waits for it */
	queue_prune(c, c->queues.v[c->root_queue]);
	assert_non_null(queue_find(c, STR_LIT("a")));
	assert_non_null(queue_find(c, STR_LIT("b")));
	cluster_podgroup_set_queue(c, g, STR_LIT("a"));
	assert_null(queue_find(c, STR_LIT("b")));
	assert_int_equal(queue_get(c, STR_LIT("new"))->id, id); /* ids are re-used */
	a->charged.v[RES_CPU] = 1;
	a->exists = false;
	cluster_podgroup_set_queue(c, g, str_of(NULL));
	(void)queue_topology_changed(c);
	queue_prune(c, a); /* still charged */
	assert_ptr_equal(queue_find(c, STR_LIT("a")), a);
	cluster_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_get_makes_a_placeholder_once),
		cmocka_unit_test(test_prune_spares_what_is_needed),
	};

	return cmocka_run_group_tests_name("pods/model/queue", tests, NULL, NULL);
}
