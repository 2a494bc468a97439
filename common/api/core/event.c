#include "api/core/event.h"

static const struct field reference_rows[] = {
	F_STR(struct api_reference, api_version, "apiVersion"),
	F_STR(struct api_reference, field_path, "fieldPath"),
	F_STR(struct api_reference, kind, "kind"),
	F_STR(struct api_reference, name, "name"),
	F_STR(struct api_reference, namespace_, "namespace"),
	F_STR(struct api_reference, resource_version, "resourceVersion"),
	F_STR(struct api_reference, uid, "uid"),
};
const struct field_table event_reference_fields = FIELD_TABLE(struct api_reference, reference_rows);

static const struct field source_rows[] = {
	F_STR(struct api_event_source, component, "component"),
	F_STR(struct api_event_source, host, "host"),
};
static const struct field_table source_fields = FIELD_TABLE(struct api_event_source, source_rows);

static const struct field event_rows[] = {
	F_STR(struct api_event, api_version, "apiVersion"),
	F_STR(struct api_event, kind, "kind"),
	F_OBJ(struct api_event, meta, "metadata", meta_fields),
	F_STR(struct api_event, action, "action"),
	F_I32(struct api_event, count, "count"),
	F_MICRO_TIME(struct api_event, event_time, "eventTime"),
	F_TIME(struct api_event, first, "firstTimestamp"),
	F_OBJ(struct api_event, about, "involvedObject", event_reference_fields),
	F_TIME(struct api_event, last, "lastTimestamp"),
	F_STR(struct api_event, message, "message"),
	F_STR(struct api_event, reason, "reason"),
	F_STR(struct api_event, reporting_component, "reportingComponent"),
	F_STR(struct api_event, reporting_instance, "reportingInstance"),
	F_OBJ(struct api_event, source, "source", source_fields),
	F_STR(struct api_event, type, "type"),
};
const struct field_table event_fields = FIELD_TABLE(struct api_event, event_rows);
