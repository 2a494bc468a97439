#include "api/kueue/kueue_workload.h"

#include "api/kueue/kueue.h"
#include "api/kueue/kueue_keys.h"

static const struct field slice_rows[] = {
	F_I32(struct api_topology_slice, size, "size"),
	F_STR(struct api_topology_slice, topology, "topology"),
};
static const struct field_table slice_fields = FIELD_TABLE(struct api_topology_slice, slice_rows);

static const struct field request_rows[] = {
	F_STR(struct api_topology_request, pod_index_label, "podIndexLabel"),
	F_STR(struct api_topology_request, group_name, "podSetGroupName"),
	F_STR(struct api_topology_request, slice_required, "podSetSliceRequiredTopology"),
	F_I32_OPT(struct api_topology_request, slice_size, "podSetSliceSize"),
	F_LIST(struct api_topology_request, slice_constraints,
	       "podsetSliceRequiredTopologyConstraints", slice_fields),
	F_STR(struct api_topology_request, preferred, "preferred"),
	F_STR(struct api_topology_request, required, "required"),
	F_I32_OPT(struct api_topology_request, sub_group_count, "subGroupCount"),
	F_STR(struct api_topology_request, sub_group_index_label, "subGroupIndexLabel"),
	F_TRI(struct api_topology_request, unconstrained, "unconstrained"),
};
static const struct field_table request_fields =
	FIELD_TABLE(struct api_topology_request, request_rows);

static const struct field pod_set_rows[] = {
	F_I32_OPT(struct api_pod_set, count, "count"),
	F_I32_OPT(struct api_pod_set, min_count, "minCount"),
	F_STR(struct api_pod_set, name, "name"),
	F_OBJ(struct api_pod_set, template_, "template", pod_template_fields),
	F_OBJ_PTR(struct api_pod_set, topology_request, "topologyRequest", request_fields),
};
const struct field_table kueue_workload_pod_set_fields =
	FIELD_TABLE(struct api_pod_set, pod_set_rows);

static const struct field priority_ref_rows[] = {
	F_STR(struct api_priority_ref, group, "group"),
	F_STR(struct api_priority_ref, kind, "kind"),
	F_STR(struct api_priority_ref, name, "name"),
};
static const struct field_table priority_ref_fields =
	FIELD_TABLE(struct api_priority_ref, priority_ref_rows);

static const struct field gate_rows[] = {
	F_STR(struct api_preemption_gate, name, "name"),
};
static const struct field_table gate_fields = FIELD_TABLE(struct api_preemption_gate, gate_rows);

static const struct field spec_rows[] = {
	F_TRI(struct api_workload_spec, active, "active"),
	F_I32_OPT(struct api_workload_spec, max_execution_time, "maximumExecutionTimeSeconds"),
	F_LIST(struct api_workload_spec, pod_sets, "podSets", kueue_workload_pod_set_fields),
	F_LIST(struct api_workload_spec, preemption_gates, "preemptionGates", gate_fields),
	F_I32_OPT(struct api_workload_spec, priority, "priority"),
	F_OBJ_PTR(struct api_workload_spec, priority_class_ref, "priorityClassRef",
		  priority_ref_fields),
	F_STR(struct api_workload_spec, queue_name, "queueName"),
};
const struct field_table kueue_workload_spec_fields =
	FIELD_TABLE(struct api_workload_spec, spec_rows);

static const struct field assignment_rows[] = {
	F_I32_OPT(struct api_pod_set_assignment, count, "count"),
	F_STR(struct api_pod_set_assignment, delayed_topology, "delayedTopologyRequest"),
	F_MAP(struct api_pod_set_assignment, flavors, "flavors"),
	F_STR(struct api_pod_set_assignment, name, "name"),
	F_RESOURCES(struct api_pod_set_assignment, usage, "resourceUsage"),
	F_RAW(struct api_pod_set_assignment, topology_assignment, "topologyAssignment"),
};
static const struct field_table assignment_fields =
	FIELD_TABLE(struct api_pod_set_assignment, assignment_rows);

