#include "scheduler/workloads/cycle/nofit_reason.h"

const char *nofit_reason_name(enum nofit_reason r)
{
	static const char *const names[] = {
		[QUOTA_REASON_NONE] = "",
		[QUOTA_NO_MATCHING_FLAVOR] = "NoMatchingFlavor",
		[QUOTA_WAITING_FOR_QUOTA] = "WaitingForQuota",
		[QUOTA_EXCEEDS_MAX_QUOTA] = "ExceedsMaxQuota",
		[QUOTA_TOPOLOGY_PLACEMENT_FAILED] = "TopologyPlacementFailed",
		[QUOTA_WAITING_FOR_PREEMPTED] = "WaitingForPreemptedWorkloads",
		[QUOTA_MISCONFIGURED] = "Misconfigured",
		[QUOTA_SUSPENDED] = "Suspended",
		[QUOTA_PENDING_EVALUATION] = "PendingEvaluation",
		[QUOTA_WAITING_FOR_PODS_READY] = "WaitingForPodsReady",
		[QUOTA_ADMISSION_GATED] = "AdmissionGated",
		[QUOTA_ON_HOLD] = "OnHold",
		[QUOTA_DEACTIVATED] = "Deactivated",
	};

	return names[r];
}

const char *nofit_reason_requeue(enum quota_requeue r)
{
	static const char *const names[] = {
		[QUOTA_REQUEUE_NONE] = "",
		[QUOTA_REQUEUE_NO_FIT] = "NoFit",
		[QUOTA_REQUEUE_NO_CANDIDATES] = "PreemptionNoCandidates",
		[QUOTA_REQUEUE_PENDING_PREEMPTION] = "PendingPreemption",
		[QUOTA_REQUEUE_PREEMPTION_FAILED] = "PreemptionFailed",
		[QUOTA_REQUEUE_GATED] = "PreemptionGated",
		[QUOTA_REQUEUE_PENDING_MIGRATION] = "PendingMigration",
		[QUOTA_REQUEUE_NAMESPACE_MISMATCH] = "NamespaceMismatch",
		[QUOTA_REQUEUE_FAILED_AFTER_NOMINATION] = "FailedAfterNomination",
	};

	return names[r];
}

const char *nofit_reason_mode(enum assign_mode m)
{
	static const char *const names[] = {
		[ASSIGN_NO_FIT] = "NoFit",
		[ASSIGN_PREEMPT] = "Preempt",
		[ASSIGN_DEFERRED_FIT] = "DeferredFit",
		[ASSIGN_FIT] = "Fit",
	};

	return names[m];
}

/* Kueue has one word for all modes that need preemption, also for the one without candidates. */
const char *nofit_reason_flavor_mode(enum flavor_mode m)
{
	return m == FLAVOR_FIT ? "Fit" : m == FLAVOR_NO_FIT ? "NoFit" : "Preempt";
}
