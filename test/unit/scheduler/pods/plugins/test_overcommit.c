#include <stdio.h>

#include "base/attrs.h"
#include "base/err.h"
#include "lib/pods/hooks_fixture.h"
#include "lib/pods/random_changes.h"
#include "lib/unit.h"
#include "scheduler/pods/conf/conf_args.h"
#include "scheduler/pods/plugins/registry.h"
#include "scheduler/pods/session/hooks.h"

#define PLUGIN "- plugins: [{name: overcommit}]\n"

static struct hooks_fixture f;
static struct node *node;
static struct reason why;

static void start(const char *tiers)
{
	hooks_fixture_init(&f, tiers, plugin_registry, plugin_registry_count);
	node = cluster_fixture_node(f.cluster, "n", 100);
	cluster_fixture_queue(f.cluster, "q", NULL, -1);
	why = (struct reason){ .code = NULL };
}

static int teardown(void **state)
{
	(void)state;
	hooks_fixture_finish(&f);
	return 0;
}

static struct podgroup *group(const char *name, enum podgroup_phase phase, int64_t min_cpu)
{
	struct podgroup *g = cluster_fixture_podgroup(f.cluster, name, "q", 1);

	g->phase = (uint8_t)phase;
	g->has_min_resources = min_cpu >= 0;
	g->min_resources.v[RES_CPU] = min_cpu < 0 ? 0 : min_cpu;
	return g;
}

static bool enqueueable(int64_t min_cpu)
{
	struct podgroup *g = group("new", PODGROUP_PENDING, min_cpu);

	hooks_fixture_open(&f);
	return hooks_job_enqueueable(f.s, g, &why);
}

