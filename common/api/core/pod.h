/* common/api/core/pod.h: v1 Pod as far as scheduling and admission need it. Plain data in an arena.
 */
#ifndef COMMON_API_CORE_POD_H
#define COMMON_API_CORE_POD_H

#include "api/meta/meta.h"
#include "api/meta/selector.h"
#include "enc/field.h"

struct api_toleration {
	const char *key, *operator_, *value, *effect;
	int64_t seconds; /* FIELD_NO_I64 */
};

struct api_node_requirement { /* matchExpressions, matchFields */
	const char *key, *operator_;
	struct field_strs values;
};
struct api_node_term {
	struct FIELD_LIST(struct api_node_requirement) expressions;
	struct FIELD_LIST(struct api_node_requirement) fields;
};
struct api_node_selector {
	struct FIELD_LIST(struct api_node_term) terms;
};
struct api_preferred_node_term {
	int32_t weight;
	struct api_node_term preference;
};
struct api_node_affinity {
	struct api_node_selector *required; /* NULL: absent */
	struct FIELD_LIST(struct api_preferred_node_term) preferred;
};
struct api_pod_term { /* of inter-pod affinity and anti-affinity */
	struct api_label_selector *selector, *namespace_selector; /* NULL: absent */
	struct field_strs namespaces, match_label_keys, mismatch_label_keys;
	const char *topology_key;
};
struct api_preferred_pod_term {
	struct api_pod_term term;
	int32_t weight;
};
struct api_pod_affinity {
	struct FIELD_LIST(struct api_preferred_pod_term) preferred;
	struct FIELD_LIST(struct api_pod_term) required;
};
struct api_affinity {
	struct api_node_affinity *node;
	struct api_pod_affinity *pod, *pod_anti;
};

struct api_resource_claim_use {
	const char *name;
};
struct api_resources {
	struct field_resources requests, limits;
	struct FIELD_LIST(struct api_resource_claim_use) claims;
};
struct api_port {
	int32_t container_port, host_port; /* 0: none */
	const char *host_ip, *protocol;
};
struct api_container {
	const char *image, *name, *restart_policy;
	struct api_resources resources;
	struct FIELD_LIST(struct api_port) ports;
};
struct api_containers FIELD_LIST(struct api_container);

struct api_gate {
	const char *name;
};
struct api_volume_claim {
	const char *claim_name;
};
struct api_volume_image {
	const char *reference;
};
struct api_volume {
	const char *name;
	struct api_volume_image *image; /* NULL: none */
	struct api_volume_claim *claim; /* persistentVolumeClaim; NULL: none */
	bool ephemeral;                 /* a generic ephemeral volume */
	bool csi;                       /* an inline CSI volume */
};
struct api_spread {                          /* topologySpreadConstraints */
	struct api_label_selector *selector; /* NULL: absent */
	struct field_strs match_label_keys;
	const char *topology_key, *when_unsatisfiable, *affinity_policy, *taints_policy;
	int32_t max_skew, min_domains; /* min_domains: 0 absent */
};
struct api_scheduling_group {  /* schedulingGroup */
	const char *pod_group; /* podGroupName */
};
struct api_pod_resource_claim { /* resourceClaims */
	const char *name, *claim_name, *template_name;
};

struct api_pod_spec {
	const char *scheduler_name, *node_name, *priority_class_name, *preemption_policy;
	const char *restart_policy, *runtime_class_name;
	int32_t priority; /* FIELD_NO_I32 */
	bool host_network;
	int64_t grace; /* terminationGracePeriodSeconds; FIELD_NO_I64 */
	struct field_map node_selector;
	struct api_affinity *affinity;
	struct FIELD_LIST(struct api_toleration) tolerations;
	struct api_containers containers, init_containers;
	struct field_resources overhead;
	struct api_resources *resources; /* of the whole pod */
	struct FIELD_LIST(struct api_gate) gates;
	struct api_scheduling_group *group; /* schedulingGroup; NULL: none */
	struct FIELD_LIST(struct api_spread) spread;
	struct FIELD_LIST(struct api_volume) volumes;
	struct FIELD_LIST(struct api_pod_resource_claim) claims;
};

struct api_pod_template {
	struct api_meta meta;
	struct api_pod_spec spec;
};

struct api_container_status {
	const char *name;
	struct field_resources allocated; /* allocatedResources: granted by the kubelet */
	struct api_resources *resources;  /* in effect */
};
struct api_container_statuses FIELD_LIST(struct api_container_status);

struct api_pod_status {
	const char *phase, *nominated_node_name, *reason, *message;
	struct api_conditions conditions;
	struct api_container_statuses containers, init_containers;
};

struct api_pod {
	const char *api_version, *kind;
	struct api_meta meta;
	struct api_pod_spec spec;
	struct api_pod_status status;
};

extern const struct field_table pod_fields;
extern const struct field_table pod_spec_fields;
extern const struct field_table pod_template_fields;
extern const struct field_table pod_toleration_fields;
extern const struct field_table pod_node_selector_fields;
/* Only what admission reads: metadata, and of spec schedulerName, nodeName, schedulingGates
 * and schedulingGroup. Decodes into a struct api_pod. */
extern const struct field_table pod_admission_fields;

bool pod_is_finished(const struct api_pod *p); /* Succeeded or Failed */
bool pod_has_gate(const struct api_pod *p, const char *gate);

#endif
