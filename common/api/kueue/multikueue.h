/* common/api/kueue/multikueue.h: kueue.x-k8s.io/v1beta2 MultiKueueConfig and MultiKueueCluster: the
 * clusters to which Workloads are offered, and how each is reached. Plain data in an arena.
 * Decoding keeps absence (field.h). */
#ifndef COMMON_API_KUEUE_MULTIKUEUE_H
#define COMMON_API_KUEUE_MULTIKUEUE_H

#include "api/meta/meta.h"
#include "enc/field.h"

#define MULTIKUEUE_LOCATION_SECRET "Secret"
#define MULTIKUEUE_LOCATION_PATH "Path"

struct api_multikueue_config_spec {
	struct field_strs clusters; /* names of MultiKueueClusters, the preferred ones first */
};
struct api_multikueue_config {
	const char *api_version, *kind;
	struct api_meta meta;
	struct api_multikueue_config_spec spec;
};

struct api_multikueue_kube_config {
	const char *location;      /* the name of a Secret, or a path */
	const char *location_type; /* NULL: Secret */
};
struct api_multikueue_cluster_profile {
	const char *name;
};
/* spec.clusterSource: one of them. */
struct api_multikueue_cluster_spec {
	struct api_multikueue_kube_config *kube_config; /* NULL: absent */
	struct api_multikueue_cluster_profile
		*cluster_profile; /* clusterProfileRef; NULL: absent */
};
struct api_multikueue_cluster_status {
	struct api_conditions conditions;
};
struct api_multikueue_cluster {
	const char *api_version, *kind;
	struct api_meta meta;
	struct api_multikueue_cluster_spec spec;
	struct api_multikueue_cluster_status status;
};

extern const struct field_table multikueue_config_fields;
extern const struct field_table multikueue_cluster_fields;

#endif
