#include "scheduler/workloads/cycle/nofit_reason.h"

#include "lib/unit.h"

static void names_are_those_of_the_api(void **state)
{
	(void)state;
	assert_string_equal(nofit_reason_name(QUOTA_REASON_NONE), "");
	assert_string_equal(nofit_reason_name(QUOTA_WAITING_FOR_PREEMPTED),
			    "WaitingForPreemptedWorkloads");
	assert_string_equal(nofit_reason_name(QUOTA_DEACTIVATED), "Deactivated");
	assert_string_equal(nofit_reason_requeue(QUOTA_REQUEUE_NONE), "");
	assert_string_equal(nofit_reason_requeue(QUOTA_REQUEUE_NO_CANDIDATES),
			    "PreemptionNoCandidates");
	assert_string_equal(nofit_reason_requeue(QUOTA_REQUEUE_FAILED_AFTER_NOMINATION),
			    "FailedAfterNomination");
	assert_string_equal(nofit_reason_mode(ASSIGN_DEFERRED_FIT), "DeferredFit");
	assert_string_equal(nofit_reason_mode(ASSIGN_NO_FIT), "NoFit");
}

static void every_value_has_a_name(void **state)
{
	(void)state;
	for (int i = 0; i <= QUOTA_DEACTIVATED; i++) {
		assert_non_null(nofit_reason_name((enum nofit_reason)i));
	}
	for (int i = 0; i <= QUOTA_REQUEUE_FAILED_AFTER_NOMINATION; i++) {
		assert_non_null(nofit_reason_requeue((enum quota_requeue)i));
	}
	for (int i = 0; i <= ASSIGN_FIT; i++) {
		assert_non_null(nofit_reason_mode((enum assign_mode)i));
	}
}

static void a_flavor_preempts_with_and_without_victims(void **state)
{
	(void)state;
	assert_string_equal(nofit_reason_flavor_mode(FLAVOR_NO_CANDIDATES), "Preempt");
	assert_string_equal(nofit_reason_flavor_mode(FLAVOR_PREEMPT), "Preempt");
	assert_string_equal(nofit_reason_flavor_mode(FLAVOR_RECLAIM), "Preempt");
	assert_string_equal(nofit_reason_flavor_mode(FLAVOR_FIT), "Fit");
	assert_string_equal(nofit_reason_flavor_mode(FLAVOR_NO_FIT), "NoFit");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_those_of_the_api),
		cmocka_unit_test(every_value_has_a_name),
		cmocka_unit_test(a_flavor_preempts_with_and_without_victims),
	};

	return cmocka_run_group_tests_name("workloads/cycle/nofit_reason", tests, NULL, NULL);
}
