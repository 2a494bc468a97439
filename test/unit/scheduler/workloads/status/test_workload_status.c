#include "scheduler/workloads/status/workload_status.h"

#include "lib/unit.h"

#include <string.h>

#include "api/kueue/preemption_gate.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "lib/workloads/admission_cycle_fixture.h"

struct fixture {
	struct admission_cycle_fixture f;
	struct workload_status status;
	struct workload_status_events events;
};

static void init(struct fixture *x, const char *world)
{
	memset(x, 0, sizeof(*x));
	x->status.arena = arena_create(0);
	x->status.generation = 3;
	if (world != NULL) {
		admission_cycle_fixture_init(&x->f, world);
	}
}

static void finish(struct fixture *x, bool with_world)
{
	arena_destroy(x->status.arena);
	workload_status_finish(&x->status);
	vec_finish(&x->events);
	if (with_world) {
		admission_cycle_fixture_finish(&x->f);
	}
}

static void expect(const struct fixture *x, const char *type, const char *status,
		   const char *reason)
{
	const struct condition *c = workload_status_condition(&x->status, type);

	assert_non_null(c);
	assert_string_equal(c->status, status);
	assert_string_equal(c->reason, reason);
}

static void expect_event(const struct fixture *x, size_t i, bool warning, const char *reason)
{
	assert_true(i < x->events.n);
	assert_int_equal(x->events.v[i].warning, warning);
	assert_string_equal(x->events.v[i].reason, reason);
}

/* Runs a cycle and turns those of its decisions that are about one workload into its status. */
static void decide(struct fixture *x, const char *workload)
{
	const struct workload *w = quota_world_workload(&x->f.w, workload);

	(void)admission_cycle_fixture_run(&x->f);
	for (size_t i = 0; i < x->f.last->n; i++) {
		if (x->f.last->v[i].workload == w->id) {
			workload_status_decide(&x->status, x->f.w.q, &x->f.last->v[i], x->f.w.now,
					       &x->events);
		}
	}
}

static void the_time_changes_with_the_status_only(void **state)
{
	struct condition c = { "A", "True", "R", "m", 10, 1 };
	struct fixture x;

	(void)state;
	init(&x, NULL);
	assert_true(workload_status_set_condition(&x.status, &c));
	c.at = 20;
	c.generation = 2;
	assert_false(workload_status_set_condition(&x.status, &c));
	assert_int_equal(workload_status_condition(&x.status, "A")->at, 10);
	assert_int_equal(workload_status_condition(&x.status, "A")->generation, 2);
	c.message = "other";
	assert_true(workload_status_set_condition(&x.status, &c));
	assert_int_equal(workload_status_condition(&x.status, "A")->at, 10);
	c.status = "False";
	assert_true(workload_status_set_condition(&x.status, &c));
	assert_int_equal(workload_status_condition(&x.status, "A")->at, 20);
	assert_int_equal(x.status.conditions.n, 1);
	finish(&x, false);
}

static void a_condition_taken_off_leaves_the_others_in_order(void **state)
{
	struct condition c[] = { { "A", "True", "R", "", 1, 1 },
				 { "B", "True", "R", "", 1, 1 },
				 { "C", "True", "R", "", 1, 1 } };
	struct fixture x;

	(void)state;
	init(&x, NULL);
	for (size_t i = 0; i < ARRAY_LEN(c); i++) {
		workload_status_set_condition(&x.status, &c[i]);
	}
	assert_true(workload_status_remove_condition(&x.status, "B"));
	assert_false(workload_status_remove_condition(&x.status, "B"));
	assert_int_equal(x.status.conditions.n, 2);
	assert_string_equal(x.status.conditions.v[0].type, "A");
	assert_string_equal(x.status.conditions.v[1].type, "C");
	finish(&x, false);
}

static void messages_are_cut_between_characters(void **state)
{
	struct condition c = { "A", "True", "R", NULL, 1, 1 };
	struct fixture x;
	char *text;

	(void)state;
	init(&x, NULL);
	text = arena_alloc(x.status.arena, WORKLOAD_STATUS_MESSAGE_MAX + 2);
	memset(text, 'x', WORKLOAD_STATUS_MESSAGE_MAX + 1);
	text[WORKLOAD_STATUS_MESSAGE_MAX] = '\0';
	c.message = text;
	workload_status_set_condition(&x.status, &c);
	assert_int_equal(strlen(workload_status_condition(&x.status, "A")->message),
			 WORKLOAD_STATUS_MESSAGE_MAX);
	memcpy(&text[WORKLOAD_STATUS_MESSAGE_MAX - 1], "\xc3\xa4", 3);
	workload_status_set_condition(&x.status, &c);
	assert_int_equal(strlen(workload_status_condition(&x.status, "A")->message),
			 WORKLOAD_STATUS_MESSAGE_MAX - 1);
	finish(&x, false);
}

