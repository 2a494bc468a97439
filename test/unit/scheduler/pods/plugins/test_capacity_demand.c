#include "lib/pods/hooks_fixture.h"
#include "lib/pods/random_changes.h"
#include "lib/unit.h"
#include "scheduler/base/tree.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/plugins/capacity.h"
#include "scheduler/pods/values/pod_class.h"

static struct hooks_fixture f;
static struct queue *parent, *left, *right;
static struct node *node;

static int setup(void **state)
{
	(void)state;
	hooks_fixture_init(&f, "- plugins: [{name: capacity}]\n", plugin_registry,
			   plugin_registry_count);
	parent = cluster_fixture_queue(f.cluster, "p", NULL, -1);
	left = cluster_fixture_queue(f.cluster, "left", "p", -1);
	right = cluster_fixture_queue(f.cluster, "right", "p", -1);
	node = cluster_fixture_node(f.cluster, "n", 1000);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	hooks_fixture_finish(&f);
	return 0;
}

static struct podgroup *podgroup(const char *name, const char *queue, enum podgroup_phase phase,
				 int64_t min_cpu)
{
	struct podgroup *g = cluster_fixture_podgroup(f.cluster, name, queue, 1);

	g->phase = (uint8_t)phase;
	g->has_min_resources = min_cpu >= 0;
	g->min_resources.v[RES_CPU] = min_cpu < 0 ? 0 : min_cpu;
	return g;
}

static struct task *charged(const char *name, struct podgroup *g, struct queue *q, int64_t cpu)
{
	struct task *t = cluster_fixture_task(f.cluster, name, g, cpu);

	cluster_task_set_status(f.cluster, t, TASK_RUNNING, node);
	ledger_charge(f.cluster, t, q, CHARGE_BOUND);
	return t;
}

static int64_t sum_at(const struct capacity_demand *d, const struct queue *q)
{
	struct res r;

	capacity_demand_of_queue(d, f.s, q, &r);
	return r.v[RES_CPU];
}

static struct tree *tree;

static struct capacity_demand build(void)
{
	uint32_t above[8];
	struct capacity_demand d = { .sums = { .v = NULL } };

	hooks_fixture_open(&f);
	assert_true(f.cluster->queues.n <= 8);
	for (size_t i = 0; i < f.cluster->queues.n; i++) {
		const struct queue *q = f.cluster->queues.v[i];

		above[i] = q == NULL ? MODEL_NONE : q->parent;
	}
	tree = tree_create(above, f.cluster->queues.n);
	capacity_demand_open(&d, f.s, tree);
	return d;
}

static void finish(struct capacity_demand *d)
{
	capacity_demand_finish(d);
	assert_null(d->sums.v);
	tree_destroy(tree);
}

static void test_inqueue_podgroups_demand_what_is_not_charged_yet(void **state)
{
	struct capacity_demand d;
	struct podgroup *g = podgroup("a", "left", PODGROUP_INQUEUE, 10);

	(void)state;
	podgroup("b", "right", PODGROUP_INQUEUE, 5);
	podgroup("waits", "right", PODGROUP_PENDING, 100);
	podgroup("no-min", "right", PODGROUP_INQUEUE, -1);
	charged("t", g, left, 4);
	d = build();
	assert_int_equal(sum_at(&d, left), 6);
	assert_int_equal(sum_at(&d, right), 5);
	assert_int_equal(sum_at(&d, parent), 11);
	assert_int_equal(sum_at(&d, f.cluster->queues.v[f.cluster->root_queue]), 11);
	finish(&d);
}

static void go_elsewhere(struct task *t)
{
	struct pod_class *k = pod_class_copy(t->klass, "");

	k->charged_to_workload = true;
	cluster_task_set_class(f.cluster, t, cluster_class_intern(f.cluster, k));
	pod_class_destroy(k);
}

/* Neither what the PodGroup announces nor what its pods run with, as long as none is our own. */
static void test_pods_charged_elsewhere_demand_nothing(void **state)
{
	struct capacity_demand d;
	struct podgroup *g = podgroup("a", "left", PODGROUP_INQUEUE, 10);

	(void)state;
	go_elsewhere(cluster_fixture_task(f.cluster, "t", g, 4));
	d = build();
	assert_int_equal(sum_at(&d, left), 0);
	finish(&d);
	cluster_fixture_task(f.cluster, "ours", g, 4);
	d = build();
	assert_int_equal(sum_at(&d, left), 10);
	finish(&d);
}

static void test_running_podgroups_count_when_they_have_their_members(void **state)
{
	struct capacity_demand d;
	struct podgroup *g = podgroup("a", "left", PODGROUP_RUNNING, 10);

	(void)state;
	charged("t", g, left, 4);
	d = build();
	assert_int_equal(sum_at(&d, left), 6);
	finish(&d);
	g->min_member = 2;
	d = build();
	assert_int_equal(sum_at(&d, left), 0);
	finish(&d);
}

static void test_charges_beyond_the_minimum_are_elastic(void **state)
{
	struct capacity_demand d;
	struct podgroup *g = podgroup("a", "left", PODGROUP_RUNNING, 10);

	(void)state;
	charged("t", g, left, 15);
	d = build();
	assert_int_equal(sum_at(&d, left), -5);
	assert_int_equal(sum_at(&d, parent), -5);
	finish(&d);
}

static void test_quirk_a_podgroup_without_min_resources_is_all_elastic(void **state)
{
	struct capacity_demand d;
	struct podgroup *g = podgroup("a", "left", PODGROUP_RUNNING, -1);

	(void)state;
	charged("t", g, left, 15);
	d = build();
	assert_int_equal(sum_at(&d, left), -15);
	finish(&d);
}

