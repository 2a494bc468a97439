#include "scheduler/base/resource_name.h"

#include "api/keys.h"
#include "api/kueue_keys.h"

#define CORE(kind, plural, namespaced)                                                             \
	{                                                                                          \
		"v1", kind, plural, "/api/v1/" plural, namespaced                                  \
	}
#define GROUP(version, kind, plural, namespaced)                                                   \
	{                                                                                          \
		version, kind, plural, "/apis/" version "/" plural, namespaced                     \
	}
#define VOLCANO(kind, plural, namespaced) GROUP(KEYS_VOLCANO_API_VERSION, kind, plural, namespaced)
#define KUEUE(kind, plural, namespaced) GROUP(KUEUE_API_VERSION, kind, plural, namespaced)

static const struct resource_name names[SCHED_RESOURCE_COUNT_] = {
	[SCHED_PODS] = CORE("Pod", "pods", true),
	[SCHED_NODES] = CORE("Node", "nodes", false),
	[SCHED_QUEUES] = VOLCANO("Queue", "queues", false),
	[SCHED_PODGROUPS] = VOLCANO("PodGroup", "podgroups", true),
	[SCHED_PRIORITY_CLASSES] =
		GROUP("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", false),
	[SCHED_NAMESPACES] = CORE("Namespace", "namespaces", false),
	[SCHED_FLAVORS] = KUEUE("ResourceFlavor", "resourceflavors", false),
	[SCHED_CLUSTER_QUEUES] = KUEUE("ClusterQueue", "clusterqueues", false),
	[SCHED_COHORTS] = KUEUE("Cohort", "cohorts", false),
	[SCHED_LOCAL_QUEUES] = KUEUE("LocalQueue", "localqueues", true),
	[SCHED_WORKLOADS] = KUEUE("Workload", "workloads", true),
	[SCHED_WORKLOAD_PRIORITY_CLASSES] =
		KUEUE("WorkloadPriorityClass", "workloadpriorityclasses", false),
	[SCHED_ADMISSION_CHECKS] = KUEUE("AdmissionCheck", "admissionchecks", false),
	[SCHED_LIMIT_RANGES] = CORE("LimitRange", "limitranges", true),
	[SCHED_RUNTIME_CLASSES] = GROUP("node.k8s.io/v1", "RuntimeClass", "runtimeclasses", false),
	[SCHED_JOBS] = GROUP("batch/v1", "Job", "jobs", true),
};

const struct resource_name *resource_name(enum sched_resource r)
{
	return &names[r];
}
