#include "scheduler/workloads/status/workload_pending.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "unit/scheduler/workloads/status/workload_reconcile_fixture.h"

static const struct workload_life_row table[] = {
	{ .name = "the backoff is not over",
	  .before = "Requeued=False/PodsReadyTimeout",
	  .requeues = 1,
	  .requeue_at = 60,
	  .after = "Requeued=False/PodsReadyTimeout",
	  .requeues_after = 1,
	  .requeue_at_after = 60,
	  .next = 60 },
	{ .name = "the backoff is over",
	  .before = "Requeued=False/PodsReadyTimeout",
	  .requeues = 1,
	  .requeue_at = -1,
	  .after = "Requeued=True/BackoffFinished",
	  .requeues_after = 1 },
	{ .name = "a check's backoff is over",
	  .before = "Requeued=False/AdmissionCheck",
	  .after = "Requeued=True/BackoffFinished" },
	{ .name = "switched off: backoffs do not end",
	  .before = "Requeued=False/AdmissionCheck Evicted=True/AdmissionCheck",
	  .inactive = true,
	  .after = "Requeued=False/AdmissionCheck Evicted=True/AdmissionCheck "
		   "QuotaReserved=False/Deactivated Admitted=False/NoReservation" },
	{ .name = "the LocalQueue runs again",
	  .before = "Requeued=False/LocalQueueStopped",
	  .after = "Requeued=True/LocalQueueRestarted" },
	{ .name = "the ClusterQueue runs again",
	  .before = "Requeued=False/ClusterQueueStopped",
	  .after = "Requeued=True/ClusterQueueRestarted" },
	{ .name = "the ClusterQueue is still stopped",
	  .before = "Requeued=False/ClusterQueueStopped",
	  .cluster_stop = QUOTA_HOLD,
	  .after = "Requeued=False/ClusterQueueStopped QuotaReserved=False/Suspended "
		   "Admitted=False/NoReservation" },
	{ .name = "a check asks for a delay",
	  .wants = "a b",
	  .checks = "a:Retry@-2+10 b:Retry@-5+5",
	  .after = "",
	  .requeue_at_after = 8,
	  .checks_after = "a:Retry b:Retry",
	  .next = 8 },
	{ .name = "a check asks for less than the delay there is",
	  .wants = "a",
	  .checks = "a:Retry@0+5",
	  .requeue_at = 10,
	  .after = "",
	  .requeue_at_after = 10,
	  .checks_after = "a:Retry",
	  .next = 10 },
	{ .name = "no LocalQueue",
	  .local_missing = true,
	  .after = "QuotaReserved=False/Misconfigured Admitted=False/NoReservation" },
	{ .name = "a Workload that names no LocalQueue",
	  .queueless = true,
	  .after = "QuotaReserved=False/Misconfigured Admitted=False/NoReservation" },
	{ .name = "a LocalQueue on hold",
	  .local_stop = QUOTA_HOLD,
	  .after = "QuotaReserved=False/Suspended Admitted=False/NoReservation" },
	{ .name = "a LocalQueue that is being deleted",
	  .local_terminating = true,
	  .after = "QuotaReserved=False/Misconfigured Admitted=False/NoReservation" },
	{ .name = "a ClusterQueue that is being deleted",
	  .cluster_terminating = true,
	  .after = "QuotaReserved=False/Suspended Admitted=False/NoReservation" },
	{ .name = "a ClusterQueue on hold",
	  .cluster_stop = QUOTA_HOLD,
	  .after = "QuotaReserved=False/Suspended Admitted=False/NoReservation" },
	{ .name = "no ClusterQueue",
	  .cluster_missing = true,
	  .after = "QuotaReserved=False/Misconfigured Admitted=False/NoReservation" },
	{ .name = "an inactive ClusterQueue",
	  .cluster_inactive = true,
	  .after = "QuotaReserved=False/Suspended Admitted=False/NoReservation" },
	{ .name = "requests that cannot be right",
	  .invalid = "requests exceed its limits",
	  .after = "QuotaReserved=False/Misconfigured Admitted=False/NoReservation" },
	{ .name = "the cause is gone",
	  .before = "QuotaReserved=False/Suspended",
	  .after = "QuotaReserved=False/PendingEvaluation Admitted=False/NoReservation" },
	{ .name = "the missing queue has come",
	  .before = "QuotaReserved=False/Misconfigured!LocalQueue~lq~doesn't~exist",
	  .after = "QuotaReserved=False/PendingEvaluation Admitted=False/NoReservation" },
	{ .name = "the cause is gone, whatever the message says of it",
	  .before = "QuotaReserved=False/Misconfigured!something~else",
	  .after = "QuotaReserved=False/PendingEvaluation Admitted=False/NoReservation" },
	{ .name = "what the cycle found misconfigured stays",
	  .before = "QuotaReserved=False/Misconfigured!LocalQueue~in~a~wrong~namespace",
	  .cluster_refuses = true,
	  .after = "QuotaReserved=False/Misconfigured Admitted=False/NoReservation" },
	{ .name = "what the cycle said stays",
	  .before = "QuotaReserved=False/NoMatchingFlavor",
	  .after = "QuotaReserved=False/NoMatchingFlavor Admitted=False/NoReservation" },
	{ .name = "on hold stays, whatever its queue does",
	  .before = "QuotaReserved=False/OnHold",
	  .local_stop = QUOTA_HOLD,
	  .after = "QuotaReserved=False/OnHold Admitted=False/NoReservation" },
	{ .name = "admission-gated",
	  .gated_by = "example.com/a",
	  .after = "QuotaReserved=False/AdmissionGated Admitted=False/NoReservation",
	  .events = "AdmissionGated" },
	{ .name = "still gated: no second event",
	  .before = "QuotaReserved=False/AdmissionGated",
	  .gated_by = "example.com/a",
	  .after = "QuotaReserved=False/AdmissionGated Admitted=False/NoReservation" },
	{ .name = "gated no more",
	  .before = "QuotaReserved=False/AdmissionGated",
	  .after = "QuotaReserved=False/PendingEvaluation Admitted=False/NoReservation",
	  .events = "AdmissionGateCleared" },
	{ .name = "a preemption gate is not an admission gate",
	  .before = "QuotaReserved=False/AdmissionGated "
		    "BlockedOnPreemptionGates=True/PreemptionGated",
	  .after = "QuotaReserved=False/AdmissionGated "
		   "BlockedOnPreemptionGates=True/PreemptionGated "
		   "Admitted=False/NoReservation" },
};

static void rows(void **state)
{
	(void)state;
	workload_reconcile_fixture_check(table, ARRAY_LEN(table));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
