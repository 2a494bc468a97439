#include "scheduler/workloads/status/workload_reserved.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "unit/scheduler/workloads/status/workload_reconcile_fixture.h"

static const struct workload_life_row table[] = {
	{ .name = "evicted, the job has stopped",
	  .before = "QuotaReserved=True/QuotaReserved@-90 Admitted=True/Admitted@-80 "
		    "Evicted=True/Preempted",
	  .job = WORKLOAD_RECONCILE_JOB_STOPPED,
	  .ran = 5,
	  .after = "QuotaReserved=False/PendingEvaluation Admitted=False/NoReservation "
		   "Evicted=True/Preempted Requeued=True/Preempted",
	  .ran_after = 85,
	  .released = true },
	{ .name = "evicted for a stopped queue: not queued again",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted "
		    "Evicted=True/LocalQueueStopped",
	  .job = WORKLOAD_RECONCILE_JOB_STOPPED,
	  .local_stop = QUOTA_HOLD_AND_DRAIN,
	  .after = "QuotaReserved=False/Suspended Admitted=False/NoReservation "
		   "Evicted=True/LocalQueueStopped Requeued=False/LocalQueueStopped",
	  .ran_after = 1,
	  .released = true },
	{ .name = "evicted without a job",
	  .before = "QuotaReserved=True/QuotaReserved Evicted=True/Preempted",
	  .orphan = true,
	  .after = "QuotaReserved=False/PendingEvaluation Evicted=True/Preempted "
		   "Requeued=True/Preempted Admitted=False/NoReservation",
	  .released = true },
	{ .name = "evicted, its job is unknown",
	  .before = "QuotaReserved=True/QuotaReserved Evicted=True/Preempted",
	  .job = WORKLOAD_RECONCILE_JOB_UNKNOWN,
	  .after = "QuotaReserved=True/QuotaReserved Evicted=True/Preempted" },
	{ .name = "deactivated, the job has stopped: its time starts again",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted@-80 "
		    "Evicted=True/DeactivatedDueToMaximumExecutionTimeExceeded",
	  .inactive = true,
	  .job = WORKLOAD_RECONCILE_JOB_STOPPED,
	  .ran = 5,
	  .after = "QuotaReserved=False/Deactivated Admitted=False/NoReservation "
		   "Evicted=True/DeactivatedDueToMaximumExecutionTimeExceeded "
		   "Requeued=False/DeactivatedDueToMaximumExecutionTimeExceeded",
	  .released = true },
	{ .name = "admitted, the LocalQueue is drained",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted",
	  .local_stop = QUOTA_HOLD_AND_DRAIN,
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted "
		   "Evicted=True/LocalQueueStopped",
	  .evictions = "LocalQueueStopped:1",
	  .events = "EvictedDueToLocalQueueStopped" },
	{ .name = "admitted, the ClusterQueue is drained",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted",
	  .cluster_stop = QUOTA_HOLD_AND_DRAIN,
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted "
		   "Evicted=True/ClusterQueueStopped",
	  .evictions = "ClusterQueueStopped:1",
	  .events = "EvictedDueToClusterQueueStopped" },
	{ .name = "admitted, both on hold: it runs on",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted",
	  .local_stop = QUOTA_HOLD,
	  .cluster_stop = QUOTA_HOLD,
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted" },
	{ .name = "admitted, the LocalQueue is gone: it runs on",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted",
	  .local_missing = true,
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted" },
	{ .name = "not admitted yet, the LocalQueue is held: withdrawn",
	  .before = "QuotaReserved=True/QuotaReserved",
	  .wants = "a",
	  .local_stop = QUOTA_HOLD,
	  .after = "QuotaReserved=False/Suspended Admitted=False/NoReservation",
	  .checks_after = "a:Pending",
	  .released = true },
	{ .name = "not admitted yet, the LocalQueue is gone: withdrawn",
	  .before = "QuotaReserved=True/QuotaReserved",
	  .wants = "a",
	  .local_missing = true,
	  .after = "QuotaReserved=False/Misconfigured Admitted=False/NoReservation",
	  .checks_after = "a:Pending",
	  .released = true },
	{ .name = "not admitted yet, the ClusterQueue is held: withdrawn",
	  .before = "QuotaReserved=True/QuotaReserved",
	  .wants = "a",
	  .cluster_stop = QUOTA_HOLD,
	  .after = "QuotaReserved=False/Suspended Admitted=False/NoReservation",
	  .checks_after = "a:Pending",
	  .released = true },
	{ .name = "not admitted yet, the ClusterQueue is inactive: it stays",
	  .before = "QuotaReserved=True/QuotaReserved",
	  .wants = "a",
	  .cluster_inactive = true,
	  .after = "QuotaReserved=True/QuotaReserved "
		   "Admitted=False/UnsatisfiedAdmissionChecks",
	  .checks_after = "a:Pending" },
	{ .name = "pods are waited for since admission",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted@-100 "
		    "PodsReady=False/WaitForStart@-10",
	  .ready = 300,
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted@-100 "
		   "PodsReady=False/WaitForStart@-10",
	  .next = 200 },
	{ .name = "pods did not start in time",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted@-300 "
		    "PodsReady=False/WaitForStart@-300",
	  .ready = 300,
	  .requeues = 3,
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted@-300 "
		   "PodsReady=False/WaitForStart@-300 "
		   "Evicted=True/PodsReadyTimeout",
	  .requeues_after = 4,
	  .requeue_at_after = 80,
	  .evictions = "PodsReadyTimeout/WaitForStart:1",
	  .events = "EvictedDueToPodsReadyTimeout" },
	{ .name = "without PodsReady: its pods may have been running for long",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted@-9999",
	  .ready = 300,
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted@-9999" },
	{ .name = "its checks are Ready: the write of the admission says that no pod is",
	  .before = "QuotaReserved=True/QuotaReserved",
	  .wants = "a",
	  .checks = "a:Ready",
	  .job = WORKLOAD_RECONCILE_JOB_STOPPED,
	  .ready = 300,
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted "
		   "PodsReady=False/WaitForStart!Not~all~pods~are~ready~or~succeeded",
	  .checks_after = "a:Ready",
	  .events = "Admitted",
	  .next = 300 },
	{ .name = "a cycle has admitted it, which is not written yet: likewise",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted",
	  .checks_written = "",
	  .job = WORKLOAD_RECONCILE_JOB_STOPPED,
	  .ready = 300,
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted "
		   "PodsReady=False/WaitForStart",
	  .next = 299 },
	{ .name = "admitted again: what the job's controller says is left alone",
	  .before = "QuotaReserved=True/QuotaReserved PodsReady=False/WaitForRecovery@-9",
	  .job = WORKLOAD_RECONCILE_JOB_STOPPED,
	  .ready = 300,
	  .after = "QuotaReserved=True/QuotaReserved PodsReady=False/WaitForRecovery@-9 "
		   "Admitted=True/Admitted",
	  .events = "Admitted" },
	{ .name = "of an owner that another controller manages nothing is known",
	  .before = "QuotaReserved=True/QuotaReserved",
	  .job = WORKLOAD_RECONCILE_JOB_UNKNOWN,
	  .ready = 300,
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted",
	  .events = "Admitted" },
	{ .name = "without waitForPodsReady",
	  .before = "QuotaReserved=True/QuotaReserved",
	  .job = WORKLOAD_RECONCILE_JOB_STOPPED,
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted",
	  .events = "Admitted" },
	{ .name = "the delay never moves back",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted@-300 "
		    "PodsReady=False/WaitForStart@-300",
	  .ready = 300,
	  .requeue_at = 900,
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted@-300 "
		   "PodsReady=False/WaitForStart@-300 "
		   "Evicted=True/PodsReadyTimeout",
	  .requeues_after = 1,
	  .requeue_at_after = 900,
	  .evictions = "PodsReadyTimeout/WaitForStart:1",
	  .events = "EvictedDueToPodsReadyTimeout" },
	{ .name = "pods did not recover in time",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted@-900 "
		    "PodsReady=False/WaitForRecovery@-180",
	  .ready = 300,
	  .recovery = 180,
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted@-900 "
		   "PodsReady=False/WaitForRecovery@-180 Evicted=True/PodsReadyTimeout",
	  .requeues_after = 1,
	  .requeue_at_after = 10,
	  .evictions = "PodsReadyTimeout/WaitForRecovery:1",
	  .events = "EvictedDueToPodsReadyTimeout" },
	{ .name = "pods may take their time to recover",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted@-900 "
		    "PodsReady=False/WaitForRecovery@-170",
	  .ready = 300,
	  .recovery = 180,
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted@-900 "
		   "PodsReady=False/WaitForRecovery@-170",
	  .next = 10 },
	{ .name = "pods are ready",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted@-900 "
		    "PodsReady=True/Started@-10",
	  .ready = 300,
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted@-900 "
		   "PodsReady=True/Started@-10" },
	{ .name = "only admitted ones are timed",
	  .before = "QuotaReserved=True/QuotaReserved@-900",
	  .wants = "a",
	  .ready = 300,
	  .after = "QuotaReserved=True/QuotaReserved@-900 "
		   "Admitted=False/UnsatisfiedAdmissionChecks",
	  .checks_after = "a:Pending" },
	{ .name = "one time too often",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted@-300 "
		    "PodsReady=False/WaitForStart@-300",
	  .ready = 300,
	  .limit = 3,
	  .requeues = 3,
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted@-300 "
		   "PodsReady=False/WaitForStart@-300 "
		   "DeactivationTarget=True/RequeuingLimitExceeded",
	  .requeues_after = 3 },
	{ .name = "the last time that is allowed",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted@-300 "
		    "PodsReady=False/WaitForStart@-300",
	  .ready = 300,
	  .limit = 3,
	  .requeues = 2,
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted@-300 "
		   "PodsReady=False/WaitForStart@-300 "
		   "Evicted=True/PodsReadyTimeout",
	  .requeues_after = 3,
	  .requeue_at_after = 40,
	  .evictions = "PodsReadyTimeout/WaitForStart:1",
	  .events = "EvictedDueToPodsReadyTimeout" },
	{ .name = "it may run on",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted@-30",
	  .max_execution = 60,
	  .ran = 10,
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted@-30",
	  .ran_after = 10,
	  .next = 20 },
	{ .name = "it ran as long as it may",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted@-50",
	  .max_execution = 60,
	  .ran = 10,
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted@-50 "
		   "DeactivationTarget=True/MaximumExecutionTimeExceeded",
	  .ran_after = 10,
	  .events = "MaximumExecutionTimeExceeded" },
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
