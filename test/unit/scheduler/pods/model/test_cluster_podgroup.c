#include <string.h>

#include "base/attrs.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"

static void test_get_find_prune(void **state)
{
	struct cluster *c = cluster_create();
	struct podgroup *g = cluster_podgroup_get(c, STR_LIT("ns"), STR_LIT("j"));
	uint32_t id = g->id;

	(void)state;
	assert_ptr_equal(cluster_podgroup_get(c, STR_LIT("ns"), STR_LIT("j")), g);
	assert_ptr_equal(cluster_podgroup_find(c, STR_LIT("ns/j")), g);
	assert_ptr_not_equal(cluster_podgroup_get(c, STR_LIT("other"), STR_LIT("j")), g);
	assert_int_equal(g->queue_name, MODEL_NONE);
	g->exists = true;
	cluster_podgroup_prune(c, g);
	assert_ptr_equal(cluster_podgroup_find(c, STR_LIT("ns/j")), g);
	g->exists = false;
	cluster_podgroup_prune(c, g);
	assert_null(cluster_podgroup_find(c, STR_LIT("ns/j")));
	assert_int_equal(cluster_podgroup_get(c, STR_LIT("ns"), STR_LIT("k"))->id, id);
	cluster_destroy(c);
}

static void test_lives_as_long_as_its_pods(void **state)
{
	struct cluster *c = cluster_create();
	struct podgroup *g = cluster_podgroup_get(c, STR_LIT("ns"), STR_LIT("j"));
	struct task *t = cluster_fixture_task(c, "t", g, 1);

	(void)state;
	cluster_podgroup_prune(c, g);
	assert_ptr_equal(cluster_podgroup_find(c, STR_LIT("ns/j")), g);
	cluster_task_remove(c, t);
	assert_null(cluster_podgroup_find(c, STR_LIT("ns/j")));
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

/* It exists for its one pod, goes with it, and no pod can name it. */
static void test_one_that_is_alone(void **state)
{
	struct cluster *c = cluster_create();
	struct podgroup *g = cluster_podgroup_get_alone(c, STR_LIT("ns"), STR_LIT("t"));
	struct task *t = cluster_fixture_task(c, "t", g, 1);

	(void)state;
	assert_true(g->alone && g->exists);
	assert_int_equal(g->min_member, 1);
	assert_ptr_equal(cluster_podgroup_get_alone(c, STR_LIT("ns"), STR_LIT("t")), g);
	assert_ptr_not_equal(cluster_podgroup_get(c, STR_LIT("ns"), STR_LIT("t")), g);
	assert_ptr_not_equal(cluster_podgroup_get(c, STR_LIT("ns"), STR_LIT("/ns/t")), g);
	assert_ptr_equal(cluster_podgroup_find(c, STR_LIT("/ns/t")), g);
	cluster_podgroup_prune(c, g);
	assert_ptr_equal(cluster_podgroup_find(c, STR_LIT("/ns/t")), g);
	cluster_task_remove(c, t);
	assert_null(cluster_podgroup_find(c, STR_LIT("/ns/t")));
	cluster_destroy(c);
}

static void test_moves_between_queues_bump_both(void **state)
{
	struct cluster *c = cluster_create();
	struct queue *a = cluster_fixture_queue(c, "a", NULL, -1);
	struct queue *b = cluster_fixture_queue(c, "b", NULL, -1);
	struct podgroup *j1 = cluster_fixture_podgroup(c, "j1", "a", 1);
	struct podgroup *j2 = cluster_fixture_podgroup(c, "j2", "a", 1);
	uint64_t gen_a = a->podgroups_gen, gen_b = b->podgroups_gen;

	(void)state;
	cluster_podgroup_set_queue(c, j1, STR_LIT("a")); /* no change */
	assert_int_equal(a->podgroups_gen, gen_a);
	cluster_podgroup_set_queue(c, j1, STR_LIT("b"));
	assert_true(a->podgroups_gen > gen_a);
	assert_true(b->podgroups_gen > gen_b);
	assert_int_equal(j1->queue, b->id);
	assert_int_equal(j2->queue_pos, 0);
	assert_null(cluster_verify(c));
	cluster_podgroup_set_queue(c, j1, str_of(""));
	assert_int_equal(j1->queue, MODEL_NONE);
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

static void test_each_unsupported_field_is_named(void **state)
{
	static const struct {
		enum podgroup_unsupported what;
		const char *field;
	} rows[] = {
		{ PODGROUP_HARD_TOPOLOGY, "spec.networkTopology" },
		{ PODGROUP_SUB_GROUPS, "spec.subGroupPolicy" },
	};
	struct podgroup g = { .unsupported = PODGROUP_SUPPORTED };

	(void)state;
	assert_null(cluster_podgroup_unsupported(&g));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row_number(i);
		g.unsupported = (uint8_t)rows[i].what;
		assert_non_null(cluster_podgroup_unsupported(&g));
		assert_non_null(strstr(cluster_podgroup_unsupported(&g), rows[i].field));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_unsupported_field_is_named),
		cmocka_unit_test(test_get_find_prune),
		cmocka_unit_test(test_one_that_is_alone),
		cmocka_unit_test(test_lives_as_long_as_its_pods),
		cmocka_unit_test(test_moves_between_queues_bump_both),
	};

	return cmocka_run_group_tests_name("pods/model/cluster_podgroup", tests, NULL, NULL);
}
