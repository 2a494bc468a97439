#include "apiserver/rules/admission_review.h"

#include "apiserver/options.h"
#include "apiserver/server.h"
#include "base/attrs.h"
#include "base/err.h"
#include "enc/base64.h"
#include "enc/json/jdoc.h"
#include "enc/json/patch_apply.h"

static void set_triple(struct jdoc *request, const char *key, const struct call *c,
		       const char *last_key, const char *last)
{
	struct jdoc *t = jdoc_set_take(request, key, jdoc_new_object());

	jdoc_set_str(t, "group", c->res->group);
	jdoc_set_str(t, "version", c->res->version);
	jdoc_set_str(t, last_key, last);
}

static const char *options_kind(const struct admission_subject *subject)
{
	if (subject->object == NULL) {
		return "DeleteOptions";
	}
	return subject->old == NULL ? "CreateOptions" : "UpdateOptions";
}

struct jdoc *admission_review_build(struct call *c, const struct admission_subject *subject)
{
	const struct jdoc *doc = subject->object != NULL ? subject->object : subject->old;
	struct jdoc *review = jdoc_new_object();
	struct jdoc *request, *user;
	char uid[37];

	rng_uuid(&c->s->rng, uid);
	jdoc_set_str(review, "kind", "AdmissionReview");
	jdoc_set_str(review, "apiVersion", "admission.k8s.io/v1");
	request = jdoc_ensure_object(review, "request");
	jdoc_set_str(request, "uid", uid);
	set_triple(request, "kind", c, "kind", c->res->kind);
	set_triple(request, "resource", c, "resource", c->res->plural);
	set_triple(request, "requestKind", c, "kind", c->res->kind);
	set_triple(request, "requestResource", c, "resource", c->res->plural);
	if (c->info.sub.len > 0) {
		jdoc_set_take(request, "subResource", jdoc_new_str_n(c->info.sub));
	}
	if (jdoc_path_str(doc, "metadata.name") != NULL) { /* it may still be generated */
		jdoc_set_str(request, "name", jdoc_path_str(doc, "metadata.name"));
	}
	if (resource_is_namespaced(c->res)) {
		jdoc_set_take(request, "namespace", jdoc_new_str_n(c->info.ns));
	}
	jdoc_set_str(request, "operation", admission_match_op_name(subject->op));
	user = jdoc_ensure_object(request, "userInfo");
	jdoc_set_str(user, "username", "system:admin");
	jdoc_append_take(jdoc_ensure_array(user, "groups"), jdoc_new_str("system:masters"));
	jdoc_set_bool(request, "dryRun", c->info.dry_run);
	jdoc_set_take(request, "options", options_for_review(c, options_kind(subject)));
	return review;
}

void admission_review_add_objects(struct jdoc *review, const struct admission_subject *subject)
{
	struct jdoc *request = jdoc_get_mut(review, "request");

	jdoc_set_take(request, "object",
		      subject->object != NULL ? jdoc_copy(subject->object) : jdoc_new_null());
	jdoc_set_take(request, "oldObject",
		      subject->old != NULL ? jdoc_copy(subject->old) : jdoc_new_null());
}

int admission_review_parse(struct str text, const struct jdoc *review, struct jdoc **ret,
			   struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *answer = NULL;
	struct jdoc *response;
	int r = jdoc_parse(text, &answer, err);

	if (r < 0) {
		return err_wrap(err, "expected an AdmissionReview");
	}
	response = jdoc_get_mut(answer, "response");
	if (!jdoc_is_str(jdoc_get(answer, "kind"), "AdmissionReview") ||
	    !jdoc_is_str(jdoc_get(answer, "apiVersion"), "admission.k8s.io/v1") ||
	    jdoc_kind(response) != JDOC_OBJECT) {
		return err_set(err, ERR_INVALID,
			       "expected webhook response of admission.k8s.io/v1, "
			       "Kind=AdmissionReview");
	}
	if (!jdoc_equal(jdoc_get(response, "uid"), jdoc_path(review, "request.uid"))) {
		return err_set(err, ERR_INVALID,
			       "received invalid webhook response: expected response.uid=\"%s\", "
			       "got \"%s\"",
			       jdoc_path_str(review, "request.uid"),
			       jdoc_str_or(jdoc_get(response, "uid"), ""));
	}
	*ret = jdoc_detach(answer, response);
	return 0;
}

int admission_review_patch(const struct jdoc *response, struct jdoc **doc, struct err *err)
{
	const char *encoded = jdoc_str(jdoc_get(response, "patch"));
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *patch = NULL;
	int r;

	if (encoded == NULL || encoded[0] == '\0') {
		return 0;
	}
	if (!jdoc_is_str(jdoc_get(response, "patchType"), "JSONPatch")) {
		return err_set(err, ERR_INVALID, "unsupported patchType");
	}
	r = base64_decode(str_of(encoded), &text, err);
	if (r == 0) {
		r = jdoc_parse(strbuf_str(&text), &patch, err);
	}
	if (r == 0) {
		r = patch_apply_json(doc, patch, err);
	}
	return r < 0 ? err_wrap(err, "patch") : 0;
}
