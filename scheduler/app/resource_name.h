/* scheduler/app/resource_name.h: what the kinds of messages are called in the API, for events, logs
 * and metrics. Any thread. */
#ifndef SCHEDULER_APP_RESOURCE_NAME_H
#define SCHEDULER_APP_RESOURCE_NAME_H

#include "model/message.h"

struct resource_name {
	const char *api_version, *kind, *plural;
};

/* Static; r below SCHED_RESOURCE_COUNT_. */
const struct resource_name *resource_name(enum sched_resource r);

#endif
