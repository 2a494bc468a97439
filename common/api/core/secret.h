/* common/api/core/secret.h: v1 Secret. Plain data in an arena: what it holds stays there until the
 * arena is destroyed, and is not logged. */
#ifndef COMMON_API_CORE_SECRET_H
#define COMMON_API_CORE_SECRET_H

#include "api/meta/meta.h"
#include "enc/field.h"

struct api_secret {
	const char *api_version, *kind;
	struct api_meta meta;
	struct field_map data; /* values in base64 */
};

extern const struct field_table secret_fields;

#endif
