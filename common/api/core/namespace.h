/* common/api/core/namespace.h: v1 Namespace. Plain data in an arena. */
#ifndef COMMON_API_CORE_NAMESPACE_H
#define COMMON_API_CORE_NAMESPACE_H

#include "api/meta/meta.h"

struct api_namespace_status {
	const char *phase;
};
struct api_namespace {
	const char *api_version, *kind;
	struct api_meta meta;
	struct api_namespace_status status;
};

extern const struct field_table namespace_fields;

#endif
