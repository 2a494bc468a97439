#include "api/admission.h"

#include "api/meta/status.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/base64.h"
#include "enc/decode.h"
#include "enc/encode.h"

#define VERSION "admission.k8s.io/v1"
#define KIND "AdmissionReview"
#define PATCH_TYPE "JSONPatch"

static const struct field gvk_rows[] = {
	F_STR(struct api_gvk, group, "group"),
	F_STR(struct api_gvk, version, "version"),
	F_STR(struct api_gvk, kind, "kind"),
};
static const struct field_table gvk_fields = FIELD_TABLE(struct api_gvk, gvk_rows);

static const struct field gvr_rows[] = {
	F_STR(struct api_gvr, group, "group"),
	F_STR(struct api_gvr, version, "version"),
	F_STR(struct api_gvr, resource, "resource"),
};
static const struct field_table gvr_fields = FIELD_TABLE(struct api_gvr, gvr_rows);

static const struct field user_rows[] = {
	F_STR(struct api_user, username, "username"),
};
static const struct field_table user_fields = FIELD_TABLE(struct api_user, user_rows);

static const struct field request_rows[] = {
	F_STR(struct api_admission_request, uid, "uid"),
	F_OBJ(struct api_admission_request, kind, "kind", gvk_fields),
	F_OBJ(struct api_admission_request, resource, "resource", gvr_fields),
	F_STR(struct api_admission_request, sub_resource, "subResource"),
	F_STR(struct api_admission_request, name, "name"),
	F_STR(struct api_admission_request, namespace_, "namespace"),
	F_STR(struct api_admission_request, operation, "operation"),
	F_OBJ(struct api_admission_request, user, "userInfo", user_fields),
	F_RAW_SLICE(struct api_admission_request, object, "object"),
	F_RAW_SLICE(struct api_admission_request, old_object, "oldObject"),
	F_BOOL(struct api_admission_request, dry_run, "dryRun"),
};
const struct field_table admission_request_fields =
	FIELD_TABLE(struct api_admission_request, request_rows);

/* The response as JSON. */
struct wire_response {
	const char *uid, *patch_type, *patch;
	int8_t allowed; /* FIELD_TRI_ABSENT counts as false */
	struct api_status *status;
	struct field_strs warnings;
};

static const struct field response_rows[] = {
	F_STR(struct wire_response, uid, "uid"),
	F_TRI(struct wire_response, allowed, "allowed"),
	F_OBJ_PTR(struct wire_response, status, "status", status_fields),
	F_STR(struct wire_response, patch_type, "patchType"),
	F_STR(struct wire_response, patch, "patch"),
	F_STRS(struct wire_response, warnings, "warnings"),
};
static const struct field_table response_fields = FIELD_TABLE(struct wire_response, response_rows);

struct review {
	const char *api_version, *kind;
	struct api_admission_request *request;
	struct wire_response *response;
};

static const struct field review_rows[] = {
	F_STR(struct review, kind, "kind"),
	F_STR(struct review, api_version, "apiVersion"),
	F_OBJ_PTR(struct review, request, "request", admission_request_fields),
	F_OBJ_PTR(struct review, response, "response", response_fields),
};
static const struct field_table review_fields = FIELD_TABLE(struct review, review_rows);

static int read_review(struct str body, struct arena *arena, struct review *ret, struct err *err)
{
	int r = decode_text(&review_fields, body, ret, arena, err);

	if (r < 0) {
		return r;
	}
	if (!str_streq(ret->kind, KIND)) {
		return err_set(err, ERR_INVALID, "kind: not an " KIND);
	}
	if (!str_streq(ret->api_version, VERSION)) {
		return err_set(err, ERR_INVALID, "apiVersion: \"%.64s\" is not " VERSION,
			       ret->api_version == NULL ? "" : ret->api_version);
	}
	return 0;
}

int admission_parse(struct str body, struct arena *arena, struct api_admission_request *ret,
		    struct err *err)
{
	struct review review;
	int r = read_review(body, arena, &review, err);

	if (r < 0) {
		return r;
	}
	if (review.request == NULL) {
		return err_set(err, ERR_INVALID, "request: required");
	}
	if (review.request->uid == NULL) {
		return err_set(err, ERR_INVALID, "request.uid: required");
	}
	*ret = *review.request;
	return 0;
}

void admission_format_response(const struct api_admission_response *r, struct strbuf *out)
{
	CLEANUP(strbuf_finish) struct strbuf patch = STRBUF_INIT;
	struct api_status denial = {
		.status = "Failure", .message = r->message, .reason = r->reason, .code = r->code
	};
	struct wire_response response = { .uid = r->uid == NULL ? "" : r->uid,
					  .allowed = r->allowed };
	const struct review review = { .api_version = VERSION,
				       .kind = KIND,
				       .response = &response };

	if (!r->allowed && (r->code != 0 || r->reason != NULL || r->message != NULL)) {
		response.status = &denial;
	}
	if (r->patch.p != NULL) {
		base64_encode(r->patch, &patch);
		response.patch_type = PATCH_TYPE;
		response.patch = patch.p;
	}
	if (r->warnings.n > 0) {
		response.warnings = r->warnings;
		response.warnings.n = r->warnings.n > ADMISSION_MAX_WARNINGS
					      ? ADMISSION_MAX_WARNINGS
					      : r->warnings.n;
	}
	encode_text(&review_fields, &review, out);
}

void admission_format_request(const struct api_admission_request *r, struct strbuf *out)
{
	struct api_admission_request request = *r;
	const struct review review = { .api_version = VERSION, .kind = KIND, .request = &request };

	encode_text(&review_fields, &review, out);
}

static int read_patch(const struct wire_response *w, struct arena *arena, struct str *ret,
		      struct err *err)
{
	struct strbuf patch CLEANUP(strbuf_finish) = STRBUF_INIT;
	int r;

	if (w->patch == NULL) {
		return 0;
	}
	if (!str_streq(w->patch_type, PATCH_TYPE)) {
		return err_set(err, ERR_INVALID, "response.patchType: not " PATCH_TYPE);
	}
	r = base64_decode(str_of(w->patch), &patch, err);
	if (r < 0) {
		return err_wrap(err, "response.patch");
	}
	*ret = arena_str(arena, strbuf_str(&patch));
	return 0;
}

int admission_parse_response(struct str body, struct arena *arena,
			     struct api_admission_response *ret, struct err *err)
{
	struct api_admission_response out = { 0 };
	struct err inner = ERR_INIT;
	struct review review;
	int r = read_review(body, arena, &review, err);

	if (r < 0) {
		return r;
	}
	if (review.response == NULL || review.response->uid == NULL) {
		return err_set(err, ERR_INVALID, "response.uid: required");
	}
	r = read_patch(review.response, arena, &out.patch, &inner);
	if (r < 0) {
		return err_set(err, ERR_INVALID, "%s", inner.text);
	}
	out.uid = review.response->uid;
	out.allowed = review.response->allowed > 0;
	out.warnings = review.response->warnings;
	if (review.response->status != NULL) {
		out.code = review.response->status->code;
		out.reason = review.response->status->reason;
		out.message = review.response->status->message;
	}
	*ret = out;
	return 0;
}
