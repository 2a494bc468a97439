#include "scheduler/workloads/conf/kueue_gates.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "scheduler/workloads/conf/kueue_conf.h"
#include "scheduler/workloads/model/quota_store.h"

static void gates_set_their_switches(void **state)
{
	struct kueue_conf c;

	(void)state;
	quota_options_default(&c.options);
	assert_true(kueue_gates_set(STR_LIT("PriorityBoost"), true, &c));
	assert_true(c.options.priority_boost);
	assert_true(kueue_gates_set(STR_LIT("PartialAdmission"), false, &c));
	assert_false(c.options.partial_admission);
	assert_true(kueue_gates_set(STR_LIT("NominalQuotaFirst"), false, &c));
	assert_false(c.options.nominal_first);
	assert_true(kueue_gates_set(STR_LIT("SchedulingEquivalenceHashing"), false, &c));
	assert_false(c.options.equivalence_hashing);
}

static void two_gates_turn_on_preemption_gates(void **state)
{
	struct kueue_conf c;

	(void)state;
	quota_options_default(&c.options);
	assert_false(c.options.preemption_gates);
	kueue_gates_set(STR_LIT("MultiKueueOrchestratedPreemption"), true, &c);
	kueue_gates_set(STR_LIT("ConcurrentAdmission"), false, &c);
	assert_true(c.options.preemption_gates);
}

static void one_gate_may_have_two_switches(void **state)
{
	struct kueue_conf c;

	(void)state;
	quota_options_default(&c.options);
	assert_true(kueue_gates_set(STR_LIT("ConcurrentAdmission"), true, &c));
	assert_true(c.options.preemption_gates && c.options.concurrent_admission);
	assert_true(kueue_gates_set(STR_LIT("TopologyAwareScheduling"), false, &c));
	assert_true(kueue_gates_set(STR_LIT("ReclaimablePods"), false, &c));
	assert_true(kueue_gates_set(STR_LIT("AdmissionGatedBy"), false, &c));
	assert_false(c.options.topology || c.options.reclaimable_pods || c.options.admission_gates);
}

static void a_gate_alone_does_not_turn_on_admission_fair_sharing(void **state)
{
	struct kueue_conf c;

	(void)state;
	quota_options_default(&c.options);
	kueue_gates_set(STR_LIT("AdmissionFairSharing"), true, &c);
	assert_false(c.options.admission_fair_sharing);
	c.options.admission_fair_sharing = true;
	kueue_gates_set(STR_LIT("AdmissionFairSharing"), false, &c);
	assert_false(c.options.admission_fair_sharing);
}

static void known_ones_without_effect_and_unknown_ones(void **state)
{
	struct kueue_conf c, before;

	(void)state;
	memset(&c, 0, sizeof(c));
	quota_options_default(&c.options);
	before = c;
	assert_true(kueue_gates_set(STR_LIT("VisibilityOnDemand"), true, &c));
	assert_true(kueue_gates_set(STR_LIT("TASBalancedPlacement"), true, &c));
	assert_true(kueue_gates_set(STR_LIT("MultiKueueRemoteSpecSync"), true, &c));
	assert_true(kueue_gates_set(STR_LIT("KueueDRARejectWorkloadsWhenDRADisabled"), true, &c));
	assert_true(kueue_gates_set(STR_LIT("PodIntegrationValidateGroupOwner"), true, &c));
	assert_false(kueue_gates_set(STR_LIT("PriorityBoos"), true, &c));
	assert_false(kueue_gates_set(STR_LIT(""), true, &c));
	assert_memory_equal(&c, &before, sizeof(c));
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
		unit_row_number(i);
		assert_null(kueue_gates_missing(str_of(rows[i].name), rows[i].on));
		assert_non_null(kueue_gates_missing(str_of(rows[i].name), !rows[i].on));
	}
}

