#include "scheduler/workloads/engine/deferred_reasons.h"

#include "base/clock.h"
#include "lib/unit.h"

#define AFTER DEFERRED_REASONS_AFTER_NS
#define A 3 /* ids of Workloads */
#define B 1

static void put(struct deferred_reasons *x, uint32_t workload, const char *message, int64_t now)
{
	struct admission_decision d = { .kind = QUOTA_DECIDE_PENDING,
					.workload = workload,
					.node = 7,
					.reason = QUOTA_WAITING_FOR_QUOTA,
					.message = message };

	deferred_reasons_put(x, &d, now);
}

static void assert_next(struct deferred_reasons *x, uint32_t workload, const char *message,
			int64_t now)
{
	struct admission_decision d;

	assert_true(deferred_reasons_next(x, false, now, &d));
	assert_int_equal(d.kind, QUOTA_DECIDE_PENDING);
	assert_int_equal(d.workload, workload);
	assert_int_equal(d.node, 7);
	assert_int_equal(d.reason, QUOTA_WAITING_FOR_QUOTA);
	assert_string_equal(d.message, message);
}

static void assert_none(struct deferred_reasons *x, int64_t now)
{
	struct admission_decision d;

	assert_false(deferred_reasons_next(x, false, now, &d));
}

static void the_latest_of_each_in_order(void **state)
{
	struct deferred_reasons *x = deferred_reasons_create();

	(void)state;
	assert_int_equal(deferred_reasons_due(x, false), CLOCK_NEVER);
	put(x, A, "first", 0);
	put(x, B, "other", 1);
	put(x, A, "second", 2);
	assert_int_equal(deferred_reasons_due(x, false), AFTER);
	assert_none(x, AFTER - 1);
	assert_next(x, A, "second", AFTER);
	assert_none(x, AFTER);
	assert_next(x, B, "other", AFTER + 1);
	assert_int_equal(deferred_reasons_due(x, false), CLOCK_NEVER);
	deferred_reasons_destroy(x);
}

static void nothing_of_workloads_that_do_not_wait(void **state)
{
	struct deferred_reasons *x = deferred_reasons_create();

	(void)state;
	deferred_reasons_drop(x, A);
	put(x, A, "one", 0);
	put(x, B, "two", 0);
	deferred_reasons_drop(x, A);
	deferred_reasons_drop(x, B);
	assert_none(x, AFTER);
	assert_int_equal(deferred_reasons_due(x, false), CLOCK_NEVER);
	deferred_reasons_destroy(x);
}

/* Its id is used again by another one, which began to wait later. */
static void dropped_workloads_have_no_reason(void **state)
{
	struct deferred_reasons *x = deferred_reasons_create();

	(void)state;
	put(x, A, "one", 0);
	deferred_reasons_drop(x, A);
	put(x, A, "three", 5);
	assert_none(x, AFTER);
	assert_next(x, A, "three", AFTER + 5);
	deferred_reasons_destroy(x);
}

static void so_many_in_a_second(void **state)
{
	struct deferred_reasons *x = deferred_reasons_create();
	struct admission_decision d;
	int64_t due;

	(void)state;
	for (unsigned i = 0; i < DEFERRED_REASONS_BURST + 3; i++) {
		put(x, i, "x", 0);
	}
	for (unsigned i = 0; i < DEFERRED_REASONS_BURST; i++) {
		assert_true(deferred_reasons_next(x, false, AFTER, &d));
	}
	assert_none(x, AFTER);
	due = deferred_reasons_due(x, false);
	assert_in_range(due, AFTER + CLOCK_NS_PER_S / DEFERRED_REASONS_PER_S,
			AFTER + CLOCK_NS_PER_S / DEFERRED_REASONS_PER_S + CLOCK_NS_PER_MS);
	assert_true(deferred_reasons_next(x, false, due, &d));
	/* While others write, fewer. */
	assert_false(deferred_reasons_next(x, true, due + CLOCK_NS_PER_S / 2, &d));
	assert_true(deferred_reasons_due(x, true) > due + CLOCK_NS_PER_S / 2);
	assert_true(deferred_reasons_next(
		x, true, due + CLOCK_NS_PER_S / DEFERRED_REASONS_BUSY_PER_S + CLOCK_NS_PER_MS, &d));
	deferred_reasons_destroy(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_latest_of_each_in_order),
		cmocka_unit_test(nothing_of_workloads_that_do_not_wait),
		cmocka_unit_test(dropped_workloads_have_no_reason),
		cmocka_unit_test(so_many_in_a_second),
	};

	return cmocka_run_group_tests_name("workloads/engine/deferred_reasons", tests, NULL, NULL);
}