static void admitted(void **state)
{
	struct fixture x;
	struct condition evicted = { "Evicted", "True", "Preempted", "old words", 5, 1 };
	struct workload_status_podset earlier = { .name = "earlier", .count = 7 };

	(void)state;
	init(&x, "quota q f cpu nominal=9\nworkload w queue=q cpu=2 pods=2 created=-30s\n");
	workload_status_set_condition(&x.status, &evicted);
	vec_push(&x.status.podsets, earlier); /* of an admission that has ended */
	decide(&x, "w");
	expect(&x, "QuotaReserved", "True", "QuotaReserved");
	expect(&x, "Admitted", "True", "Admitted");
	expect(&x, "Evicted", "False", "QuotaReserved");
	assert_string_equal(workload_status_condition(&x.status, "Evicted")->message,
			    "Previously: old words");
	assert_null(workload_status_condition(&x.status, "Preempted"));
	assert_true(x.status.has_admission);
	assert_string_equal(x.status.queue, "q");
	assert_int_equal(x.status.podsets.n, 1);
	assert_string_equal(x.status.podsets.v[0].name, "main");
	assert_int_equal(x.status.podsets.v[0].count, 2);
	assert_int_equal(x.status.podsets.v[0].v[0].amount, 4000);
	assert_string_equal(x.status.podsets.v[0].v[0].flavor, "f");
	assert_int_equal(x.events.n, 2);
	expect_event(&x, 0, false, "QuotaReserved");
	expect_event(&x, 1, false, "Admitted");
	finish(&x, true);
}

static void admission_checks_come_between(void **state)
{
	static const enum quota_check_state states[] = { QUOTA_CHECK_PENDING, QUOTA_CHECK_READY };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct workload_status_check check = { .name = "c", .state = states[i] };
		struct fixture x;

		init(&x, "check c active=true\nquota q f cpu nominal=9\nqueue q checks=c\n"
			 "workload w queue=q cpu=2\n");
		vec_push(&x.status.checks, check);
		decide(&x, "w");
		expect(&x, "QuotaReserved", "True", "QuotaReserved");
		expect(&x, "Admitted", i == 0 ? "False" : "True",
		       i == 0 ? "UnsatisfiedAdmissionChecks" : "Admitted");
		assert_int_equal(x.events.n, 1 + i);
		finish(&x, true);
	}
}

/* Until the list is brought up to date, one that the queue does not ask for holds it as well. */
static void a_check_of_the_status_alone_counts(void **state)
{
	struct workload_status_check check = { .name = "old", .state = QUOTA_CHECK_PENDING };
	struct fixture x;

	(void)state;
	init(&x, "quota q f cpu nominal=9\nworkload w queue=q cpu=2\n");
	vec_push(&x.status.checks, check);
	decide(&x, "w");
	expect(&x, "Admitted", "False", "UnsatisfiedAdmissionChecks");
	finish(&x, true);
}

