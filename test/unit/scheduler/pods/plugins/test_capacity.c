#include "base/attrs.h"
#include "base/err.h"
#include "lib/pods/hooks_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/conf/conf_args.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/plugins/registry.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/statement.h"

#define FLAT "- plugins: [{name: capacity}]\n"
#define TREE "- plugins: [{name: capacity, enableHierarchy: true}]\n"

static struct hooks_fixture f;
static struct node *node;
static struct reason why;

static void start(const char *tiers)
{
	hooks_fixture_init(&f, tiers, plugin_registry, plugin_registry_count);
	node = cluster_fixture_node(f.cluster, "n", 100);
	why = (struct reason){ .code = NULL };
}

static int teardown(void **state)
{
	(void)state;
	hooks_fixture_finish(&f);
	return 0;
}

static struct queue *queue(const char *name, const char *parent, int64_t cpu)
{
	return cluster_fixture_queue(f.cluster, name, parent, cpu);
}

static struct queue *find(const char *name)
{
	return queue_find(f.cluster, str_of(name));
}

static void changed(void)
{
	(void)queue_topology_changed(f.cluster);
	hooks_fixture_open(&f);
}

/* A running pod that is charged to the queue. */
static struct task *use(const char *queue_name, const char *name, int64_t cpu)
{
	struct podgroup *g = cluster_fixture_podgroup(f.cluster, queue_name, queue_name, 1);
	struct task *t = cluster_fixture_task(f.cluster, name, g, cpu);

	cluster_task_set_status(f.cluster, t, TASK_RUNNING, node);
	ledger_charge(f.cluster, t, find(queue_name), CHARGE_BOUND);
	return t;
}

static struct task *candidate(const char *queue_name, int64_t cpu)
{
	struct podgroup *g = cluster_fixture_podgroup(f.cluster, "candidate", queue_name, 1);
	struct task *t = cluster_task_find(f.cluster, STR_LIT("ns/candidate"));

	if (t != NULL) {
		cluster_task_remove(f.cluster, t);
	}
	return cluster_fixture_task(f.cluster, "candidate", g, cpu);
}

static bool allocatable(const char *queue_name, int64_t cpu)
{
	struct task *t = candidate(queue_name, cpu);

	hooks_fixture_open(&f);
	return hooks_allocatable(f.s, find(queue_name), t, &why);
}

static bool enqueueable(const char *queue_name, int64_t min_cpu)
{
	struct podgroup *g = cluster_fixture_podgroup(f.cluster, "new", queue_name, 1);

	g->has_min_resources = min_cpu >= 0;
	g->min_resources.v[RES_CPU] = min_cpu < 0 ? 0 : min_cpu;
	hooks_fixture_open(&f);
	return hooks_job_enqueueable(f.s, g, &why);
}

static int64_t limit_of(const char *name)
{
	return session_queue_limit(f.s, find(name))->v[RES_CPU];
}

/* --- limits -------------------------------------------------------------------------------- */

static void test_limits_follow_the_configuration(void **state)
{
	(void)state;
	start(TREE);
	queue("a", NULL, 50);
	queue("b", "a", -1);
	hooks_fixture_open(&f);
	assert_true(session_has_quota_plugin(f.s));
	assert_int_equal(limit_of("b"), 50);
	find("a")->capability.v[RES_CPU] = 40;
	changed();
	assert_int_equal(limit_of("b"), 40);
	find("b")->capability.v[RES_CPU] = 30;
	changed();
	assert_int_equal(limit_of("b"), 30);
	queue("c", "a", -1);
	find("c")->guarantee.v[RES_CPU] = 25;
	changed();
	assert_int_equal(limit_of("b"), 15);
	assert_int_equal(limit_of("root"), RES_UNLIMITED);
}

