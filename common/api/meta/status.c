#include "api/meta/status.h"

static const struct field cause_rows[] = {
	F_STR(struct api_status_cause, reason, "reason"),
	F_STR(struct api_status_cause, message, "message"),
	F_STR(struct api_status_cause, field, "field"),
};
static const struct field_table cause_fields = FIELD_TABLE(struct api_status_cause, cause_rows);

static const struct field details_rows[] = {
	F_STR(struct api_status_details, name, "name"),
	F_STR(struct api_status_details, group, "group"),
	F_STR(struct api_status_details, kind, "kind"),
	F_STR(struct api_status_details, uid, "uid"),
	F_LIST(struct api_status_details, causes, "causes", cause_fields),
	F_I32(struct api_status_details, retry_after_s, "retryAfterSeconds"),
};
static const struct field_table details_fields =
	FIELD_TABLE(struct api_status_details, details_rows);

static const struct field status_rows[] = {
	F_STR(struct api_status, kind, "kind"),
	F_STR(struct api_status, api_version, "apiVersion"),
	F_STR(struct api_status, status, "status"),
	F_STR(struct api_status, message, "message"),
	F_STR(struct api_status, reason, "reason"),
	F_OBJ_PTR(struct api_status, details, "details", details_fields),
	F_I32(struct api_status, code, "code"),
};
const struct field_table status_fields = FIELD_TABLE(struct api_status, status_rows);

enum err_code status_to_err(int http_code)
{
	switch (http_code) {
	case STATUS_UNAUTHORIZED:
	case STATUS_FORBIDDEN:
		return ERR_FORBIDDEN;
	case STATUS_NOT_FOUND:
		return ERR_NOT_FOUND;
	case STATUS_REQUEST_TIMEOUT:
	case STATUS_TIMEOUT:
		return ERR_TIMEOUT;
	case STATUS_CONFLICT:
		return ERR_CONFLICT;
	case STATUS_GONE:
		return ERR_GONE;
	case STATUS_TOO_MANY_REQUESTS:
		return ERR_UNAVAILABLE;
	default:
		break;
	}
	if (http_code >= STATUS_SERVER_ERRORS) {
		return ERR_UNAVAILABLE;
	}
	return status_is_success(http_code) ? ERR_NONE : ERR_INVALID;
}
