#include "api/kueue/kueue.h"

static const struct field quota_rows[] = {
	F_QTY(struct api_resource_quota, borrowing_limit, "borrowingLimit"),
	F_QTY(struct api_resource_quota, lending_limit, "lendingLimit"),
	F_STR(struct api_resource_quota, name, "name"),
	F_QTY(struct api_resource_quota, nominal, "nominalQuota"),
};
static const struct field_table quota_fields = FIELD_TABLE(struct api_resource_quota, quota_rows);

static const struct field flavor_quotas_rows[] = {
	F_STR(struct api_flavor_quotas, name, "name"),
	F_LIST(struct api_flavor_quotas, resources, "resources", quota_fields),
};
static const struct field_table flavor_quotas_fields =
	FIELD_TABLE(struct api_flavor_quotas, flavor_quotas_rows);

static const struct field group_rows[] = {
	F_STRS(struct api_resource_group, covered_resources, "coveredResources"),
	F_LIST(struct api_resource_group, flavors, "flavors", flavor_quotas_fields),
};
static const struct field_table group_fields = FIELD_TABLE(struct api_resource_group, group_rows);

static const struct field fair_sharing_rows[] = {
	F_QTY(struct api_fair_sharing, weight, "weight"),
};
static const struct field_table fair_sharing_fields =
	FIELD_TABLE(struct api_fair_sharing, fair_sharing_rows);

static const struct field share_status_rows[] = {
	F_I64_OPT(struct api_fair_sharing_status, weighted_share, "weightedShare"),
};
static const struct field_table share_status_fields =
	FIELD_TABLE(struct api_fair_sharing_status, share_status_rows);

static const struct field fungibility_rows[] = {
	F_STR(struct api_flavor_fungibility, preference, "preference"),
	F_STR(struct api_flavor_fungibility, when_can_borrow, "whenCanBorrow"),
	F_STR(struct api_flavor_fungibility, when_can_preempt, "whenCanPreempt"),
};
static const struct field_table fungibility_fields =
	FIELD_TABLE(struct api_flavor_fungibility, fungibility_rows);

static const struct field borrow_rows[] = {
	F_I32_OPT(struct api_borrow_within_cohort, max_priority_threshold, "maxPriorityThreshold"),
	F_STR(struct api_borrow_within_cohort, policy, "policy"),
};
static const struct field_table borrow_fields =
	FIELD_TABLE(struct api_borrow_within_cohort, borrow_rows);

static const struct field preemption_rows[] = {
	F_OBJ(struct api_queue_preemption, borrow_within_cohort, "borrowWithinCohort",
	      borrow_fields),
	F_STR(struct api_queue_preemption, reclaim_within_cohort, "reclaimWithinCohort"),
	F_STR(struct api_queue_preemption, within_cluster_queue, "withinClusterQueue"),
};
static const struct field_table preemption_fields =
	FIELD_TABLE(struct api_queue_preemption, preemption_rows);

static const struct field check_rule_rows[] = {
	F_STR(struct api_check_rule, name, "name"),
	F_STRS(struct api_check_rule, on_flavors, "onFlavors"),
};
static const struct field_table check_rule_fields =
	FIELD_TABLE(struct api_check_rule, check_rule_rows);

static const struct field check_strategy_rows[] = {
	F_LIST(struct api_check_strategy, checks, "admissionChecks", check_rule_fields),
};
static const struct field_table check_strategy_fields =
	FIELD_TABLE(struct api_check_strategy, check_strategy_rows);

static const struct field scope_rows[] = {
	F_STR(struct api_admission_scope, mode, "admissionMode"),
};
static const struct field_table scope_fields = FIELD_TABLE(struct api_admission_scope, scope_rows);

static const struct field migration_rows[] = {
	F_RAW(struct api_concurrent_migration, constraints, "constraints"),
	F_STR(struct api_concurrent_migration, mode, "mode"),
};
static const struct field_table migration_fields =
	FIELD_TABLE(struct api_concurrent_migration, migration_rows);

