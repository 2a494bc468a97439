/* common/api/meta/status.h: metav1.Status, the API server's answer to a request that failed. */
#ifndef COMMON_API_META_STATUS_H
#define COMMON_API_META_STATUS_H

#include <stdbool.h>

#include "base/err.h"
#include "enc/field.h"

struct api_status_cause {
	const char *reason, *message, *field;
};
struct api_status_details {
	const char *name, *group, *kind, *uid;
	int32_t retry_after_s;
	struct FIELD_LIST(struct api_status_cause) causes;
};
struct api_status {
	const char *api_version, *kind;
	const char *status; /* "Success", "Failure" */
	const char *message, *reason;
	int32_t code;
	struct api_status_details *details;
};

extern const struct field_table status_fields;

/* The HTTP codes that the sources distinguish, named after their reasons in the API conventions. */
enum status_code {
	STATUS_OK = 200,
	STATUS_BAD_REQUEST = 400,
	STATUS_UNAUTHORIZED = 401,
	STATUS_FORBIDDEN = 403,
	STATUS_NOT_FOUND = 404,
	STATUS_REQUEST_TIMEOUT = 408,
	STATUS_CONFLICT = 409,
	STATUS_GONE = 410,
	STATUS_INVALID = 422,
	STATUS_TOO_MANY_REQUESTS = 429,
	STATUS_SERVER_ERRORS = 500, /* and above */
	STATUS_UNAVAILABLE = 503,
	STATUS_TIMEOUT = 504,
};

/* 2xx. */
static inline bool status_is_success(int http_code)
{
	return http_code >= STATUS_OK && http_code < 300;
}
/* The error that an HTTP status code stands for; ERR_NONE for 2xx. */
enum err_code status_to_err(int http_code);

#endif
