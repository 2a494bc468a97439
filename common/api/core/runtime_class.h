/* common/api/core/runtime_class.h: node.k8s.io/v1 RuntimeClass. Plain data in an arena. */
#ifndef COMMON_API_CORE_RUNTIME_CLASS_H
#define COMMON_API_CORE_RUNTIME_CLASS_H

#include "api/core/pod.h"
#include "api/meta/meta.h"
#include "enc/field.h"

struct api_runtime_overhead {
	struct field_resources pod_fixed;
};
struct api_runtime_scheduling {
	struct field_map node_selector;
	struct FIELD_LIST(struct api_toleration) tolerations;
};
struct api_runtime_class {
	const char *api_version, *kind;
	struct api_meta meta;
	const char *handler;
	struct api_runtime_overhead *overhead;     /* NULL: none */
	struct api_runtime_scheduling *scheduling; /* NULL: none */
};

extern const struct field_table runtime_class_fields;

#endif
