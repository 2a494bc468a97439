#include "apiserver/rules/admission.h"

#include "apiserver/kstatus.h"
#include "apiserver/rules/admission_match.h"
#include "apiserver/rules/admission_review.h"
#include "apiserver/server.h"
#include "apiserver/store/object.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/base64.h"
#include "enc/json/jdoc.h"
#include "schema/causes.h"
#include "schema/cel.h"

/* The webhooks of one kind of configuration with a rule that matches, in order; a copy, since the
 * store may change while a call-out is under way. */
static struct jdoc *find_hooks(struct call *c, const char *plural, enum admission_op op)
{
	struct resource *res =
		resource_find(&c->s->resources, STR_LIT("admissionregistration.k8s.io"),
			      STR_LIT("v1"), str_of(plural));
	struct jdoc *found = jdoc_new_array();
	struct sorted_pos pos = { 0, 0 };
	struct object *o;

	if (res == c->res) {
		return found; /* registrations themselves are never sent to webhooks */
	}
	while ((o = sorted_next(&res->bucket.objects, &pos)) != NULL) {
		const struct jdoc *hooks = jdoc_get(object_doc(o), "webhooks");

		for (const struct jdoc *h = jdoc_first(hooks); h != NULL; h = jdoc_next(h)) {
			if (admission_match_rules(c, h, op)) {
				jdoc_append_take(found, jdoc_copy(h));
			}
		}
	}
	return found;
}

static bool ignores_failure(const struct jdoc *hook)
{
	return jdoc_is_str(jdoc_get(hook, "failurePolicy"), "Ignore");
}

static int refuse(struct call *c, const struct jdoc *hook, const struct jdoc *response)
{
	const char *name = jdoc_str_or(jdoc_get(hook, "name"), "");
	const char *message = jdoc_path_str(response, "status.message");
	const char *reason = jdoc_path_str(response, "status.reason");
	int code = (int)jdoc_int(jdoc_path(response, "status.code"), 0);

	if (code < 400 || code > 599) {
		code = 403;
	}
	if (message == NULL && reason == NULL) {
		return kstatus_fail(c->resp, code, "Forbidden",
				    "admission webhook \"%s\" denied the request without "
				    "explanation",
				    name);
	}
	return kstatus_fail(c->resp, code, reason != NULL ? reason : "Forbidden",
			    "admission webhook \"%s\" denied the request: %s", name,
			    message != NULL ? message : reason);
}

static void note_warnings(struct call *c, const struct jdoc *response)
{
	const struct jdoc *first = jdoc_first(jdoc_get(response, "warnings"));

	if (first != NULL && jdoc_str(first) != NULL && c->resp->warning.len == 0) {
		strbuf_add_c(&c->resp->warning, jdoc_str(first));
	}
}

/* POSTs the review; *ret is the "response" object, checked for its UID, a root of its own. */
static int call_out(struct call *c, const struct jdoc *hook, const struct jdoc *review,
		    struct jdoc **ret, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf ca = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	CLEANUP(xmalloc_freep) char *url = NULL;
	const char *base = jdoc_path_str(hook, "clientConfig.url");
	const char *bundle = jdoc_str_or(jdoc_path(hook, "clientConfig.caBundle"), "");
	int64_t timeout_s = jdoc_int(jdoc_get(hook, "timeoutSeconds"), 10);
	struct apiserver_review call = { .timeout_ns = timeout_s * CLOCK_NS_PER_S };

	if (base == NULL) {
		return err_set(err, ERR_UNAVAILABLE,
			       "failed to call webhook: no url: services cannot be resolved here");
	}
	if (base64_decode(str_of(bundle), &ca, err) < 0) {
		return err_wrap(err, "failed to call webhook: caBundle");
	}
	if (c->s->opt.review == NULL) {
		return err_set(err, ERR_UNAVAILABLE,
			       "failed to call webhook: Post \"%s\": connection refused", base);
	}
	url = xmalloc_printf("%s%stimeout=%llds", base, strchr(base, '?') == NULL ? "?" : "&",
			     (long long)timeout_s);
	jdoc_format(review, &body);
	call.url = url;
	call.ca_bundle = strbuf_str(&ca);
	call.body = strbuf_str(&body);
	if (c->s->opt.review(c->s->opt.review_ctx, &call, &out, err) < 0) {
		/* errors of a call are worded as Go's HTTP client words them */
		if (err->code != ERR_INVALID) {
			(void)err_wrap(err, "Post \"%s\"", url);
		}
		return err_wrap(err, "failed to call webhook");
	}
	return admission_review_parse(strbuf_str(&out), review, ret, err);
}

/* One webhook: 0 allowed (or ignored), else refused with c->resp filled. *response NULL: nothing to
 * apply. */
static int ask(struct call *c, const struct jdoc *hook, const struct admission_subject *subject,
	       struct jdoc **response)
{
	CLEANUP(jdoc_destroyp) struct jdoc *review = admission_review_build(c, subject);
	CLEANUP(jdoc_destroyp) struct jdoc *answer = NULL;
	struct err err = ERR_INIT;
	int r = admission_match(c, hook, subject, jdoc_get(review, "request"), &err);

