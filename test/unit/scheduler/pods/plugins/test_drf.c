#include "base/attrs.h"
#include "base/xmalloc.h"
#include "lib/pods/hooks_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/plugins/registry.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/statement.h"
#include "scheduler/pods/values/pod_class.h"

static struct hooks_fixture f;
static struct node *node;
static struct podgroup *a, *b;

static void start(const char *tiers)
{
	hooks_fixture_init(&f, tiers, plugin_registry, plugin_registry_count);
	node = cluster_fixture_node(f.cluster, "n", 100);
	cluster_fixture_queue(f.cluster, "q", NULL, -1);
	a = cluster_fixture_podgroup(f.cluster, "a", "q", 1);
	b = cluster_fixture_podgroup(f.cluster, "b", "q", 1);
}

static int setup(void **state)
{
	(void)state;
	start("- plugins: [{name: drf}]\n");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	hooks_fixture_finish(&f);
	return 0;
}

static struct task *pending(struct podgroup *g, const char *name, int64_t cpu)
{
	return cluster_fixture_task(f.cluster, name, g, cpu);
}

static struct task *running(struct podgroup *g, const char *name, int64_t cpu)
{
	struct task *t = pending(g, name, cpu);

	cluster_task_set_status(f.cluster, t, TASK_RUNNING, node);
	return t;
}

static int order(void)
{
	return hooks_job_preference(f.s, a, b);
}

static void test_smaller_share_first(void **state)
{
	(void)state;
	running(a, "a1", 10);
	running(b, "b1", 5);
	hooks_fixture_open(&f);
	assert_true(order() > 0);
	running(b, "b2", 5);
	hooks_fixture_open(&f);
	assert_int_equal(order(), 0);
	running(b, "b3", 1);
	hooks_fixture_open(&f);
	assert_true(order() < 0);
}

/* The dominant resource decides, each PodGroup by its own. */
static void test_dominant_resource(void **state)
{
	struct pod_class *k;
	struct task *t;

	(void)state;
	node->allocatable.v[RES_MEMORY] = f.cluster->total.v[RES_MEMORY] = 1000;
	running(a, "a1", 20);
	t = running(b, "b1", 1);
	hooks_fixture_open(&f);
	assert_true(order() > 0);
	k = pod_class_copy(t->klass, "");
	k->request.v[RES_MEMORY] = 210;
	pod_class_normalise(k);
	cluster_task_set_class(f.cluster, t, cluster_class_intern(f.cluster, k));
	pod_class_destroy(k);
	hooks_fixture_open(&f);
	assert_true(order() < 0);
}

static void test_statuses(void **state)
{
	static const struct {
		enum task_status status;
		enum charge_state charge;
		bool counts;
	} rows[] = {
		{ TASK_PENDING, CHARGE_NONE, false },   { TASK_PENDING, CHARGE_UNGATED, true },
		{ TASK_BINDING, CHARGE_ASSUMED, true }, { TASK_BOUND, CHARGE_BOUND, true },
		{ TASK_RUNNING, CHARGE_BOUND, true },   { TASK_RELEASING, CHARGE_BOUND, false },
		{ TASK_SUCCEEDED, CHARGE_NONE, false }, { TASK_FAILED, CHARGE_NONE, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct task *t = pending(a, "a1", 10);

		cluster_task_set_status(f.cluster, t, rows[i].status, node);
		if (rows[i].charge != CHARGE_NONE) {
			ledger_charge(f.cluster, t, queue_find(f.cluster, STR_LIT("q")),
				      rows[i].charge);
		}
		hooks_fixture_open(&f);
		assert_int_equal(order() > 0, rows[i].counts);
		ledger_release(f.cluster, t);
		cluster_task_remove(f.cluster, t);
	}
}

/* A decision of the session counts at once, and not any more when it is undone. */
static void test_follows_the_session(void **state)
{
	struct task *t = pending(a, "a1", 10), *u = pending(b, "b1", 5);
	struct statement st;

	(void)state;
	u->flags |= TASK_OPTED_IN;
	hooks_fixture_open(&f);
	assert_int_equal(order(), 0);
	st = statement_begin(f.s);
	statement_allocate(f.s, t, node);
	assert_true(order() > 0);
	statement_discard(f.s, st);
	assert_int_equal(order(), 0);
	st = statement_begin(f.s);
	statement_reserve(f.s, u);
	assert_true(order() < 0);
	/* The node comes on top of the quota: the pod counts once. */
	statement_allocate(f.s, u, node);
	assert_true(order() < 0);
	statement_allocate(f.s, t, node);
	assert_true(order() > 0);
	statement_discard(f.s, st);
	assert_int_equal(order(), 0);
}

/* A PodGroup that is asked about for the first time after its pods got nodes. */
static void test_the_first_question_comes_late(void **state)
{
	struct task *t = pending(a, "a1", 10);
	struct statement st;

	(void)state;
	hooks_fixture_open(&f);
	st = statement_begin(f.s);
	statement_allocate(f.s, t, node);
	assert_true(order() > 0);
	statement_discard(f.s, st);
	assert_int_equal(order(), 0);
}

static void test_preemption(void **state)
{
	static const struct {
		int64_t wants;
		bool permitted;
	} rows[] = { { 10, true }, { 20, true }, { 21, false } };

	(void)state;
	running(b, "b1", 10);
	running(b, "b2", 20);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct task *t = pending(a, "a1", rows[i].wants);

		hooks_fixture_open(&f);
		/* without b1, b has 20 */
		assert_int_equal(
			hooks_preemptable(f.s, t, cluster_task_find(f.cluster, STR_LIT("ns/b1"))),
			rows[i].permitted);
		cluster_task_remove(f.cluster, t);
	}
}

