#include "apiserver/verbs/patching.h"

#include "apiserver/kstatus.h"
#include "apiserver/server.h"
#include "apiserver/verbs/body.h"
#include "apiserver/verbs/strategic.h"
#include "base/attrs.h"
#include "base/err.h"
#include "enc/json/jdoc.h"
#include "enc/json/patch_apply.h"

#define ACCEPTED_CUSTOM                                                                            \
	"application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"

static int make_json(struct call *c, const struct jdoc *old, struct jdoc **ret)
{
	CLEANUP(jdoc_destroyp) struct jdoc *patch = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *doc = jdoc_copy(old);
	struct err err = ERR_INIT;

	if (c->req->body.len > APISERVER_MAX_BODY) {
		return kstatus_fail(c->resp, 413, "RequestEntityTooLarge",
				    "Request entity too large: limit is %u", APISERVER_MAX_BODY);
	}
	if (jdoc_parse(c->req->body, &patch, &err) < 0 || jdoc_kind(patch) != JDOC_ARRAY) {
		return kstatus_bad_request(c->resp, "error decoding patch: %s", err.text);
	}
	if (patch_apply_json(&doc, patch, &err) < 0) {
		/* The error itself goes to the server's log. */
		return kstatus_rejected(c->resp);
	}
	*ret = take_ptr(&doc);
	return 0;
}

static int make_merge(struct call *c, const struct jdoc *old, bool strategic, struct jdoc **ret)
{
	CLEANUP(jdoc_destroyp) struct jdoc *patch = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *doc = jdoc_copy(old);
	struct err err = ERR_INIT;
	int r = body_parse(c, &patch);

	if (r < 0) {
		return r;
	}
	if (jdoc_kind(patch) != JDOC_OBJECT) {
		return kstatus_bad_request(c->resp, "the patch is not an object");
	}
	if (!strategic) {
		patch_apply_merge(&doc, patch);
	} else if (strategic_apply(&doc, patch, &err) < 0) {
		return kstatus_bad_request(c->resp, "%s", err.text);
	}
	*ret = take_ptr(&doc);
	return 0;
}

static bool is_strategic(const struct call *c)
{
	return str_has_prefix(c->req->content_type, "application/strategic-merge-patch+json") &&
	       !c->res->is_custom;
}

int patching_check_type(struct call *c)
{
	struct str type = c->req->content_type;

	if (is_strategic(c) || str_has_prefix(type, "application/json-patch+json") ||
	    str_has_prefix(type, "application/merge-patch+json")) {
		return 0;
	}
	return c->res->is_custom ? kstatus_media_type(c->resp, ACCEPTED_CUSTOM)
				 : kstatus_no_patch(c->resp);
}

int patching_make(struct call *c, const struct jdoc *old, struct jdoc **ret)
{
	if (str_has_prefix(c->req->content_type, "application/json-patch+json")) {
		return make_json(c, old, ret);
	}
	return make_merge(c, old, is_strategic(c), ret);
}