static void preempted(void **state)
{
	struct workload_status_check check = {
		.name = "c", .state = QUOTA_CHECK_RETRY, .retries = 1, .has_updates = true
	};
	struct workload_status_gate gate = { .name = "g", .open = true, .at = 7 };
	struct condition blocked = { PREEMPTION_GATE_BLOCKED, "True", "PreemptionGated", "", 5, 1 };
	struct fixture x;

	(void)state;
	init(&x, "quota q f cpu nominal=4\nqueue q within=LowerPriority\n"
		 "workload v queue=q cpu=4 holds=f reserved=-60s\n"
		 "workload p queue=q cpu=2 prio=10\n");
	vec_push(&x.status.checks, check);
	vec_push(&x.status.gates, gate);
	workload_status_set_condition(&x.status, &blocked);
	x.status.cluster = "far";
	vec_push(&x.status.nominated, "near");
	vec_push(&x.status.unhealthy, "n1");
	decide(&x, "v");
	expect(&x, "Preempted", "True", "InClusterQueue");
	assert_int_equal(workload_status_condition(&x.status, "Preempted")->generation, 0);
	expect(&x, "Evicted", "True", "Preempted");
	assert_int_equal(workload_status_condition(&x.status, "Evicted")->generation, 3);
	expect(&x, PREEMPTION_GATE_BLOCKED, "False", "Preempted");
	assert_null(workload_status_condition(&x.status, "QuotaReserved"));
	assert_int_equal(x.status.checks.v[0].state, QUOTA_CHECK_PENDING);
	assert_int_equal(x.status.checks.v[0].retries, 2);
	assert_true(x.status.checks.v[0].drops_updates && !x.status.checks.v[0].has_updates);
	assert_false(x.status.gates.v[0].open);
	assert_int_equal(x.status.gates.v[0].at, x.f.w.now);
	assert_int_equal(x.status.evictions.n, 1);
	assert_int_equal(x.status.evictions.v[0].count, 1);
	assert_null(x.status.cluster);
	assert_int_equal(x.status.nominated.n + x.status.unhealthy.n, 0);
	assert_int_equal(x.events.n, 3);
	expect_event(&x, 0, false, "Preempted");
	expect_event(&x, 1, false, "PreemptedWorkload");
	expect_event(&x, 2, false, "EvictedDueToPreempted");
	/* The same victim in the next cycle changes nothing. */
	decide(&x, "v");
	assert_int_equal(x.status.evictions.v[0].count, 1);
	assert_int_equal(x.events.n, 3);
	finish(&x, true);
}

static void finished_conditions_do_not_change(void **state)
{
	static const struct condition finished = { "Finished", "True", "OwnerNotFound", "", 1, 3 };
	static const char *const about[] = { "v", "p" };
	struct fixture x;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(about); i++) {
		unit_row(about[i]);
		init(&x, "quota q f cpu nominal=4\nqueue q within=LowerPriority\n"
			 "workload v queue=q cpu=4 holds=f reserved=-60s\n"
			 "workload p queue=q cpu=2 prio=10\n");
		(void)workload_status_set_condition(&x.status, &finished);
		decide(&x, about[i]);
		assert_int_equal(x.status.conditions.n, 1);
		assert_int_equal(x.status.evictions.n, 0);
		assert_int_equal(x.events.n, 0);
		finish(&x, true);
	}
}

static void waiting(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, "quota q f cpu nominal=4\nqueue q strategy=StrictFIFO\n"
		 "workload w queue=q cpu=5 pods=2\n");
	decide(&x, "w");
	expect(&x, "QuotaReserved", "False", "ExceedsMaxQuota");
	expect(&x, "Admitted", "False", "NoReservation");
	assert_null(workload_status_condition(&x.status, PREEMPTION_GATE_BLOCKED));
	assert_int_equal(x.status.requests.n, 1);
	assert_int_equal(x.status.requests.v[0].v[0].amount, 10000);
	assert_int_equal(x.events.n, 1);
	expect_event(&x, 0, true, "ExceedsMaxQuota");
	decide(&x, "w");
	assert_int_equal(x.events.n, 1);
	finish(&x, true);
}

static void gated(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, "option preemption_gates=true\nquota q f cpu nominal=4\n"
		 "queue q within=LowerPriority\n"
		 "workload v queue=q cpu=4 holds=f reserved=-60s\n"
		 "workload p queue=q cpu=2 prio=10 preemption-gated\n");
	decide(&x, "p");
	expect(&x, "QuotaReserved", "False", "AdmissionGated");
	expect(&x, PREEMPTION_GATE_BLOCKED, "True", "PreemptionGated");
	expect_event(&x, 0, true, "AdmissionGated");
	finish(&x, true);
}

/* Stock Kueue leaves the condition, and an orchestrator opens the gate in vain. */
static void a_request_to_open_its_gate_is_taken_back(void **state)
{
	static const struct condition blocked = {
		PREEMPTION_GATE_BLOCKED, "True", "PreemptionGated", "", 5, 1
	};
	struct fixture x;

	(void)state;
	init(&x, "option preemption_gates=true\nquota q f cpu nominal=4\n"
		 "queue q within=LowerPriority\n"
		 "workload v queue=q cpu=4 prio=20 holds=f reserved=-60s\n"
		 "workload p queue=q cpu=2 prio=10 preemption-gated\n");
	workload_status_set_condition(&x.status, &blocked);
	decide(&x, "p");
	expect(&x, "QuotaReserved", "False", "WaitingForQuota");
	expect(&x, PREEMPTION_GATE_BLOCKED, "False", "WaitingForQuota");
	finish(&x, true);
}

