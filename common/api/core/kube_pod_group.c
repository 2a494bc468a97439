#include "api/core/kube_pod_group.h"

static const struct field gang_rows[] = {
	F_I32(struct api_gang_policy, min_count, "minCount"),
};
static const struct field_table gang_fields = FIELD_TABLE(struct api_gang_policy, gang_rows);

static const struct field policy_rows[] = {
	F_PRESENT(struct api_scheduling_policy, basic, "basic"),
	F_OBJ_PTR(struct api_scheduling_policy, gang, "gang", gang_fields),
};
static const struct field_table policy_fields =
	FIELD_TABLE(struct api_scheduling_policy, policy_rows);

static const struct field spec_rows[] = {
	F_I32(struct api_kube_pod_group_spec, priority, "priority"),
	F_OBJ(struct api_kube_pod_group_spec, policy, "schedulingPolicy", policy_fields),
};
static const struct field_table spec_fields =
	FIELD_TABLE(struct api_kube_pod_group_spec, spec_rows);

static const struct field group_rows[] = {
	F_STR(struct api_kube_pod_group, api_version, "apiVersion"),
	F_STR(struct api_kube_pod_group, kind, "kind"),
	F_OBJ(struct api_kube_pod_group, meta, "metadata", meta_fields),
	F_OBJ(struct api_kube_pod_group, spec, "spec", spec_fields),
};
const struct field_table kube_pod_group_fields = FIELD_TABLE(struct api_kube_pod_group, group_rows);
