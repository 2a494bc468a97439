/* scheduler/workloads/conf/kueue_conf_resources.h: `resources` of Kueue's configuration file: which
 * resources of pods are not counted, and which are counted as others (Kueue:
 * resources.transformations, excludeResourcePrefixes). Plain data; texts belong to the
 * configuration. */
#ifndef SCHEDULER_WORKLOADS_CONF_KUEUE_CONF_RESOURCES_H
#define SCHEDULER_WORKLOADS_CONF_KUEUE_CONF_RESOURCES_H

#include <stdbool.h>
#include <stddef.h>

#include "enc/field.h"

struct kueue_conf_resources_transformation {
	const char *input, *multiply_by; /* multiply_by NULL: by nothing */
	bool replace;                    /* the input itself is not counted */
	struct field_resources outputs;
};
struct kueue_conf_resources {
	const char *const *excluded; /* prefixes of resource names that are not counted */
	size_t nexcluded;
	const struct kueue_conf_resources_transformation *transformations;
	size_t ntransformations;
};

#endif
