/* common/api/status.h: metav1.Status, the answer of the API server to what it cannot do. */
#ifndef COMMON_API_STATUS_H
#define COMMON_API_STATUS_H

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

/* The error that an HTTP status code stands for; ERR_NONE for 2xx. */
enum err_code status_to_err(int http_code);

#endif
