#include "apiserver/body.h"

#include "apiserver/kstatus.h"
#include "apiserver/server.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/jdoc.h"
#include "enc/yaml.h"

#define ACCEPTED "application/json, application/yaml"

int body_parse(struct call *c, struct jdoc **ret)
{
	struct str type = c->req->content_type;
	struct err err = ERR_INIT;
	int r;

	if (c->req->body.len > APISERVER_MAX_BODY) {
		return kstatus_fail(c->resp, 413, "RequestEntityTooLarge",
				    "Request entity too large: limit is %u", APISERVER_MAX_BODY);
	}
	if (str_has_prefix(type, "application/yaml") || str_has_prefix(type, "application/apply") ||
	    str_has_prefix(type, "application/x-yaml")) {
		r = yaml_parse(c->req->body, ret, &err);
	} else if (type.len == 0 || str_has_prefix(type, "application/json") ||
		   str_has_prefix(type, "application/merge-patch+json") ||
		   str_has_prefix(type, "application/strategic-merge-patch+json")) {
		r = jdoc_parse(c->req->body, ret, &err);
	} else {
		return kstatus_media_type(c->resp, ACCEPTED);
	}
	if (r < 0) {
		return kstatus_bad_request(c->resp, "the object provided is unrecognized: %s",
					   err.text);
	}
	return 0;
}

static int check_names(struct call *c, struct jdoc *doc)
{
	struct jdoc *meta = jdoc_ensure_object(doc, "metadata");
	const char *ns = jdoc_str(jdoc_get(meta, "namespace"));
	const char *name = jdoc_str(jdoc_get(meta, "name"));

	if (meta == NULL) {
		return kstatus_bad_request(c->resp, "metadata: must be an object");
	}
	if (!resource_is_namespaced(c->res)) {
		jdoc_remove(meta, "namespace");
	} else if (ns != NULL && ns[0] != '\0' && !str_eq_c(c->info.ns, ns)) {
		return kstatus_bad_request(c->resp, "the namespace of the provided object does not "
						    "match the namespace sent on the request");
	} else {
		jdoc_set_take(meta, "namespace", jdoc_new_str_n(c->info.ns));
	}
	if (c->info.name.len > 0 && name != NULL && name[0] != '\0' &&
	    !str_eq_c(c->info.name, name)) {
		return kstatus_bad_request(c->resp,
					   "the name of the object (%s) does not match the name on "
					   "the URL (" STR_FMT ")",
					   name, STR_ARG(c->info.name));
	}
	if (c->info.name.len > 0) {
		jdoc_set_take(meta, "name", jdoc_new_str_n(c->info.name));
	}
	return 0;
}

int body_check_object(struct call *c, struct jdoc *doc)
{
	const char *version, *kind;

	if (jdoc_kind(doc) != JDOC_OBJECT) {
		return kstatus_bad_request(c->resp,
					   "the object provided is unrecognized (must be "
					   "of type %s)",
					   c->res->kind);
	}
	version = jdoc_str_or(jdoc_get(doc, "apiVersion"), "");
	kind = jdoc_str_or(jdoc_get(doc, "kind"), "");
	if (version[0] != '\0' && !str_streq(version, c->res->api_version)) {
		return kstatus_bad_request(c->resp,
					   "the API version in the data (%s) does not match the "
					   "expected API version (%s)",
					   version, c->res->api_version);
	}
	if (kind[0] != '\0' && !str_streq(kind, c->res->kind)) {
		return kstatus_bad_request(c->resp,
					   "%s in version \"%s\" cannot be handled as a %s", kind,
					   c->res->version, c->res->kind);
	}
	jdoc_set_str(doc, "apiVersion", c->res->api_version);
	jdoc_set_str(doc, "kind", c->res->kind);
	return check_names(c, doc);
}

int body_parse_object(struct call *c, struct jdoc **ret)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	int r = body_parse(c, &doc);

	if (r == 0) {
		r = body_check_object(c, doc);
	}
	if (r < 0) {
		return r;
	}
	*ret = take_ptr(&doc);
	return 0;
}

int body_parse_options(struct call *c, struct jdoc **ret)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	int r;

	if (str_trim(c->req->body).len == 0) {
		*ret = jdoc_new_object();
		return 0;
	}
	r = body_parse(c, &doc);
	if (r < 0) {
		return r;
	}
	if (jdoc_kind(doc) != JDOC_OBJECT) {
		return kstatus_bad_request(c->resp, "the options provided are not an object");
	}
	*ret = take_ptr(&doc);
	return 0;
}