/* Shipped, quota is clipped to the present cluster: no scale-up beyond it. */
static void test_hole_01_flat_limits_do_not_see_the_cluster(void **state)
{
	(void)state;
	start(FLAT);
	queue("a", NULL, 500);
	hooks_fixture_open(&f);
	assert_int_equal(limit_of("a"), 500);
	assert_false(allocatable("a", 101)); /* ordinary scheduling keeps Volcano's rule */
	assert_true(allocatable("a", 100));
}

/* --- the ordinary vote --------------------------------------------------------------------- */

static void test_flat_vote_is_against_the_queue_alone(void **state)
{
	(void)state;
	start(FLAT);
	queue("p", NULL, 10);
	queue("a", "p", 20);
	use("a", "t", 12);
	assert_true(allocatable("a", 8));
	assert_false(allocatable("a", 9));
	assert_string_equal(why.code, "queue resource quota insufficient");
	assert_string_equal(why.detail, "insufficient cpu in queue a");
	/* the ledger rolls the charges of a up to p, but without a tree p does not count them */
	assert_true(allocatable("p", 10));
	assert_false(allocatable("p", 11));
}

/* A queue limits the names that it has; without hierarchy the present nodes limit the others. */
static void test_names_that_only_pods_have(void **state)
{
	static const char *const confs[] = { TREE, FLAT };
	struct unoffered_amount v[] = { { "example.com/a", 1 } };
	struct unoffered u = { v, 1 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(confs); i++) {
		struct task *t;
		struct podgroup *g;

		unit_row(confs[i]);
		start(confs[i]);
		queue("a", NULL, 50);
		t = candidate("a", 1);
		cluster_fixture_request(f.cluster, t, &u);
		g = f.cluster->podgroups.v[t->podgroup];
		g->has_min_resources = true;
		g->min_unoffered = unoffered_copy(&u);
		hooks_fixture_open(&f);
		assert_int_equal(hooks_allocatable(f.s, find("a"), t, &why), i == 0);
		assert_int_equal(hooks_job_enqueueable(f.s, g, &why), i == 0);
		if (i == 1) {
			assert_string_equal(why.detail, "insufficient example.com/a in queue a");
		}
		assert_int_equal(limit_of("a"), 50);
		if (i == 0) {
			hooks_fixture_finish(&f);
		}
	}
}

static void test_flat_real_capability_follows_the_size_of_the_cluster(void **state)
{
	(void)state;
	start(FLAT);
	queue("a", NULL, -1);
	queue("b", NULL, -1)->guarantee.v[RES_CPU] = 30;
	changed();
	assert_true(allocatable("a", 70));
	assert_false(allocatable("a", 71));
	cluster_fixture_node(f.cluster, "n2", 20);
	assert_true(allocatable("a", 90));
	assert_false(allocatable("a", 91));
}

static void test_tree_vote_is_against_every_ancestor(void **state)
{
	(void)state;
	start(TREE);
	queue("root", NULL, 100);
	queue("p", NULL, 30);
	queue("a", "p", 20);
	queue("b", "p", -1);
	use("a", "t", 12);
	use("b", "u", 15);
	assert_true(allocatable("a", 3));
	assert_false(allocatable("a", 4));
	assert_string_equal(why.detail, "insufficient cpu in queue p");
	assert_false(allocatable("a", 9));
	assert_string_equal(why.detail, "insufficient cpu in queue a");
}

static void test_only_requested_dimensions_count(void **state)
{
	struct queue *a;
	struct task *t;

	(void)state;
	start(TREE);
	a = queue("a", NULL, 10);
	a->capability.v[RES_MEMORY] = 0;
	a->capability.v[RES_PODS] = 0; /* quirk: the number of pods is never looked at */
	changed();
	assert_true(allocatable("a", 10));
	t = candidate("a", 0);
	hooks_fixture_open(&f);
	assert_true(hooks_allocatable(f.s, a, t, NULL)); /* best effort */
}

