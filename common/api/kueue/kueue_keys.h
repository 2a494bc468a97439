/* common/api/kueue/kueue_keys.h: names fixed by the API group kueue.x-k8s.io: labels, annotations,
 * finalizer, gates, condition types and values of enumerations. */
#ifndef COMMON_API_KUEUE_KUEUE_KEYS_H
#define COMMON_API_KUEUE_KUEUE_KEYS_H

#define KUEUE_GROUP "kueue.x-k8s.io"
#define KUEUE_VERSION "v1beta2"
#define KUEUE_API_VERSION KUEUE_GROUP "/" KUEUE_VERSION
#define KUEUE_FINALIZER "kueue.x-k8s.io/resource-in-use"
#define KUEUE_FIELD_MANAGER "kueue-admission"
/* MultiKueue: spec.controllerName of its AdmissionChecks, spec.managedBy of its Jobs. */
#define KUEUE_MULTIKUEUE_CONTROLLER "kueue.x-k8s.io/multikueue"
#define KUEUE_PROVISIONING_CONTROLLER "kueue.x-k8s.io/provisioning-request"
/* Configuration, multiKueue.dispatcherName */
#define KUEUE_DISPATCHER_ALL_AT_ONCE "kueue.x-k8s.io/multikueue-dispatcher-all-at-once"
#define KUEUE_DISPATCHER_INCREMENTAL "kueue.x-k8s.io/multikueue-dispatcher-incremental"

/* On jobs. */
#define KUEUE_QUEUE_NAME "kueue.x-k8s.io/queue-name"
#define KUEUE_PRIORITY_CLASS "kueue.x-k8s.io/priority-class"
#define KUEUE_MAX_EXEC_TIME "kueue.x-k8s.io/max-exec-time-seconds"
#define KUEUE_PREBUILT_WORKLOAD "kueue.x-k8s.io/prebuilt-workload-name"
#define KUEUE_JOB_MIN_PARALLELISM "kueue.x-k8s.io/job-min-parallelism"
#define KUEUE_JOB_COMPLETIONS_EQUAL "kueue.x-k8s.io/job-completions-equal-parallelism"
#define KUEUE_ELASTIC_JOB "kueue.x-k8s.io/elastic-job"
/* On what a MultiKueue manager creates on a worker cluster; the value says which manager. */
#define KUEUE_MULTIKUEUE_ORIGIN "kueue.x-k8s.io/multikueue-origin"
#define KUEUE_ADMISSION_GATED_BY "kueue.x-k8s.io/admission-gated-by"
#define KUEUE_TOPOLOGY_REQUIRED "kueue.x-k8s.io/podset-required-topology"
#define KUEUE_TOPOLOGY_PREFERRED "kueue.x-k8s.io/podset-preferred-topology"
#define KUEUE_TOPOLOGY_UNCONSTRAINED "kueue.x-k8s.io/podset-unconstrained-topology"
#define KUEUE_TOPOLOGY_SLICE_REQUIRED "kueue.x-k8s.io/podset-slice-required-topology"
#define KUEUE_TOPOLOGY_SLICE_SIZE "kueue.x-k8s.io/podset-slice-size"
#define KUEUE_STOPPING "kueue.x-k8s.io/stopping"
#define KUEUE_POD_GROUP_NAME "kueue.x-k8s.io/pod-group-name"
#define KUEUE_POD_GROUP_COUNT "kueue.x-k8s.io/pod-group-total-count"
#define KUEUE_RETRIABLE_IN_GROUP "kueue.x-k8s.io/retriable-in-group"
#define KUEUE_POD_GROUP_FAST_ADMISSION "kueue.x-k8s.io/pod-group-fast-admission"
#define KUEUE_POD_GROUP_SERVING "kueue.x-k8s.io/pod-group-serving"
#define KUEUE_ROLE_HASH "kueue.x-k8s.io/role-hash"
#define KUEUE_TERMINATION_TARGET "TerminationTarget" /* a condition of pods */
#define KUEUE_POD_FINALIZER "kueue.x-k8s.io/managed"

/* On Workloads. */
#define KUEUE_IS_GROUP_WORKLOAD "kueue.x-k8s.io/is-group-workload"
#define KUEUE_JOB_UID "kueue.x-k8s.io/job-uid"
#define KUEUE_SLICE_REPLACES "kueue.x-k8s.io/workload-slice-replacement-for"
#define KUEUE_PROVISIONING_PREFIX "provreq.kueue.x-k8s.io/"
#define KUEUE_PRIORITY_BOOST "kueue.x-k8s.io/priority-boost"
#define KUEUE_ALLOWED_FLAVORS "kueue.x-k8s.io/workload-allowed-resource-flavors"
/* Label, "true" on a Workload that Kueue has split into variants, one for each flavor: the variants
 * are queued, this Workload is not. */
#define KUEUE_VARIANTS_PARENT "kueue.x-k8s.io/concurrent-admission-parent"

/* On pods that Kueue started. */
#define KUEUE_PODSET "kueue.x-k8s.io/podset"
#define KUEUE_MANAGED "kueue.x-k8s.io/managed"
#define KUEUE_LOCAL_QUEUE_NAME "kueue.x-k8s.io/local-queue-name"
#define KUEUE_CLUSTER_QUEUE_NAME "kueue.x-k8s.io/cluster-queue-name"

