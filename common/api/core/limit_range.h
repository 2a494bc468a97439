/* common/api/core/limit_range.h: v1 LimitRange. Plain data in an arena. */
#ifndef COMMON_API_CORE_LIMIT_RANGE_H
#define COMMON_API_CORE_LIMIT_RANGE_H

#include "api/meta/meta.h"
#include "enc/field.h"

struct api_limit_range_item {
	const char *type; /* Pod, Container, PersistentVolumeClaim */
	struct field_resources max, min, default_, default_request, max_limit_request_ratio;
};
struct api_limit_range_spec {
	struct FIELD_LIST(struct api_limit_range_item) limits;
};
struct api_limit_range {
	const char *api_version, *kind;
	struct api_meta meta;
	struct api_limit_range_spec spec;
};

extern const struct field_table limit_range_fields;

#endif