static void test_factor(void **state)
{
	static const struct {
		const char *arguments;
		int64_t most;
	} rows[] = {
		{ "", 120 },
		{ ", arguments: {overcommit-factor: 1.5}", 150 },
		{ ", arguments: {overcommit-factor: 2}", 200 },
		{ ", arguments: {overcommit-factor: 1}", 100 },
		{ ", arguments: {overcommit-factor: 0.5}", 120 }, /* below 1: the default */
		{ ", arguments: {overcommit-factor: -1}", 120 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char tiers[128];

		snprintf(tiers, sizeof(tiers), "- plugins: [{name: overcommit%s}]\n",
			 rows[i].arguments);
		unit_row(tiers);
		start(tiers);
		assert_true(enqueueable(rows[i].most));
		assert_false(enqueueable(rows[i].most + 1));
		assert_string_equal(why.code, "resource in cluster is overused");
		assert_string_equal(why.detail, "insufficient cpu");
		if (i + 1 < ARRAY_LEN(rows)) {
			hooks_fixture_finish(&f);
		}
	}
}

static void test_a_huge_factor(void **state)
{
	(void)state;
	start("- plugins: [{name: overcommit, arguments: {overcommit-factor: 1e300}}]\n");
	assert_true(enqueueable(INT64_MAX));
}

static void test_used_and_announced(void **state)
{
	struct task *t;

	(void)state;
	start(PLUGIN);
	t = cluster_fixture_task(f.cluster, "t", group("old", PODGROUP_RUNNING, 0), 30);
	cluster_task_set_status(f.cluster, t, TASK_RUNNING, node);
	assert_true(enqueueable(90));
	assert_false(enqueueable(91));
	group("waits", PODGROUP_INQUEUE, 50);
	assert_true(enqueueable(40));
	assert_false(enqueueable(41));
	group("pending", PODGROUP_PENDING, 50);
	assert_true(enqueueable(40));
}

/* A pod with a node is used room: it is not announced as well. */
static void test_an_inqueue_podgroup_with_some_pods_placed(void **state)
{
	struct task *t;

	(void)state;
	start(PLUGIN);
	t = cluster_fixture_task(f.cluster, "t", group("half", PODGROUP_INQUEUE, 60), 30);
	assert_true(enqueueable(60));
	assert_false(enqueueable(61));
	cluster_task_set_status(f.cluster, t, TASK_BOUND, node);
	assert_true(enqueueable(60));
	assert_false(enqueueable(61));
}

static void test_pods_behind_a_foreign_gate_announce_nothing(void **state)
{
	struct task *t;

	(void)state;
	start(PLUGIN);
	t = cluster_fixture_task(f.cluster, "t", group("gated", PODGROUP_INQUEUE, 60), 50);
	t->flags |= TASK_FOREIGN_GATE;
	assert_true(enqueueable(110));
	assert_false(enqueueable(111));
}

static void test_the_enqueued_count_at_once(void **state)
{
	struct podgroup *a, *b;

	(void)state;
	start(PLUGIN);
	a = group("a", PODGROUP_PENDING, 70);
	b = group("b", PODGROUP_PENDING, 70);
	hooks_fixture_open(&f);
	assert_true(hooks_job_enqueueable(f.s, a, &why));
	hooks_job_enqueued(f.s, a);
	assert_false(hooks_job_enqueueable(f.s, b, &why));
	/* the next session finds it as the cluster has it */
	assert_true(enqueueable(120));
}

static void test_without_min_resources(void **state)
{
	(void)state;
	start(PLUGIN);
	group("waits", PODGROUP_INQUEUE, 500);
	assert_true(enqueueable(-1));
	hooks_job_enqueued(f.s, group("new", PODGROUP_PENDING, -1));
	assert_true(enqueueable(0));
	assert_false(enqueueable(1));
}

static void test_names_that_no_node_has(void **state)
{
	struct unoffered_amount v[] = { { "example.com/a", 1 } };
	struct podgroup *g;

	(void)state;
	start(PLUGIN);
	g = group("new", PODGROUP_PENDING, 1);
	g->min_unoffered = (struct unoffered){ v, 1 };
	hooks_fixture_open(&f);
	assert_false(hooks_job_enqueueable(f.s, g, &why));
	assert_string_equal(why.detail, "insufficient example.com/a");
	g->min_unoffered = (struct unoffered){ NULL, 0 };
}

static void test_bad_arguments(void **state)
{
	const struct conf_arg arg = { "overcommit-factor", "many" };
	const struct plugin_args args = { .v = &arg, .n = 1 };
	struct err err = ERR_INIT;
	void *p = NULL;

	(void)state;
	assert_int_equal(overcommit_ops.create(&args, &p, &err), -ERR_INVALID);
	assert_null(p);
	assert_string_equal(err.text, "overcommit-factor: \"many\" is not a number");
	start(PLUGIN);
}

/* The most that g may announce to be enqueued. */
static int64_t most(void *plugin, struct podgroup *g)
{
	int64_t low = -1, high = 200; /* of 120 and less in the cluster */

	while (low + 1 < high) {
		g->min_resources.v[RES_CPU] = low + (high - low) / 2;
		if (overcommit_ops.job_enqueueable(plugin, f.s, g, &why) == VOTE_PERMIT) {
			low = g->min_resources.v[RES_CPU];
		} else {
			high = g->min_resources.v[RES_CPU];
		}
	}
	return low;
}

static void *create(void)
{
	const struct plugin_args args = { .n = 0 };
	void *ret;

	assert_int_equal(overcommit_ops.create(&args, &ret, NULL), 0);
	return ret;
}

/* A plugin that has followed all changes answers like one that counts for the first time. */
static void test_sums_are_kept_through_changes(void **state)
{
	void *kept = create(), *anew;
	struct random_changes r;
	struct podgroup *g;

	(void)state;
	start(PLUGIN);
	random_changes_init(&r, f.cluster, 4711);
	g = group("new", PODGROUP_PENDING, 0);
	for (int step = 0; step < 500; step++) {
		random_changes_step(&r);
		g->min_resources.v[RES_CPU] = 1;
		hooks_fixture_open(&f);
		anew = create();
		overcommit_ops.open(anew, f.s);
		overcommit_ops.open(kept, f.s);
		assert_int_equal(most(kept, g), most(anew, g));
		/* Of this session alone. */
		overcommit_ops.job_enqueued(kept, f.s, r.g[1]);
		overcommit_ops.destroy(anew);
		random_changes_scan(&r);
	}
	random_changes_finish(&r);
	overcommit_ops.destroy(kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_factor, teardown),
		cmocka_unit_test_teardown(test_a_huge_factor, teardown),
		cmocka_unit_test_teardown(test_used_and_announced, teardown),
		cmocka_unit_test_teardown(test_an_inqueue_podgroup_with_some_pods_placed, teardown),
		cmocka_unit_test_teardown(test_pods_behind_a_foreign_gate_announce_nothing,
					  teardown),
		cmocka_unit_test_teardown(test_the_enqueued_count_at_once, teardown),
		cmocka_unit_test_teardown(test_without_min_resources, teardown),
		cmocka_unit_test_teardown(test_names_that_no_node_has, teardown),
		cmocka_unit_test_teardown(test_bad_arguments, teardown),
		cmocka_unit_test_teardown(test_sums_are_kept_through_changes, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
