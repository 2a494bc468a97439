#include "scheduler/workloads/conf/kueue_gates.h"

#include "base/attrs.h"
#include "scheduler/workloads/conf/kueue_conf.h"

enum effect {
	NONE,
	ALWAYS_ON, /* there is no switch; what the gate is for is done */
	ALWAYS_OFF,
	SETS,
	TURNS_ON,  /* on, the switch goes on; off, it stays: several gates ask for the same thing */
	TURNS_OFF, /* off, the switch goes off; on, it stays: something else decides, too */
	CLEARS,    /* on, the switch goes off; off, it stays */
};

#define OPTION(member) offsetof(struct kueue_conf, options.member)
#define METRIC(member) offsetof(struct kueue_conf, metrics.member)
#define TIME(member) offsetof(struct kueue_conf, times.member)
#define MULTIKUEUE(member) offsetof(struct kueue_conf, multikueue.member)

static const struct {
	const char *name;
	enum effect effect;
	size_t offset; /* of a bool of struct kueue_conf */
} gates[] = {
	{ "AdmissionFairSharing", TURNS_OFF, OPTION(admission_fair_sharing) },
	{ "AdmissionGatedBy", SETS, OPTION(admission_gates) },
	{ "AssignQueueLabelsForPods", ALWAYS_ON, 0 },
	{ "CleanupProvisioningRequestsOnEviction", NONE, 0 },
	{ "ConcurrentAdmission", TURNS_ON, OPTION(preemption_gates) },
	{ "ConcurrentAdmission", SETS, OPTION(concurrent_admission) },
	{ "CustomMetricLabels", SETS, METRIC(custom_labels) },
	{ "DeferRayServiceFinalizationForRedisCleanup", NONE, 0 },
	{ "DisableWaitForPodsReady", CLEARS, TIME(wait_pods_ready) },
	{ "DisableWaitForPodsReady", CLEARS, OPTION(block_admission) },
	{ "ElasticJobsViaWorkloadSlices", NONE, 0 },
	{ "ElasticJobsViaWorkloadSlicesWithTAS", NONE, 0 },
	{ "FailureRecoveryPolicy", ALWAYS_OFF, 0 },
	{ "FairSharingPreemptWithinNominal", SETS, OPTION(preempt_within_nominal) },
	{ "FairSharingPrioritizeNonBorrowing", SETS, OPTION(prioritize_non_borrowing) },
	{ "FastQuotaReleaseInPodIntegration", ALWAYS_OFF, 0 },
	{ "FinishOrphanedWorkloads", ALWAYS_ON, 0 },
	{ "FlavorFungibility", SETS, OPTION(flavor_fungibility) },
	{ "FlavorFungibilityPreserveScanProgress", SETS, OPTION(preserve_scan_progress) },
	{ "HierarchicalCohorts", ALWAYS_ON, 0 },
	{ "KueueDRAIntegration", NONE, 0 },
	{ "KueueDRAIntegrationConsumableCapacity", NONE, 0 },
	{ "KueueDRAIntegrationExtendedResource", NONE, 0 },
	{ "KueueDRAIntegrationPartitionableDevices", NONE, 0 },
	{ "LWSImmutableGroupSize", NONE, 0 },
	{ "LocalQueueMetrics", TURNS_OFF, METRIC(local_queues) },
	{ "ManagedJobsNamespaceSelectorAlwaysRespected", NONE, 0 },
	{ "MetricForWorkloadCreationLatency", SETS, METRIC(creation_latency) },
	{ "MetricsForCohorts", SETS, METRIC(cohorts) },
	{ "MultiKueue", NONE, 0 },
	{ "MultiKueueAdaptersForCustomJobs", SETS, MULTIKUEUE(custom_jobs) },
	{ "MultiKueueOrchestratedPreemption", TURNS_ON, OPTION(preemption_gates) },
	{ "NominalQuotaFirst", SETS, OPTION(nominal_first) },
	{ "ObjectRetentionPolicies", ALWAYS_ON, 0 },
	{ "PartialAdmission", SETS, OPTION(partial_admission) },
	{ "PodIntegrationValidateGroupOwner", NONE, 0 },
	{ "PrioritizePreemptorWorkloads", SETS, OPTION(prioritize_preemptors) },
	{ "PriorityBoost", SETS, OPTION(priority_boost) },
	{ "PrioritySortingWithinCohort", SETS, OPTION(priority_sorting) },
	{ "PropagateBatchJobLabelsToWorkload", NONE, 0 },
	{ "QuotaCheckStrategy", ALWAYS_ON, 0 },
	{ "ReclaimablePods", SETS, OPTION(reclaimable_pods) },
	{ "RecomputeAssignmentUponPreemptionTargetsOverlap", SETS, OPTION(recompute_on_overlap) },
	{ "RejectUpdatesToCQWithInvalidOnFlavors", ALWAYS_OFF, 0 },
	{ "RemoveFinalizersWithStrictPatch", NONE, 0 },
	{ "SchedulerLibraryIntegration", NONE, 0 },
	{ "SchedulerLongRequeueInterval", ALWAYS_OFF, 0 },
	{ "SchedulerTimestampPreemptionBuffer", ALWAYS_OFF, 0 },
	{ "SchedulingEquivalenceHashing", SETS, OPTION(equivalence_hashing) },
	{ "ShortWorkloadNames", ALWAYS_OFF, 0 },
	{ "SkipAncestorCheckForDeletedWorkloads", NONE, 0 },
	{ "SkipFinalizersForPodsSuspendedByParent", NONE, 0 },
	{ "SkipReassignmentForPodOwnedWorkloads", ALWAYS_OFF, 0 },
	{ "SparkApplicationIntegration", NONE, 0 },
	{ "TLSOptions", NONE, 0 },
	{ "TopologyAwareScheduling", SETS, OPTION(topology) },
	{ "UnadmittedWorkloadsExplicitStatus", SETS, TIME(explicit_status) },
	{ "UnadmittedWorkloadsObservability", SETS, OPTION(observability) },
	{ "ValidateRayAndSparkJobUpdates", NONE, 0 },
	{ "VectorizedResourceRequests", NONE, 0 },
	{ "VisibilityOnDemand", NONE, 0 },
	{ "WorkloadIdentifierAnnotations", NONE, 0 },
	{ "WorkloadPriorityClassDefaulting", ALWAYS_ON, 0 },
	{ "WorkloadRequestUseMergePatch", NONE, 0 },
	{ "WorkloadValidateResourcesAreNonNegative", ALWAYS_ON, 0 },
	{ "WorkloadValidationForPodSetMetadata", NONE, 0 },
};