static void test_terminating_pods_make_room_for_ordinary_pods(void **state)
{
	struct task *t;

	(void)state;
	start(TREE);
	queue("p", NULL, 10);
	queue("a", "p", -1);
	t = use("a", "t", 10);
	assert_false(allocatable("a", 1));
	ledger_set_releasing(f.cluster, t, true);
	cluster_task_set_status(f.cluster, t, TASK_RELEASING, node);
	assert_true(allocatable("a", 10));
	assert_false(allocatable("a", 11));
}

/* Without hierarchy the pods of a child do not count for its parent, terminating or not. */
static void test_terminating_pods_of_a_child_without_hierarchy(void **state)
{
	struct task *t;

	(void)state;
	start(FLAT);
	queue("p", NULL, 10);
	queue("a", "p", 50);
	(void)use("p", "u", 6);
	t = use("a", "t", 4);
	assert_true(allocatable("p", 4));
	assert_false(allocatable("p", 5));
	ledger_set_releasing(f.cluster, t, true);
	cluster_task_set_status(f.cluster, t, TASK_RELEASING, node);
	assert_true(allocatable("p", 4));
	assert_false(allocatable("p", 5));
}

static void test_pods_placed_in_this_cycle_count(void **state)
{
	struct task *t, *u;
	struct statement st;

	(void)state;
	start(TREE);
	queue("a", NULL, 10);
	t = cluster_fixture_task(f.cluster, "t", cluster_fixture_podgroup(f.cluster, "j", "a", 1),
				 6);
	u = candidate("a", 6);
	hooks_fixture_open(&f);
	assert_true(hooks_allocatable(f.s, find("a"), u, NULL));
	st = statement_begin(f.s);
	statement_allocate(f.s, t, node);
	assert_false(hooks_allocatable(f.s, find("a"), u, NULL));
	statement_discard(f.s, st);
	assert_true(hooks_allocatable(f.s, find("a"), u, NULL));
}

static void test_reserved_pods_count_for_ordinary_pods(void **state)
{
	struct task *t;

	(void)state;
	start(TREE);
	queue("a", NULL, 10);
	t = cluster_fixture_task(f.cluster, "t", cluster_fixture_podgroup(f.cluster, "j", "a", 1),
				 6);
	ledger_charge(f.cluster, t, find("a"), CHARGE_PATCHING);
	assert_true(allocatable("a", 4));
	assert_false(allocatable("a", 5));
}

/* --- which queues take pods at all --------------------------------------------------------- */

static void test_closed_queues_take_nothing_new(void **state)
{
	static const uint8_t closed[] = { QUEUE_CLOSED, QUEUE_CLOSING, QUEUE_UNKNOWN };

	(void)state;
	start(TREE);
	queue("a", NULL, 10);
	for (size_t i = 0; i < sizeof(closed); i++) {
		find("a")->state = closed[i];
		changed();
		assert_false(hooks_queue_accepts(f.s, find("a"), &why));
		assert_string_equal(why.code, "is not open");
		assert_false(allocatable("a", 1));
		assert_false(enqueueable("a", -1));
	}
	find("a")->state = QUEUE_OPEN;
	changed();
	assert_true(hooks_queue_accepts(f.s, find("a"), NULL));
	assert_true(allocatable("a", 1));
}

static void test_only_leaves_take_pods_in_a_tree(void **state)
{
	(void)state;
	start(TREE);
	queue("p", NULL, 10);
	queue("a", "p", -1);
	assert_false(allocatable("p", 1));
	assert_string_equal(why.code, "queue p is not a leaf of the queue tree");
	assert_false(enqueueable("p", 1));
	assert_false(allocatable("root", 1));
	assert_true(allocatable("a", 1));
	hooks_fixture_finish(&f);
	start(FLAT);
	queue("p", NULL, 10);
	queue("a", "p", -1);
	assert_true(allocatable("p", 1));
}

