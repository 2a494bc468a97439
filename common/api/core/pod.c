#include "api/core/pod.h"

static const struct field toleration_rows[] = {
	F_STR(struct api_toleration, effect, "effect"),
	F_STR(struct api_toleration, key, "key"),
	F_STR(struct api_toleration, operator_, "operator"),
	F_I64_OPT(struct api_toleration, seconds, "tolerationSeconds"),
	F_STR(struct api_toleration, value, "value"),
};
const struct field_table pod_toleration_fields =
	FIELD_TABLE(struct api_toleration, toleration_rows);

static const struct field node_requirement_rows[] = {
	F_STR(struct api_node_requirement, key, "key"),
	F_STR(struct api_node_requirement, operator_, "operator"),
	F_STRS(struct api_node_requirement, values, "values"),
};
static const struct field_table node_requirement_fields =
	FIELD_TABLE(struct api_node_requirement, node_requirement_rows);

static const struct field node_term_rows[] = {
	F_LIST(struct api_node_term, expressions, "matchExpressions", node_requirement_fields),
	F_LIST(struct api_node_term, fields, "matchFields", node_requirement_fields),
};
static const struct field_table node_term_fields =
	FIELD_TABLE(struct api_node_term, node_term_rows);

static const struct field node_selector_rows[] = {
	F_LIST(struct api_node_selector, terms, "nodeSelectorTerms", node_term_fields),
};
const struct field_table pod_node_selector_fields =
	FIELD_TABLE(struct api_node_selector, node_selector_rows);

static const struct field preferred_node_rows[] = {
	F_OBJ(struct api_preferred_node_term, preference, "preference", node_term_fields),
	F_I32(struct api_preferred_node_term, weight, "weight"),
};
static const struct field_table preferred_node_fields =
	FIELD_TABLE(struct api_preferred_node_term, preferred_node_rows);

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"

static const struct field node_affinity_rows[] = {
	F_LIST(struct api_node_affinity, preferred, PREFERRED, preferred_node_fields),
	F_OBJ_PTR(struct api_node_affinity, required, REQUIRED, pod_node_selector_fields),
};
static const struct field_table node_affinity_fields =
	FIELD_TABLE(struct api_node_affinity, node_affinity_rows);

static const struct field pod_term_rows[] = {
	F_OBJ_PTR(struct api_pod_term, selector, "labelSelector", selector_fields),
	F_STRS(struct api_pod_term, match_label_keys, "matchLabelKeys"),
	F_STRS(struct api_pod_term, mismatch_label_keys, "mismatchLabelKeys"),
	F_OBJ_PTR(struct api_pod_term, namespace_selector, "namespaceSelector", selector_fields),
	F_STRS(struct api_pod_term, namespaces, "namespaces"),
	F_STR(struct api_pod_term, topology_key, "topologyKey"),
};
static const struct field_table pod_term_fields = FIELD_TABLE(struct api_pod_term, pod_term_rows);

static const struct field preferred_pod_rows[] = {
	F_OBJ(struct api_preferred_pod_term, term, "podAffinityTerm", pod_term_fields),
	F_I32(struct api_preferred_pod_term, weight, "weight"),
};
static const struct field_table preferred_pod_fields =
	FIELD_TABLE(struct api_preferred_pod_term, preferred_pod_rows);

static const struct field pod_affinity_rows[] = {
	F_LIST(struct api_pod_affinity, preferred, PREFERRED, preferred_pod_fields),
	F_LIST(struct api_pod_affinity, required, REQUIRED, pod_term_fields),
};
static const struct field_table pod_affinity_fields =
	FIELD_TABLE(struct api_pod_affinity, pod_affinity_rows);

static const struct field affinity_rows[] = {
	F_OBJ_PTR(struct api_affinity, node, "nodeAffinity", node_affinity_fields),
	F_OBJ_PTR(struct api_affinity, pod, "podAffinity", pod_affinity_fields),
	F_OBJ_PTR(struct api_affinity, pod_anti, "podAntiAffinity", pod_affinity_fields),
};
static const struct field_table affinity_fields = FIELD_TABLE(struct api_affinity, affinity_rows);

static const struct field claim_use_rows[] = {
	F_STR(struct api_resource_claim_use, name, "name"),
};
static const struct field_table claim_use_fields =
	FIELD_TABLE(struct api_resource_claim_use, claim_use_rows);