static const struct field concurrent_rows[] = {
	F_OBJ(struct api_concurrent_admission, migration, "migration", migration_fields),
};
static const struct field_table concurrent_fields =
	FIELD_TABLE(struct api_concurrent_admission, concurrent_rows);

static const struct field cq_spec_rows[] = {
	F_OBJ(struct api_cluster_queue_spec, admission_checks, "admissionChecksStrategy",
	      check_strategy_fields),
	F_OBJ_PTR(struct api_cluster_queue_spec, admission_scope, "admissionScope", scope_fields),
	F_STR(struct api_cluster_queue_spec, cohort, "cohortName"),
	F_OBJ_PTR(struct api_cluster_queue_spec, concurrent_admission, "concurrentAdmissionPolicy",
		  concurrent_fields),
	F_OBJ(struct api_cluster_queue_spec, fair_sharing, "fairSharing", fair_sharing_fields),
	F_OBJ(struct api_cluster_queue_spec, flavor_fungibility, "flavorFungibility",
	      fungibility_fields),
	F_OBJ_PTR(struct api_cluster_queue_spec, namespace_selector, "namespaceSelector",
		  selector_fields),
	F_OBJ(struct api_cluster_queue_spec, preemption, "preemption", preemption_fields),
	F_STR(struct api_cluster_queue_spec, queueing_strategy, "queueingStrategy"),
	F_LIST(struct api_cluster_queue_spec, resource_groups, "resourceGroups", group_fields),
	F_STR(struct api_cluster_queue_spec, stop_policy, "stopPolicy"),
};
static const struct field_table cq_spec_fields =
	FIELD_TABLE(struct api_cluster_queue_spec, cq_spec_rows);

static const struct field resource_usage_rows[] = {
	F_QTY(struct api_resource_usage, borrowed, "borrowed"),
	F_STR(struct api_resource_usage, name, "name"),
	F_QTY(struct api_resource_usage, total, "total"),
};
static const struct field_table resource_usage_fields =
	FIELD_TABLE(struct api_resource_usage, resource_usage_rows);

static const struct field flavor_usage_rows[] = {
	F_STR(struct api_flavor_usage, name, "name"),
	F_LIST(struct api_flavor_usage, resources, "resources", resource_usage_fields),
};
static const struct field_table flavor_usage_fields =
	FIELD_TABLE(struct api_flavor_usage, flavor_usage_rows);

static const struct field cq_status_rows[] = {
	F_I32_OPT(struct api_cluster_queue_status, totals.admitted, "admittedWorkloads"),
	F_LIST(struct api_cluster_queue_status, conditions, "conditions", meta_condition_fields),
	F_OBJ_PTR(struct api_cluster_queue_status, fair_sharing, "fairSharing",
		  share_status_fields),
	F_LIST(struct api_cluster_queue_status, totals.flavors_reservation, "flavorsReservation",
	       flavor_usage_fields),
	F_LIST(struct api_cluster_queue_status, totals.flavors_usage, "flavorsUsage",
	       flavor_usage_fields),
	F_I32_OPT(struct api_cluster_queue_status, totals.pending, "pendingWorkloads"),
	F_I32_OPT(struct api_cluster_queue_status, totals.reserving, "reservingWorkloads"),
};
static const struct field_table cq_status_fields =
	FIELD_TABLE(struct api_cluster_queue_status, cq_status_rows);

static const struct field cq_rows[] = {
	F_STR(struct api_cluster_queue, api_version, "apiVersion"),
	F_STR(struct api_cluster_queue, kind, "kind"),
	F_OBJ(struct api_cluster_queue, meta, "metadata", meta_fields),
	F_OBJ(struct api_cluster_queue, spec, "spec", cq_spec_fields),
	F_OBJ(struct api_cluster_queue, status, "status", cq_status_fields),
};
const struct field_table kueue_cluster_queue_fields =
	FIELD_TABLE(struct api_cluster_queue, cq_rows);