/* As Kueue's validation of its configuration has them. */
static const struct {
	const char *gate, *needs;
} needs[] = {
	{ "ElasticJobsViaWorkloadSlicesWithTAS", "ElasticJobsViaWorkloadSlices" },
	{ "ElasticJobsViaWorkloadSlicesWithTAS", "TopologyAwareScheduling" },
	{ "KueueDRAIntegrationConsumableCapacity", "KueueDRAIntegration" },
	{ "KueueDRAIntegrationExtendedResource", "KueueDRAIntegration" },
	{ "KueueDRAIntegrationPartitionableDevices", "KueueDRAIntegration" },
	{ "TASFailedNodeReplacementFailFast", "TASFailedNodeReplacement" },
	{ "TASReplaceNodeDueToNotReadyOverFixedTime", "TASFailedNodeReplacement" },
	{ "TASReplaceNodeOnPodTermination", "TASFailedNodeReplacement" },
	{ "UnadmittedWorkloadsExplicitStatus", "UnadmittedWorkloadsObservability" },
};

static void set(enum effect effect, bool on, bool *option)
{
	if (effect == SETS || (effect == TURNS_ON && on) || (effect == TURNS_OFF && !on)) {
		*option = on;
	} else if (effect == CLEARS && on) {
		*option = false;
	}
}

bool kueue_gates_set(struct str name, bool on, struct kueue_conf *c)
{
	bool known = false;

	/* A gate may have several rows, one for each switch. */
	for (size_t i = 0; i < ARRAY_LEN(gates); i++) {
		if (str_eq_c(name, gates[i].name)) {
			set(gates[i].effect, on, (bool *)((char *)c + gates[i].offset));
			known = true;
		}
	}
	/* The many of topology-aware scheduling, of several clusters and of resource claims. */
	return known || str_has_prefix(name, "TAS") || str_has_prefix(name, "MultiKueue") ||
	       str_has_prefix(name, "KueueDRA");
}

const char *kueue_gates_needed(struct str name, size_t i)
{
	/* All of topology-aware scheduling. */
	if (str_has_prefix(name, "TAS") && i-- == 0) {
		return "TopologyAwareScheduling";
	}
	for (size_t k = 0; k < ARRAY_LEN(needs); k++) {
		if (str_eq_c(name, needs[k].gate) && i-- == 0) {
			return needs[k].needs;
		}
	}
	return NULL;
}

static const char *missing_when_on(struct str name)
{
	if (str_eq_c(name, "TopologyAwareScheduling") || str_has_prefix(name, "TAS")) {
		return "topology-aware scheduling is not supported yet";
	}
	if (str_eq_c(name, "ConcurrentAdmission")) {
		return "variants for concurrent admission are not supported yet, only the "
		       "preemption gates that come with them";
	}
	if (str_has_prefix(name, "ElasticJobsViaWorkloadSlices")) {
		return "elastic jobs (slices of a workload) are not supported yet";
	}
	if (str_has_prefix(name, "KueueDRA")) {
		return "resource claims are not supported yet";
	}
	return NULL;
}

const char *kueue_gates_missing(struct str name, bool on)
{
	for (size_t i = 0; i < ARRAY_LEN(gates); i++) {
		if (!str_eq_c(name, gates[i].name)) {
			continue;
		}
		if (gates[i].effect == ALWAYS_ON && !on) {
			return "cannot be switched off here";
		}
		if (gates[i].effect == ALWAYS_OFF && on) {
			return "cannot be switched on here";
		}
	}
	if (!on && str_eq_c(name, "UnadmittedWorkloadsObservability")) {
		return "only its metrics are switched off, reasons of conditions stay as they are";
	}
	return on ? missing_when_on(name) : NULL;
}
