#include "lib/pods/hooks_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/session/hooks.h"

static void test_the_higher_priority_goes_first(void **state)
{
	struct hooks_fixture f;
	struct podgroup *a, *b;
	struct task *t, *u;

	(void)state;
	hooks_fixture_init(&f, "- plugins:\n  - name: priority\n", plugin_registry,
			   plugin_registry_count);
	a = cluster_fixture_podgroup(f.cluster, "a", NULL, 1);
	b = cluster_fixture_podgroup(f.cluster, "b", NULL, 1);
	t = cluster_fixture_task(f.cluster, "t", a, 1);
	u = cluster_fixture_task(f.cluster, "u", a, 1);
	hooks_fixture_open(&f);
	assert_true(hooks_job_order(f.s, a, b) < 0); /* equal: by name */
	b->priority = 1;
	assert_true(hooks_job_order(f.s, a, b) > 0);
	a->priority = INT32_MIN;
	b->priority = INT32_MAX;
	assert_true(hooks_job_order(f.s, a, b) > 0);
	assert_true(hooks_job_order(f.s, b, a) < 0);
	u->priority = 2;
	assert_true(hooks_task_order(f.s, t, u) > 0);
	t->priority = 3;
	assert_true(hooks_task_order(f.s, t, u) < 0);
	hooks_fixture_finish(&f);
}

static void test_the_lower_priority_is_evicted(void **state)
{
	struct hooks_fixture f;
	struct podgroup *a, *b;
	struct task *t, *same, *other;

	(void)state;
	hooks_fixture_init(&f, "- plugins:\n  - name: priority\n", plugin_registry,
			   plugin_registry_count);
	a = cluster_fixture_podgroup(f.cluster, "a", NULL, 1);
	b = cluster_fixture_podgroup(f.cluster, "b", NULL, 1);
	t = cluster_fixture_task(f.cluster, "t", a, 1);
	same = cluster_fixture_task(f.cluster, "same", a, 1);
	other = cluster_fixture_task(f.cluster, "other", b, 1);
	hooks_fixture_open(&f);
	assert_true(hooks_job_starving(f.s, a));
	assert_false(hooks_preemptable(f.s, t, other));
	a->priority = 1;
	assert_true(hooks_preemptable(f.s, t, other));
	assert_false(hooks_preemptable(f.s, t, same));
	t->priority = 5;
	assert_true(hooks_preemptable(f.s, t, same));
	/* It has no say about other queues. */
	assert_false(hooks_reclaimable(f.s, t, other));
	hooks_fixture_finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_higher_priority_goes_first),
		cmocka_unit_test(test_the_lower_priority_is_evicted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
