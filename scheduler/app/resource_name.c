#include "app/resource_name.h"

#include "api/kueue_keys.h"

static const struct resource_name names[SCHED_RESOURCE_COUNT_] = {
	[SCHED_PODS] = { "v1", "Pod", "pods" },
	[SCHED_NODES] = { "v1", "Node", "nodes" },
	[SCHED_QUEUES] = { "scheduling.volcano.sh/v1beta1", "Queue", "queues" },
	[SCHED_PODGROUPS] = { "scheduling.volcano.sh/v1beta1", "PodGroup", "podgroups" },
	[SCHED_PRIORITY_CLASSES] = { "scheduling.k8s.io/v1", "PriorityClass", "priorityclasses" },
	[SCHED_NAMESPACES] = { "v1", "Namespace", "namespaces" },
	[SCHED_FLAVORS] = { KUEUE_API_VERSION, "ResourceFlavor", "resourceflavors" },
	[SCHED_CLUSTER_QUEUES] = { KUEUE_API_VERSION, "ClusterQueue", "clusterqueues" },
	[SCHED_COHORTS] = { KUEUE_API_VERSION, "Cohort", "cohorts" },
	[SCHED_LOCAL_QUEUES] = { KUEUE_API_VERSION, "LocalQueue", "localqueues" },
	[SCHED_WORKLOADS] = { KUEUE_API_VERSION, "Workload", "workloads" },
	[SCHED_WORKLOAD_PRIORITY_CLASSES] = { KUEUE_API_VERSION, "WorkloadPriorityClass",
					      "workloadpriorityclasses" },
	[SCHED_ADMISSION_CHECKS] = { KUEUE_API_VERSION, "AdmissionCheck", "admissionchecks" },
	[SCHED_LIMIT_RANGES] = { "v1", "LimitRange", "limitranges" },
	[SCHED_RUNTIME_CLASSES] = { "node.k8s.io/v1", "RuntimeClass", "runtimeclasses" },
	[SCHED_JOBS] = { "batch/v1", "Job", "jobs" },
};

const struct resource_name *resource_name(enum sched_resource r)
{
	return &names[r];
}
