/* common/api/admission.h: admission.k8s.io/v1 AdmissionReview, in and out. */
#ifndef COMMON_API_ADMISSION_H
#define COMMON_API_ADMISSION_H

#include <stdbool.h>

#include "base/str.h"
#include "enc/field.h"

#define ADMISSION_MAX_WARNINGS 16

struct arena;
struct err;
struct strbuf;

struct api_gvk {
	const char *group, *version, *kind;
};
struct api_gvr {
	const char *group, *version, *resource;
};
struct api_user {
	const char *username;
};
struct api_admission_request {
	const char *uid, *sub_resource, *name, *namespace_, *operation;
	struct api_gvk kind;
	struct api_gvr resource;
	struct api_user user;
	bool dry_run;
	struct str object, old_object; /* JSON text, borrowed from the body; absent: p NULL */
};

struct api_admission_response {
	const char *uid;
	bool allowed;
	struct str patch;    /* JSON Patch text, absent: none */
	int32_t code;        /* of a denial; 0: omitted */
	const char *reason;  /* of a denial, as in metav1.Status; NULL: omitted */
	const char *message; /* NULL: none */
	struct field_strs warnings;
};

extern const struct field_table admission_request_fields;

/* Parses a review of version v1, which must have a request with a uid; the body must outlive ret.
 * -ERR_INVALID names the path or the place in the text. */
int admission_parse(struct str body, struct arena *arena, struct api_admission_request *ret,
		    struct err *err);
/* Appends the whole AdmissionReview (patch as base64 of type JSONPatch). */
void admission_format_response(const struct api_admission_response *r, struct strbuf *out);
/* Appends a whole AdmissionReview that asks for a decision; object texts are copied as they are. */
void admission_format_request(const struct api_admission_request *r, struct strbuf *out);
/* Reads an answer; the patch is decoded from base64 into the arena. */
int admission_parse_response(struct str body, struct arena *arena,
			     struct api_admission_response *ret, struct err *err);

#endif
