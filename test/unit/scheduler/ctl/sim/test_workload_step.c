#include "scheduler/ctl/sim/workload_step.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "lib/workloads/admission_cycle_fixture.h"

static void decisions_in_words(void **state)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct admission_cycle_fixture f;
	struct workload_step preempt, pending;

	(void)state;
	admission_cycle_fixture_init(&f, "quota q f cpu nominal=4\nquota q f memory nominal=4Gi\n"
					 "queue q within=LowerPriority\n"
					 "workload v queue=q cpu=4 holds=f reserved=-60s\n"
					 "workload p queue=q memory=1Gi cpu=500m pods=2 prio=10\n");
	(void)admission_cycle_fixture_run(&f);
	assert_int_equal(f.last->n, 2);
	preempt = workload_step_make(f.w.q, &f.last->v[0], 7, arena);
	pending = workload_step_make(f.w.q, &f.last->v[1], 7, arena);
	admission_cycle_fixture_finish(&f);
	assert_int_equal(preempt.cycle, 7);
	assert_string_equal(preempt.workload, "ns/v");
	assert_string_equal(preempt.by, "ns/p");
	assert_string_equal(preempt.queue, "q");
	assert_string_equal(preempt.reason, "InClusterQueue");
	assert_false(preempt.has_assignment);
	assert_string_equal(pending.by, "");
	assert_string_equal(pending.requeue, "PendingPreemption");
	assert_string_equal(pending.reason, "WaitingForPreemptedWorkloads");
	assert_true(pending.in_heap);
	assert_string_equal(pending.mode, "Preempt");
	assert_int_equal(pending.npodsets, 1);
	assert_int_equal(pending.podsets[0].count, 2);
	assert_int_equal(pending.podsets[0].n, 2);
	assert_string_equal(pending.podsets[0].v[0].resource, "cpu");
	assert_string_equal(pending.podsets[0].v[0].mode, "Preempt");
	assert_int_equal(pending.podsets[0].v[0].amount, 1000);
	assert_string_equal(pending.podsets[0].v[1].mode, "Fit");
	assert_string_equal(pending.podsets[0].v[1].flavor, "f");
}

static void amounts_as_quantities(void **state)
{
	static const struct {
		const char *resource;
		int64_t amount;
		const char *expected;
	} rows[] = {
		{ "cpu", 1500, "1500m" },
		{ "cpu", 3000, "3" },
		{ "memory", INT64_C(1) << 30, "1Gi" },
		{ "ephemeral-storage", 1024, "1Ki" },
		{ "pods", 12, "12" },
		{ "nvidia.com/gpu", 0, "0" },
		{ "memory", INT64_MAX, "9223372036854775807" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char text[WORKLOAD_STEP_AMOUNT_MAX];

		unit_row(rows[i].resource);
		assert_string_equal(workload_step_amount(rows[i].resource, rows[i].amount, text),
				    rows[i].expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decisions_in_words),
		cmocka_unit_test(amounts_as_quantities),
	};

	return cmocka_run_group_tests_name("ctl/sim/workload_step", tests, NULL, NULL);
}