/* Fields of a gate that disagree: the one that is not as we wrote it has been changed since. */
static void the_later_field_of_a_gate_counts(void **state)
{
	static const struct {
		bool known, was_open, wants;
	} rows[] = { { true, false, true }, { true, true, false }, { false, false, false } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct workload_status before = { 0 }, fresh = { 0 };

		unit_row_number(i);
		vec_push(&before.gates,
			 ((struct workload_status_gate){ .name = "other", .open = true }));
		vec_push(&before.gates,
			 ((struct workload_status_gate){ .name = "g", .open = rows[i].was_open }));
		vec_push(&fresh.gates,
			 ((struct workload_status_gate){ .name = "h", .open = true }));
		vec_push(&fresh.gates,
			 ((struct workload_status_gate){ .name = "g", .disagrees = true }));
		workload_status_settle_gates(&fresh, rows[i].known ? &before : NULL);
		assert_true(fresh.gates.v[0].open);
		assert_int_equal(fresh.gates.v[1].open, rows[i].wants);
		workload_status_finish(&before);
		workload_status_finish(&fresh);
	}
}

static void evictions_are_counted_by_reason_and_cause(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, NULL);
	workload_status_evict(&x.status, "PodsReadyTimeout", "WaitForStart", "m", 1);
	workload_status_evict(&x.status, "PodsReadyTimeout", "WaitForRecovery", "m", 2);
	workload_status_evict(&x.status, "PodsReadyTimeout", "WaitForStart", "m", 3);
	assert_int_equal(x.status.evictions.n, 2);
	assert_int_equal(x.status.evictions.v[0].count, 2);
	assert_string_equal(x.status.evictions.v[1].cause, "WaitForRecovery");
	finish(&x, false);
}

/* An admission without a time, as a client may write that bypasses the schema. */
static void released_without_a_time(void **state)
{
	struct condition ok = { "Admitted", "True", "Admitted", "", INT64_MIN, 1 };
	struct fixture x;

	(void)state;
	init(&x, NULL);
	workload_status_set_condition(&x.status, &ok);
	assert_int_equal(workload_status_release(&x.status, "m", INT64_C(1768469400000000000)), 0);
	finish(&x, false);
}

static void the_reservation_is_given_back_when_the_job_has_stopped(void **state)
{
	static const struct {
		const char *reason, *requeued;
	} rows[] = { { "Preempted", "True" },
		     { "NodeFailures", "True" },
		     { "PodsReadyTimeout", "False" },
		     { "Deactivated", "False" } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct condition ok = { "Admitted", "True", "Admitted", "", 1000000000, 1 };
		struct fixture x;

		init(&x, NULL);
		x.status.has_admission = true;
		workload_status_set_condition(&x.status, &ok);
		ok.type = "QuotaReserved";
		workload_status_set_condition(&x.status, &ok);
		workload_status_evict(&x.status, rows[i].reason, "", "m", 2);
		assert_int_equal(workload_status_release(&x.status, "m", INT64_C(42000000000)), 41);
		expect(&x, "Requeued", rows[i].requeued, rows[i].reason);
		expect(&x, "QuotaReserved", "False", "PendingEvaluation");
		expect(&x, "Admitted", "False", "NoReservation");
		assert_false(x.status.has_admission);
		assert_int_equal(workload_status_release(&x.status, "m", INT64_C(99000000000)), 0);
		finish(&x, false);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_time_changes_with_the_status_only),
		cmocka_unit_test(a_condition_taken_off_leaves_the_others_in_order),
		cmocka_unit_test(messages_are_cut_between_characters),
		cmocka_unit_test(admitted),
		cmocka_unit_test(admission_checks_come_between),
		cmocka_unit_test(a_check_of_the_status_alone_counts),
		cmocka_unit_test(preempted),
		cmocka_unit_test(finished_conditions_do_not_change),
		cmocka_unit_test(waiting),
		cmocka_unit_test(gated),
		cmocka_unit_test(a_request_to_open_its_gate_is_taken_back),
		cmocka_unit_test(the_later_field_of_a_gate_counts),
		cmocka_unit_test(evictions_are_counted_by_reason_and_cause),
		cmocka_unit_test(the_reservation_is_given_back_when_the_job_has_stopped),
		cmocka_unit_test(released_without_a_time),
	};

	return cmocka_run_group_tests_name("workloads/status/workload_status", tests, NULL, NULL);
}