	if (r == 0) {
		return 0;
	}
	if (r > 0 && c->info.dry_run && !admission_match_has_no_effects(hook)) {
		return kstatus_bad_request(c->resp,
					   "admission webhook \"%s\" does not support dry run",
					   jdoc_str_or(jdoc_get(hook, "name"), ""));
	}
	if (r > 0) {
		admission_review_add_objects(review, subject);
		r = call_out(c, hook, review, &answer, &err);
	}
	if (r < 0) {
		if (ignores_failure(hook)) {
			return 0;
		}
		return kstatus_internal(c->resp, "failed calling webhook \"%s\": %s",
					jdoc_str_or(jdoc_get(hook, "name"), ""), err.text);
	}
	note_warnings(c, answer);
	if (!jdoc_bool(jdoc_get(answer, "allowed"), false)) {
		return refuse(c, hook, answer);
	}
	*response = take_ptr(&answer);
	return 0;
}

static int apply_patch(struct call *c, const struct jdoc *hook, const struct jdoc *response,
		       struct jdoc **doc)
{
	struct err err = ERR_INIT;

	c->patched = c->patched || jdoc_get(response, "patch") != NULL;
	if (admission_review_patch(response, doc, &err) == 0 || ignores_failure(hook)) {
		return 0;
	}
	return kstatus_internal(c->resp, "failed calling webhook \"%s\": %s",
				jdoc_str_or(jdoc_get(hook, "name"), ""), err.text);
}

int admission_mutate(struct call *c, enum admission_op op, const struct jdoc *old,
		     struct jdoc **doc)
{
	CLEANUP(jdoc_destroyp)
	struct jdoc *hooks = find_hooks(c, "mutatingwebhookconfigurations", op);
	int r = 0;

	for (const struct jdoc *h = jdoc_first(hooks); h != NULL && r == 0; h = jdoc_next(h)) {
		struct admission_subject subject = { op, old, doc == NULL ? NULL : *doc };
		CLEANUP(jdoc_destroyp) struct jdoc *response = NULL;

		r = ask(c, h, &subject, &response);
		if (r == 0 && response != NULL && doc != NULL) {
			r = apply_patch(c, h, response, doc);
		}
	}
	return r;
}

int admission_validate(struct call *c, enum admission_op op, const struct jdoc *old,
		       const struct jdoc *doc)
{
	CLEANUP(jdoc_destroyp)
	struct jdoc *hooks = find_hooks(c, "validatingwebhookconfigurations", op);
	const struct admission_subject subject = { op, old, doc };
	int r = 0;

	for (const struct jdoc *h = jdoc_first(hooks); h != NULL && r == 0; h = jdoc_next(h)) {
		CLEANUP(jdoc_destroyp) struct jdoc *response = NULL;

		r = ask(c, h, &subject, &response);
	}
	return r;
}

static void check_conditions(const struct jdoc *hook, size_t at, struct jdoc *causes)
{
	const struct jdoc *conditions = jdoc_get(hook, "matchConditions");
	size_t i = 0;

	for (const struct jdoc *m = jdoc_first(conditions); m != NULL; m = jdoc_next(m), i++) {
		const char *text = jdoc_str_or(jdoc_get(m, "expression"), "");
		struct err err = ERR_INIT;
		struct cel *cel = NULL;
		CLEANUP(xmalloc_freep)
		char *path = xmalloc_printf("webhooks[%zu].matchConditions[%zu].expression", at, i);

		if (cel_compile(str_of(text), &cel, &err) < 0) {
			CLEANUP(xmalloc_freep)
			char *why = xmalloc_printf("compilation failed: %s", err.text);

			causes_add_value(causes, path, jdoc_get(m, "expression"), why);
		}
		cel_destroy(cel);
	}
}

static void check_client(const struct jdoc *hook, size_t i, struct jdoc *causes)
{
	const char *effects = jdoc_str_or(jdoc_get(hook, "sideEffects"), "");
	const char *url = jdoc_path_str(hook, "clientConfig.url");
	CLEANUP(xmalloc_freep) char *at_effects = xmalloc_printf("webhooks[%zu].sideEffects", i);
	CLEANUP(xmalloc_freep) char *at_url = xmalloc_printf("webhooks[%zu].clientConfig.url", i);

	if (effects[0] == '\0') {
		causes_add(causes, "FieldValueRequired", at_effects,
			   "Required value: must specify one of None, NoneOnDryRun");
	}
	if (url != NULL && str_has_prefix(str_of(url), "http://")) {
		CLEANUP(jdoc_destroyp)
		struct jdoc *scheme = jdoc_new_str("http");

		causes_add_value(causes, at_url, scheme,
				 "'https' is the only allowed URL scheme; desired format: "
				 "https://host[/path]");
	}
}

void admission_check_registration(const struct jdoc *config, struct jdoc *causes)
{
	const struct jdoc *hooks = jdoc_get(config, "webhooks");
	size_t i = 0;

	for (const struct jdoc *h = jdoc_first(hooks); h != NULL; h = jdoc_next(h), i++) {
		CLEANUP(xmalloc_freep) char *path = xmalloc_printf("webhooks[%zu]", i);
		int64_t timeout = jdoc_int(jdoc_get(h, "timeoutSeconds"), 10);

		if (jdoc_str_or(jdoc_get(h, "name"), "")[0] == '\0') {
			causes_add(causes, "FieldValueRequired", path, "Required value: name");
		}
		if (jdoc_get(h, "clientConfig") == NULL) {
			causes_add(causes, "FieldValueRequired", path,
				   "Required value: clientConfig");
		}
		check_client(h, i, causes);
		if (timeout < 1 || timeout > 30) {
			causes_add_value(causes, path, jdoc_get(h, "timeoutSeconds"),
					 "the timeout value must be between 1 and 30 seconds");
		}
		check_conditions(h, i, causes);
	}
}
