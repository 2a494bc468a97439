#include "base/attrs.h"
#include "lib/pods/core_fixture.h"
#include "lib/pods/evict_fixture.h"
#include "lib/unit.h"

static const char conf[] = "actions: preempt\n"
			   "tiers:\n"
			   "- plugins:\n"
			   "  - name: cdp\n";

static void test_a_pod_is_protected_until_it_has_cooled(void **state)
{
	static const struct {
		int64_t until; /* from now */
		bool permits;
	} rows[] = { { 1, false }, { 0, true }, { -1, true }, { INT64_MAX / 2, false } };

	(void)state;
	for (size_t i = 0; i <= ARRAY_LEN(rows); i++) {
		struct core_fixture f;
		struct task *t, *victim;
		struct cluster *c;
		bool permits = i == ARRAY_LEN(rows) || rows[i].permits;

		unit_row_number(i);
		core_fixture_init(&f, conf);
		c = f.f.cluster;
		(void)cluster_fixture_queue(c, "q", NULL, -1);
		t = cluster_fixture_task(c, "t", evict_fixture_podgroup(c, "high", "q", 1, 9), 1);
		victim = evict_fixture_running(c, "v", evict_fixture_podgroup(c, "low", "q", 1, 1),
					       1, cluster_fixture_node(c, "n", 1000));
		if (i < ARRAY_LEN(rows)) {
			victim->cools_until = f.f.now + rows[i].until;
		}
		core_fixture_open(&f);
		assert_int_equal(hooks_preemptable(f.s, t, victim), permits);
		assert_int_equal(hooks_reclaimable(f.s, t, victim), permits);
		core_fixture_finish(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_pod_is_protected_until_it_has_cooled),
	};

	return cmocka_run_group_tests_name("pods/plugins/cdp", tests, NULL, NULL);
}
