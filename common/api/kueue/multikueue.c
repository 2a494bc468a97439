#include "api/kueue/multikueue.h"

static const struct field config_spec_rows[] = {
	F_STRS(struct api_multikueue_config_spec, clusters, "clusters"),
};
static const struct field_table config_spec_fields =
	FIELD_TABLE(struct api_multikueue_config_spec, config_spec_rows);

static const struct field config_rows[] = {
	F_STR(struct api_multikueue_config, api_version, "apiVersion"),
	F_STR(struct api_multikueue_config, kind, "kind"),
	F_OBJ(struct api_multikueue_config, meta, "metadata", meta_fields),
	F_OBJ(struct api_multikueue_config, spec, "spec", config_spec_fields),
};
const struct field_table multikueue_config_fields =
	FIELD_TABLE(struct api_multikueue_config, config_rows);

static const struct field kube_config_rows[] = {
	F_STR(struct api_multikueue_kube_config, location, "location"),
	F_STR(struct api_multikueue_kube_config, location_type, "locationType"),
};
static const struct field_table kube_config_fields =
	FIELD_TABLE(struct api_multikueue_kube_config, kube_config_rows);

static const struct field profile_rows[] = {
	F_STR(struct api_multikueue_cluster_profile, name, "name"),
};
static const struct field_table profile_fields =
	FIELD_TABLE(struct api_multikueue_cluster_profile, profile_rows);

static const struct field source_rows[] = {
	F_OBJ_PTR(struct api_multikueue_cluster_spec, cluster_profile, "clusterProfileRef",
		  profile_fields),
	F_OBJ_PTR(struct api_multikueue_cluster_spec, kube_config, "kubeConfig",
		  kube_config_fields),
};
static const struct field_table source_fields =
	FIELD_TABLE(struct api_multikueue_cluster_spec, source_rows);

/* spec has no other member than clusterSource, so both are one struct. */
struct cluster_spec {
	struct api_multikueue_cluster_spec source;
};
static const struct field cluster_spec_rows[] = {
	F_OBJ(struct cluster_spec, source, "clusterSource", source_fields),
};
static const struct field_table cluster_spec_fields =
	FIELD_TABLE(struct cluster_spec, cluster_spec_rows);

static const struct field cluster_status_rows[] = {
	F_LIST(struct api_multikueue_cluster_status, conditions, "conditions",
	       meta_condition_fields),
};
static const struct field_table cluster_status_fields =
	FIELD_TABLE(struct api_multikueue_cluster_status, cluster_status_rows);

static const struct field cluster_rows[] = {
	F_STR(struct api_multikueue_cluster, api_version, "apiVersion"),
	F_STR(struct api_multikueue_cluster, kind, "kind"),
	F_OBJ(struct api_multikueue_cluster, meta, "metadata", meta_fields),
	F_OBJ(struct api_multikueue_cluster, spec, "spec", cluster_spec_fields),
	F_OBJ(struct api_multikueue_cluster, status, "status", cluster_status_fields),
};
const struct field_table multikueue_cluster_fields =
	FIELD_TABLE(struct api_multikueue_cluster, cluster_rows);
