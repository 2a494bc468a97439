#include "base/attrs.h"
#include "lib/pods/hooks_fixture.h"
#include "lib/pods/random_changes.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/plugins/registry.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/statement.h"

static struct hooks_fixture f;
static struct node *node;
static struct reason why;

static int setup(void **state)
{
	(void)state;
	hooks_fixture_init(&f, "- plugins: [{name: proportion}]\n", plugin_registry,
			   plugin_registry_count);
	node = cluster_fixture_node(f.cluster, "n", 100);
	why = (struct reason){ .code = NULL };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	hooks_fixture_finish(&f);
	return 0;
}

static struct queue *find(const char *name)
{
	return queue_find(f.cluster, str_of(name));
}

static struct queue *queue(const char *name, int32_t weight, int64_t cpu)
{
	struct queue *q = cluster_fixture_queue(f.cluster, name, NULL, cpu);

	q->weight = weight;
	cluster_fixture_podgroup(f.cluster, name, name, 1);
	return q;
}

static struct task *task(const char *queue_name, const char *name, int64_t cpu)
{
	return cluster_fixture_task(f.cluster, name,
				    cluster_fixture_podgroup(f.cluster, queue_name, queue_name, 1),
				    cpu);
}

/* A running pod that is charged to the queue. */
static struct task *use(const char *queue_name, const char *name, int64_t cpu)
{
	struct task *t = task(queue_name, name, cpu);

	cluster_task_set_status(f.cluster, t, TASK_RUNNING, node);
	ledger_charge(f.cluster, t, find(queue_name), CHARGE_BOUND);
	return t;
}

/* The most that one more pod of the queue may request. The pod adds to what the queue asks for, as
 * does all that waits already. */
static int64_t room(const char *queue_name)
{
	int64_t most = 0;

	for (int64_t cpu = 1; cpu <= 120; cpu++) {
		struct task *t = task(queue_name, "candidate", cpu);

		hooks_fixture_open(&f);
		most = hooks_allocatable(f.s, find(queue_name), t, &why) ? cpu : most;
		cluster_task_remove(f.cluster, t);
	}
	return most;
}

static void test_shares_by_weight(void **state)
{
	(void)state;
	queue("a", 1, -1);
	queue("b", 3, -1);
	task("a", "a1", 100);
	task("b", "b1", 100);
	assert_int_equal(room("a"), 25);
	assert_int_equal(room("b"), 75);
	assert_string_equal(why.code, "queue resource quota insufficient");
	assert_string_equal(why.detail, "insufficient cpu in what queue b deserves");
}

static void test_what_others_do_not_ask_for_is_lent(void **state)
{
	(void)state;
	queue("a", 1, -1);
	queue("b", 3, -1);
	task("b", "b1", 30);
	assert_int_equal(room("a"), 70);
	/* b's last pod does not wait any more */
	cluster_task_remove(f.cluster, cluster_task_find(f.cluster, STR_LIT("ns/b1")));
	assert_int_equal(room("a"), 100);
}

static void test_capability_and_guarantee(void **state)
{
	(void)state;
	queue("a", 1, 10);
	queue("b", 1, -1)->guarantee.v[RES_CPU] = 40;
	assert_int_equal(room("a"), 10);
	/* total less the guarantee of b */
	find("a")->capability.v[RES_CPU] = 80;
	(void)queue_topology_changed(f.cluster);
	assert_int_equal(room("a"), 60);
}

/* Its own charges are part of what a queue asks for. */
static void test_running_pods_use_the_share(void **state)
{
	(void)state;
	queue("a", 1, -1);
	queue("b", 1, -1);
	use("a", "a1", 20);
	task("a", "a2", 100);
	task("b", "b1", 100);
	assert_int_equal(room("a"), 30);
	assert_int_equal(room("b"), 50);
}

/* Gates are decided by the configured limit, not by the share of the present cluster. */
static void test_limits_do_not_see_the_cluster(void **state)
{
	(void)state;
	queue("a", 1, 500);
	queue("b", 1, -1);
	hooks_fixture_open(&f);
	assert_true(session_has_quota_plugin(f.s));
	assert_int_equal(session_queue_limit(f.s, find("a"))->v[RES_CPU], 500);
	assert_int_equal(session_queue_limit(f.s, find("b"))->v[RES_CPU], RES_UNLIMITED);
}

