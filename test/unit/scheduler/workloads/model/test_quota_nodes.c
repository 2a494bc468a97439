#include "lib/quota/quota_world.h"
#include "lib/unit.h"

static void test_cohorts_come_and_go_with_their_names(void **state)
{
	struct quota_world w;
	struct quota_node *q;

	(void)state;
	quota_world_init(&w, "queue q cohort=c\ncohort c2\n");
	q = quota_world_node(&w, "q");
	assert_false(quota_world_node(&w, "c")->exists);
	assert_int_equal(q->parent_id, quota_world_id(&w, "c"));
	/* The object is created, and deleted while it is still referenced. */
	quota_world_add(&w, "cohort c parent=up\n");
	assert_int_equal(quota_world_node(&w, "c")->parent_id, quota_world_id(&w, "up"));
	quota_node_clear(quota_world_node(&w, "c"));
	quota_nodes_changed(w.q);
	assert_non_null(quota_cohort_find(w.q, STR_LIT("c")));
	assert_null(quota_cohort_find(w.q, STR_LIT("up")));
	q->parent = NULL;
	quota_nodes_changed(w.q);
	assert_null(quota_cohort_find(w.q, STR_LIT("c")));
	assert_non_null(quota_cohort_find(w.q, STR_LIT("c2")));
	assert_int_equal(q->parent_id, MODEL_NONE);
	quota_world_finish(&w);
}

static void test_a_queue_and_a_cohort_of_one_name(void **state)
{
	struct quota_world w;

	(void)state;
	quota_world_init(&w, "queue x cohort=x\n");
	assert_true(quota_world_node(&w, "x")->is_queue);
	assert_false(quota_world_node(&w, "cohort/x")->is_queue);
	assert_int_equal(quota_world_node(&w, "x")->parent_id, quota_world_id(&w, "cohort/x"));
	quota_world_finish(&w);
}

/* The id of a deleted queue is used again, but not while workloads are in it. */
static void test_a_queue_is_removed_when_it_is_empty(void **state)
{
	struct quota_world w;
	struct quota_node *q;
	uint64_t gen;
	uint32_t id;

	(void)state;
	quota_world_init(&w, "queue q\nqueue r\nquota q f cpu nominal=1\n"
			     "workload w queue=q cpu=1 holds=f\nworkload p queue=r cpu=1\n");
	q = quota_world_node(&w, "q");
	id = q->id;
	quota_node_clear(q);
	quota_node_clear(quota_world_node(&w, "r"));
	gen = w.q->forest_gen;
	quota_nodes_changed(w.q);
	assert_true(w.q->forest_gen > gen);
	assert_ptr_equal(quota_queue_find(w.q, STR_LIT("q")), q);
	assert_non_null(quota_queue_find(w.q, STR_LIT("r")));
	forest_release(w.f, quota_world_workload(&w, "w"));
	quota_world_workload(&w, "w")->pending.queue = MODEL_NONE;
	quota_world_workload(&w, "p")->pending.queue = MODEL_NONE;
	quota_nodes_changed(w.q);
	assert_null(quota_queue_find(w.q, STR_LIT("q")));
	assert_null(quota_queue_find(w.q, STR_LIT("r")));
	(void)quota_queue_get(w.q, STR_LIT("s"));
	assert_true(quota_queue_get(w.q, STR_LIT("t"))->id == id ||
		    quota_queue_get(w.q, STR_LIT("s"))->id == id);
	quota_world_finish(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cohorts_come_and_go_with_their_names),
		cmocka_unit_test(test_a_queue_and_a_cohort_of_one_name),
		cmocka_unit_test(test_a_queue_is_removed_when_it_is_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