static void test_terminating_pods_hold_nothing_here(void **state)
{
	struct capacity_demand d;
	struct podgroup *g = podgroup("a", "left", PODGROUP_INQUEUE, 10);
	struct task *t = charged("t", g, left, 4);

	(void)state;
	ledger_set_releasing(f.cluster, t, true);
	cluster_task_set_status(f.cluster, t, TASK_RELEASING, node);
	d = build();
	assert_int_equal(sum_at(&d, left), 10);
	finish(&d);
}

static void test_pods_held_by_foreign_gates_demand_nothing(void **state)
{
	struct capacity_demand d;
	struct podgroup *g = podgroup("a", "left", PODGROUP_INQUEUE, 10);

	(void)state;
	cluster_fixture_task(f.cluster, "foreign", g, 3)->flags |= TASK_FOREIGN_GATE;
	cluster_fixture_task(f.cluster, "both", g, 2)->flags |= TASK_FOREIGN_GATE | TASK_OUR_GATE;
	cluster_fixture_task(f.cluster, "ours", g, 4)->flags |= TASK_OUR_GATE;
	d = build();
	assert_int_equal(sum_at(&d, left), 5);
	finish(&d);
}

static void test_quotas_on_object_counts_are_no_demand(void **state)
{
	int count = res_names_add(f.cluster->res, STR_LIT("count/pods"));
	int gpu = res_names_add(f.cluster->res, STR_LIT("nvidia.com/gpu"));
	struct capacity_demand d;
	struct podgroup *g = podgroup("a", "left", PODGROUP_INQUEUE, 10);
	struct res r;

	(void)state;
	g->min_resources.v[count] = 7;
	g->min_resources.v[gpu] = 3;
	d = build();
	capacity_demand_of_queue(&d, f.s, left, &r);
	assert_int_equal(r.v[count], 0);
	assert_int_equal(r.v[gpu], 3);
	finish(&d);
}

static void test_podgroups_without_group_or_queue_are_left_out(void **state)
{
	struct capacity_demand d;
	struct podgroup *g = podgroup("a", "left", PODGROUP_INQUEUE, 10);

	(void)state;
	podgroup("lost", "nowhere", PODGROUP_INQUEUE, 10);
	g->exists = false;
	d = build();
	assert_int_equal(sum_at(&d, left), 0);
	finish(&d);
}

static void test_a_podgroup_that_was_enqueued_is_added(void **state)
{
	struct capacity_demand d;
	struct podgroup *g = podgroup("a", "left", PODGROUP_PENDING, 10);
	struct podgroup *bare = podgroup("b", "left", PODGROUP_PENDING, -1);

	(void)state;
	d = build();
	assert_int_equal(sum_at(&d, left), 0);
	capacity_demand_add(&d, f.s, g);
	capacity_demand_add(&d, f.s, bare);
	assert_int_equal(sum_at(&d, left), 10);
	assert_int_equal(sum_at(&d, parent), 10);
	finish(&d);
}

static void test_demand_of_a_podgroup_is_its_minimum_without_what_it_holds(void **state)
{
	struct podgroup *g = podgroup("a", "left", PODGROUP_PENDING, 10);
	struct res demand;

	(void)state;
	charged("t", g, left, 4);
	hooks_fixture_open(&f);
	capacity_demand_of_podgroup(f.s, g, &demand);
	assert_int_equal(demand.v[RES_CPU], 6);
	charged("u", g, left, 40);
	hooks_fixture_open(&f);
	capacity_demand_of_podgroup(f.s, g, &demand);
	assert_int_equal(demand.v[RES_CPU], 0);
}

/* Kept from session to session, the sums are those that a new start would count. */
static void test_sums_are_kept_through_changes(void **state)
{
	struct capacity_demand d, anew;
	struct random_changes r;

	(void)state;
	random_changes_init(&r, f.cluster, 4711);
	d = build();
	for (int step = 0; step < 500; step++) {
		random_changes_step(&r);
		tree_destroy(tree);
		anew = build();
		capacity_demand_open(&d, f.s, tree);
		for (size_t i = 0; i < f.cluster->queues.n; i++) {
			const struct queue *q = f.cluster->queues.v[i];

			if (q != NULL && q->exists) {
				assert_int_equal(sum_at(&d, q), sum_at(&anew, q));
			}
		}
		capacity_demand_finish(&anew);
		/* Of this session alone: the next one counts it as it is. */
		if (r.g[1]->queue != MODEL_NONE) {
			capacity_demand_add(&d, f.s, r.g[1]);
		}
		random_changes_scan(&r);
	}
	random_changes_finish(&r);
	finish(&d);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_inqueue_podgroups_demand_what_is_not_charged_yet),
		TEST(test_pods_charged_elsewhere_demand_nothing),
		TEST(test_running_podgroups_count_when_they_have_their_members),
		TEST(test_charges_beyond_the_minimum_are_elastic),
		TEST(test_quirk_a_podgroup_without_min_resources_is_all_elastic),
		TEST(test_terminating_pods_hold_nothing_here),
		TEST(test_pods_held_by_foreign_gates_demand_nothing),
		TEST(test_quotas_on_object_counts_are_no_demand),
		TEST(test_podgroups_without_group_or_queue_are_left_out),
		TEST(test_a_podgroup_that_was_enqueued_is_added),
		TEST(test_sums_are_kept_through_changes),
		TEST(test_demand_of_a_podgroup_is_its_minimum_without_what_it_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
