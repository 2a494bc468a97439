/* common/api/core/event.h: v1 Event. Plain data in an arena. */
#ifndef COMMON_API_CORE_EVENT_H
#define COMMON_API_CORE_EVENT_H

#include "api/meta/meta.h"

struct api_reference { /* v1.ObjectReference */
	const char *api_version, *kind, *namespace_, *name, *uid, *resource_version, *field_path;
};

struct api_event_source {
	const char *component, *host;
};

struct api_event {
	const char *api_version, *kind;
	struct api_meta meta;
	struct api_reference about; /* involvedObject */
	const char *reason, *message, *type, *action;
	const char *reporting_component, *reporting_instance;
	struct api_event_source source;
	int64_t first, last, event_time; /* wall ns, FIELD_NO_TIME */
	int32_t count;
};

extern const struct field_table event_fields;
extern const struct field_table event_reference_fields;

#endif
