#include "base/attrs.h"
#include "collections/strmap.h"
#include "lib/unit.h"
#include "scheduler/workloads/model/quota_store.h"

static void test_options_are_those_of_kueue_but_for_preemptors(void **state)
{
	struct quota_options o;

	(void)state;
	quota_options_default(&o);
	assert_false(o.fair_sharing || o.admission_fair_sharing || o.ignore_undeclared ||
		     o.timestamp_creation || o.priority_boost || o.preemption_gates ||
		     o.concurrent_admission);
	assert_true(o.lte_final && o.lt_initial && o.partial_admission && o.flavor_fungibility &&
		    o.priority_sorting && o.preempt_within_nominal && o.prioritize_non_borrowing &&
		    o.recompute_on_overlap && o.prioritize_preemptors && o.preserve_scan_progress &&
		    o.equivalence_hashing && o.observability && o.topology && o.reclaimable_pods &&
		    o.admission_gates && o.nominal_first);
	assert_int_equal(o.heads, 1);
}

static void test_pairs_are_found_again(void **state)
{
	enum { N = 9 };
	struct quota_model *q = quota_create();
	uint32_t ids[N][N];

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		for (uint32_t k = 0; k < N; k++) {
			assert_int_equal(quota_pair_find(q, i * 5 % N, k), MODEL_NONE);
			ids[i * 5 % N][k] = quota_pair_get(q, i * 5 % N, k);
		}
	}
	assert_int_equal(q->pairs.n, N * N);
	for (uint32_t i = 0; i < N; i++) {
		for (uint32_t k = 0; k < N; k++) {
			assert_int_equal(quota_pair_find(q, i, k), ids[i][k]);
			assert_int_equal(quota_pair_get(q, i, k), ids[i][k]);
			assert_int_equal(q->pairs.v[ids[i][k]].flavor, i);
			assert_int_equal(q->pairs.v[ids[i][k]].resource, k);
		}
	}
	quota_destroy(q);
}

static void test_names(void **state)
{
	struct quota_model *q = quota_create();

	(void)state;
	assert_ptr_equal(quota_name(q, STR_LIT("a")), quota_name(q, STR_LIT("a")));
	assert_string_equal(quota_name(q, (struct str){ .p = NULL }), "");
	assert_int_equal(quota_resource(q, STR_LIT("cpu")), quota_resource(q, STR_LIT("cpu")));
	assert_string_equal(quota_resource_name(q, quota_resource(q, STR_LIT("gpu"))), "gpu");
	quota_destroy(q);
}

static void test_placeholders(void **state)
{
	struct quota_model *q = quota_create();
	struct flavor *f = quota_flavor_get(q, STR_LIT("f"));
	struct quota_node *n = quota_queue_get(q, STR_LIT("n"));
	uint64_t gen = q->forest_gen;

	(void)state;
	assert_null(quota_flavor_find(q, STR_LIT("n")));
	assert_ptr_equal(quota_flavor_get(q, STR_LIT("f")), f);
	assert_false(f->exists);
	assert_ptr_equal(quota_queue_get(q, STR_LIT("n")), n);
	assert_int_equal(q->forest_gen, gen);
	assert_false(n->exists);
	assert_true(n->queue->namespaces.absent);
	assert_int_equal(n->queue->allocatable_gen, 1);
	assert_int_equal(n->queue->inadmissible_cycle, -1);
	assert_null(quota_cohort_find(q, STR_LIT("n")));
	assert_ptr_not_equal(quota_cohort_get(q, STR_LIT("n")), n);
	assert_true(q->forest_gen > gen);
	quota_destroy(q);
}

/* The remembered LocalQueue is only a hint. */
static void test_the_local_queue_of_a_workload(void **state)
{
	struct quota_model *q = quota_create();
	struct local_queue *a = quota_local_get(q, STR_LIT("ns/a")), *b;
	struct workload *w = quota_workload_add(q, STR_LIT("ns/w"));

	(void)state;
	assert_null(quota_local_of(q, w));
	w->object.namespace_ = quota_name(q, STR_LIT("ns"));
	w->object.local_queue = quota_name(q, STR_LIT("a"));
	assert_ptr_equal(quota_local_of(q, w), a);
	quota_local_remember(q, w);
	assert_int_equal(w->pending.local, a->id);
	assert_ptr_equal(quota_local_of(q, w), a);
	w->object.namespace_ = quota_name(q, STR_LIT("other"));
	assert_null(quota_local_of(q, w));
	w->object.namespace_ = quota_name(q, STR_LIT("ns"));
	quota_local_remove(q, a);
	assert_null(quota_local_of(q, w));
	b = quota_local_get(q, STR_LIT("ns/b"));
	assert_int_equal(b->id, w->pending.local); /* the id is used again */
	assert_null(quota_local_of(q, w));
	w->object.local_queue = quota_name(q, STR_LIT("b"));
	assert_ptr_equal(quota_local_of(q, w), b);
	quota_local_remember(q, w);
	quota_local_remove(q, b);
	quota_local_remember(q, w);
	assert_int_equal(w->pending.local, MODEL_NONE);
	quota_workload_remove(q, w);
	quota_destroy(q);
}

