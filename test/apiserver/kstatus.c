#include "apiserver/kstatus.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/meta/status.h"
#include "apiserver/apiserver.h"
#include "apiserver/store/resource.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"

/* details_take may be NULL. */
static int answer(struct apiserver_response *resp, int code, const char *reason,
		  const char *message, struct jdoc *details_take)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = jdoc_new_object();

	jdoc_set_str(d, "kind", "Status");
	jdoc_set_str(d, "apiVersion", "v1");
	jdoc_set_take(d, "metadata", jdoc_new_object());
	jdoc_set_str(d, "status", code < 300 ? "Success" : "Failure");
	if (message[0] != '\0') {
		jdoc_set_str(d, "message", message);
	}
	if (reason[0] != '\0') {
		jdoc_set_str(d, "reason", reason);
	}
	if (details_take != NULL) {
		jdoc_set_take(d, "details", details_take);
	}
	if (code >= 300 || details_take == NULL) { /* the Status of a deletion has none */
		jdoc_set_int(d, "code", code);
	}
	apiserver_response_reset(resp);
	resp->status = code;
	jdoc_format(d, &resp->body);
	return code < 300 ? 0 : -(int)status_to_err(code);
}

static struct jdoc *details_of(const struct resource *res, struct str name)
{
	struct jdoc *d = jdoc_new_object();

	if (name.len > 0) {
		jdoc_set_take(d, "name", jdoc_new_str_n(name));
	}
	if (res != NULL && res->group[0] != '\0') {
		jdoc_set_str(d, "group", res->group);
	}
	if (res != NULL) {
		jdoc_set_str(d, "kind", res->plural);
	}
	return d;
}

/* "pods", "queues.scheduling.volcano.sh", "pods/binding" */
static char *qualified(const struct resource *res, const char *sub)
{
	return xmalloc_printf("%s%s%s%s%s", res->plural, sub == NULL ? "" : "/",
			      sub == NULL ? "" : sub, res->group[0] == '\0' ? "" : ".", res->group);
}

static char *vformat(const char *fmt, va_list ap) PRINTF_LIKE(1, 0);
static char *vformat(const char *fmt, va_list ap)
{
	va_list again;
	char *text;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	text = xmalloc((size_t)n + 1);
	(void)vsnprintf(text, (size_t)n + 1, fmt, ap);
	return text;
}

#define FORMAT_ARGS(text, fmt)                                                                     \
	do {                                                                                       \
		va_list ap_;                                                                       \
		va_start(ap_, fmt);                                                                \
		(text) = vformat((fmt), ap_);                                                      \
		va_end(ap_);                                                                       \
	} while (0)

int kstatus_fail(struct apiserver_response *resp, int code, const char *reason, const char *fmt,
		 ...)
{
	CLEANUP(xmalloc_freep) char *text = NULL;

	FORMAT_ARGS(text, fmt);
	return answer(resp, code, reason, text, NULL);
}

int kstatus_bad_request(struct apiserver_response *resp, const char *fmt, ...)
{
	CLEANUP(xmalloc_freep) char *text = NULL;

	FORMAT_ARGS(text, fmt);
	return answer(resp, 400, "BadRequest", text, NULL);
}

int kstatus_not_found(struct apiserver_response *resp, const struct resource *res, struct str name)
{
	CLEANUP(xmalloc_freep) char *q = qualified(res, NULL);
	CLEANUP(xmalloc_freep)
	char *text = xmalloc_printf("%s \"" STR_FMT "\" not found", q, STR_ARG(name));

	return answer(resp, 404, "NotFound", text, details_of(res, name));
}

int kstatus_no_path(struct apiserver_response *resp)
{
	return answer(resp, 404, "NotFound", "the server could not find the requested resource",
		      jdoc_new_object());
}

int kstatus_no_route(struct apiserver_response *resp)
{
	apiserver_response_reset(resp);
	resp->status = 404;
	resp->content_type = "text/plain; charset=utf-8";
	strbuf_add_c(&resp->body, "404 page not found\n");
	return -ERR_NOT_FOUND;
}

int kstatus_exists(struct apiserver_response *resp, const struct resource *res, struct str name)
{
	CLEANUP(xmalloc_freep) char *q = qualified(res, NULL);
	CLEANUP(xmalloc_freep)
	char *text = xmalloc_printf("%s \"" STR_FMT "\" already exists", q, STR_ARG(name));

	return answer(resp, 409, "AlreadyExists", text, details_of(res, name));
}

