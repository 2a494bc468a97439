#include "scheduler/pods/search/placing.h"

#include "lib/pods/core_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"

static void which_pods_are_placed(void **state)
{
	static const struct {
		const char *what;
		uint32_t flags;
		int64_t cpu;
		enum charge_state charge;
		bool expected;
	} rows[] = {
		{ "plain", TASK_OURS, 1, CHARGE_NONE, true },
		{ "not ours", 0, 1, CHARGE_NONE, false },
		{ "best effort", TASK_OURS, 0, CHARGE_NONE, false },
		{ "gated", TASK_OURS | TASK_OUR_GATE, 1, CHARGE_NONE, false },
		{ "other gate", TASK_OURS | TASK_FOREIGN_GATE, 1, CHARGE_NONE, false },
		{ "opted in, no quota", TASK_OURS | TASK_OPTED_IN, 1, CHARGE_NONE, false },
		{ "opted in, ungated", TASK_OURS | TASK_OPTED_IN, 1, CHARGE_UNGATED, true },
		{ "opted in, published", TASK_OURS | TASK_OPTED_IN, 1, CHARGE_PUBLISHED, true },
		{ "opted in, waits for victims", TASK_OURS | TASK_OPTED_IN, 1,
		  CHARGE_AWAITING_VICTIMS, false },
		{ "parked", TASK_OURS | TASK_PARKED, 1, CHARGE_NONE, false },
		{ "of another scheduler", TASK_OURS | TASK_OPTED_IN | TASK_GATE_ONLY, 1,
		  CHARGE_UNGATED, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct core_fixture sf;
		struct queue *q;
		struct task *t;

		print_message("%s\n", rows[i].what);
		core_fixture_init(&sf, NULL);
		q = cluster_fixture_queue(sf.f.cluster, "q", NULL, -1);
		t = cluster_fixture_task(sf.f.cluster, "p",
					 cluster_fixture_podgroup(sf.f.cluster, "j", "q", 1),
					 rows[i].cpu);
		t->flags = rows[i].flags;
		if (rows[i].charge != CHARGE_NONE) {
			ledger_charge(sf.f.cluster, t, q, rows[i].charge);
		}
		core_fixture_open(&sf);
		assert_int_equal(placing_is_candidate(sf.s, t), rows[i].expected);
		core_fixture_finish(&sf);
	}
}

/* The quota of a terminating pod goes to others, but not past those that hold quota and wait for a
 * node. */
static void quota_that_is_released(void **state)
{
	struct reason why = { .code = NULL };
	struct core_fixture sf;
	struct task *old, *waits, *t;
	struct podgroup *g;
	struct queue *q;
	struct node *n;

	(void)state;
	for (int reserved = 0; reserved < 2; reserved++) {
		core_fixture_init(&sf, NULL);
		q = cluster_fixture_queue(sf.f.cluster, "q", NULL, 2000);
		n = cluster_fixture_node(sf.f.cluster, "n", 4000);
		g = cluster_fixture_podgroup(sf.f.cluster, "j", "q", 1);
		old = cluster_fixture_task(sf.f.cluster, "old", g, 1000);
		waits = cluster_fixture_task(sf.f.cluster, "waits", g, 1000);
		t = cluster_fixture_task(sf.f.cluster, "t", g, 1000);
		ledger_charge(sf.f.cluster, old, q, CHARGE_BOUND);
		ledger_set_releasing(sf.f.cluster, old, true);
		cluster_task_set_status(sf.f.cluster, old, TASK_RELEASING, n);
		ledger_charge(sf.f.cluster, waits, q, reserved ? CHARGE_UNGATED : CHARGE_ASSUMED);
		core_fixture_open(&sf);
		assert_int_equal(placing_quota_admits(sf.s, q, t, &why), !reserved);
		core_fixture_finish(&sf);
	}
	assert_non_null(why.code);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_pods_are_placed),
		cmocka_unit_test(quota_that_is_released),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
