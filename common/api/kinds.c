#include "api/kinds.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/core/batch.h"
#include "api/core/disruption_budget.h"
#include "api/core/event.h"
#include "api/core/kube_pod_group.h"
#include "api/core/lease.h"
#include "api/core/limit_range.h"
#include "api/core/namespace.h"
#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/core/runtime_class.h"
#include "api/core/secret.h"
#include "api/kueue/kueue.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "api/kueue/multikueue.h"
#include "api/storage/storage.h"
#include "api/volcano/keys.h"
#include "api/volcano/scheduling.h"
#include "base/attrs.h"

/* Sorted by group, then plural. */
static const struct kinds_row rows[] = {
	{ "", "events", "v1", "Event", "event", "ev", true, &event_fields },
	{ "", "limitranges", "v1", "LimitRange", "limitrange", "limits", true,
	  &limit_range_fields },
	{ "", "namespaces", "v1", "Namespace", "namespace", "ns", false, &namespace_fields },
	{ "", "nodes", "v1", "Node", "node", "no", false, &node_fields },
	{ "", "persistentvolumeclaims", "v1", "PersistentVolumeClaim", "persistentvolumeclaim",
	  "pvc", true, &storage_claim_fields },
	{ "", "persistentvolumes", "v1", "PersistentVolume", "persistentvolume", "pv", false,
	  &storage_volume_fields },
	{ "", "pods", "v1", "Pod", "pod", "po", true, &pod_fields },
	{ "", "secrets", "v1", "Secret", "secret", "", true, &secret_fields },
	{ "batch", "jobs", "v1", "Job", "job", "", true, &batch_job_fields },
	{ "coordination.k8s.io", "leases", "v1", "Lease", "lease", "", true, &lease_fields },
	{ KUEUE_GROUP, "admissionchecks", KUEUE_VERSION, "AdmissionCheck", "admissioncheck", "",
	  false, &kueue_admission_check_fields },
	{ KUEUE_GROUP, "clusterqueues", KUEUE_VERSION, "ClusterQueue", "clusterqueue", "cq", false,
	  &kueue_cluster_queue_fields },
	{ KUEUE_GROUP, "cohorts", KUEUE_VERSION, "Cohort", "cohort", "co", false,
	  &kueue_cohort_fields },
	{ KUEUE_GROUP, "localqueues", KUEUE_VERSION, "LocalQueue", "localqueue", "lq,queue,queues",
	  true, &kueue_local_queue_fields },
	{ KUEUE_GROUP, "multikueueclusters", KUEUE_VERSION, "MultiKueueCluster",
	  "multikueuecluster", "mkc", false, &multikueue_cluster_fields },
	{ KUEUE_GROUP, "multikueueconfigs", KUEUE_VERSION, "MultiKueueConfig", "multikueueconfig",
	  "mkconf", false, &multikueue_config_fields },
	{ KUEUE_GROUP, "resourceflavors", KUEUE_VERSION, "ResourceFlavor", "resourceflavor",
	  "rf,flavor,flavors", false, &kueue_resource_flavor_fields },
	{ KUEUE_GROUP, "topologies", KUEUE_VERSION, "Topology", "topology", "", false,
	  &kueue_topology_fields },
	{ KUEUE_GROUP, "workloadpriorityclasses", KUEUE_VERSION, "WorkloadPriorityClass",
	  "workloadpriorityclass", "wpc", false, &kueue_workload_priority_class_fields },
	{ KUEUE_GROUP, "workloads", KUEUE_VERSION, "Workload", "workload",
	  "kwl,kueueworkload,kueueworkloads", true, &kueue_workload_fields },
	{ "node.k8s.io", "runtimeclasses", "v1", "RuntimeClass", "runtimeclass", "", false,
	  &runtime_class_fields },
	{ "policy", "poddisruptionbudgets", "v1", "PodDisruptionBudget", "poddisruptionbudget",
	  "pdb", true, &disruption_budget_fields },
	{ "scheduling.k8s.io", "podgroups", "v1beta1", "PodGroup", "podgroup", "", true,
	  &kube_pod_group_fields },
	{ "scheduling.k8s.io", "priorityclasses", "v1", "PriorityClass", "priorityclass", "pc",
	  false, &scheduling_priority_class_fields },
	{ KEYS_VOLCANO_GROUP, "podgroups", KEYS_VOLCANO_VERSION, "PodGroup", "podgroup",
	  "pg,podgroup-v1beta1", true, &scheduling_pod_group_fields },
	{ KEYS_VOLCANO_GROUP, "queues", KEYS_VOLCANO_VERSION, "Queue", "queue", "q,queue-v1beta1",
	  false, &scheduling_queue_fields },
	{ "storage.k8s.io", "csidrivers", "v1", "CSIDriver", "csidriver", "", false,
	  &storage_csi_driver_fields },
	{ "storage.k8s.io", "csinodes", "v1", "CSINode", "csinode", "", false,
	  &storage_csi_node_fields },
	{ "storage.k8s.io", "csistoragecapacities", "v1", "CSIStorageCapacity",
	  "csistoragecapacity", "", true, &storage_capacity_fields },
	{ "storage.k8s.io", "storageclasses", "v1", "StorageClass", "storageclass", "sc", false,
	  &storage_class_fields },
};

const struct kinds_row *kinds_all(size_t *ret_n)
{
	*ret_n = ARRAY_LEN(rows);
	return rows;
}

const char *kinds_api_version(const struct kinds_row *k, char ret[KINDS_API_VERSION_MAX])
{
	snprintf(ret, KINDS_API_VERSION_MAX, "%s%s%s", k->group, k->group[0] == '\0' ? "" : "/",
		 k->version);
	return ret;
}

const struct kinds_row *kinds_by_kind(const char *api_version, const char *kind)
{
	char version[KINDS_API_VERSION_MAX];

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (str_streq(kinds_api_version(&rows[i], version), api_version) &&
		    str_streq(rows[i].kind, kind)) {
			return &rows[i];
		}
	}
	return NULL;
}

const struct kinds_row *kinds_by_fields(const struct field_table *fields)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].fields == fields) {
			return &rows[i];
		}
	}
	return NULL;
}

static bool same(struct str a, const char *b)
{
	return a.len == strlen(b) && strncasecmp(a.p, b, a.len) == 0;
}

static bool is_short(const struct kinds_row *k, struct str name)
{
	struct str rest = str_of(k->short_names);

	while (rest.p != NULL) {
		struct str s = str_next(&rest, ',');

		if (s.len > 0 && str_eq(s, name)) {
			return true;
		}
	}
	return false;
}

static bool is_name(const struct kinds_row *k, struct str name)
{
	return same(name, k->plural) || same(name, k->singular);
}

static const struct kinds_row *find_by(bool (*matches)(const struct kinds_row *, struct str),
				       struct str name, struct str group)
{
	/* From the end: of two kinds of one name Volcano's PodGroup comes before Kubernetes'. */
	for (size_t i = ARRAY_LEN(rows); i-- > 0;) {
		if (matches(&rows[i], name) &&
		    (group.p == NULL || str_eq_c(group, rows[i].group))) {
			return &rows[i];
		}
	}
	return NULL;
}

/* Names come before short names, because "queues" is the name of Volcano's kind and a short name of
 * Kueue's LocalQueue. */
const struct kinds_row *kinds_by_alias(struct str alias)
{
	const struct kinds_row *found;
	struct str group = alias, name;

	if (alias.len == 0) {
		return NULL;
	}
	name = str_next(&group, '.');
	found = find_by(is_name, name, group);
	return found != NULL ? found : find_by(is_short, name, group);
}
