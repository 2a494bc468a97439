#include "api/core/limit_range.h"

static const struct field item_rows[] = {
	F_STR(struct api_limit_range_item, type, "type"),
	F_RESOURCES(struct api_limit_range_item, max, "max"),
	F_RESOURCES(struct api_limit_range_item, min, "min"),
	F_RESOURCES(struct api_limit_range_item, default_, "default"),
	F_RESOURCES(struct api_limit_range_item, default_request, "defaultRequest"),
	F_RESOURCES(struct api_limit_range_item, max_limit_request_ratio, "maxLimitRequestRatio"),
};
static const struct field_table item_fields = FIELD_TABLE(struct api_limit_range_item, item_rows);

static const struct field spec_rows[] = {
	F_LIST(struct api_limit_range_spec, limits, "limits", item_fields),
};
static const struct field_table spec_fields = FIELD_TABLE(struct api_limit_range_spec, spec_rows);

static const struct field limit_range_rows[] = {
	F_STR(struct api_limit_range, api_version, "apiVersion"),
	F_STR(struct api_limit_range, kind, "kind"),
	F_OBJ(struct api_limit_range, meta, "metadata", meta_fields),
	F_OBJ(struct api_limit_range, spec, "spec", spec_fields),
};
const struct field_table limit_range_fields = FIELD_TABLE(struct api_limit_range, limit_range_rows);