static const struct field admission_rows[] = {
	F_STR(struct api_workload_admission, cluster_queue, "clusterQueue"),
	F_LIST(struct api_workload_admission, assignments, "podSetAssignments", assignment_fields),
};
static const struct field_table admission_fields =
	FIELD_TABLE(struct api_workload_admission, admission_rows);

static const struct field requeue_state_rows[] = {
	F_I32_OPT(struct api_requeue_state, count, "count"),
	F_TIME(struct api_requeue_state, requeue_at, "requeueAt"),
};
static const struct field_table requeue_state_fields =
	FIELD_TABLE(struct api_requeue_state, requeue_state_rows);

static const struct field reclaimable_rows[] = {
	F_I32(struct api_reclaimable_pod, count, "count"),
	F_STR(struct api_reclaimable_pod, name, "name"),
};
static const struct field_table reclaimable_fields =
	FIELD_TABLE(struct api_reclaimable_pod, reclaimable_rows);

static const struct field update_rows[] = {
	F_MAP(struct api_pod_set_update, annotations, "annotations"),
	F_MAP(struct api_pod_set_update, labels, "labels"),
	F_STR(struct api_pod_set_update, name, "name"),
	F_MAP(struct api_pod_set_update, node_selector, "nodeSelector"),
	F_LIST(struct api_pod_set_update, tolerations, "tolerations", pod_toleration_fields),
};
static const struct field_table update_fields = FIELD_TABLE(struct api_pod_set_update, update_rows);

static const struct field check_rows[] = {
	F_TIME(struct api_check_state, last_transition, "lastTransitionTime"),
	F_STR(struct api_check_state, message, "message"),
	F_STR(struct api_check_state, name, "name"),
	F_LIST(struct api_check_state, updates, "podSetUpdates", update_fields),
	F_I32_OPT(struct api_check_state, requeue_after, "requeueAfterSeconds"),
	F_I32_OPT(struct api_check_state, retry_count, "retryCount"),
	F_STR(struct api_check_state, state, "state"),
};
static const struct field_table check_fields = FIELD_TABLE(struct api_check_state, check_rows);

static const struct field pod_set_request_rows[] = {
	F_STR(struct api_pod_set_request, name, "name"),
	F_RESOURCES(struct api_pod_set_request, resources, "resources"),
};
static const struct field_table pod_set_request_fields =
	FIELD_TABLE(struct api_pod_set_request, pod_set_request_rows);

static const struct field eviction_rows[] = {
	F_I32_OPT(struct api_eviction_count, count, "count"),
	F_STR(struct api_eviction_count, reason, "reason"),
	F_STR(struct api_eviction_count, underlying_cause, "underlyingCause"),
};
static const struct field_table eviction_fields =
	FIELD_TABLE(struct api_eviction_count, eviction_rows);

static const struct field stats_rows[] = {
	F_LIST(struct api_scheduling_stats, evictions, "evictions", eviction_fields),
};
static const struct field_table stats_fields = FIELD_TABLE(struct api_scheduling_stats, stats_rows);

static const struct field unhealthy_rows[] = {
	F_STR(struct api_unhealthy_node, name, "name"),
};
static const struct field_table unhealthy_fields =
	FIELD_TABLE(struct api_unhealthy_node, unhealthy_rows);

static const struct field gate_state_rows[] = {
	F_TIME(struct api_preemption_gate_state, last_transition, "lastTransitionTime"),
	F_STR(struct api_preemption_gate_state, name, "name"),
	F_STR(struct api_preemption_gate_state, position, "position"),
	F_STR(struct api_preemption_gate_state, state, "state"),
};
static const struct field_table gate_state_fields =
	FIELD_TABLE(struct api_preemption_gate_state, gate_state_rows);

