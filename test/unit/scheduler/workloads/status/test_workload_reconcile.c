#include "scheduler/workloads/status/workload_reconcile.h"

#include "lib/unit.h"

#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "lib/quota/quota_world.h"
#include "scheduler/workloads/status/workload_reconcile_priv.h"
#include "unit/scheduler/workloads/status/workload_reconcile_fixture.h"

#define WAITS "QuotaReserved=False/Deactivated Admitted=False/NoReservation"

static const struct workload_life_row table[] = {
	{ .name = "a new one is left alone", .after = "" },
	{ .name = "a new one gets PendingEvaluation, if configured",
	  .explicit_status = true,
	  .after = "QuotaReserved=False/PendingEvaluation Admitted=False/NoReservation" },
	{ .name = "without owner, deleted: the finalizer goes",
	  .orphan = true,
	  .deleted = true,
	  .finalizer_goes = true,
	  .after = "" },
	{ .name = "a client set the condition, and there is no admission",
	  .before = "QuotaReserved=True/Edited Admitted=True/Admitted",
	  .no_admission = true,
	  .after = "QuotaReserved=False/PendingEvaluation Admitted=False/NoReservation" },
	{ .name = "its job is gone: finished",
	  .orphan = true,
	  .had_owner = true,
	  .finalizer_goes = true,
	  .after = "Finished=True/OwnerNotFound" },
	{ .name = "of a job, deleted: its job's controller takes the finalizer off",
	  .before = "Finished=True/Succeeded",
	  .deleted = true,
	  .after = "Finished=True/Succeeded" },
	{ .name = "finished: nothing else counts",
	  .before = "Requeued=False/PodsReadyTimeout Finished=True/Succeeded",
	  .requeues = 1,
	  .requeue_at = -1,
	  .after = "Requeued=False/PodsReadyTimeout Finished=True/Succeeded",
	  .requeues_after = 1,
	  .requeue_at_after = -1 },
	{ .name = "finished: kept for a while",
	  .before = "Finished=True/Succeeded@-40",
	  .keep_finished = 60,
	  .after = "Finished=True/Succeeded@-40",
	  .next = 20 },
	{ .name = "finished: kept long enough",
	  .before = "Finished=True/Succeeded@-60",
	  .keep_finished = 60,
	  .after = "Finished=True/Succeeded@-60",
	  .removed = true },
	{ .name = "deactivated by the engine: its job is kept for a while",
	  .before = "Evicted=True/DeactivatedDueToAdmissionCheck@-40 " WAITS,
	  .inactive = true,
	  .job = WORKLOAD_RECONCILE_JOB_STOPPED,
	  .keep_deactivated = 60,
	  .after = "Evicted=True/DeactivatedDueToAdmissionCheck@-40 " WAITS,
	  .next = 20 },
	{ .name = "deactivated by the engine: its job was kept long enough",
	  .before = "Evicted=True/DeactivatedDueToAdmissionCheck@-60 " WAITS,
	  .inactive = true,
	  .job = WORKLOAD_RECONCILE_JOB_STOPPED,
	  .keep_deactivated = 60,
	  .after = "Evicted=True/DeactivatedDueToAdmissionCheck@-60 " WAITS,
	  .owner_removed = true },
	{ .name = "its job is not stopped yet and goes all the same",
	  .before = "Evicted=True/DeactivatedDueToRequeuingLimitExceeded@-60 "
		    "QuotaReserved=True/QuotaReserved Admitted=True/Admitted",
	  .inactive = true,
	  .keep_deactivated = 60,
	  .after = "Evicted=True/DeactivatedDueToRequeuingLimitExceeded@-60 "
		   "QuotaReserved=True/QuotaReserved Admitted=True/Admitted",
	  .owner_removed = true },
	{ .name = "deactivated by the engine, activated again",
	  .before = "Evicted=True/DeactivatedDueToAdmissionCheck@-60 "
		    "Requeued=True/Reactivated QuotaReserved=False/PendingEvaluation "
		    "Admitted=False/NoReservation",
	  .job = WORKLOAD_RECONCILE_JOB_STOPPED,
	  .keep_deactivated = 60,
	  .after = "Evicted=True/DeactivatedDueToAdmissionCheck@-60 "
		   "Requeued=True/Reactivated QuotaReserved=False/PendingEvaluation "
		   "Admitted=False/NoReservation" },
	{ .name = "deactivated by a user: its job is kept forever",
	  .before = "Evicted=True/Deactivated@-60 " WAITS,
	  .inactive = true,
	  .job = WORKLOAD_RECONCILE_JOB_STOPPED,
	  .keep_deactivated = 60,
	  .after = "Evicted=True/Deactivated@-60 " WAITS },
	{ .name = "deactivated by the engine, without a limit",
	  .before = "Evicted=True/DeactivatedDueToAdmissionCheck@-60 " WAITS,
	  .inactive = true,
	  .job = WORKLOAD_RECONCILE_JOB_STOPPED,
	  .after = "Evicted=True/DeactivatedDueToAdmissionCheck@-60 " WAITS },
	{ .name = "marked for deactivation",
	  .before = "DeactivationTarget=True/AdmissionCheck",
	  .after = "DeactivationTarget=True/AdmissionCheck",
	  .deactivate = true },
	{ .name = "switched off while it waits",
	  .inactive = true,
	  .after = "Evicted=True/Deactivated QuotaReserved=False/Deactivated "
		   "Admitted=False/NoReservation",
	  .evictions = "Deactivated:1" },
	{ .name = "switched off while admitted, its job runs",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted",
	  .inactive = true,
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted "
		   "Evicted=True/Deactivated",
	  .evictions = "Deactivated:1",
	  .events = "EvictedDueToDeactivated" },
	{ .name = "switched off with a cause: retries start again",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted "
		    "DeactivationTarget=True/RequeuingLimitExceeded",
	  .inactive = true,
	  .requeues = 3,
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted "
		   "Evicted=True/DeactivatedDueToRequeuingLimitExceeded",
	  .evictions = "Deactivated/RequeuingLimitExceeded:1",
	  .events = "EvictedDueToDeactivatedDueToRequeuingLimitExceeded" },
	{ .name = "switched off when it is evicted already: the first reason stays",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted "
		    "Evicted=True/PodsReadyTimeout",
	  .inactive = true,
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted "
		   "Evicted=True/PodsReadyTimeout" },
	{ .name = "Evicted=False of an earlier time is no eviction",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted "
		    "Evicted=False/QuotaReserved",
	  .inactive = true,
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted "
		   "Evicted=True/Deactivated",
	  .evictions = "Deactivated:1",
	  .events = "EvictedDueToDeactivated" },
	{ .name = "switched on again",
	  .before = "Requeued=False/DeactivatedDueToAdmissionCheck "
		    "QuotaReserved=False/Deactivated",
	  .after = "Requeued=True/Reactivated QuotaReserved=False/PendingEvaluation "
		   "Admitted=False/NoReservation" },
	{ .name = "gates of spec are closed in status, others go",
	  .gates = "a b",
	  .gate_states = "b:open c:open",
	  .after = "",
	  .gate_states_after = "b:open a:closed" },
	{ .name = "all fields of a gate come to say the same",
	  .gates = "a",
	  .gate_states = "a:open:disagrees",
	  .after = "",
	  .gate_states_after = "a:open" },
	{ .name = "a gate gets the fields that it lacks",
	  .gates = "a",
	  .gate_states = "a:closed:bare",
	  .after = "",
	  .gate_states_after = "a:closed" },
	{ .name = "a gate that is as it should be is not written",
	  .gates = "a",
	  .gate_states = "a:closed",
	  .unchanged = true,
	  .after = "",
	  .gate_states_after = "a:closed" },
	{ .name = "without the feature nothing is written about gates",
	  .gates = "a b",
	  .gate_states = "b:open:disagrees c:open",
	  .gates_off = true,
	  .unchanged = true,
	  .after = "",
	  .gate_states_after = "b:open:disagrees c:open" },
};