/* Volcano refuses every vote of every queue when one of them is misconfigured. */
static void test_deviation_a_broken_queue_closes_only_its_own_subtree(void **state)
{
	(void)state;
	start(TREE);
	queue("good", NULL, 10);
	queue("orphan", "nowhere", 10);
	queue("below", "orphan", 10);
	queue("x", "y", 10);
	queue("y", "x", 10);
	assert_true(allocatable("good", 1));
	assert_true(enqueueable("good", 1));
	assert_false(allocatable("orphan", 1));
	assert_string_equal(why.code, "queue orphan has a parent that does not exist");
	assert_false(allocatable("below", 1));
	assert_false(allocatable("x", 1));
	assert_string_equal(why.code, "queue x is its own ancestor");
	assert_false(enqueueable("below", 1));
}

static void test_a_queue_that_does_not_exist(void **state)
{
	struct podgroup *g;

	(void)state;
	start(TREE);
	g = cluster_fixture_podgroup(f.cluster, "j", "nowhere", 1);
	hooks_fixture_open(&f);
	assert_false(hooks_job_enqueueable(f.s, g, &why));
	assert_string_equal(why.code, "the queue does not exist");
	assert_false(hooks_queue_accepts(f.s, find("nowhere"), NULL));
}

/* --- enqueue ------------------------------------------------------------------------------- */

static void test_a_podgroup_without_min_resources_is_enqueued(void **state)
{
	(void)state;
	start(TREE);
	queue("a", NULL, 10);
	use("a", "t", 10);
	assert_true(enqueueable("a", -1));
}

static void test_enqueueable_podgroups_fit_beside_what_is_charged_and_inqueue(void **state)
{
	struct podgroup *g;

	(void)state;
	start(TREE);
	queue("p", NULL, 20);
	queue("a", "p", -1);
	queue("b", "p", -1);
	g = cluster_fixture_podgroup(f.cluster, "b", "b", 1);
	g->has_min_resources = true;
	g->min_resources.v[RES_CPU] = 8;
	use("b", "t", 8); /* allocated 8, nothing of it elastic */
	g = cluster_fixture_podgroup(f.cluster, "waits", "b", 1);
	g->has_min_resources = true;
	g->min_resources.v[RES_CPU] = 5;
	g->phase = PODGROUP_INQUEUE; /* inqueue 5 */
	assert_true(enqueueable("a", 7));
	assert_false(enqueueable("a", 8));
	assert_string_equal(why.code, "queue resource quota insufficient");
	assert_string_equal(why.detail, "insufficient cpu in queue p");
}

static void test_elastic_resources_are_room_for_enqueue(void **state)
{
	(void)state;
	start(TREE);
	queue("a", NULL, 10);
	use("a", "t", 9); /* a PodGroup without minResources: all elastic */
	assert_true(enqueueable("a", 10));
	assert_false(enqueueable("a", 11));
}

static void test_podgroups_enqueued_in_this_cycle_count(void **state)
{
	struct podgroup *i, *j;

	(void)state;
	start(TREE);
	queue("p", NULL, 10);
	queue("a", "p", -1);
	queue("b", "p", -1);
	i = cluster_fixture_podgroup(f.cluster, "i", "a", 1);
	j = cluster_fixture_podgroup(f.cluster, "j", "b", 1);
	i->has_min_resources = j->has_min_resources = true;
	i->min_resources.v[RES_CPU] = j->min_resources.v[RES_CPU] = 6;
	hooks_fixture_open(&f);
	assert_true(hooks_job_enqueueable(f.s, j, NULL));
	hooks_job_enqueued(f.s, i);
	assert_false(hooks_job_enqueueable(f.s, j, NULL));
	hooks_fixture_open(&f);
	assert_true(hooks_job_enqueueable(f.s, j, NULL));
}

