#include "scheduler/workloads/status/workload_status_flags.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "scheduler/workloads/status/workload_status.h"

#define AT 5

struct fixture {
	struct workload_status status;
	struct workload w;
};

static void begin(struct fixture *x)
{
	*x = (struct fixture){ .status = { .arena = arena_create(0) } };
}

static void end(struct fixture *x)
{
	arena_destroy(x->status.arena);
	workload_status_finish(&x->status);
}

/* The flags of a status with one condition. */
static struct workload read(const char *type, const char *status, const char *reason)
{
	struct condition c = { .type = type, .status = status, .reason = reason, .at = AT };
	struct fixture x;

	begin(&x);
	workload_status_set_condition(&x.status, &c);
	workload_status_flags(&x.status, &x.w);
	end(&x);
	return x.w;
}

static void flags_follow_from_conditions(void **state)
{
	struct workload w;

	(void)state;
	w = read("Evicted", "True", "PodsReadyTimeout");
	assert_true(w.flags.evicted && w.flags.evicted_by_timeout && !w.flags.evicted_by_check);
	assert_int_equal(w.flags.evicted_at, AT);
	w = read("Evicted", "True", "AdmissionCheck");
	assert_true(w.flags.evicted && w.flags.evicted_by_check && !w.flags.evicted_by_timeout);
	w = read("Evicted", "False", "AdmissionCheck");
	assert_false(w.flags.evicted || w.flags.evicted_by_check);
	assert_int_equal(w.flags.evicted_at, MODEL_TIME_NONE);
	w = read("Preempted", "True", "InCohortReclaimWhileBorrowing");
	assert_true(w.flags.reclaimed_while_borrowing);
	assert_int_equal(w.flags.preempted_at, AT);
	w = read("Preempted", "True", "InCohortReclamation");
	assert_false(w.flags.reclaimed_while_borrowing);
	w = read("QuotaReserved", "True", "OnHold");
	assert_int_equal(w.flags.reserved_at, AT);
	assert_false(w.flags.on_hold);
	w = read("QuotaReserved", "False", "OnHold");
	assert_true(w.flags.on_hold);
	assert_int_equal(w.flags.reserved_at, MODEL_TIME_NONE);
	assert_true(read("Finished", "True", "Succeeded").flags.finished);
	assert_true(read("Admitted", "True", "Admitted").flags.admitted);
	assert_true(read("PodsReady", "True", "Started").flags.pods_ready);
	assert_true(read("Requeued", "False", "Preempted").flags.requeued_false);
	assert_false(read("Requeued", "True", "Preempted").flags.requeued_false);
	assert_true(read("WaitingForReplacementPods", "True", "x").flags.waits_replacement);
}

/* Flags without a condition in the status are cleared. */
static void nothing_stays_of_the_status_before(void **state)
{
	struct workload w = { .flags = { .evicted = true,
					 .evicted_by_timeout = true,
					 .evicted_by_check = true,
					 .reclaimed_while_borrowing = true,
					 .on_hold = true,
					 .finished = true,
					 .admitted = true,
					 .pods_ready = true,
					 .waits_replacement = true,
					 .requeued_false = true,
					 .check_blocks = true,
					 .preemption_gated = true } };
	struct fixture x;

	(void)state;
	begin(&x);
	workload_status_flags(&x.status, &w);
	assert_false(w.flags.evicted || w.flags.evicted_by_timeout || w.flags.evicted_by_check ||
		     w.flags.reclaimed_while_borrowing || w.flags.on_hold || w.flags.finished ||
		     w.flags.admitted || w.flags.pods_ready || w.flags.waits_replacement ||
		     w.flags.requeued_false || w.flags.check_blocks || w.flags.preemption_gated);
	assert_int_equal(w.flags.evicted_at, MODEL_TIME_NONE);
	assert_int_equal(w.flags.preempted_at, MODEL_TIME_NONE);
	assert_int_equal(w.flags.reserved_at, MODEL_TIME_NONE);
	assert_int_equal(w.flags.requeue_at, MODEL_TIME_NONE);
	end(&x);
}

static void checks_that_refuse_block(void **state)
{
	static const bool blocks[] = { [QUOTA_CHECK_RETRY] = true, [QUOTA_CHECK_REJECTED] = true };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(blocks); i++) {
		struct workload_status_check ready = { .name = "a", .state = QUOTA_CHECK_READY };
		struct workload_status_check one = { .name = "b",
						     .state = (enum quota_check_state)i };
		struct fixture x;

		unit_row_number(i);
		begin(&x);
		vec_push(&x.status.checks, ready);
		vec_push(&x.status.checks, one);
		x.status.has_requeue_at = true;
		x.status.requeue_at = AT;
		workload_status_flags(&x.status, &x.w);
		assert_int_equal(x.w.flags.check_blocks, blocks[i]);
		assert_int_equal(x.w.flags.requeue_at, AT);
		end(&x);
	}
}

/* A gate of spec is closed unless status says Open; entries of status alone do not count. */
static void gates_are_closed_until_the_status_opens_them(void **state)
{
	static const struct {
		const char *spec[2];
		const char *name;
		bool open, gated;
	} rows[] = {
		{ { NULL }, NULL, false, false },  { { "a" }, NULL, false, true },
		{ { "a" }, "a", true, false },     { { "a" }, "a", false, true },
		{ { "a" }, "b", true, true },      { { NULL }, "b", false, false },
		{ { "a", "b" }, "a", true, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct workload_status_gate gate = { .name = rows[i].name, .open = rows[i].open };
		const char *spec[3] = { rows[i].spec[0], rows[i].spec[1] };
		struct fixture x;

		begin(&x);
		x.w.object.gates = spec;
		if (gate.name != NULL) {
			vec_push(&x.status.gates, gate);
		}
		workload_status_flags(&x.status, &x.w);
		if (x.w.flags.preemption_gated != rows[i].gated) {
			fail_msg("row %zu", i);
		}
		end(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flags_follow_from_conditions),
		cmocka_unit_test(nothing_stays_of_the_status_before),
		cmocka_unit_test(checks_that_refuse_block),
		cmocka_unit_test(gates_are_closed_until_the_status_opens_them),
	};

	return cmocka_run_group_tests_name("workloads/status/workload_status_flags", tests, NULL,
					   NULL);
}
