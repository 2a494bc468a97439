#include "apiserver/options.h"

#include <stdio.h>

#include "apiserver/kstatus.h"
#include "apiserver/server.h"
#include "base/attrs.h"
#include "enc/json/jdoc.h"
#include "schema/causes.h"

#define MANAGER_MAX 128

static const char *kind_of(const struct call *c)
{
	switch (c->req->method) {
	case HTTP_POST:
		return "CreateOptions";
	case HTTP_PUT:
		return "UpdateOptions";
	case HTTP_PATCH:
		return "PatchOptions";
	case HTTP_DELETE:
		return "DeleteOptions";
	case HTTP_GET:
	case HTTP_HEAD:
	case HTTP_OTHER:
	case HTTP_METHOD_COUNT_:
	default:
		return "ListOptions";
	}
}

static void check_manager(const struct call *c, struct jdoc *causes)
{
	const struct strbuf *manager = &c->info.field_manager;
	bool applies = c->req->method == HTTP_PATCH &&
		       str_has_prefix(c->req->content_type, "application/apply-patch");

	if (applies && manager->len == 0) {
		causes_add(causes, "FieldValueRequired", "fieldManager",
			   "Required value: is required for apply patch");
	}
	if (c->req->method == HTTP_PATCH && !applies && c->info.force) {
		causes_add(causes, "FieldValueForbidden", "force",
			   "Forbidden: may not be specified for non-apply patch");
	}
	if (manager->len > MANAGER_MAX) {
		causes_add(causes, "FieldValueTooLong", "fieldManager",
			   "Too long: may not be more than %d bytes", MANAGER_MAX);
	}
}

static void check_validation(const struct call *c, struct jdoc *causes)
{
	static const char *const known[] = { "", "Ignore", "Strict", "Warn" };
	const char *value = c->info.field_validation.p;

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		if (str_streq(value, known[i])) {
			return;
		}
	}
	causes_add(causes, "FieldValueNotSupported", "fieldValidation",
		   "Unsupported value: \"%s\": supported values: \"\", \"Ignore\", \"Strict\", "
		   "\"Warn\"",
		   value);
}

int options_check(struct call *c)
{
	CLEANUP(jdoc_destroyp) struct jdoc *causes = jdoc_new_array();

	if (c->info.bad_number.len > 0) {
		return kstatus_bad_request(c->resp,
					   "strconv.ParseInt: parsing \"%s\": invalid syntax",
					   c->info.bad_number.p);
	}
	if (c->req->method == HTTP_GET || c->req->method == HTTP_HEAD) {
		return 0;
	}
	if (c->info.bad_dry_run.len > 0) {
		causes_add(causes, "FieldValueNotSupported", "dryRun",
			   "Unsupported value: [\"%s\"]: supported values: \"All\"",
			   c->info.bad_dry_run.p);
	}
	check_manager(c, causes);
	check_validation(c, causes);
	return jdoc_first(causes) == NULL ? 0
					  : kstatus_invalid_options(c->resp, kind_of(c), causes);
}

int options_check_delete(struct call *c, const struct jdoc *options)
{
	static const char *const policies[] = { "Foreground", "Background", "Orphan" };
	CLEANUP(jdoc_destroyp) struct jdoc *causes = NULL;
	const char *kind = jdoc_str_or(jdoc_get(options, "kind"), "DeleteOptions");
	const char *version = jdoc_str_or(jdoc_get(options, "apiVersion"), "v1");
	const char *policy = jdoc_str(jdoc_get(options, "propagationPolicy"));

	if (!str_streq(kind, "DeleteOptions")) {
		return kstatus_bad_request(c->resp,
					   "no kind \"%s\" is registered for version \"%s\" in "
					   "scheme \"pkg/runtime/scheme.go:111\"",
					   kind, version);
	}
	for (size_t i = 0; policy != NULL && i < ARRAY_LEN(policies); i++) {
		if (str_streq(policy, policies[i])) {
			return 0;
		}
	}
	if (policy == NULL) {
		return 0;
	}
	causes = jdoc_new_array();
	causes_add(causes, "FieldValueNotSupported", "propagationPolicy",
		   "Unsupported value: \"%s\": supported values: \"Foreground\", "
		   "\"Background\", \"Orphan\", \"nil\"",
		   policy);
	return kstatus_invalid_options(c->resp, "DeleteOptions", causes);
}

int options_refuse_list(struct call *c, const char *reason, const char *field, const char *why)
{
	CLEANUP(jdoc_destroyp) struct jdoc *causes = jdoc_new_array();

	causes_add(causes, reason, field, "%s", why);
	return kstatus_invalid_options(c->resp, "ListOptions", causes);
}

bool options_is_strict(const struct call *c)
{
	return str_eq_c(strbuf_str(&c->info.field_validation), "Strict");
}

struct jdoc *options_for_review(const struct call *c, const char *kind)
{
	struct jdoc *o = jdoc_new_object();

	jdoc_set_str(o, "kind", kind);
	jdoc_set_str(o, "apiVersion", "meta.k8s.io/v1");
	if (c->info.dry_run) {
		jdoc_append_take(jdoc_ensure_array(o, "dryRun"), jdoc_new_str("All"));
	}
	if (c->info.field_manager.len > 0) {
		jdoc_set_str(o, "fieldManager", c->info.field_manager.p);
	}
	if (c->info.field_validation.len > 0) {
		jdoc_set_str(o, "fieldValidation", c->info.field_validation.p);
	}
	return o;
}
