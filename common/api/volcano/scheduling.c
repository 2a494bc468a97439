#include "api/volcano/scheduling.h"

static const struct field group_affinity_rows[] = {
	F_STRS(struct api_group_affinity, preferred,
	       "preferredDuringSchedulingIgnoredDuringExecution"),
	F_STRS(struct api_group_affinity, required,
	       "requiredDuringSchedulingIgnoredDuringExecution"),
};
static const struct field_table group_affinity_fields =
	FIELD_TABLE(struct api_group_affinity, group_affinity_rows);

static const struct field queue_affinity_rows[] = {
	F_OBJ_PTR(struct api_queue_affinity, node_group, "nodeGroupAffinity",
		  group_affinity_fields),
	F_OBJ_PTR(struct api_queue_affinity, node_group_anti, "nodeGroupAntiAffinity",
		  group_affinity_fields),
};
static const struct field_table queue_affinity_fields =
	FIELD_TABLE(struct api_queue_affinity, queue_affinity_rows);

static const struct field queue_cluster_rows[] = {
	F_RESOURCES(struct api_queue_cluster, capacity, "capacity"),
	F_STR(struct api_queue_cluster, name, "name"),
	F_I32_OPT(struct api_queue_cluster, weight, "weight"),
};
static const struct field_table queue_cluster_fields =
	FIELD_TABLE(struct api_queue_cluster, queue_cluster_rows);

static const struct field guarantee_rows[] = {
	F_RESOURCES(struct api_queue_guarantee, resource, "resource"),
};
static const struct field_table guarantee_fields =
	FIELD_TABLE(struct api_queue_guarantee, guarantee_rows);

static const struct field reservation_rows[] = {
	F_STRS(struct api_queue_reservation, nodes, "nodes"),
	F_RESOURCES(struct api_queue_reservation, resource, "resource"),
};
static const struct field_table reservation_fields =
	FIELD_TABLE(struct api_queue_reservation, reservation_rows);

static const struct field queue_spec_rows[] = {
	F_OBJ_PTR(struct api_queue_spec, affinity, "affinity", queue_affinity_fields),
	F_RESOURCES(struct api_queue_spec, capability, "capability"),
	F_STR(struct api_queue_spec, dequeue_strategy, "dequeueStrategy"),
	F_RESOURCES(struct api_queue_spec, deserved, "deserved"),
	F_LIST(struct api_queue_spec, extend_clusters, "extendClusters", queue_cluster_fields),
	F_OBJ(struct api_queue_spec, guarantee, "guarantee", guarantee_fields),
	F_STR(struct api_queue_spec, parent, "parent"),
	F_I32(struct api_queue_spec, priority, "priority"),
	F_TRI(struct api_queue_spec, reclaimable, "reclaimable"),
	F_STR(struct api_queue_spec, type, "type"),
	F_I32_OPT(struct api_queue_spec, weight, "weight"),
};
static const struct field_table queue_spec_fields =
	FIELD_TABLE(struct api_queue_spec, queue_spec_rows);

static const struct field queue_status_rows[] = {
	F_RESOURCES(struct api_queue_status, allocated, "allocated"),
	F_I32(struct api_queue_status, completed, "completed"),
	F_I32(struct api_queue_status, inqueue, "inqueue"),
	F_I32(struct api_queue_status, pending, "pending"),
	F_OBJ(struct api_queue_status, reservation, "reservation", reservation_fields),
	F_I32(struct api_queue_status, running, "running"),
	F_STR(struct api_queue_status, state, "state"),
	F_I32(struct api_queue_status, unknown, "unknown"),
};
static const struct field_table queue_status_fields =
	FIELD_TABLE(struct api_queue_status, queue_status_rows);

