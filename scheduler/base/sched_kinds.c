#include "scheduler/base/sched_kinds.h"

#include "api/core/batch.h"
#include "api/core/disruption_budget.h"
#include "api/core/kube_pod_group.h"
#include "api/core/limit_range.h"
#include "api/core/namespace.h"
#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/core/runtime_class.h"
#include "api/core/secret.h"
#include "api/kinds.h"
#include "api/kueue/custom_job.h"
#include "api/kueue/kueue.h"
#include "api/kueue/kueue_workload.h"
#include "api/kueue/multikueue.h"
#include "api/storage/storage.h"
#include "api/volcano/scheduling.h"
#include "base/attrs.h"
#include "base/xmalloc.h"
#include "kube/rest.h"

#define PODS SCHED_WING_PODS
#define WORKLOADS SCHED_WING_WORKLOADS
#define FLEET SCHED_WING_FLEET

static const struct sched_kind kinds[SCHED_RESOURCE_COUNT_] = {
	[SCHED_PODS] = { &pod_fields, PODS, .needed = true, .read_order = 13 },
	[SCHED_NODES] = { &node_fields, PODS, .needed = true, .read_order = 6 },
	[SCHED_QUEUES] = { &scheduling_queue_fields, PODS, .needed = true, .read_order = 3 },
	[SCHED_PODGROUPS] = { &scheduling_pod_group_fields, PODS, .needed = true, .read_order = 4 },
	[SCHED_KUBE_PODGROUPS] = { &kube_pod_group_fields, PODS, .read_order = 5,
				   .label = "podgroups.scheduling.k8s.io" },
	[SCHED_PRIORITY_CLASSES] = { &scheduling_priority_class_fields, PODS, .needed = true,
				     .read_order = 1 },
	[SCHED_NAMESPACES] = { &namespace_fields, PODS | WORKLOADS, .needed = true,
			       .read_order = 2 },
	[SCHED_CLAIMS] = { &storage_claim_fields, PODS, .needed = true, .read_order = 12 },
	[SCHED_VOLUMES] = { &storage_volume_fields, PODS, .needed = true, .read_order = 11 },
	[SCHED_STORAGE_CLASSES] = { &storage_class_fields, PODS, .needed = true, .read_order = 9 },
	[SCHED_CSI_NODES] = { &storage_csi_node_fields, PODS, .needed = true, .read_order = 7 },
	[SCHED_CSI_DRIVERS] = { &storage_csi_driver_fields, PODS, .without = true,
				.read_order = 8 },
	[SCHED_STORAGE_CAPACITIES] = { &storage_capacity_fields, PODS, .without = true,
				       .read_order = 10 },
	[SCHED_FLAVORS] = { &kueue_resource_flavor_fields, WORKLOADS, .needed = true,
			    .read_order = 17 },
	[SCHED_CLUSTER_QUEUES] = { &kueue_cluster_queue_fields, WORKLOADS, .needed = true,
				   .reports = true, .read_order = 20 },
	[SCHED_COHORTS] = { &kueue_cohort_fields, WORKLOADS, .reports = true, .read_order = 19 },
	[SCHED_LOCAL_QUEUES] = { &kueue_local_queue_fields, WORKLOADS, .needed = true,
				 .reports = true, .read_order = 21 },
	[SCHED_WORKLOADS] = { &kueue_workload_fields, WORKLOADS, .needed = true, .read_order = 23 },
	[SCHED_WORKLOAD_PRIORITY_CLASSES] = { &kueue_workload_priority_class_fields, WORKLOADS,
					      .read_order = 22 },
	[SCHED_ADMISSION_CHECKS] = { &kueue_admission_check_fields, WORKLOADS, .read_order = 18 },
	[SCHED_LIMIT_RANGES] = { &limit_range_fields, WORKLOADS, .read_order = 14 },
	[SCHED_RUNTIME_CLASSES] = { &runtime_class_fields, WORKLOADS, .read_order = 15 },
	[SCHED_JOBS] = { &batch_job_fields, WORKLOADS },
	[SCHED_MULTIKUEUE_CONFIGS] = { &multikueue_config_fields, FLEET },
	[SCHED_MULTIKUEUE_CLUSTERS] = { &multikueue_cluster_fields, FLEET },
	[SCHED_SECRETS] = { &secret_fields, FLEET },
	[SCHED_BUDGETS] = { &disruption_budget_fields, PODS, .unwatched = true, .read_order = 24 },
	[SCHED_TOPOLOGIES] = { &kueue_topology_fields, WORKLOADS, .unwatched = true,
			       .read_order = 16 },
};

static const struct sched_kind custom = { &custom_job_fields, FLEET, .unwatched = true,
					  .label = "custom" };

const struct sched_kind *sched_kinds_get(enum sched_resource r)
{
	return r == SCHED_CUSTOM ? &custom : &kinds[r];
}

const struct kinds_row *sched_kinds_names(enum sched_resource r)
{
	return kinds_by_fields(kinds[r].fields);
}

const char *sched_kinds_label(enum sched_resource r)
{
	const struct sched_kind *k = sched_kinds_get(r);

	return k->label != NULL ? k->label : sched_kinds_names(r)->plural;
}

bool sched_kinds_may_be_missing(enum sched_resource r)
{
	return (kinds[r].wings & PODS) == 0 || !kinds[r].needed;
}

bool sched_kinds_may_be_forbidden(enum sched_resource r)
{
	return kinds[r].without;
}

unsigned sched_kinds_watched(bool workloads)
{
	unsigned wings = workloads ? PODS | WORKLOADS : PODS, n = 0;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		n += !kinds[i].unwatched && (kinds[i].wings & wings) != 0;
	}
	return n;
}

bool sched_kinds_next(enum sched_wing wing, enum sched_resource *r)
{
	int after = *r == SCHED_RESOURCE_COUNT_ ? 0 : kinds[*r].read_order;
	bool found = false;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		const struct sched_kind *k = &kinds[i];

		if ((k->wings & wing) != 0 && k->read_order > after &&
		    (!found || k->read_order < kinds[*r].read_order)) {
			*r = (enum sched_resource)i;
			found = true;
		}
	}
	return found;
}

void sched_kinds_path(enum sched_resource r, const char *namespace_, const char *name,
		      const char *sub, struct strbuf *out)
{
	const struct kinds_row *k = sched_kinds_names(r);

	rest_path(out, k->group, k->version, namespace_, k->plural, name, sub);
}

void sched_kinds_key_path(enum sched_resource r, struct str key, const char *sub,
			  struct strbuf *out)
{
	CLEANUP(xmalloc_freep) char *space = NULL, *name = NULL;

	if (sched_kinds_names(r)->namespaced) {
		struct str first = str_next(&key, '/');

		space = xmalloc_dup_n(first.p, first.len);
	}
	name = xmalloc_dup_n(key.p, key.len);
	sched_kinds_path(r, space, name, sub, out);
}
