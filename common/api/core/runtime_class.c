#include "api/core/runtime_class.h"

static const struct field overhead_rows[] = {
	F_RESOURCES(struct api_runtime_overhead, pod_fixed, "podFixed"),
};
static const struct field_table overhead_fields =
	FIELD_TABLE(struct api_runtime_overhead, overhead_rows);

static const struct field scheduling_rows[] = {
	F_MAP(struct api_runtime_scheduling, node_selector, "nodeSelector"),
	F_LIST(struct api_runtime_scheduling, tolerations, "tolerations", pod_toleration_fields),
};
static const struct field_table scheduling_fields =
	FIELD_TABLE(struct api_runtime_scheduling, scheduling_rows);

static const struct field class_rows[] = {
	F_STR(struct api_runtime_class, api_version, "apiVersion"),
	F_STR(struct api_runtime_class, kind, "kind"),
	F_OBJ(struct api_runtime_class, meta, "metadata", meta_fields),
	F_STR(struct api_runtime_class, handler, "handler"),
	F_OBJ_PTR(struct api_runtime_class, overhead, "overhead", overhead_fields),
	F_OBJ_PTR(struct api_runtime_class, scheduling, "scheduling", scheduling_fields),
};
const struct field_table runtime_class_fields = FIELD_TABLE(struct api_runtime_class, class_rows);