static const struct field status_rows[] = {
	F_I32_OPT(struct api_workload_status, past_execution_time,
		  "accumulatedPastExecutionTimeSeconds"),
	F_OBJ_PTR(struct api_workload_status, admission, "admission", admission_fields),
	F_LIST(struct api_workload_status, admission_checks, "admissionChecks", check_fields),
	F_STR(struct api_workload_status, cluster_name, "clusterName"),
	F_LIST(struct api_workload_status, conditions, "conditions", meta_condition_fields),
	F_STRS(struct api_workload_status, nominated_clusters, "nominatedClusterNames"),
	F_QTY(struct api_workload_status, preemption_cost, "preemptionCost"),
	F_LIST(struct api_workload_status, preemption_gates, "preemptionGates", gate_state_fields),
	F_LIST(struct api_workload_status, reclaimable_pods, "reclaimablePods", reclaimable_fields),
	F_OBJ_PTR(struct api_workload_status, requeue_state, "requeueState", requeue_state_fields),
	F_LIST(struct api_workload_status, resource_requests, "resourceRequests",
	       pod_set_request_fields),
	F_OBJ_PTR(struct api_workload_status, scheduling_stats, "schedulingStats", stats_fields),
	F_LIST(struct api_workload_status, unhealthy_nodes, "unhealthyNodes", unhealthy_fields),
};
static const struct field_table status_fields =
	FIELD_TABLE(struct api_workload_status, status_rows);

static const struct field workload_rows[] = {
	F_STR(struct api_workload, api_version, "apiVersion"),
	F_STR(struct api_workload, kind, "kind"),
	F_OBJ(struct api_workload, meta, "metadata", meta_fields),
	F_OBJ(struct api_workload, spec, "spec", kueue_workload_spec_fields),
	F_OBJ(struct api_workload, status, "status", status_fields),
};
const struct field_table kueue_workload_fields = FIELD_TABLE(struct api_workload, workload_rows);

/* Kueue's order: conditions of earlier stages may still be True, so the latest stage is asked
 * first. */
enum kueue_workload_stage kueue_workload_stage(const struct api_workload *w)
{
	if (kueue_workload_is_true(w, KUEUE_FINISHED)) {
		return KUEUE_WORKLOAD_FINISHED;
	}
	if (kueue_workload_is_true(w, KUEUE_ADMITTED)) {
		return KUEUE_WORKLOAD_ADMITTED;
	}
	return kueue_workload_is_reserving(w) ? KUEUE_WORKLOAD_RESERVING : KUEUE_WORKLOAD_PENDING;
}

bool kueue_workload_is_reserving(const struct api_workload *w)
{
	return kueue_workload_is_true(w, KUEUE_QUOTA_RESERVED);
}

bool kueue_workload_is_true(const struct api_workload *w, const char *condition)
{
	return meta_condition_is_true(&w->status.conditions, condition);
}

bool kueue_workload_is_active(const struct api_workload *w)
{
	return w->spec.active != 0;
}

int32_t kueue_workload_reclaimable(const struct api_workload *w, const char *pod_set)
{
	for (size_t i = 0; i < w->status.reclaimable_pods.n; i++) {
		if (str_streq(w->status.reclaimable_pods.v[i].name, pod_set)) {
			return w->status.reclaimable_pods.v[i].count;
		}
	}
	return 0;
}

const struct api_pod_set_assignment *kueue_workload_assignment(const struct api_workload *w,
							       const char *pod_set)
{
	const struct api_workload_admission *a = w->status.admission;

	for (size_t i = 0; a != NULL && i < a->assignments.n; i++) {
		if (str_streq(a->assignments.v[i].name, pod_set)) {
			return &a->assignments.v[i];
		}
	}
	return NULL;
}

const struct api_check_state *kueue_workload_check(const struct api_workload *w, const char *check)
{
	for (size_t i = 0; i < w->status.admission_checks.n; i++) {
		if (str_streq(w->status.admission_checks.v[i].name, check)) {
			return &w->status.admission_checks.v[i];
		}
	}
	return NULL;
}