static const struct field cohort_spec_rows[] = {
	F_OBJ(struct api_cohort_spec, fair_sharing, "fairSharing", fair_sharing_fields),
	F_STR(struct api_cohort_spec, parent, "parentName"),
	F_LIST(struct api_cohort_spec, resource_groups, "resourceGroups", group_fields),
};
static const struct field_table cohort_spec_fields =
	FIELD_TABLE(struct api_cohort_spec, cohort_spec_rows);

static const struct field cohort_status_rows[] = {
	F_OBJ_PTR(struct api_cohort_status, fair_sharing, "fairSharing", share_status_fields),
};
static const struct field_table cohort_status_fields =
	FIELD_TABLE(struct api_cohort_status, cohort_status_rows);

static const struct field cohort_rows[] = {
	F_STR(struct api_cohort, api_version, "apiVersion"),
	F_STR(struct api_cohort, kind, "kind"),
	F_OBJ(struct api_cohort, meta, "metadata", meta_fields),
	F_OBJ(struct api_cohort, spec, "spec", cohort_spec_fields),
	F_OBJ(struct api_cohort, status, "status", cohort_status_fields),
};
const struct field_table kueue_cohort_fields = FIELD_TABLE(struct api_cohort, cohort_rows);

static const struct field lq_spec_rows[] = {
	F_STR(struct api_local_queue_spec, cluster_queue, "clusterQueue"),
	F_OBJ(struct api_local_queue_spec, fair_sharing, "fairSharing", fair_sharing_fields),
	F_STR(struct api_local_queue_spec, stop_policy, "stopPolicy"),
};
static const struct field_table lq_spec_fields =
	FIELD_TABLE(struct api_local_queue_spec, lq_spec_rows);

static const struct field admission_usage_rows[] = {
	F_RESOURCES(struct api_admission_usage, consumed, "consumedResources"),
	F_TIME(struct api_admission_usage, last_update, "lastUpdate"),
};
static const struct field_table admission_usage_fields =
	FIELD_TABLE(struct api_admission_usage, admission_usage_rows);

static const struct field lq_share_rows[] = {
	F_OBJ_PTR(struct api_local_fair_sharing_status, admission, "admissionFairSharingStatus",
		  admission_usage_fields),
	F_I64_OPT(struct api_local_fair_sharing_status, weighted_share, "weightedShare"),
};
static const struct field_table lq_share_fields =
	FIELD_TABLE(struct api_local_fair_sharing_status, lq_share_rows);

static const struct field lq_status_rows[] = {
	F_I32_OPT(struct api_local_queue_status, totals.admitted, "admittedWorkloads"),
	F_LIST(struct api_local_queue_status, conditions, "conditions", meta_condition_fields),
	F_OBJ_PTR(struct api_local_queue_status, fair_sharing, "fairSharing", lq_share_fields),
	F_LIST(struct api_local_queue_status, totals.flavors_reservation, "flavorsReservation",
	       flavor_usage_fields),
	F_LIST(struct api_local_queue_status, totals.flavors_usage, "flavorsUsage",
	       flavor_usage_fields),
	F_I32_OPT(struct api_local_queue_status, totals.pending, "pendingWorkloads"),
	F_I32_OPT(struct api_local_queue_status, totals.reserving, "reservingWorkloads"),
};
static const struct field_table lq_status_fields =
	FIELD_TABLE(struct api_local_queue_status, lq_status_rows);

static const struct field lq_rows[] = {
	F_STR(struct api_local_queue, api_version, "apiVersion"),
	F_STR(struct api_local_queue, kind, "kind"),
	F_OBJ(struct api_local_queue, meta, "metadata", meta_fields),
	F_OBJ(struct api_local_queue, spec, "spec", lq_spec_fields),
	F_OBJ(struct api_local_queue, status, "status", lq_status_fields),
};
const struct field_table kueue_local_queue_fields = FIELD_TABLE(struct api_local_queue, lq_rows);

static const struct field flavor_spec_rows[] = {
	F_MAP(struct api_resource_flavor_spec, node_labels, "nodeLabels"),
	F_LIST(struct api_resource_flavor_spec, node_taints, "nodeTaints", node_taint_fields),
	F_LIST(struct api_resource_flavor_spec, tolerations, "tolerations", pod_toleration_fields),
	F_STR(struct api_resource_flavor_spec, topology_name, "topologyName"),
};
static const struct field_table flavor_spec_fields =
	FIELD_TABLE(struct api_resource_flavor_spec, flavor_spec_rows);

