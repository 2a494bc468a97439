#include "apiserver/kubectl/openapi.h"

#include "apiserver/kstatus.h"
#include "apiserver/kubectl/openapi_proto.h"
#include "apiserver/server.h"
#include "base/attrs.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"

static int answer(struct call *c, const struct jdoc *doc)
{
	c->resp->status = 200;
	jdoc_format(doc, &c->resp->body);
	return 0;
}

static void add_path(struct jdoc *paths, const struct resource *r)
{
	CLEANUP(xmalloc_freep)
	char *key = r->group[0] == '\0' ? xmalloc_printf("api/%s", r->version)
					: xmalloc_printf("apis/%s", r->api_version);
	CLEANUP(xmalloc_freep) char *url = xmalloc_printf("/openapi/v3/%s", key);

	if (jdoc_get(paths, key) == NULL) {
		jdoc_set_str(jdoc_ensure_object(paths, key), "serverRelativeURL", url);
	}
}

static int index_v3(struct call *c)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = jdoc_new_object();
	struct jdoc *paths = jdoc_ensure_object(doc, "paths");

	for (size_t i = 0; i < c->s->resources.n; i++) {
		if (!c->s->resources.v[i]->removed) {
			add_path(paths, c->s->resources.v[i]);
		}
	}
	return answer(c, doc);
}

static void add_parameter(struct jdoc *list, const char *name, const char *in)
{
	struct jdoc *p = jdoc_append_take(list, jdoc_new_object());

	jdoc_set_str(p, "name", name);
	jdoc_set_str(p, "in", in);
	jdoc_set_str(jdoc_ensure_object(p, "schema"), "type", "string");
	if (str_streq(in, "path")) {
		jdoc_set_bool(p, "required", true);
	}
}

static void set_gvk(struct jdoc *obj, const struct resource *r)
{
	jdoc_set_str(obj, "group", r->group);
	jdoc_set_str(obj, "kind", r->kind);
	jdoc_set_str(obj, "version", r->version);
}

static void add_operation(struct jdoc *item, const char *verb, const char *action,
			  const struct resource *r)
{
	struct jdoc *op = jdoc_ensure_object(item, verb);
	struct jdoc *parameters = jdoc_ensure_array(op, "parameters");
	struct jdoc *ok;

	jdoc_set_str(op, "x-kubernetes-action", action);
	set_gvk(jdoc_ensure_object(op, "x-kubernetes-group-version-kind"), r);
	if (!str_streq(verb, "get")) {
		add_parameter(parameters, "dryRun", "query");
		add_parameter(parameters, "fieldManager", "query");
		add_parameter(parameters, "fieldValidation", "query");
	}
	ok = jdoc_ensure_object(jdoc_ensure_object(op, "responses"), "200");
	jdoc_set_str(ok, "description", "OK");
}

static void add_paths(struct jdoc *paths, const struct resource *r)
{
	CLEANUP(xmalloc_freep)
	char *url = xmalloc_printf(
		"/%s/%s%s/%s/{name}", r->group[0] == '\0' ? "api" : "apis", r->api_version,
		resource_is_namespaced(r) ? "/namespaces/{namespace}" : "", r->plural);
	struct jdoc *item = jdoc_ensure_object(paths, url);

	add_parameter(jdoc_ensure_array(item, "parameters"), "name", "path");
	add_operation(item, "get", "get", r);
	add_operation(item, "patch", "patch", r);
	add_operation(item, "put", "put", r);
}

static void add_schema(struct jdoc *schemas, const struct resource *r)
{
	CLEANUP(xmalloc_freep)
	char *name = xmalloc_printf("%s.%s.%s", r->group[0] == '\0' ? "core" : r->group, r->version,
				    r->kind);
	struct jdoc *s = jdoc_set_take(
		schemas, name, r->schema != NULL ? jdoc_copy(r->schema) : jdoc_new_object());
	struct jdoc *properties;
	static const char *const members[] = { "apiVersion", "kind", "metadata" };

	jdoc_set_str(s, "type", "object");
	properties = jdoc_ensure_object(s, "properties");
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		struct jdoc *m = jdoc_ensure_object(properties, members[i]);

		jdoc_set_str(m, "type", i == 2 ? "object" : "string");
	}
	if (r->schema == NULL) {
		jdoc_set_bool(s, "x-kubernetes-preserve-unknown-fields", true);
	}
	set_gvk(jdoc_append_take(jdoc_ensure_array(s, "x-kubernetes-group-version-kind"),
				 jdoc_new_object()),
		r);
}

static int group_v3(struct call *c, struct str key)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = jdoc_new_object();
	struct jdoc *info, *paths, *schemas;
	bool any = false;

	if (str_has_prefix(key, "api/")) {
		key.p += 4;
		key.len -= 4;
	} else if (str_has_prefix(key, "apis/")) {
		key.p += 5;
		key.len -= 5;
	}
	jdoc_set_str(doc, "openapi", "3.0.0");
	info = jdoc_ensure_object(doc, "info");
	jdoc_set_str(info, "title", "Kubernetes");
	jdoc_set_str(info, "version", "v1.32.0");
	paths = jdoc_ensure_object(doc, "paths");
	schemas = jdoc_ensure_object(jdoc_ensure_object(doc, "components"), "schemas");
	for (size_t i = 0; i < c->s->resources.n; i++) {
		const struct resource *r = c->s->resources.v[i];

		if (!r->removed && str_eq_c(key, r->api_version)) {
			add_paths(paths, r);
			add_schema(schemas, r);
			any = true;
		}
	}
	return any ? answer(c, doc) : kstatus_no_path(c->resp);
}

static int v2(struct call *c)
{
	c->resp->status = 200;
	if (c->req->accept.len > 0 && memmem(c->req->accept.p, c->req->accept.len, "protobuf", 8)) {
		c->resp->content_type =
			"application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
		openapi_proto_format(&c->s->resources, &c->resp->body);
	} else {
		strbuf_add_c(&c->resp->body, "{\"swagger\":\"2.0\",\"info\":{\"title\":"
					     "\"Kubernetes\",\"version\":\"v1.32.0\"},"
					     "\"paths\":{},\"definitions\":{}}");
	}
	return 0;
}

int openapi_handle(struct call *c, struct str path)
{
	if (str_eq_c(path, "/openapi/v2")) {
		return v2(c);
	}
	if (str_eq_c(path, "/openapi/v3")) {
		return index_v3(c);
	}
	if (str_has_prefix(path, "/openapi/v3/")) {
		return group_v3(c, (struct str){ path.p + 12, path.len - 12 });
	}
	return kstatus_no_path(c->resp);
}
