#include "api/core/namespace.h"

static const struct field status_rows[] = {
	F_STR(struct api_namespace_status, phase, "phase"),
};
static const struct field_table status_fields =
	FIELD_TABLE(struct api_namespace_status, status_rows);

static const struct field namespace_rows[] = {
	F_STR(struct api_namespace, api_version, "apiVersion"),
	F_STR(struct api_namespace, kind, "kind"),
	F_OBJ(struct api_namespace, meta, "metadata", meta_fields),
	F_OBJ(struct api_namespace, status, "status", status_fields),
};
const struct field_table namespace_fields = FIELD_TABLE(struct api_namespace, namespace_rows);
