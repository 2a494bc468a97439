#include "scheduler/workloads/conf/kueue_gates.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "scheduler/workloads/model/quota_store.h"

static void gates_set_their_switches(void **state)
{
	struct quota_options o;

	(void)state;
	quota_options_default(&o);
	assert_true(kueue_gates_set(STR_LIT("PriorityBoost"), true, &o));
	assert_true(o.priority_boost);
	assert_true(kueue_gates_set(STR_LIT("PartialAdmission"), false, &o));
	assert_false(o.partial_admission);
	assert_true(kueue_gates_set(STR_LIT("NominalQuotaFirst"), false, &o));
	assert_false(o.nominal_first);
	assert_true(kueue_gates_set(STR_LIT("SchedulingEquivalenceHashing"), false, &o));
	assert_false(o.equivalence_hashing);
}

static void two_gates_turn_on_preemption_gates(void **state)
{
	struct quota_options o;

	(void)state;
	quota_options_default(&o);
	assert_false(o.preemption_gates);
	kueue_gates_set(STR_LIT("MultiKueueOrchestratedPreemption"), true, &o);
	kueue_gates_set(STR_LIT("ConcurrentAdmission"), false, &o);
	assert_true(o.preemption_gates);
}

static void one_gate_may_have_two_switches(void **state)
{
	struct quota_options o;

	(void)state;
	quota_options_default(&o);
	assert_true(kueue_gates_set(STR_LIT("ConcurrentAdmission"), true, &o));
	assert_true(o.preemption_gates && o.concurrent_admission);
	assert_true(kueue_gates_set(STR_LIT("TopologyAwareScheduling"), false, &o));
	assert_true(kueue_gates_set(STR_LIT("ReclaimablePods"), false, &o));
	assert_true(kueue_gates_set(STR_LIT("AdmissionGatedBy"), false, &o));
	assert_false(o.topology || o.reclaimable_pods || o.admission_gates);
}

static void a_gate_alone_does_not_turn_on_admission_fair_sharing(void **state)
{
	struct quota_options o;

	(void)state;
	quota_options_default(&o);
	kueue_gates_set(STR_LIT("AdmissionFairSharing"), true, &o);
	assert_false(o.admission_fair_sharing);
	o.admission_fair_sharing = true;
	kueue_gates_set(STR_LIT("AdmissionFairSharing"), false, &o);
	assert_false(o.admission_fair_sharing);
}

static void known_ones_without_effect_and_unknown_ones(void **state)
{
	struct quota_options o, before;

	(void)state;
	memset(&o, 0, sizeof(o));
	quota_options_default(&o);
	before = o;
	assert_true(kueue_gates_set(STR_LIT("VisibilityOnDemand"), true, &o));
	assert_true(kueue_gates_set(STR_LIT("TASBalancedPlacement"), true, &o));
	assert_true(kueue_gates_set(STR_LIT("MultiKueueRemoteSpecSync"), true, &o));
	assert_true(kueue_gates_set(STR_LIT("KueueDRARejectWorkloadsWhenDRADisabled"), true, &o));
	assert_true(kueue_gates_set(STR_LIT("PodIntegrationValidateGroupOwner"), true, &o));
	assert_false(kueue_gates_set(STR_LIT("PriorityBoos"), true, &o));
	assert_false(kueue_gates_set(STR_LIT(""), true, &o));
	assert_memory_equal(&o, &before, sizeof(o));
}

static void missing_features_have_names(void **state)
{
	static const char *const missing[] = { "TASBalancedPlacement", "TopologyAwareScheduling",
					       "ConcurrentAdmission", "KueueDRAIntegration",
					       "ElasticJobsViaWorkloadSlices" };

	(void)state;
	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
		assert_non_null(kueue_gates_missing(str_of(missing[i]), true));
	}
	assert_null(kueue_gates_missing(STR_LIT("TopologyAwareScheduling"), false));
	assert_null(kueue_gates_missing(STR_LIT("PriorityBoost"), true));
	assert_null(kueue_gates_missing(STR_LIT("PriorityBoost"), false));
}

static void unsupported_gates_are_reported(void **state)
{
	static const struct {
		const char *name;
		bool on;
	} rows[] = {
		{ "AssignQueueLabelsForPods", true },
		{ "FinishOrphanedWorkloads", true },
		{ "QuotaCheckStrategy", true },
		{ "WorkloadPriorityClassDefaulting", true },
		{ "WorkloadValidateResourcesAreNonNegative", true },
		{ "SkipReassignmentForPodOwnedWorkloads", false },
		{ "FailureRecoveryPolicy", false },
		{ "FastQuotaReleaseInPodIntegration", false },
		{ "RejectUpdatesToCQWithInvalidOnFlavors", false },
		{ "ShortWorkloadNames", false },
		{ "UnadmittedWorkloadsObservability", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_null(kueue_gates_missing(str_of(rows[i].name), rows[i].on));
		assert_non_null(kueue_gates_missing(str_of(rows[i].name), !rows[i].on));
	}
}

static void gates_that_need_other_gates(void **state)
{
	(void)state;
	assert_string_equal(kueue_gates_needed(STR_LIT("ElasticJobsViaWorkloadSlicesWithTAS"), 1),
			    "TopologyAwareScheduling");
	assert_string_equal(kueue_gates_needed(STR_LIT("TASFailedNodeReplacementFailFast"), 0),
			    "TopologyAwareScheduling");
	assert_string_equal(kueue_gates_needed(STR_LIT("TASFailedNodeReplacementFailFast"), 1),
			    "TASFailedNodeReplacement");
	assert_null(kueue_gates_needed(STR_LIT("TASFailedNodeReplacementFailFast"), 2));
	assert_null(kueue_gates_needed(STR_LIT("PriorityBoost"), 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gates_set_their_switches),
		cmocka_unit_test(two_gates_turn_on_preemption_gates),
		cmocka_unit_test(one_gate_may_have_two_switches),
		cmocka_unit_test(a_gate_alone_does_not_turn_on_admission_fair_sharing),
		cmocka_unit_test(missing_features_have_names),
		cmocka_unit_test(unsupported_gates_are_reported),
		cmocka_unit_test(gates_that_need_other_gates),
		cmocka_unit_test(known_ones_without_effect_and_unknown_ones),
	};

	return cmocka_run_group_tests_name("workloads/conf/kueue_gates", tests, NULL, NULL);
}
