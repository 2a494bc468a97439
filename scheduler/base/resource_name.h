/* scheduler/base/resource_name.h: what the kinds of messages are called in the API, and where they
 * are listed and watched. Any thread. */
#ifndef SCHEDULER_BASE_RESOURCE_NAME_H
#define SCHEDULER_BASE_RESOURCE_NAME_H

#include <stdbool.h>

#include "scheduler/base/message.h"

struct resource_name {
	const char *api_version, *kind, *plural;
	const char *path; /* of all objects, of all namespaces */
	bool namespaced;  /* keys are "namespace/name", else "name" */
};

/* Static; r below SCHED_RESOURCE_COUNT_. */
const struct resource_name *resource_name(enum sched_resource r);

#endif