/* Scheduling gates of pods, preemption gates of Workloads. */
#define KUEUE_GATE_ADMISSION "kueue.x-k8s.io/admission"
#define KUEUE_GATE_MULTIKUEUE "kueue.x-k8s.io/multikueue"
/* On variants: Kueue opens it for one after the other, once the variant asks to preempt. */
#define KUEUE_GATE_CONCURRENT_ADMISSION "kueue.x-k8s.io/concurrent-admission"
#define KUEUE_PREEMPTION_GATE_MAX 63 /* bytes of a name */
/* On a Workload at its creation: the name of a preemption gate that the webhook adds. */
#define KUEUE_ADD_PREEMPTION_GATE "headgate.io/preemption-gate"

#define KUEUE_DEFAULT_QUEUE "default" /* a LocalQueue of this name takes jobs without a queue */
#define KUEUE_DEFAULT_PRIORITY_CLASS "default"

/* Conditions of Workloads; of queues and AdmissionChecks only Active. */
#define KUEUE_QUOTA_RESERVED "QuotaReserved"
#define KUEUE_ADMITTED "Admitted"
#define KUEUE_EVICTED "Evicted"
#define KUEUE_PREEMPTED "Preempted"
#define KUEUE_REQUEUED "Requeued"
#define KUEUE_PODS_READY "PodsReady"
#define KUEUE_FINISHED "Finished"
#define KUEUE_DEACTIVATION_TARGET "DeactivationTarget"
#define KUEUE_WAITING_FOR_REPLACEMENT "WaitingForReplacementPods"
#define KUEUE_ACTIVE "Active"

/* Reasons of these conditions, as far as more than one place sets or reads them. Those of
 * QuotaReserved=False have a table of their own in scheduler/workloads/cycle/nofit_reason.c, those
 * of Preempted in scheduler/workloads/preempt/victim.c. */
#define KUEUE_REASON_NO_RESERVATION "NoReservation"                  /* Admitted=False */
#define KUEUE_REASON_UNSATISFIED_CHECKS "UnsatisfiedAdmissionChecks" /* Admitted=False */
#define KUEUE_REASON_ADMISSION_CHECK "AdmissionCheck"                /* Evicted, Requeued */
#define KUEUE_REASON_PODS_READY_TIMEOUT "PodsReadyTimeout"           /* Evicted, Requeued */
#define KUEUE_REASON_LOCAL_QUEUE_STOPPED "LocalQueueStopped"         /* Evicted, Requeued */
#define KUEUE_REASON_CLUSTER_QUEUE_STOPPED "ClusterQueueStopped"     /* Evicted, Requeued */
#define KUEUE_REASON_DEACTIVATED "Deactivated" /* Evicted, Requeued; "DeactivatedDueTo" + cause */
#define KUEUE_REASON_WAIT_FOR_START "WaitForStart"                         /* PodsReady=False */
#define KUEUE_MESSAGE_WAIT_FOR_START "Not all pods are ready or succeeded" /* of that */
#define KUEUE_REASON_WAIT_FOR_RECOVERY "WaitForRecovery"                   /* PodsReady=False */
#define KUEUE_REASON_OWNER_NOT_FOUND "OwnerNotFound"                       /* Finished */
#define KUEUE_REASON_OUT_OF_SYNC "OutOfSync"                               /* Finished */
#define KUEUE_REASON_SLICE_REPLACED "WorkloadSliceReplaced"                /* Finished */
#define KUEUE_REASON_EVICTED_ON_MANAGER "EvictedOnManagerCluster"          /* DeactivationTarget */

/* stopPolicy */
#define KUEUE_STOP_NONE "None"
#define KUEUE_STOP_HOLD "Hold"
#define KUEUE_STOP_HOLD_AND_DRAIN "HoldAndDrain"

/* queueingStrategy */
#define KUEUE_BEST_EFFORT_FIFO "BestEffortFIFO"
#define KUEUE_STRICT_FIFO "StrictFIFO"

/* flavorFungibility */
#define KUEUE_MAY_STOP_SEARCH "MayStopSearch"
#define KUEUE_TRY_NEXT_FLAVOR "TryNextFlavor"
#define KUEUE_BORROWING_OVER_PREEMPTION "BorrowingOverPreemption"
#define KUEUE_PREEMPTION_OVER_BORROWING "PreemptionOverBorrowing"

/* admissionScope.admissionMode */
#define KUEUE_USAGE_BASED "UsageBasedAdmissionFairSharing"
#define KUEUE_NOT_USAGE_BASED "NoAdmissionFairSharing"

/* preemption */
#define KUEUE_NEVER "Never"
#define KUEUE_LOWER_PRIORITY "LowerPriority"
#define KUEUE_LOWER_OR_NEWER "LowerOrNewerEqualPriority"
#define KUEUE_ANY "Any"

/* states of AdmissionChecks of a Workload */
#define KUEUE_CHECK_PENDING "Pending"
#define KUEUE_CHECK_READY "Ready"
#define KUEUE_CHECK_RETRY "Retry"
#define KUEUE_CHECK_REJECTED "Rejected"

#endif