/* In Volcano a Pending PodGroup holds nothing; here gated members may hold charges already. */
static void test_deviation_what_the_podgroup_holds_already_is_not_asked_for_twice(void **state)
{
	struct podgroup *g;
	struct task *t;

	(void)state;
	start(TREE);
	queue("a", NULL, 10);
	g = cluster_fixture_podgroup(f.cluster, "j", "a", 1);
	g->has_min_resources = true;
	g->min_resources.v[RES_CPU] = 10;
	t = cluster_fixture_task(f.cluster, "t", g, 6);
	ledger_charge(f.cluster, t, find("a"), CHARGE_PATCHING);
	hooks_fixture_open(&f);
	assert_true(hooks_job_enqueueable(f.s, g, NULL));
}

static void test_enqueue_names_all_dimensions_that_are_short(void **state)
{
	struct podgroup *g;

	(void)state;
	start(TREE);
	queue("a", NULL, 10)->capability.v[RES_MEMORY] = 5;
	changed();
	g = cluster_fixture_podgroup(f.cluster, "j", "a", 1);
	g->has_min_resources = true;
	g->min_resources.v[RES_CPU] = 11;
	g->min_resources.v[RES_MEMORY] = 6;
	hooks_fixture_open(&f);
	assert_false(hooks_job_enqueueable(f.s, g, &why));
	assert_string_equal(why.detail, "insufficient cpu, memory in queue a");
}

/* --- order of queues ----------------------------------------------------------------------- */

static int order(const char *a, const char *b)
{
	int there, back;

	hooks_fixture_open(&f);
	there = hooks_queue_order(f.s, find(a), find(b));
	back = hooks_queue_order(f.s, find(b), find(a));
	assert_true((there < 0) == (back > 0) && (there == 0) == (back == 0));
	return there;
}

static void test_queues_by_priority_then_share(void **state)
{
	(void)state;
	start(FLAT);
	queue("a", NULL, -1)->deserved.v[RES_CPU] = 20;
	queue("b", NULL, -1)->deserved.v[RES_CPU] = 40;
	changed();
	use("a", "t", 10); /* 10/20 */
	use("b", "u", 16); /* 16/40 */
	assert_true(order("a", "b") > 0);
	use("b", "v", 8); /* 24/40 */
	assert_true(order("a", "b") < 0);
	find("b")->priority = 1;
	assert_true(order("a", "b") > 0);
}

static void test_share_is_the_largest_over_the_deserved_dimensions(void **state)
{
	(void)state;
	start(FLAT);
	cluster_fixture_node(f.cluster, "big", 100)->allocatable.v[RES_MEMORY] = 0;
	queue("a", NULL, -1)->deserved.v[RES_CPU] = 20;
	queue("b", NULL, -1)->deserved.v[RES_CPU] = 20;
	find("b")->deserved.v[RES_EPHEMERAL] = 100; /* no node has it: clipped to 0 */
	changed();
	use("a", "t", 10);
	use("b", "u", 9);
	assert_true(order("a", "b") > 0);
}

static void test_quirk_a_queue_without_deserved_has_share_one(void **state)
{
	(void)state;
	start(FLAT);
	queue("a", NULL, -1);
	queue("b", NULL, -1)->deserved.v[RES_CPU] = 10;
	changed();
	use("b", "t", 9);
	assert_true(order("a", "b") > 0);
	use("b", "u", 1); /* both 1: the one with deserved first */
	assert_true(order("a", "b") > 0);
	use("b", "v", 1);
	assert_true(order("a", "b") < 0);
}

