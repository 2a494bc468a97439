#include "lib/pods/hooks_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/session/hooks.h"

static void test_system_pods_are_no_victims(void **state)
{
	struct hooks_fixture f;
	struct task *t, *victim;

	(void)state;
	hooks_fixture_init(&f, "- plugins:\n  - name: conformance\n", plugin_registry,
			   plugin_registry_count);
	t = cluster_fixture_task(f.cluster, "t", NULL, 1);
	victim = cluster_fixture_task(f.cluster, "v", NULL, 1);
	hooks_fixture_open(&f);
	assert_false(hooks_has_quota_plugin(f.hooks));
	assert_true(hooks_preemptable(f.s, t, victim));
	assert_true(hooks_reclaimable(f.s, t, victim));
	victim->flags |= TASK_CRITICAL;
	assert_false(hooks_preemptable(f.s, t, victim));
	assert_false(hooks_reclaimable(f.s, t, victim));
	hooks_fixture_finish(&f);
}

/* A plugin of a later tier cannot give away what one of an earlier tier protects. */
static void test_it_holds_in_every_tier(void **state)
{
	struct hooks_fixture f;
	struct podgroup *a, *b;
	struct task *t, *victim;

	(void)state;
	for (int i = 0; i < 2; i++) {
		hooks_fixture_init(&f,
				   i == 0 ? "- plugins:\n  - name: conformance\n"
					    "- plugins:\n  - name: priority\n"
					  : "- plugins:\n  - name: priority\n"
					    "- plugins:\n  - name: conformance\n",
				   plugin_registry, plugin_registry_count);
		a = cluster_fixture_podgroup(f.cluster, "a", NULL, 1);
		b = cluster_fixture_podgroup(f.cluster, "b", NULL, 1);
		a->priority = 1;
		t = cluster_fixture_task(f.cluster, "t", a, 1);
		victim = cluster_fixture_task(f.cluster, "v", b, 1);
		hooks_fixture_open(&f);
		assert_true(hooks_preemptable(f.s, t, victim));
		assert_false(hooks_preemptable(f.s, victim, t));
		victim->flags |= TASK_CRITICAL;
		assert_false(hooks_preemptable(f.s, t, victim));
		hooks_fixture_finish(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_system_pods_are_no_victims),
		cmocka_unit_test(test_it_holds_in_every_tier),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
