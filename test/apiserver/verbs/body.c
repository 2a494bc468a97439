#include "apiserver/verbs/body.h"

#include "apiserver/kstatus.h"
#include "apiserver/kubectl/protobuf.h"
#include "apiserver/options.h"
#include "apiserver/server.h"
#include "apiserver/store/shape.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"
#include "schema/causes.h"
#include "schema/schema.h"

#define ACCEPTED_CUSTOM "application/json, application/yaml"
#define ACCEPTED ACCEPTED_CUSTOM ", " PROTOBUF_MEDIA_TYPE
#define HEAD_LEN 30 /* of a body, in messages */

/* Most senders of YAML send JSON, which is YAML as well, and is read faster as what it is. */
static int parse_yaml(struct str text, struct jdoc **ret, struct err *err)
{
	if (str_has_prefix(text, "{") && jdoc_parse(text, ret, NULL) == 0) {
		return 0;
	}
	return yaml_parse(text, ret, err);
}

int body_parse(struct call *c, struct jdoc **ret)
{
	struct str type = c->req->content_type;
	bool is_custom = c->res != NULL && c->res->is_custom;
	struct err err = ERR_INIT;
	int r;

	if (c->req->body.len > APISERVER_MAX_BODY) {
		return kstatus_fail(c->resp, 413, "RequestEntityTooLarge",
				    "Request entity too large: limit is %u", APISERVER_MAX_BODY);
	}
	if (str_has_prefix(type, "application/yaml") || str_has_prefix(type, "application/apply") ||
	    str_has_prefix(type, "application/x-yaml")) {
		r = parse_yaml(c->req->body, ret, &err);
	} else if (type.len == 0 || str_has_prefix(type, "application/json") ||
		   str_has_prefix(type, "application/merge-patch+json") ||
		   str_has_prefix(type, "application/strategic-merge-patch+json")) {
		r = jdoc_parse(c->req->body, ret, &err);
	} else if (str_has_prefix(type, PROTOBUF_MEDIA_TYPE) && !is_custom) {
		r = protobuf_parse(c->req->body, ret, &err);
	} else {
		return kstatus_media_type(c->resp, is_custom ? ACCEPTED_CUSTOM : ACCEPTED);
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

	if (c->req->method == HTTP_PUT && !c->trusted && (name == NULL || name[0] == '\0')) {
		return kstatus_bad_request(
			c->resp,
			"the name of the object (" STR_FMT
			" based on URL) was undeterminable: name must be provided",
			STR_ARG(c->info.name));
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

/* Built-in kinds are what the path says when nothing is said; custom ones must say it. */
static int check_kind(struct call *c, const struct jdoc *doc, const char *version, const char *kind)
{
	const char *short_version =
		strrchr(version, '/') == NULL ? version : strrchr(version, '/') + 1;
	bool same_version = version[0] == '\0' || str_streq(version, c->res->api_version);
	CLEANUP(jdoc_destroyp) struct jdoc *causes = NULL;
	CLEANUP(xmalloc_freep) char *why = NULL;
	struct str head = { c->req->body.p,
			    c->req->body.len < HEAD_LEN ? c->req->body.len : HEAD_LEN };

	if (c->res->is_custom && (kind[0] == '\0' || version[0] == '\0')) {
		return kstatus_bad_request(c->resp,
					   "the object provided is unrecognized (must be of type "
					   "%s): Object '%s' is missing in '" STR_FMT "' (" STR_FMT
					   "%s)",
					   c->res->kind, kind[0] == '\0' ? "Kind" : "apiVersion",
					   STR_ARG(c->req->body), STR_ARG(head),
					   head.len < c->req->body.len ? " ..." : "");
	}
	if (same_version && (kind[0] == '\0' || str_streq(kind, c->res->kind))) {
		return 0;
	}
	if (c->res->is_custom && same_version) {
		causes = jdoc_new_array();
		why = xmalloc_printf("must be %s", c->res->kind);
		causes_add_value(causes, "kind", jdoc_get(doc, "kind"), why);
		return kstatus_invalid_kind(c->resp, c->res->group, kind,
					    str_of(jdoc_path_str(doc, "metadata.name")), causes);
	}
	if (same_version && resource_find_kind(&c->s->resources, c->res->api_version, kind)) {
		return kstatus_bad_request(
			c->resp,
			"%s in version \"%s\" cannot be handled as a %s: converting (%s.%s) to "
			"(core.%s): unknown conversion",
			kind, c->res->version, c->res->kind, c->res->version, kind, c->res->kind);
	}
	return kstatus_bad_request(c->resp,
				   "%s in version \"%s\" cannot be handled as a %s: no kind \"%s\" "
				   "is registered for version \"%s\" in scheme "
				   "\"pkg/runtime/scheme.go:111\"",
				   kind, short_version, c->res->kind, kind, version);
}

int body_check_object(struct call *c, struct jdoc *doc)
{
	CLEANUP(strbuf_finish) struct strbuf why = STRBUF_INIT;
	const char *version, *kind;
	int r;

	if (jdoc_kind(doc) != JDOC_OBJECT) {
		return kstatus_bad_request(c->resp,
					   "the object provided is unrecognized (must be "
					   "of type %s)",
					   c->res->kind);
	}
	version = jdoc_str_or(jdoc_get(doc, "apiVersion"), "");
	kind = jdoc_str_or(jdoc_get(doc, "kind"), "");
	r = check_kind(c, doc, version, kind);
	if (r == 0 && shape_check(c->res, doc, &why) < 0) {
		r = kstatus_bad_request(c->resp,
					"%s in version \"%s\" cannot be handled as a %s: %s",
					c->res->kind, c->res->version, c->res->kind, why.p);
	}
	if (r < 0) {
		return r;
	}
	jdoc_set_str(doc, "apiVersion", c->res->api_version);
	jdoc_set_str(doc, "kind", c->res->kind);
	return check_names(c, doc);
}

int body_check_strict(struct call *c, const struct jdoc *doc)
{
	CLEANUP(jdoc_destroyp) struct jdoc *unknown = jdoc_new_array();
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	if (c->res->schema == NULL || !options_is_strict(c)) {
		return 0;
	}
	schema_unknown(c->res->schema, doc, unknown);
	for (const struct jdoc *u = jdoc_first(unknown); u != NULL; u = jdoc_next(u)) {
		strbuf_printf(&text, "%sunknown field \"%s\"", text.len > 0 ? ", " : "",
			      jdoc_str(u));
	}
	if (text.len == 0) {
		return 0;
	}
	if (c->req->method == HTTP_PATCH) {
		CLEANUP(jdoc_destroyp) struct jdoc *causes = jdoc_new_array();

		causes_add(causes, "FieldValueInvalid", "patch",
			   "Invalid value: \"%s\": strict decoding error: %s",
			   jdoc_path_str(doc, "metadata.name"), text.p);
		return kstatus_invalid_kind(c->resp, "", "", STR_LIT(""), causes);
	}
	return kstatus_bad_request(
		c->resp,
		"%s in version \"%s\" cannot be handled as a %s: strict decoding "
		"error: %s",
		c->res->kind, c->res->version, c->res->kind, text.p);
}

int body_parse_object(struct call *c, struct jdoc **ret)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	int r = body_parse(c, &doc);

	r = r < 0 ? r : body_check_object(c, doc);
	r = r < 0 || c->applying ? r : body_check_strict(c, doc);
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