static const struct field resources_rows[] = {
	F_LIST(struct api_resources, claims, "claims", claim_use_fields),
	F_RESOURCES(struct api_resources, limits, "limits"),
	F_RESOURCES(struct api_resources, requests, "requests"),
};
static const struct field_table resources_fields =
	FIELD_TABLE(struct api_resources, resources_rows);

static const struct field port_rows[] = {
	F_I32(struct api_port, container_port, "containerPort"),
	F_STR(struct api_port, host_ip, "hostIP"),
	F_I32(struct api_port, host_port, "hostPort"),
	F_STR(struct api_port, protocol, "protocol"),
};
static const struct field_table port_fields = FIELD_TABLE(struct api_port, port_rows);

static const struct field container_rows[] = {
	F_STR(struct api_container, image, "image"),
	F_STR(struct api_container, name, "name"),
	F_LIST(struct api_container, ports, "ports", port_fields),
	F_OBJ(struct api_container, resources, "resources", resources_fields),
	F_STR(struct api_container, restart_policy, "restartPolicy"),
};
static const struct field_table container_fields =
	FIELD_TABLE(struct api_container, container_rows);

static const struct field gate_rows[] = {
	F_STR(struct api_gate, name, "name"),
};
static const struct field_table gate_fields = FIELD_TABLE(struct api_gate, gate_rows);

static const struct field volume_claim_rows[] = {
	F_STR(struct api_volume_claim, claim_name, "claimName"),
};
static const struct field_table volume_claim_fields =
	FIELD_TABLE(struct api_volume_claim, volume_claim_rows);

static const struct field volume_image_rows[] = {
	F_STR(struct api_volume_image, reference, "reference"),
};
static const struct field_table volume_image_fields =
	FIELD_TABLE(struct api_volume_image, volume_image_rows);

static const struct field volume_rows[] = {
	F_STR(struct api_volume, name, "name"),
	F_PRESENT(struct api_volume, csi, "csi"),
	F_PRESENT(struct api_volume, ephemeral, "ephemeral"),
	F_OBJ_PTR(struct api_volume, image, "image", volume_image_fields),
	F_OBJ_PTR(struct api_volume, claim, "persistentVolumeClaim", volume_claim_fields),
};
static const struct field_table volume_fields = FIELD_TABLE(struct api_volume, volume_rows);

static const struct field spread_rows[] = {
	F_OBJ_PTR(struct api_spread, selector, "labelSelector", selector_fields),
	F_STRS(struct api_spread, match_label_keys, "matchLabelKeys"),
	F_I32(struct api_spread, max_skew, "maxSkew"),
	F_I32(struct api_spread, min_domains, "minDomains"),
	F_STR(struct api_spread, affinity_policy, "nodeAffinityPolicy"),
	F_STR(struct api_spread, taints_policy, "nodeTaintsPolicy"),
	F_STR(struct api_spread, topology_key, "topologyKey"),
	F_STR(struct api_spread, when_unsatisfiable, "whenUnsatisfiable"),
};
static const struct field_table spread_fields = FIELD_TABLE(struct api_spread, spread_rows);

static const struct field pod_resource_claim_rows[] = {
	F_STR(struct api_pod_resource_claim, name, "name"),
	F_STR(struct api_pod_resource_claim, claim_name, "resourceClaimName"),
	F_STR(struct api_pod_resource_claim, template_name, "resourceClaimTemplateName"),
};
static const struct field_table pod_resource_claim_fields =
	FIELD_TABLE(struct api_pod_resource_claim, pod_resource_claim_rows);

static const struct field scheduling_group_rows[] = {
	F_STR(struct api_scheduling_group, pod_group, "podGroupName"),
};
static const struct field_table scheduling_group_fields =
	FIELD_TABLE(struct api_scheduling_group, scheduling_group_rows);