static const struct field queue_rows[] = {
	F_STR(struct api_queue, api_version, "apiVersion"),
	F_STR(struct api_queue, kind, "kind"),
	F_OBJ(struct api_queue, meta, "metadata", meta_fields),
	F_OBJ(struct api_queue, spec, "spec", queue_spec_fields),
	F_OBJ(struct api_queue, status, "status", queue_status_fields),
};
const struct field_table scheduling_queue_fields = FIELD_TABLE(struct api_queue, queue_rows);

static const struct field network_topology_rows[] = {
	F_I32_OPT(struct api_network_topology, highest_tier_allowed, "highestTierAllowed"),
	F_STR(struct api_network_topology, highest_tier_name, "highestTierName"),
	F_STR(struct api_network_topology, mode, "mode"),
};
static const struct field_table topology_fields =
	FIELD_TABLE(struct api_network_topology, network_topology_rows);

static const struct field sub_group_rows[] = {
	F_OBJ_PTR(struct api_sub_group_policy, label_selector, "labelSelector", selector_fields),
	F_STRS(struct api_sub_group_policy, match_label_keys, "matchLabelKeys"),
	F_I32_OPT(struct api_sub_group_policy, min_sub_groups, "minSubGroups"),
	F_STR(struct api_sub_group_policy, name, "name"),
	F_OBJ_PTR(struct api_sub_group_policy, network_topology, "networkTopology",
		  topology_fields),
	F_I32_OPT(struct api_sub_group_policy, sub_group_size, "subGroupSize"),
};
static const struct field_table sub_group_fields =
	FIELD_TABLE(struct api_sub_group_policy, sub_group_rows);

static const struct field group_spec_rows[] = {
	F_I32(struct api_pod_group_spec, min_member, "minMember"),
	F_RESOURCES(struct api_pod_group_spec, min_resources, "minResources"),
	F_INT_MAP(struct api_pod_group_spec, min_task_member, "minTaskMember"),
	F_OBJ_PTR(struct api_pod_group_spec, network_topology, "networkTopology", topology_fields),
	F_STR(struct api_pod_group_spec, priority_class_name, "priorityClassName"),
	F_STR(struct api_pod_group_spec, queue, "queue"),
	F_LIST(struct api_pod_group_spec, sub_group_policy, "subGroupPolicy", sub_group_fields),
};
static const struct field_table group_spec_fields =
	FIELD_TABLE(struct api_pod_group_spec, group_spec_rows);

static const struct field group_status_rows[] = {
	F_LIST(struct api_pod_group_status, conditions, "conditions", meta_condition_fields),
	F_I32(struct api_pod_group_status, failed, "failed"),
	F_STR(struct api_pod_group_status, phase, "phase"),
	F_I32(struct api_pod_group_status, running, "running"),
	F_I32(struct api_pod_group_status, succeeded, "succeeded"),
};
static const struct field_table group_status_fields =
	FIELD_TABLE(struct api_pod_group_status, group_status_rows);

static const struct field group_rows[] = {
	F_STR(struct api_pod_group, api_version, "apiVersion"),
	F_STR(struct api_pod_group, kind, "kind"),
	F_OBJ(struct api_pod_group, meta, "metadata", meta_fields),
	F_OBJ(struct api_pod_group, spec, "spec", group_spec_fields),
	F_OBJ(struct api_pod_group, status, "status", group_status_fields),
};
const struct field_table scheduling_pod_group_fields =
	FIELD_TABLE(struct api_pod_group, group_rows);

static const struct field priority_class_rows[] = {
	F_STR(struct api_priority_class, api_version, "apiVersion"),
	F_STR(struct api_priority_class, kind, "kind"),
	F_OBJ(struct api_priority_class, meta, "metadata", meta_fields),
	F_STR(struct api_priority_class, description, "description"),
	F_BOOL(struct api_priority_class, global_default, "globalDefault"),
	F_STR(struct api_priority_class, preemption_policy, "preemptionPolicy"),
	F_I32(struct api_priority_class, value, "value"),
};
const struct field_table scheduling_priority_class_fields =
	FIELD_TABLE(struct api_priority_class, priority_class_rows);
