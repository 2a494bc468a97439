/* scheduler/conf/quota_resources.h: `resources` of Kueue's configuration file: which resources of
 * pods are not counted, and which are counted as others (Kueue: resources.transformations,
 * excludeResourcePrefixes). Plain data; texts belong to the configuration. */
#ifndef SCHEDULER_CONF_QUOTA_RESOURCES_H
#define SCHEDULER_CONF_QUOTA_RESOURCES_H

#include <stdbool.h>
#include <stddef.h>

#include "enc/field.h"

struct quota_resources_transformation {
	const char *input, *multiply_by; /* multiply_by NULL: by nothing */
	bool replace;                    /* the input itself is not counted */
	struct field_resources outputs;
};
struct quota_resources {
	const char *const *excluded; /* prefixes of resource names that are not counted */
	size_t nexcluded;
	const struct quota_resources_transformation *transformations;
	size_t ntransformations;
};

#endif