static void test_the_queue_of_a_local_queue(void **state)
{
	struct quota_model *q = quota_create();
	struct local_queue *l = quota_local_get(q, STR_LIT("ns/a"));
	struct quota_node *n;

	(void)state;
	assert_null(quota_local_queue(q, l));
	l->queue = quota_name(q, STR_LIT("team"));
	assert_null(quota_local_queue(q, l));
	(void)quota_cohort_get(q, STR_LIT("team"));
	n = quota_queue_get(q, STR_LIT("team"));
	assert_null(quota_local_queue(q, l));
	n->exists = true;
	assert_ptr_equal(quota_local_queue(q, l), n);
	assert_int_equal(l->node, n->id);
	l->queue = quota_name(q, STR_LIT("other"));
	assert_null(quota_local_queue(q, l));
	l->queue = quota_name(q, STR_LIT("team"));
	assert_ptr_equal(quota_local_queue(q, l), n);
	n->exists = false;
	assert_null(quota_local_queue(q, l));
	quota_destroy(q);
}

static void test_locals_and_namespaces(void **state)
{
	struct quota_model *q = quota_create();
	struct local_queue *l = quota_local_get(q, STR_LIT("ns/a"));
	uint32_t id = l->id;

	(void)state;
	assert_ptr_equal(quota_local_find(q, STR_LIT("ns/a")), l);
	assert_true(l->weight == 1);
	assert_string_equal(l->queue, "");
	quota_local_remove(q, l);
	assert_null(quota_local_find(q, STR_LIT("ns/a")));
	assert_int_equal(quota_local_get(q, STR_LIT("ns/b"))->id, id);
	assert_null(quota_namespace_find(q, STR_LIT("ns")));
	assert_ptr_equal(quota_namespace_get(q, STR_LIT("ns")),
			 quota_namespace_get(q, STR_LIT("ns")));
	quota_namespace_remove(q, STR_LIT("ns"));
	quota_namespace_remove(q, STR_LIT("ns"));
	assert_null(quota_namespace_find(q, STR_LIT("ns")));
	(void)quota_namespace_get(q, STR_LIT("left"));
	quota_destroy(q);
}

static void test_checks(void **state)
{
	struct quota_model *q = quota_create();

	(void)state;
	assert_null(quota_check_find(q, STR_LIT("c")));
	quota_check_set(q, STR_LIT("c"), false, QUOTA_CHECK_OTHER);
	assert_false(quota_check_find(q, STR_LIT("c"))->active);
	quota_check_set(q, STR_LIT("c"), true, QUOTA_CHECK_MULTIKUEUE);
	assert_int_equal(quota_check_find(q, STR_LIT("c"))->kind, QUOTA_CHECK_MULTIKUEUE);
	assert_true(quota_check_find(q, STR_LIT("c"))->active);
	quota_check_remove(q, STR_LIT("c"));
	assert_null(quota_check_find(q, STR_LIT("c")));
	quota_topology_set(q, STR_LIT("t"), false);
	assert_false(strmap_has(q->topology_of, STR_LIT("t")));
	quota_topology_set(q, STR_LIT("t"), true);
	assert_true(strmap_has(q->topology_of, STR_LIT("t")));
	quota_topology_set(q, STR_LIT("t"), false);
	assert_false(strmap_has(q->topology_of, STR_LIT("t")));
	quota_destroy(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options_are_those_of_kueue_but_for_preemptors),
		cmocka_unit_test(test_pairs_are_found_again),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_placeholders),
		cmocka_unit_test(test_locals_and_namespaces),
		cmocka_unit_test(test_the_local_queue_of_a_workload),
		cmocka_unit_test(test_the_queue_of_a_local_queue),
		cmocka_unit_test(test_checks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