static void rows(void **state)
{
	(void)state;
	workload_reconcile_fixture_check(table, ARRAY_LEN(table));
}

static void the_backoff_doubles_up_to_its_maximum(void **state)
{
	const struct quota_times t = { .backoff_base_ns = 60000000000,
				       .backoff_max_ns = 3600000000000 };
	static const struct {
		int32_t n;
		int64_t seconds;
	} cases[] = { { 1, 60 }, { 2, 120 }, { 6, 1920 }, { 7, 3600 }, { 80, 3600 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int64_t d = workload_reconcile_backoff(&t, cases[i].n, "uid");

		unit_row_number(i);
		assert_true(d >= cases[i].seconds * 1000000000);
		assert_true(d <= cases[i].seconds * 1000000000 / 10000 * 10001);
		assert_true(d <= t.backoff_max_ns);
	}
	assert_true(workload_reconcile_backoff(&t, 1, "a") !=
		    workload_reconcile_backoff(&t, 1, "b"));
}

static void checks_depend_on_the_flavors(void **state)
{
	struct quota_world w;
	const char *names[4];
	uint32_t flavor;
	size_t n = 99;
	struct cluster_queue *queue;

	(void)state;
	quota_world_init(&w, "check c\ncheck d\nqueue q checks=d,c\n"
			     "quota q f cpu nominal=9\nquota q g cpu nominal=9\n"
			     "workload waits queue=q cpu=1\n"
			     "workload holds queue=q cpu=1 holds=g reserved=-1s\n");
	queue = quota_world_node(&w, "q")->queue;
	assert_true(
		workload_reconcile_checks(w.q, quota_world_workload(&w, "waits"), names, 4, &n));
	assert_int_equal(n, 2);
	assert_string_equal(names[0], "c");
	assert_string_equal(names[1], "d");
	/* From here on d is for flavor f alone. */
	flavor = quota_world_flavor(&w, "f");
	queue->checks.v[0].flavors = &flavor;
	queue->checks.v[0].nflavors = 1;
	assert_false(
		workload_reconcile_checks(w.q, quota_world_workload(&w, "waits"), names, 4, &n));
	assert_true(
		workload_reconcile_checks(w.q, quota_world_workload(&w, "holds"), names, 4, &n));
	assert_int_equal(n, 1);
	assert_string_equal(names[0], "c");
	flavor = quota_world_flavor(&w, "g");
	assert_true(
		workload_reconcile_checks(w.q, quota_world_workload(&w, "holds"), names, 4, &n));
	assert_int_equal(n, 2);
	queue->checks.v[0].flavors = NULL;
	queue->checks.v[0].nflavors = 0;
	quota_world_workload(&w, "waits")->pending.queue =
		MODEL_NONE; /* deactivated, or queues are gone */
	assert_false(
		workload_reconcile_checks(w.q, quota_world_workload(&w, "waits"), names, 4, &n));
	quota_world_finish(&w);
}

/* The API server refuses an event with a longer one. */
static void messages_of_events_are_cut(void **state)
{
	static const size_t lengths[] = { 0, WORKLOAD_STATUS_EVENT_MAX,
					  WORKLOAD_STATUS_EVENT_MAX + 1 };
	struct workload_status status = { .arena = arena_create(0) };
	struct workload_reconcile_in in = { .id = 7 };
	struct workload_reconcile_out out = { .next = 0 };
	struct workload_reconcile l = { .in = &in, .status = &status, .out = &out };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
		char message[WORKLOAD_STATUS_EVENT_MAX + 2];

		unit_row_number(i);
		memset(message, 'm', lengths[i]);
		message[lengths[i]] = '\0';
		workload_reconcile_event(&l, true, "Reason", message);
		assert_int_equal(out.events.n, i + 1);
		assert_true(out.events.v[i].warning);
		assert_int_equal(out.events.v[i].workload, 7);
		assert_string_equal(out.events.v[i].reason, "Reason");
		assert_int_equal(strlen(out.events.v[i].message), i == 2 ? lengths[1] : lengths[i]);
	}
	workload_reconcile_finish(&out);
	arena_destroy(status.arena);
}

/* A character that is cut in two would be no UTF-8. */
static void messages_of_events_are_cut_between_characters(void **state)
{
	struct workload_status status = { .arena = arena_create(0) };
	struct workload_reconcile_in in = { .id = 7 };
	struct workload_reconcile_out out = { .next = 0 };
	struct workload_reconcile l = { .in = &in, .status = &status, .out = &out };
	char message[WORKLOAD_STATUS_EVENT_MAX + 2];

	(void)state;
	memset(message, 'm', sizeof(message));
	memcpy(message + WORKLOAD_STATUS_EVENT_MAX - 1, "\xc3\xa9", 3);
	workload_reconcile_event(&l, true, "Reason", message);
	assert_int_equal(strlen(out.events.v[0].message), WORKLOAD_STATUS_EVENT_MAX - 1);
	workload_reconcile_finish(&out);
	arena_destroy(status.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),
		cmocka_unit_test(the_backoff_doubles_up_to_its_maximum),
		cmocka_unit_test(checks_depend_on_the_flavors),
		cmocka_unit_test(messages_of_events_are_cut),
		cmocka_unit_test(messages_of_events_are_cut_between_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
