#include "scheduler/workloads/status/workload_checks.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "unit/scheduler/workloads/status/workload_reconcile_fixture.h"

static const struct workload_life_row table[] = {
	{ .name = "a check that was taken off and is back before that was written",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted",
	  .checks = "b:Ready",
	  .checks_written = "a:Ready b:Pending",
	  .wants = "a b",
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted",
	  .checks_after = "a:Ready b:Ready" },
	{ .name = "the same after an eviction: it starts again",
	  .before = "QuotaReserved=False/NoMatchingFlavor Admitted=False/NoReservation "
		    "Evicted=True/Preempted",
	  .checks_written = "a:Ready",
	  .wants = "a",
	  .after = "QuotaReserved=False/NoMatchingFlavor Admitted=False/NoReservation "
		   "Evicted=True/Preempted",
	  .checks_after = "a:Pending" },
	{ .name = "checks are listed by name, those not asked for go",
	  .before = "QuotaReserved=True/QuotaReserved",
	  .wants = "b a",
	  .checks = "old:Ready b:Ready",
	  .after = "QuotaReserved=True/QuotaReserved "
		   "Admitted=False/UnsatisfiedAdmissionChecks",
	  .checks_after = "a:Pending b:Ready" },
	{ .name = "checks that are not known yet",
	  .wants = "a",
	  .checks_unknown = true,
	  .after = "" },
	{ .name = "all checks Ready",
	  .before = "QuotaReserved=True/QuotaReserved "
		    "Admitted=False/UnsatisfiedAdmissionChecks",
	  .wants = "a b",
	  .checks = "a:Ready b:Ready",
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted",
	  .checks_after = "a:Ready b:Ready",
	  .events = "Admitted" },
	{ .name = "a new check of the queue does not undo an admission",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted",
	  .wants = "a",
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted",
	  .checks_after = "a:Pending" },
	{ .name = "a check wants a retry",
	  .before = "QuotaReserved=True/QuotaReserved",
	  .wants = "a b",
	  .checks = "a:Retry b:Ready",
	  .after = "QuotaReserved=True/QuotaReserved "
		   "Admitted=False/UnsatisfiedAdmissionChecks Evicted=True/AdmissionCheck",
	  .checks_after = "a:Pending b:Pending",
	  .evictions = "AdmissionCheck:1",
	  .events = "EvictedDueToAdmissionCheck" },
	{ .name = "the message names the check",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted",
	  .wants = "a b",
	  .checks = "a:Retry b:Ready",
	  .after =
		  "QuotaReserved=True/QuotaReserved Admitted=True/Admitted "
		  "Evicted=True/AdmissionCheck!Evicted~due~to~AdmissionCheck~in~Retry~state:~\"a\"",
	  .checks_after = "a:Pending b:Pending",
	  .evictions = "AdmissionCheck:1",
	  .events = "EvictedDueToAdmissionCheck" },
	{ .name = "the message names the checks",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted",
	  .wants = "a b",
	  .checks = "a:Retry b:Retry",
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted "
		   "Evicted=True/AdmissionCheck!Evicted~due~to~AdmissionChecks~in~Retry~"
		   "state:~\"a\";~\"b\"",
	  .checks_after = "a:Pending b:Pending",
	  .evictions = "AdmissionCheck:1",
	  .events = "EvictedDueToAdmissionCheck" },
	{ .name = "a check wants a retry later",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted",
	  .wants = "a",
	  .checks = "a:Retry@0+30",
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted "
		   "Evicted=True/AdmissionCheck",
	  .checks_after = "a:Pending",
	  .requeue_at_after = 30,
	  .evictions = "AdmissionCheck:1",
	  .events = "EvictedDueToAdmissionCheck" },
	{ .name = "a check was rejected, whatever others want",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted",
	  .wants = "a b",
	  .checks = "a:Rejected b:Retry",
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted "
		   "DeactivationTarget=True/AdmissionCheck!AdmissionCheck~in~Rejected~state:~\"a\"",
	  .checks_after = "a:Rejected b:Retry",
	  .events = "AdmissionCheckRejected" },
	{ .name = "several checks were rejected",
	  .before = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted",
	  .wants = "a b",
	  .checks = "a:Rejected b:Rejected",
	  .after = "QuotaReserved=True/QuotaReserved Admitted=True/Admitted "
		   "DeactivationTarget=True/AdmissionCheck!AdmissionChecks~in~Rejected~state:~"
		   "\"a\";~\"b\"",
	  .checks_after = "a:Rejected b:Rejected",
	  .events = "AdmissionCheckRejected" },
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