static const struct field spec_rows[] = {
	F_OBJ_PTR(struct api_pod_spec, affinity, "affinity", affinity_fields),
	F_LIST(struct api_pod_spec, containers, "containers", container_fields),
	F_BOOL(struct api_pod_spec, host_network, "hostNetwork"),
	F_LIST(struct api_pod_spec, init_containers, "initContainers", container_fields),
	F_STR(struct api_pod_spec, node_name, "nodeName"),
	F_MAP(struct api_pod_spec, node_selector, "nodeSelector"),
	F_RESOURCES(struct api_pod_spec, overhead, "overhead"),
	F_STR(struct api_pod_spec, preemption_policy, "preemptionPolicy"),
	F_I32_OPT(struct api_pod_spec, priority, "priority"),
	F_STR(struct api_pod_spec, priority_class_name, "priorityClassName"),
	F_LIST(struct api_pod_spec, claims, "resourceClaims", pod_resource_claim_fields),
	F_OBJ_PTR(struct api_pod_spec, resources, "resources", resources_fields),
	F_STR(struct api_pod_spec, restart_policy, "restartPolicy"),
	F_STR(struct api_pod_spec, runtime_class_name, "runtimeClassName"),
	F_STR(struct api_pod_spec, scheduler_name, "schedulerName"),
	F_LIST(struct api_pod_spec, gates, "schedulingGates", gate_fields),
	F_OBJ_PTR(struct api_pod_spec, group, "schedulingGroup", scheduling_group_fields),
	F_I64_OPT(struct api_pod_spec, grace, "terminationGracePeriodSeconds"),
	F_LIST(struct api_pod_spec, tolerations, "tolerations", pod_toleration_fields),
	F_LIST(struct api_pod_spec, spread, "topologySpreadConstraints", spread_fields),
	F_LIST(struct api_pod_spec, volumes, "volumes", volume_fields),
};
const struct field_table pod_spec_fields = FIELD_TABLE(struct api_pod_spec, spec_rows);

static const struct field template_rows[] = {
	F_OBJ(struct api_pod_template, meta, "metadata", meta_fields),
	F_OBJ(struct api_pod_template, spec, "spec", pod_spec_fields),
};
const struct field_table pod_template_fields = FIELD_TABLE(struct api_pod_template, template_rows);

static const struct field container_status_rows[] = {
	F_RESOURCES(struct api_container_status, allocated, "allocatedResources"),
	F_STR(struct api_container_status, name, "name"),
	F_OBJ_PTR(struct api_container_status, resources, "resources", resources_fields),
};
static const struct field_table container_status_fields =
	FIELD_TABLE(struct api_container_status, container_status_rows);

static const struct field status_rows[] = {
	F_LIST(struct api_pod_status, conditions, "conditions", meta_condition_fields),
	F_LIST(struct api_pod_status, containers, "containerStatuses", container_status_fields),
	F_LIST(struct api_pod_status, init_containers, "initContainerStatuses",
	       container_status_fields),
	F_STR(struct api_pod_status, message, "message"),
	F_STR(struct api_pod_status, nominated_node_name, "nominatedNodeName"),
	F_STR(struct api_pod_status, phase, "phase"),
	F_STR(struct api_pod_status, reason, "reason"),
};
static const struct field_table status_fields = FIELD_TABLE(struct api_pod_status, status_rows);

static const struct field pod_rows[] = {
	F_STR(struct api_pod, api_version, "apiVersion"),
	F_STR(struct api_pod, kind, "kind"),
	F_OBJ(struct api_pod, meta, "metadata", meta_fields),
	F_OBJ(struct api_pod, spec, "spec", pod_spec_fields),
	F_OBJ(struct api_pod, status, "status", status_fields),
};
const struct field_table pod_fields = FIELD_TABLE(struct api_pod, pod_rows);

static const struct field admission_spec_rows[] = {
	F_STR(struct api_pod_spec, node_name, "nodeName"),
	F_STR(struct api_pod_spec, scheduler_name, "schedulerName"),
	F_LIST(struct api_pod_spec, gates, "schedulingGates", gate_fields),
	F_OBJ_PTR(struct api_pod_spec, group, "schedulingGroup", scheduling_group_fields),
};
static const struct field_table admission_spec_fields =
	FIELD_TABLE(struct api_pod_spec, admission_spec_rows);

static const struct field admission_status_rows[] = {
	F_STR(struct api_pod_status, phase, "phase"),
};
static const struct field_table admission_status_fields =
	FIELD_TABLE(struct api_pod_status, admission_status_rows);

static const struct field admission_rows[] = {
	F_OBJ(struct api_pod, meta, "metadata", meta_fields),
	F_OBJ(struct api_pod, spec, "spec", admission_spec_fields),
	F_OBJ(struct api_pod, status, "status", admission_status_fields),
};
const struct field_table pod_admission_fields = FIELD_TABLE(struct api_pod, admission_rows);

bool pod_is_finished(const struct api_pod *p)
{
	return str_streq(p->status.phase, "Succeeded") || str_streq(p->status.phase, "Failed");
}

bool pod_has_gate(const struct api_pod *p, const char *gate)
{
	for (size_t i = 0; i < p->spec.gates.n; i++) {
		if (str_streq(p->spec.gates.v[i].name, gate)) {
			return true;
		}
	}
	return false;
}