static void test_hole_25_pods_behind_gates_ask_for_nothing(void **state)
{
	static const uint32_t flags[] = { TASK_OPTED_IN | TASK_OUR_GATE, TASK_FOREIGN_GATE,
					  TASK_OPTED_IN };

	(void)state;
	queue("a", 1, -1);
	queue("b", 1, -1);
	for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
		struct task *t = task("b", "b1", 100);

		t->flags |= flags[i];
		assert_int_equal(room("a"), 100);
		/* with its reservation it does */
		if ((flags[i] & TASK_OPTED_IN) != 0) {
			ledger_charge(f.cluster, t, find("b"), CHARGE_UNGATED);
			assert_int_equal(room("a"), 50);
			ledger_release(f.cluster, t);
		}
		cluster_task_remove(f.cluster, t);
	}
}

static bool overused(const char *name)
{
	hooks_fixture_open(&f);
	return hooks_overused(f.s, find(name));
}

static void test_overused(void **state)
{
	(void)state;
	queue("a", 1, -1);
	queue("b", 1, -1);
	assert_true(overused("a")); /* asks for nothing, and deserves nothing */
	task("a", "a1", 100);
	assert_false(overused("a"));
	task("b", "b1", 100);
	use("a", "a2", 49);
	assert_false(overused("a"));
	use("a", "a3", 1);
	f.cluster->total.v[RES_PODS] = 110;
	/* the waiting pod's place among 110 pods is not used up */
	assert_false(overused("a"));
	f.cluster->total.v[RES_PODS] = 2;
	assert_true(overused("a"));
	assert_false(overused("b"));
}

static void test_order(void **state)
{
	struct queue *a, *b;

	(void)state;
	a = queue("a", 1, -1);
	b = queue("b", 1, -1);
	task("a", "a1", 100);
	task("b", "b1", 100);
	use("a", "a2", 10);
	hooks_fixture_open(&f);
	assert_true(hooks_queue_order(f.s, b, a) < 0);
	assert_true(hooks_queue_order(f.s, a, b) > 0);
	use("b", "b2", 20);
	hooks_fixture_open(&f);
	assert_true(hooks_queue_order(f.s, a, b) < 0);
	b->priority = 1;
	hooks_fixture_open(&f);
	assert_true(hooks_queue_order(f.s, b, a) < 0);
}

/* Placements of the session count. */
static void test_order_within_a_session(void **state)
{
	struct queue *a, *b;
	struct task *t, *u;

	(void)state;
	a = queue("a", 1, -1);
	b = queue("b", 1, -1);
	t = task("a", "a1", 10);
	u = task("b", "b1", 40);
	hooks_fixture_open(&f);
	statement_allocate(f.s, t, node);
	assert_true(hooks_queue_order(f.s, b, a) < 0);
	assert_true(hooks_overused(f.s, a));
	assert_false(hooks_overused(f.s, b));
	assert_true(hooks_allocatable(f.s, b, u, &why));
}

static void test_closed_and_broken_queues(void **state)
{
	(void)state;
	queue("a", 1, -1);
	assert_int_equal(room("a"), 100);
	find("a")->state = QUEUE_CLOSED;
	assert_int_equal(room("a"), 0);
	assert_string_equal(why.code, "queue a is not open");
	find("a")->state = QUEUE_OPEN;
	find("a")->parent_name = NULL;
	assert_int_equal(room("a"), 100);
}

/* Enqueueing is limited by the capability, as with the capacity plugin. */
static void test_enqueueing(void **state)
{
	struct podgroup *g;

	(void)state;
	queue("a", 1, 50);
	queue("b", 1, -1);
	task("b", "b1", 100);
	g = cluster_fixture_podgroup(f.cluster, "new", "a", 1);
	g->has_min_resources = true;
	g->min_resources.v[RES_CPU] = 50;
	hooks_fixture_open(&f);
	assert_true(hooks_job_enqueueable(f.s, g, &why));
	hooks_job_enqueued(f.s, g);
	assert_false(hooks_job_enqueueable(f.s, g, &why));
	assert_string_equal(why.detail, "insufficient cpu in queue a");
}

static void test_names_that_no_node_has(void **state)
{
	struct unoffered_amount v[] = { { "example.com/a", 1 } };
	struct unoffered u = { v, 1 };
	struct task *t;

	(void)state;
	queue("a", 1, -1);
	t = task("a", "t", 1);
	cluster_fixture_request(f.cluster, t, &u);
	hooks_fixture_open(&f);
	assert_false(hooks_allocatable(f.s, find("a"), t, &why));
	assert_string_equal(why.detail, "insufficient example.com/a in what queue a deserves");
}

