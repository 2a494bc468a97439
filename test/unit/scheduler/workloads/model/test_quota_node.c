#include "lib/quota/quota_world.h"
#include "lib/unit.h"

static void test_cells_are_sorted_and_replaced(void **state)
{
	struct quota_world w;
	struct quota_node *n;
	uint32_t first, second;

	(void)state;
	quota_world_init(&w, "quota other f cpu\nquota other f memory\n"
			     "quota q f memory nominal=2\nquota q f cpu nominal=1\n");
	n = quota_world_node(&w, "q");
	first = quota_world_pair(&w, "f", "cpu");
	second = quota_world_pair(&w, "f", "memory");
	assert_int_equal(n->cells.n, 2);
	assert_int_equal(n->cells.v[0].pair, first);
	assert_int_equal(n->cells.v[1].pair, second);
	quota_node_set_cell(n, (struct quota_cell){ .pair = first, .nominal = 9 });
	assert_int_equal(n->cells.n, 2);
	assert_int_equal(quota_node_cell(n, first)->nominal, 9);
	assert_null(quota_node_cell(n, 77));
	quota_world_finish(&w);
}

static void test_groups_by_resource(void **state)
{
	struct quota_world w;
	const struct quota_node *n;
	const struct resource_group *g;

	(void)state;
	quota_world_init(&w, "quota q f cpu\nquota q f memory\nquota q g cpu\nquota q h gpu\n");
	n = quota_world_node(&w, "q");
	assert_int_equal(n->groups.n, 2);
	g = quota_node_group(n, quota_world_resource(&w, "memory"));
	assert_ptr_equal(g, quota_node_group(n, quota_world_resource(&w, "cpu")));
	assert_int_equal(g->nflavors, 2);
	assert_int_equal(g->flavors[1], quota_world_flavor(&w, "g"));
	assert_ptr_not_equal(g, quota_node_group(n, quota_world_resource(&w, "gpu")));
	assert_null(quota_node_group(n, quota_world_resource(&w, "pods")));
	quota_world_finish(&w);
}

/* The configuration is cleared; workloads that hold quota or wait stay. */
static void test_clearing(void **state)
{
	struct quota_world w;
	struct quota_node *n;

	(void)state;
	quota_world_init(&w,
			 "queue q cohort=c strategy=StrictFIFO within=Any reclaim=Any borrow=Any "
			 "threshold=5 whenborrow=TryNextFlavor whenpreempt=MayStopSearch "
			 "preference=PreemptionOverBorrowing weight=2 stop=Hold checks=c,d "
			 "namespaces=a:b usage-based terminating\n"
			 "quota q f pods nominal=5\nworkload w queue=q cpu=1 holds=f\n");
	n = quota_world_node(&w, "q");
	assert_true(n->queue->covers_pods);
	quota_node_clear(n);
	assert_false(n->exists);
	assert_null(n->parent);
	assert_true(n->weight == 1);
	assert_int_equal(n->cells.n, 0);
	assert_int_equal(n->groups.n, 0);
	assert_int_equal(n->queue->checks.n, 0);
	assert_true(n->queue->namespaces.absent);
	assert_int_equal(n->queue->strategy, QUOTA_BEST_EFFORT_FIFO);
	assert_int_equal(n->queue->when_can_borrow, QUOTA_MAY_STOP_SEARCH);
	assert_int_equal(n->queue->when_can_preempt, QUOTA_TRY_NEXT_FLAVOR);
	assert_int_equal(n->queue->preference, QUOTA_BORROWING_OVER_PREEMPTION);
	assert_int_equal(n->queue->within_queue, QUOTA_NEVER);
	assert_int_equal(n->queue->reclaim, QUOTA_NEVER);
	assert_int_equal(n->queue->borrow_within, QUOTA_NEVER);
	assert_false(n->queue->has_threshold);
	assert_int_equal(n->queue->stop, QUOTA_RUN);
	assert_false(n->queue->covers_pods || n->queue->terminating || n->queue->usage_based);
	assert_int_equal(n->queue->holders.n, 1);
	quota_world_finish(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cells_are_sorted_and_replaced),
		cmocka_unit_test(test_groups_by_resource),
		cmocka_unit_test(test_clearing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
