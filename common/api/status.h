/* common/api/status.h: metav1.Status, the answer of the API server to what it cannot do. */
#ifndef COMMON_API_STATUS_H
#define COMMON_API_STATUS_H

#include "base/err.h"
#include "base/str.h"
#include "enc/field.h"

struct arena;
struct json_out;

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

/* Writes s with apiVersion v1 and kind Status, whatever s says of those. */
void status_write(const struct api_status *s, struct json_out *o);
/* Reads a Status from a response body; -ERR_INVALID when it is none (a proxy's page). */
int status_parse(struct str body, struct arena *arena, struct api_status *ret, struct err *err);
/* The error that an HTTP status code (and the reason, which may be NULL) stands for; ERR_NONE for
 * codes below 400. */
enum err_code status_to_err(int http_code, const char *reason);

#endif