static void gates_that_need_other_gates(void **state)
{
	/* As Kueue's validation of its configuration has them, besides that all of TAS need
	 * TopologyAwareScheduling. */
	static const struct {
		const char *gate, *needs;
	} rows[] = {
		{ "ElasticJobsViaWorkloadSlicesWithTAS", "ElasticJobsViaWorkloadSlices" },
		{ "ElasticJobsViaWorkloadSlicesWithTAS", "TopologyAwareScheduling" },
		{ "KueueDRAIntegrationConsumableCapacity", "KueueDRAIntegration" },
		{ "KueueDRAIntegrationExtendedResource", "KueueDRAIntegration" },
		{ "KueueDRAIntegrationPartitionableDevices", "KueueDRAIntegration" },
		{ "TASFailedNodeReplacementFailFast", "TASFailedNodeReplacement" },
		{ "TASReplaceNodeDueToNotReadyOverFixedTime", "TASFailedNodeReplacement" },
		{ "TASReplaceNodeOnPodTermination", "TASFailedNodeReplacement" },
		{ "UnadmittedWorkloadsExplicitStatus", "UnadmittedWorkloadsObservability" },
		{ "TASBalancedPlacement", NULL },
		{ "PriorityBoost", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *needed;
		bool found = false;
		size_t n = 0;

		print_message("%s\n", rows[i].gate);
		while ((needed = kueue_gates_needed(str_of(rows[i].gate), n)) != NULL) {
			found |= str_streq(needed, rows[i].needs);
			n++;
		}
		assert_int_equal(found, rows[i].needs != NULL);
		if (rows[i].needs == NULL) {
			assert_int_equal(n, strncmp(rows[i].gate, "TAS", 3) == 0);
		}
	}
}

/* All gates of the Kueue that Headgate is a replacement for, but those that begin with TAS,
 * MultiKueue and KueueDRA. */
static const char *const names[] = {
	"AdmissionFairSharing",
	"AdmissionGatedBy",
	"AssignQueueLabelsForPods",
	"CleanupProvisioningRequestsOnEviction",
	"ConcurrentAdmission",
	"CustomMetricLabels",
	"DeferRayServiceFinalizationForRedisCleanup",
	"DisableWaitForPodsReady",
	"ElasticJobsViaWorkloadSlices",
	"ElasticJobsViaWorkloadSlicesWithTAS",
	"FailureRecoveryPolicy",
	"FairSharingPreemptWithinNominal",
	"FairSharingPrioritizeNonBorrowing",
	"FastQuotaReleaseInPodIntegration",
	"FinishOrphanedWorkloads",
	"FlavorFungibility",
	"FlavorFungibilityPreserveScanProgress",
	"HierarchicalCohorts",
	"LWSImmutableGroupSize",
	"LocalQueueMetrics",
	"ManagedJobsNamespaceSelectorAlwaysRespected",
	"MetricForWorkloadCreationLatency",
	"MetricsForCohorts",
	"NominalQuotaFirst",
	"ObjectRetentionPolicies",
	"PartialAdmission",
	"PodIntegrationValidateGroupOwner",
	"PrioritizePreemptorWorkloads",
	"PriorityBoost",
	"PrioritySortingWithinCohort",
	"PropagateBatchJobLabelsToWorkload",
	"QuotaCheckStrategy",
	"ReclaimablePods",
	"RecomputeAssignmentUponPreemptionTargetsOverlap",
	"RejectUpdatesToCQWithInvalidOnFlavors",
	"RemoveFinalizersWithStrictPatch",
	"SchedulerLibraryIntegration",
	"SchedulerLongRequeueInterval",
	"SchedulerTimestampPreemptionBuffer",
	"SchedulingEquivalenceHashing",
	"ShortWorkloadNames",
	"SkipAncestorCheckForDeletedWorkloads",
	"SkipFinalizersForPodsSuspendedByParent",
	"SkipReassignmentForPodOwnedWorkloads",
	"SparkApplicationIntegration",
	"TLSOptions",
	"TopologyAwareScheduling",
	"UnadmittedWorkloadsExplicitStatus",
	"UnadmittedWorkloadsObservability",
	"ValidateRayAndSparkJobUpdates",
	"VectorizedResourceRequests",
	"VisibilityOnDemand",
	"WorkloadIdentifierAnnotations",
	"WorkloadPriorityClassDefaulting",
	"WorkloadRequestUseMergePatch",
	"WorkloadValidateResourcesAreNonNegative",
	"WorkloadValidationForPodSetMetadata",
};

static void all_gates_are_known(void **state)
{
	struct kueue_conf c;

	(void)state;
	memset(&c, 0, sizeof(c));
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		print_message("%s\n", names[i]);
		assert_true(kueue_gates_set(str_of(names[i]), true, &c));
		assert_true(kueue_gates_set(str_of(names[i]), false, &c));
	}
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
		cmocka_unit_test(all_gates_are_known),
		cmocka_unit_test(known_ones_without_effect_and_unknown_ones),
	};

	return cmocka_run_group_tests_name("workloads/conf/kueue_gates", tests, NULL, NULL);
}