static const struct field flavor_rows[] = {
	F_STR(struct api_resource_flavor, api_version, "apiVersion"),
	F_STR(struct api_resource_flavor, kind, "kind"),
	F_OBJ(struct api_resource_flavor, meta, "metadata", meta_fields),
	F_OBJ(struct api_resource_flavor, spec, "spec", flavor_spec_fields),
};
const struct field_table kueue_resource_flavor_fields =
	FIELD_TABLE(struct api_resource_flavor, flavor_rows);

static const struct field priority_class_rows[] = {
	F_STR(struct api_workload_priority_class, api_version, "apiVersion"),
	F_STR(struct api_workload_priority_class, kind, "kind"),
	F_OBJ(struct api_workload_priority_class, meta, "metadata", meta_fields),
	F_STR(struct api_workload_priority_class, description, "description"),
	F_I32_OPT(struct api_workload_priority_class, value, "value"),
};
const struct field_table kueue_workload_priority_class_fields =
	FIELD_TABLE(struct api_workload_priority_class, priority_class_rows);

static const struct field parameters_rows[] = {
	F_STR(struct api_check_parameters, api_group, "apiGroup"),
	F_STR(struct api_check_parameters, kind, "kind"),
	F_STR(struct api_check_parameters, name, "name"),
};
static const struct field_table parameters_fields =
	FIELD_TABLE(struct api_check_parameters, parameters_rows);

static const struct field check_spec_rows[] = {
	F_STR(struct api_admission_check_spec, controller_name, "controllerName"),
	F_OBJ_PTR(struct api_admission_check_spec, parameters, "parameters", parameters_fields),
};
static const struct field_table check_spec_fields =
	FIELD_TABLE(struct api_admission_check_spec, check_spec_rows);

static const struct field check_status_rows[] = {
	F_LIST(struct api_admission_check_status, conditions, "conditions", meta_condition_fields),
};
static const struct field_table check_status_fields =
	FIELD_TABLE(struct api_admission_check_status, check_status_rows);

static const struct field check_rows[] = {
	F_STR(struct api_admission_check, api_version, "apiVersion"),
	F_STR(struct api_admission_check, kind, "kind"),
	F_OBJ(struct api_admission_check, meta, "metadata", meta_fields),
	F_OBJ(struct api_admission_check, spec, "spec", check_spec_fields),
	F_OBJ(struct api_admission_check, status, "status", check_status_fields),
};
const struct field_table kueue_admission_check_fields =
	FIELD_TABLE(struct api_admission_check, check_rows);

static const struct field level_rows[] = {
	F_STR(struct api_topology_level, node_label, "nodeLabel"),
};
static const struct field_table level_fields = FIELD_TABLE(struct api_topology_level, level_rows);

static const struct field topology_spec_rows[] = {
	F_LIST(struct api_topology_spec, levels, "levels", level_fields),
};
static const struct field_table topology_spec_fields =
	FIELD_TABLE(struct api_topology_spec, topology_spec_rows);

static const struct field topology_rows[] = {
	F_STR(struct api_topology, api_version, "apiVersion"),
	F_STR(struct api_topology, kind, "kind"),
	F_OBJ(struct api_topology, meta, "metadata", meta_fields),
	F_OBJ(struct api_topology, spec, "spec", topology_spec_fields),
};
const struct field_table kueue_topology_fields = FIELD_TABLE(struct api_topology, topology_rows);

const struct api_flavor_quotas *kueue_find_flavor(const struct api_resource_groups *groups,
						  const char *flavor)
{
	for (size_t i = 0; i < groups->n; i++) {
		for (size_t j = 0; j < groups->v[i].flavors.n; j++) {
			if (str_streq(groups->v[i].flavors.v[j].name, flavor)) {
				return &groups->v[i].flavors.v[j];
			}
		}
	}
	return NULL;
}