int kstatus_conflict(struct apiserver_response *resp, const struct resource *res, const char *sub,
		     struct str name, const char *fmt, ...)
{
	CLEANUP(xmalloc_freep) char *why = NULL;
	CLEANUP(xmalloc_freep) char *q = qualified(res, sub);
	CLEANUP(xmalloc_freep) char *text = NULL;
	struct jdoc *details;

	FORMAT_ARGS(why, fmt);
	text = xmalloc_printf("Operation cannot be fulfilled on %s \"" STR_FMT "\": %s", q,
			      STR_ARG(name), why);
	details = details_of(res, name);
	if (sub != NULL) {
		CLEANUP(xmalloc_freep) char *kind = xmalloc_printf("%s/%s", res->plural, sub);

		jdoc_set_str(details, "kind", kind);
	}
	return answer(resp, 409, "Conflict", text, details);
}

int kstatus_other_uid(struct apiserver_response *resp, const struct resource *res, struct str ns,
		      struct str name, const char *wanted, struct str uid)
{
	bool has_ns = resource_is_namespaced(res);

	return kstatus_conflict(
		resp, res, NULL, name,
		"StorageError: invalid object, Code: 4, Key: /registry/%s%s%s/" STR_FMT "%s" STR_FMT
		", ResourceVersion: 0, AdditionalErrorMsg: "
		"Precondition failed: UID in precondition: %s, UID in object meta: " STR_FMT,
		res->is_custom ? res->group : "", res->is_custom ? "/" : "", res->plural,
		STR_ARG(has_ns ? ns : STR_LIT("")), has_ns ? "/" : "", STR_ARG(name), wanted,
		STR_ARG(uid));
}

int kstatus_forbidden(struct apiserver_response *resp, const struct resource *res, struct str name,
		      const char *fmt, ...)
{
	CLEANUP(xmalloc_freep) char *why = NULL;
	CLEANUP(xmalloc_freep) char *q = qualified(res, NULL);
	CLEANUP(xmalloc_freep) char *text = NULL;

	FORMAT_ARGS(why, fmt);
	text = xmalloc_printf("%s \"" STR_FMT "\" is forbidden: %s", q, STR_ARG(name), why);
	return answer(resp, 403, "Forbidden", text, details_of(res, name));
}

int kstatus_disruption_budget(struct apiserver_response *resp, const char *cause)
{
	struct jdoc *details = jdoc_new_object(), *one;

	one = jdoc_append_take(jdoc_ensure_array(details, "causes"), jdoc_new_object());
	jdoc_set_str(one, "reason", "DisruptionBudget");
	jdoc_set_str(one, "message", cause);
	return answer(resp, 429, "TooManyRequests",
		      "Cannot evict pod as it would violate the pod's disruption budget.", details);
}

int kstatus_too_large(struct apiserver_response *resp, int64_t wanted, int64_t current)
{
	CLEANUP(xmalloc_freep)
	char *text = xmalloc_printf("Timeout: Too large resource version: %" PRId64
				    ", current: %" PRId64,
				    wanted, current);
	struct jdoc *details = jdoc_new_object();
	struct jdoc *cause;

	cause = jdoc_append_take(jdoc_ensure_array(details, "causes"), jdoc_new_object());
	jdoc_set_str(cause, "reason", "ResourceVersionTooLarge");
	jdoc_set_str(cause, "message", "Too large resource version");
	jdoc_set_int(details, "retryAfterSeconds", 1);
	return answer(resp, 504, "Timeout", text, details);
}

int kstatus_gone(struct apiserver_response *resp, const char *fmt, ...)
{
	CLEANUP(xmalloc_freep) char *text = NULL;

	FORMAT_ARGS(text, fmt);
	return answer(resp, 410, "Expired", text, NULL);
}

int kstatus_method(struct apiserver_response *resp)
{
	return answer(resp, 405, "MethodNotAllowed",
		      "the server does not allow this method on the requested resource",
		      jdoc_new_object());
}

int kstatus_no_verb(struct apiserver_response *resp, const struct resource *res, const char *verb)
{
	CLEANUP(xmalloc_freep) char *q = qualified(res, NULL);
	CLEANUP(xmalloc_freep)
	char *text = xmalloc_printf("%s is not supported on resources of kind \"%s\"", verb, q);

	return answer(resp, 405, "MethodNotAllowed", text, details_of(res, STR_LIT("")));
}

int kstatus_media_type(struct apiserver_response *resp, const char *accepted)
{
	CLEANUP(xmalloc_freep)
	char *text = xmalloc_printf("the body of the request was in an unknown format - accepted "
				    "media types include: %s",
				    accepted);

	return answer(resp, 415, "UnsupportedMediaType", text, NULL);
}