static void test_leaves_are_compared_below_their_common_ancestor(void **state)
{
	(void)state;
	start(TREE);
	queue("p", NULL, -1)->deserved.v[RES_CPU] = 20;
	queue("q", NULL, -1)->deserved.v[RES_CPU] = 20;
	queue("p1", "p", -1)->deserved.v[RES_CPU] = 10;
	queue("p2", "p", -1)->deserved.v[RES_CPU] = 10;
	queue("q1", "q", -1)->deserved.v[RES_CPU] = 10;
	changed();
	use("p1", "t", 9);                  /* p1 9/10, p 9/20 */
	use("q1", "u", 8);                  /* q1 8/10, q 8/20 */
	use("p2", "v", 1);                  /* p2 1/10, p 10/20 */
	assert_true(order("p2", "q1") > 0); /* p 10/20 against q 8/20 */
	assert_true(order("p1", "p2") > 0); /* 9/10 against 1/10 */
	assert_true(order("p", "p1") > 0);  /* leaves first */
	assert_true(order("p", "q") > 0);
}

static void test_guarantee_counts_as_deserved(void **state)
{
	(void)state;
	start(TREE);
	queue("a", NULL, -1)->guarantee.v[RES_CPU] = 20;
	queue("b", NULL, -1)->deserved.v[RES_CPU] = 10;
	changed();
	use("a", "t", 8);
	use("b", "u", 5);
	assert_true(order("a", "b") < 0); /* 8/20 against 5/10 */
}

static void test_arguments_that_are_no_levels(void **state)
{
	static const struct {
		const char *value, *error;
	} rows[] = {
		{ "few", "ancestorReclaimLevel: \"few\" is not a number" },
		{ "-1", "ancestorReclaimLevel: not between 0 and 64" },
		{ "65", "ancestorReclaimLevel: not between 0 and 64" },
		{ "64", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct conf_arg arg = { "ancestorReclaimLevel", rows[i].value };
		const struct plugin_args args = { .v = &arg, .n = 1 };
		struct err err = ERR_INIT;
		void *p = NULL;

		unit_row(rows[i].value);
		assert_int_equal(capacity_ops.create(&args, &p, &err),
				 rows[i].error == NULL ? 0 : -ERR_INVALID);
		if (rows[i].error != NULL) {
			assert_null(p);
			assert_string_equal(err.text, rows[i].error);
		} else {
			capacity_ops.destroy(p);
		}
	}
}

#define TEST(name) cmocka_unit_test_teardown(name, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_limits_follow_the_configuration),
		TEST(test_hole_01_flat_limits_do_not_see_the_cluster),
		TEST(test_flat_vote_is_against_the_queue_alone),
		TEST(test_names_that_only_pods_have),
		TEST(test_flat_real_capability_follows_the_size_of_the_cluster),
		TEST(test_tree_vote_is_against_every_ancestor),
		TEST(test_only_requested_dimensions_count),
		TEST(test_terminating_pods_make_room_for_ordinary_pods),
		TEST(test_terminating_pods_of_a_child_without_hierarchy),
		TEST(test_pods_placed_in_this_cycle_count),
		TEST(test_reserved_pods_count_for_ordinary_pods),
		TEST(test_closed_queues_take_nothing_new),
		TEST(test_only_leaves_take_pods_in_a_tree),
		TEST(test_deviation_a_broken_queue_closes_only_its_own_subtree),
		TEST(test_a_queue_that_does_not_exist),
		TEST(test_a_podgroup_without_min_resources_is_enqueued),
		TEST(test_enqueueable_podgroups_fit_beside_what_is_charged_and_inqueue),
		TEST(test_elastic_resources_are_room_for_enqueue),
		TEST(test_podgroups_enqueued_in_this_cycle_count),
		TEST(test_deviation_what_the_podgroup_holds_already_is_not_asked_for_twice),
		TEST(test_enqueue_names_all_dimensions_that_are_short),
		TEST(test_queues_by_priority_then_share),
		TEST(test_share_is_the_largest_over_the_deserved_dimensions),
		TEST(test_quirk_a_queue_without_deserved_has_share_one),
		TEST(test_leaves_are_compared_below_their_common_ancestor),
		TEST(test_guarantee_counts_as_deserved),
		cmocka_unit_test(test_arguments_that_are_no_levels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