/* Its reservation counts already. */
static void test_preemption_for_a_pod_with_quota(void **state)
{
	struct task *t = pending(a, "a1", 15), *victim = running(b, "b1", 10);

	(void)state;
	running(b, "b2", 20);
	t->flags |= TASK_OPTED_IN;
	ledger_charge(f.cluster, t, queue_find(f.cluster, STR_LIT("q")), CHARGE_UNGATED);
	hooks_fixture_open(&f);
	assert_true(hooks_preemptable(f.s, t, victim));
	ledger_release(f.cluster, t);
}

static void test_no_nodes(void **state)
{
	(void)state;
	pending(a, "a1", 10);
	f.cluster->total.v[RES_CPU] = 0;
	hooks_fixture_open(&f);
	assert_int_equal(order(), 0);
}

static void test_queues_have_no_order_without_hierarchy(void **state)
{
	struct queue *q, *r;

	(void)state;
	q = queue_find(f.cluster, STR_LIT("q"));
	r = cluster_fixture_queue(f.cluster, "r", NULL, -1);
	running(a, "a1", 50);
	hooks_fixture_open(&f);
	/* by name, since there is nothing else */
	assert_true(hooks_queue_order(f.s, q, r) < 0);
}

static void test_queues_are_ordered_with_hierarchy(void **state)
{
	struct queue *q, *r;
	struct task *t;
	struct podgroup *g;

	(void)state;
	hooks_fixture_finish(&f);
	start("- plugins: [{name: drf, enableHierarchy: true}]\n");
	q = queue_find(f.cluster, STR_LIT("q"));
	r = cluster_fixture_queue(f.cluster, "r", NULL, -1);
	q->hierarchy = xmalloc_dup("root/q");
	r->hierarchy = xmalloc_dup("root/r");
	f.cluster->queues_gen++;
	g = cluster_fixture_podgroup(f.cluster, "g", "r", 1);
	pending(a, "a2", 50);
	running(a, "a1", 10);
	pending(g, "g2", 50);
	t = pending(g, "g1", 20);
	hooks_fixture_open(&f);
	assert_true(hooks_queue_order(f.s, r, q) < 0);
	statement_allocate(f.s, t, node);
	assert_true(hooks_queue_order(f.s, q, r) < 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* By what their queues would have: the pod is counted in, the victim out, and both are forgotten.
 */
static void test_reclaiming_along_the_hierarchy(void **state)
{
	static const struct {
		const char *mine, *theirs; /* paths */
		int64_t wanted, victim;    /* of 60 that the other queue has */
		bool permits;
	} rows[] = {
		{ "root/q", "root/r", 20, 30, true },  /* 20 < 30 */
		{ "root/q", "root/r", 30, 30, false }, /* 30 = 30 */
		{ "root/q", "root/r", 20, 50, false }, /* 20 > 10 */
		{ "root/q", "root/r", 20, 0, true },       { "root/t/q", "root/t/r", 20, 30, true },
		{ "root/t/q", "root/t/r", 30, 50, false }, { NULL, "root/r", 30, 50, true },
		{ "root/q", NULL, 30, 50, true },
	};

	(void)state;
	hooks_fixture_finish(&f);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct task *t, *victim;
		struct queue *q, *r;
		struct podgroup *g;
		int before;

		unit_row_number(i);
		start("- plugins: [{name: drf, enableHierarchy: true}]\n");
		q = queue_find(f.cluster, STR_LIT("q"));
		r = cluster_fixture_queue(f.cluster, "r", NULL, -1);
		q->hierarchy = rows[i].mine == NULL ? NULL : xmalloc_dup(rows[i].mine);
		r->hierarchy = rows[i].theirs == NULL ? NULL : xmalloc_dup(rows[i].theirs);
		f.cluster->queues_gen++;
		g = cluster_fixture_podgroup(f.cluster, "g", "r", 1);
		t = pending(a, "a1", rows[i].wanted);
		pending(a, "a2", 50);
		pending(g, "g2", 50);
		victim = running(g, "g1", rows[i].victim);
		running(g, "g3", 60 - rows[i].victim);
		hooks_fixture_open(&f);
		before = hooks_queue_order(f.s, q, r);
		assert_int_equal(hooks_reclaimable(f.s, t, victim), rows[i].permits);
		assert_int_equal(hooks_reclaimable(f.s, t, victim), rows[i].permits);
		assert_int_equal(hooks_queue_order(f.s, q, r), before);
		if (i + 1 < ARRAY_LEN(rows)) {
			hooks_fixture_finish(&f);
		}
	}
}

static void test_without_hierarchy_it_has_no_say(void **state)
{
	struct task *t, *victim;

	(void)state;
	t = pending(a, "a1", 10);
	victim = running(b, "b1", 50);
	hooks_fixture_open(&f);
	assert_false(hooks_reclaimable(f.s, t, victim));
	hooks_fixture_finish(&f);
	start("- plugins: [{name: drf}, {name: conformance}]\n");
	t = pending(a, "a1", 10);
	victim = running(b, "b1", 50);
	hooks_fixture_open(&f);
	assert_true(hooks_reclaimable(f.s, t, victim));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_smaller_share_first),
		TEST(test_dominant_resource),
		TEST(test_statuses),
		TEST(test_follows_the_session),
		TEST(test_the_first_question_comes_late),
		TEST(test_preemption),
		TEST(test_preemption_for_a_pod_with_quota),
		TEST(test_no_nodes),
		TEST(test_queues_have_no_order_without_hierarchy),
		TEST(test_queues_are_ordered_with_hierarchy),
		TEST(test_reclaiming_along_the_hierarchy),
		TEST(test_without_hierarchy_it_has_no_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