static void test_reclaiming(void **state)
{
	struct task *victim, *t;

	(void)state;
	queue("a", 1, -1);
	queue("b", 3, -1);
	use("a", "a1", 30);
	victim = use("a", "a2", 10);
	task("b", "b1", 90);
	t = task("b", "b2", 10);
	/* a deserves 25, b 75. */
	hooks_fixture_open(&f);
	assert_true(hooks_preemptive(f.s, find("b"), t));
	assert_false(hooks_preemptive(f.s, find("a"), t));
	assert_true(hooks_queue_gives(f.s, find("a")));
	assert_false(hooks_queue_gives(f.s, find("b")));
	assert_true(hooks_reclaimable(f.s, t, victim));
	/* Without a2, a would have less than it is guaranteed. */
	find("a")->guarantee.v[RES_CPU] = 31;
	(void)queue_topology_changed(f.cluster);
	hooks_fixture_open(&f);
	assert_false(hooks_reclaimable(f.s, t, victim));
	find("a")->guarantee.v[RES_CPU] = 30;
	(void)queue_topology_changed(f.cluster);
	hooks_fixture_open(&f);
	assert_true(hooks_reclaimable(f.s, t, victim));
	/* At its share, a gives nothing. */
	find("a")->guarantee.v[RES_CPU] = 0;
	find("a")->weight = 2;
	find("b")->weight = 3;
	(void)queue_topology_changed(f.cluster);
	hooks_fixture_open(&f);
	assert_false(hooks_queue_gives(f.s, find("a")));
	assert_false(hooks_reclaimable(f.s, t, victim));
}

static void test_closed_queues_reclaim_nothing(void **state)
{
	struct task *t;

	(void)state;
	queue("a", 1, -1)->state = QUEUE_CLOSED;
	t = task("a", "a1", 10);
	hooks_fixture_open(&f);
	assert_false(hooks_preemptive(f.s, find("a"), t));
}

static void *create(void)
{
	const struct plugin_args args = { .n = 0 };
	void *ret;

	assert_int_equal(proportion_ops.create(&args, &ret, NULL), 0);
	return ret;
}

static void assert_same(void *kept, void *anew, const struct queue *q, struct task *const *sizes,
			size_t n)
{
	assert_int_equal(proportion_ops.overused(kept, f.s, q),
			 proportion_ops.overused(anew, f.s, q));
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(proportion_ops.allocatable(kept, f.s, q, sizes[i], &why),
				 proportion_ops.allocatable(anew, f.s, q, sizes[i], &why));
	}
}

/* A plugin that has followed all changes answers like one that counts for the first time. */
static void test_sums_are_kept_through_changes(void **state)
{
	void *kept = create(), *anew;
	struct task *sizes[20];
	struct random_changes r;

	(void)state;
	random_changes_init(&r, f.cluster, 4711);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		char name[] = { 'C', (char)('a' + i), '\0' };

		sizes[i] = cluster_fixture_task(f.cluster, name, NULL, 2 * (int64_t)i + 1);
	}
	for (int step = 0; step < 500; step++) {
		random_changes_step(&r);
		hooks_fixture_open(&f);
		anew = create();
		proportion_ops.open(anew, f.s);
		proportion_ops.open(kept, f.s);
		assert_same(kept, anew, r.left, sizes, ARRAY_LEN(sizes));
		assert_same(kept, anew, r.right, sizes, ARRAY_LEN(sizes));
		proportion_ops.destroy(anew);
		random_changes_scan(&r);
	}
	random_changes_finish(&r);
	proportion_ops.destroy(kept);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_shares_by_weight),
		TEST(test_what_others_do_not_ask_for_is_lent),
		TEST(test_capability_and_guarantee),
		TEST(test_running_pods_use_the_share),
		TEST(test_limits_do_not_see_the_cluster),
		TEST(test_hole_25_pods_behind_gates_ask_for_nothing),
		TEST(test_overused),
		TEST(test_order),
		TEST(test_order_within_a_session),
		TEST(test_closed_and_broken_queues),
		TEST(test_enqueueing),
		TEST(test_names_that_no_node_has),
		TEST(test_reclaiming),
		TEST(test_closed_queues_reclaim_nothing),
		TEST(test_sums_are_kept_through_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
