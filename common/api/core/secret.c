#include "api/core/secret.h"

static const struct field secret_rows[] = {
	F_STR(struct api_secret, api_version, "apiVersion"),
	F_STR(struct api_secret, kind, "kind"),
	F_OBJ(struct api_secret, meta, "metadata", meta_fields),
	F_MAP(struct api_secret, data, "data"),
};
const struct field_table secret_fields = FIELD_TABLE(struct api_secret, secret_rows);
