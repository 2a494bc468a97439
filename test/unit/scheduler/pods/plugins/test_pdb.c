#include <stdlib.h>

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "lib/pods/core_fixture.h"
#include "lib/pods/evict_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/statement.h"

static const char conf[] = "actions: preempt\n"
			   "tiers:\n"
			   "- plugins:\n"
			   "  - name: priority\n"
			   "  - name: pdb\n"
			   "- plugins:\n"
			   "  - name: predicates\n"
			   "  - name: capacity\n"
			   "    enableHierarchy: true\n";

struct fixture {
	struct core_fixture core;
	struct cluster *c;
	struct session *s;
	struct task *t, *victims[3];
};

static uint32_t budget(struct fixture *f, const char *key, uint32_t allowed)
{
	struct budget *b = xmalloc_zero(1, sizeof(*b));

	b->key = xmalloc_dup(key);
	b->allowed = allowed;
	b->id = slots_add(&f->c->budgets, b);
	return b->id;
}

static void start(struct fixture *f)
{
	struct podgroup *low, *high;

	core_fixture_init(&f->core, conf);
	f->c = f->core.f.cluster;
	(void)cluster_fixture_queue(f->c, "q", NULL, -1);
	low = evict_fixture_podgroup(f->c, "low", "q", 1, 1);
	high = evict_fixture_podgroup(f->c, "high", "q", 1, 9);
	for (size_t i = 0; i < ARRAY_LEN(f->victims); i++) {
		f->victims[i] =
			evict_fixture_running(f->c,
					      i == 0   ? "v0"
					      : i == 1 ? "v1"
						       : "v2",
					      low, 1000, cluster_fixture_node(f->c, "n", 9000));
	}
	f->t = cluster_fixture_task(f->c, "t", high, 1000);
}

static void open_session(struct fixture *f)
{
	core_fixture_open(&f->core);
	f->s = f->core.s;
}

static bool permits(struct fixture *f, size_t victim)
{
	bool a = hooks_preemptable(f->s, f->t, f->victims[victim]);

	assert_int_equal(hooks_reclaimable(f->s, f->t, f->victims[victim]), a);
	return a;
}

static void test_no_more_than_the_budget_allows(void **state)
{
	struct statement outer, inner;
	struct fixture f;

	(void)state;
	start(&f);
	f.victims[0]->budget = f.victims[1]->budget = budget(&f, "ns/b", 1);
	open_session(&f);
	assert_true(hooks_needs_budgets(session_hooks(f.s)));
	assert_true(permits(&f, 0) && permits(&f, 1) && permits(&f, 2));
	outer = statement_begin(f.s);
	inner = statement_begin(f.s);
	statement_evict(f.s, f.victims[0], f.t, NULL);
	assert_false(permits(&f, 1));
	statement_discard(f.s, inner);
	assert_true(permits(&f, 1));
	statement_evict(f.s, f.victims[2], f.t, NULL);
	assert_true(permits(&f, 1));
	statement_evict(f.s, f.victims[1], f.t, NULL);
	assert_false(permits(&f, 0));
	statement_discard(f.s, outer);
	assert_true(permits(&f, 0));
	core_fixture_finish(&f.core);
}

static void test_what_is_protected(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	f.victims[0]->budget = budget(&f, "ns/none", 0);
	f.victims[1]->budget = budget(&f, "ns/granted", 2);
	f.c->budgets.v[f.victims[1]->budget]->granted = 2;
	f.victims[2]->budget = TASK_BUDGETS_SEVERAL;
	open_session(&f);
	assert_false(permits(&f, 0));
	assert_false(permits(&f, 1));
	assert_false(permits(&f, 2));
	core_fixture_finish(&f.core);
}

/* As the Eviction API: budgets do not count for these. */
static void test_pods_that_no_budget_guards(void **state)
{
	static const struct {
		const char *what;
		bool bound, unready, unready_go, several, permitted;
	} rows[] = {
		{ "has not started", true, false, false, false, true },
		{ "has not started, of several", true, false, false, true, true },
		{ "is not ready", false, true, true, false, true },
		{ "is not ready, its budget is short of pods", false, true, false, false, false },
		{ "is not ready, of several", false, true, true, true, false },
		{ "is ready", false, false, true, false, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;
		struct task *v;
		uint32_t id;

		print_message("%s\n", rows[i].what);
		start(&f);
		v = f.victims[0];
		id = budget(&f, "ns/b", 0);
		f.c->budgets.v[id]->unready_go = rows[i].unready_go;
		v->budget = rows[i].several ? TASK_BUDGETS_SEVERAL : id;
		v->flags |= rows[i].unready ? (uint32_t)TASK_UNREADY : 0;
		if (rows[i].bound) {
			cluster_task_set_status(f.c, v, TASK_BOUND, f.c->nodes.v[v->node]);
		}
		open_session(&f);
		assert_int_equal(permits(&f, 0), rows[i].permitted);
		core_fixture_finish(&f.core);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_more_than_the_budget_allows),
		cmocka_unit_test(test_what_is_protected),
		cmocka_unit_test(test_pods_that_no_budget_guards),
	};

	return cmocka_run_group_tests_name("pods/plugins/pdb", tests, NULL, NULL);
}