/* "conflicts with A:" and its fields, then those of the next one. */
static void add_conflicts(const struct jdoc *causes, struct strbuf *text)
{
	const char *last = "";

	for (const struct jdoc *c = jdoc_first(causes); c != NULL; c = jdoc_next(c)) {
		const char *manager = jdoc_path_str(c, "message") + sizeof("conflict with ") - 1;

		if (!str_streq(manager, last)) {
			strbuf_printf(text, "%sconflicts with %s:", last[0] == '\0' ? "" : "\n",
				      manager);
		}
		last = manager;
		strbuf_printf(text, "\n- %s", jdoc_path_str(c, "field"));
	}
}

int kstatus_apply_conflict(struct apiserver_response *resp, const struct jdoc *causes)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	const struct jdoc *first = jdoc_first(causes);
	struct jdoc *details = jdoc_new_object();
	size_t n = jdoc_count(causes);

	jdoc_set_take(details, "causes", jdoc_copy(causes));
	strbuf_printf(&text, "Apply failed with %zu conflict%s: ", n, n == 1 ? "" : "s");
	if (n == 1) {
		strbuf_printf(&text, "%s: %s", jdoc_path_str(first, "message"),
			      jdoc_path_str(first, "field"));
	} else {
		add_conflicts(causes, &text);
	}
	return answer(resp, 409, "Conflict", text.p, details);
}

int kstatus_no_patch(struct apiserver_response *resp)
{
	return answer(resp, 415, "UnsupportedMediaType", "415: Unsupported Media Type",
		      jdoc_new_object());
}

int kstatus_rejected(struct apiserver_response *resp)
{
	return answer(resp, 422, "Invalid",
		      "the server rejected our request due to an error in our request",
		      jdoc_new_object());
}

int kstatus_internal(struct apiserver_response *resp, const char *fmt, ...)
{
	CLEANUP(xmalloc_freep) char *text = NULL;
	CLEANUP(xmalloc_freep) char *whole = NULL;
	struct jdoc *details, *cause;

	FORMAT_ARGS(text, fmt);
	whole = xmalloc_printf("Internal error occurred: %s", text);
	details = jdoc_new_object();
	cause = jdoc_append_take(jdoc_ensure_array(details, "causes"), jdoc_new_object());
	jdoc_set_str(cause, "message", text);
	return answer(resp, 500, "InternalError", whole, details);
}

int kstatus_invalid(struct apiserver_response *resp, const struct resource *res, struct str name,
		    const struct jdoc *causes)
{
	return kstatus_invalid_kind(resp, res->group, res->kind, name, causes);
}

int kstatus_invalid_options(struct apiserver_response *resp, const char *kind,
			    const struct jdoc *causes)
{
	return kstatus_invalid_kind(resp, "meta.k8s.io", kind, STR_LIT(""), causes);
}

int kstatus_invalid_kind(struct apiserver_response *resp, const char *group, const char *kind,
			 struct str name, const struct jdoc *causes)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	size_t n = jdoc_count(causes);
	struct jdoc *details = jdoc_new_object();

	if (name.len > 0) {
		jdoc_set_take(details, "name", jdoc_new_str_n(name));
	}
	if (group[0] != '\0') {
		jdoc_set_str(details, "group", group);
	}
	if (kind[0] != '\0') {
		jdoc_set_str(details, "kind", kind);
	}
	jdoc_set_take(details, "causes", jdoc_copy(causes));
	strbuf_printf(&text, "%s%s%s \"" STR_FMT "\" is invalid: %s", kind,
		      group[0] == '\0' ? "" : ".", group, STR_ARG(name), n > 1 ? "[" : "");
	for (const struct jdoc *c = jdoc_first(causes); c != NULL; c = jdoc_next(c)) {
		strbuf_printf(&text, "%s%s: %s", c == jdoc_first(causes) ? "" : ", ",
			      jdoc_path_str(c, "field"), jdoc_path_str(c, "message"));
	}
	if (n > 1) {
		strbuf_add_c(&text, "]");
	}
	return answer(resp, 422, "Invalid", text.p, details);
}

void kstatus_success(struct apiserver_response *resp, int code, const struct resource *res,
		     struct str name, const char *uid)
{
	struct jdoc *details = NULL;

	if (res != NULL) {
		details = details_of(res, name);
		if (uid != NULL) {
			jdoc_set_str(details, "uid", uid);
		}
	}
	(void)answer(resp, code, "", "", details);
}
