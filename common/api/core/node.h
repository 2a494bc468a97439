/* common/api/core/node.h: v1 Node as far as scheduling needs it. Plain data in an arena. */
#ifndef COMMON_API_CORE_NODE_H
#define COMMON_API_CORE_NODE_H

#include "api/meta/meta.h"
#include "enc/field.h"

struct api_taint {
	const char *key, *value, *effect;
};

struct api_node_spec {
	const char *provider_id;
	bool unschedulable;
	struct FIELD_LIST(struct api_taint) taints;
};
struct api_node_image {
	struct field_strs names;
	int64_t size; /* bytes */
};
struct api_node_status {
	struct field_resources allocatable, capacity;
	struct api_conditions conditions;
	struct FIELD_LIST(struct api_node_image) images;
};
struct api_node {
	const char *api_version, *kind;
	struct api_meta meta;
	struct api_node_spec spec;
	struct api_node_status status;
};

extern const struct field_table node_fields;
extern const struct field_table node_taint_fields;

#endif
