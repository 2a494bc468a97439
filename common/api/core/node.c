#include "api/core/node.h"

static const struct field taint_rows[] = {
	F_STR(struct api_taint, effect, "effect"),
	F_STR(struct api_taint, key, "key"),
	F_STR(struct api_taint, value, "value"),
};
const struct field_table node_taint_fields = FIELD_TABLE(struct api_taint, taint_rows);

static const struct field spec_rows[] = {
	F_STR(struct api_node_spec, provider_id, "providerID"),
	F_LIST(struct api_node_spec, taints, "taints", node_taint_fields),
	F_BOOL(struct api_node_spec, unschedulable, "unschedulable"),
};
static const struct field_table spec_fields = FIELD_TABLE(struct api_node_spec, spec_rows);

static const struct field image_rows[] = {
	F_STRS(struct api_node_image, names, "names"),
	F_I64(struct api_node_image, size, "sizeBytes"),
};
static const struct field_table image_fields = FIELD_TABLE(struct api_node_image, image_rows);

static const struct field status_rows[] = {
	F_RESOURCES(struct api_node_status, allocatable, "allocatable"),
	F_RESOURCES(struct api_node_status, capacity, "capacity"),
	F_LIST(struct api_node_status, conditions, "conditions", meta_condition_fields),
	F_LIST(struct api_node_status, images, "images", image_fields),
};
static const struct field_table status_fields = FIELD_TABLE(struct api_node_status, status_rows);

static const struct field node_rows[] = {
	F_STR(struct api_node, api_version, "apiVersion"),
	F_STR(struct api_node, kind, "kind"),
	F_OBJ(struct api_node, meta, "metadata", meta_fields),
	F_OBJ(struct api_node, spec, "spec", spec_fields),
	F_OBJ(struct api_node, status, "status", status_fields),
};
const struct field_table node_fields = FIELD_TABLE(struct api_node, node_rows);
