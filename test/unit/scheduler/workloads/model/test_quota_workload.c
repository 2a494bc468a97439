#include "lib/quota/quota_world.h"
#include "lib/unit.h"

static void test_ids_are_used_again(void **state)
{
	struct quota_model *q = quota_create();
	struct workload *a = quota_workload_add(q, STR_LIT("ns/a"));
	struct workload *b = quota_workload_add(q, STR_LIT("ns/b"));
	uint32_t id = a->id;

	(void)state;
	assert_ptr_equal(quota_workload_find(q, STR_LIT("ns/a")), a);
	assert_string_equal(quota_workload_name(a), "a");
	assert_true(a->object.active);
	assert_int_equal(a->holding.node, MODEL_NONE);
	assert_int_equal(a->object.created, MODEL_TIME_NONE);
	quota_workload_remove(q, a);
	assert_null(quota_workload_find(q, STR_LIT("ns/a")));
	assert_null(q->workloads.v[id]);
	assert_int_equal(b->id, 1);
	assert_int_equal(quota_workload_add(q, STR_LIT("ns/c"))->id, id);
	quota_destroy(q);
}

static void test_no_timer_stays_behind(void **state)
{
	struct quota_model *q = quota_create();
	struct workload *a = quota_workload_add(q, STR_LIT("ns/a"));
	struct workload *b = quota_workload_add(q, STR_LIT("ns/b"));

	(void)state;
	vec_push(&q->timers, a->id);
	vec_push(&q->timers, b->id);
	a->pending.timed = b->pending.timed = true;
	quota_workload_remove(q, a);
	assert_int_equal(q->timers.n, 1);
	assert_int_equal(q->timers.v[0], b->id);
	quota_destroy(q);
}

/* A world is torn down whatever its workloads are doing. */
static void test_destroyed_with_holders(void **state)
{
	struct quota_world w;

	(void)state;
	quota_world_init(&w, "quota q f cpu nominal=1\nworkload w queue=q cpu=1 holds=f\n"
			     "workload v queue=q cpu=1\n");
	quota_world_workload(&w, "v")->pending.where = QUOTA_HEAP;
	quota_world_finish(&w);
	quota_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids_are_used_again),
		cmocka_unit_test(test_no_timer_stays_behind),
		cmocka_unit_test(test_destroyed_with_holders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
