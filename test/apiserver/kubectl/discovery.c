#include "apiserver/kubectl/discovery.h"

#include <string.h>

#include "apiserver/kstatus.h"
#include "apiserver/kubectl/openapi.h"
#include "apiserver/server.h"
#include "base/attrs.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"

#define VERSION_MAJOR "1"
#define VERSION_MINOR "37"
#define VERSION_GIT "v1.37.0-headgate"

static void add_words(struct jdoc *obj, const char *key, const char *words)
{
	struct str rest = str_of(words);
	struct jdoc *arr;

	if (words[0] == '\0') {
		return;
	}
	arr = jdoc_ensure_array(obj, key);
	while (rest.p != NULL) {
		jdoc_append_take(arr, jdoc_new_str_n(str_next(&rest, ',')));
	}
}

static void add_verbs(struct jdoc *obj, const char *verbs)
{
	add_words(obj, "verbs", verbs);
}

static const char *verbs_of(const struct resource *r)
{
	if ((r->flags & RESOURCE_VIRTUAL) != 0) {
		return "create";
	}
	if (r->is_custom) {
		return "delete,deletecollection,get,list,patch,create,update,watch";
	}
	if (str_streq(r->kind, "Namespace")) { /* there is no collection of them to delete */
		return "create,delete,get,list,patch,update,watch";
	}
	return "create,delete,deletecollection,get,list,patch,update,watch";
}

struct sub_row {
	const char *sub, *kind, *group, *version, *verbs; /* kind NULL: the resource's own */
};

static const struct sub_row subs[] = {
	{ "status", NULL, NULL, NULL, "get,patch,update" },
	{ "scale", "Scale", "autoscaling", "v1", "get,patch,update" },
	{ "binding", "Binding", NULL, NULL, "create" },
	{ "eviction", "Eviction", "policy", "v1", "create" },
	{ "resize", NULL, NULL, NULL, "get,patch,update" },
	{ "ephemeralcontainers", NULL, NULL, NULL, "get,patch,update" },
	{ "finalize", NULL, NULL, NULL, "update" },
};

static void add_resource(struct jdoc *list, const struct resource *r)
{
	struct jdoc *d = jdoc_append_take(list, jdoc_new_object());

	jdoc_set_str(d, "name", r->plural);
	jdoc_set_str(d, "singularName", r->singular);
	jdoc_set_bool(d, "namespaced", resource_is_namespaced(r));
	jdoc_set_str(d, "kind", r->kind);
	add_verbs(d, verbs_of(r));
	add_words(d, "shortNames", r->short_names);
	add_words(d, "categories", r->categories);
	for (size_t i = 0; i < ARRAY_LEN(subs); i++) {
		const struct sub_row *s = &subs[i];
		CLEANUP(xmalloc_freep) char *name = NULL;

		if (!resource_has_sub(r, str_of(s->sub))) {
			continue;
		}
		name = xmalloc_printf("%s/%s", r->plural, s->sub);
		d = jdoc_append_take(list, jdoc_new_object());
		jdoc_set_str(d, "name", name);
		jdoc_set_str(d, "singularName", "");
		jdoc_set_bool(d, "namespaced", resource_is_namespaced(r));
		if (s->group != NULL) {
			jdoc_set_str(d, "group", s->group);
			jdoc_set_str(d, "version", s->version);
		}
		jdoc_set_str(d, "kind", s->kind != NULL ? s->kind : r->kind);
		add_verbs(d, s->verbs);
	}
}

static int answer(struct call *c, const struct jdoc *doc)
{
	c->resp->status = 200;
	jdoc_format(doc, &c->resp->body);
	return 0;
}

static int resource_list(struct call *c, struct str group, struct str version)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = jdoc_new_object();
	const struct resource_table *t = &c->s->resources;
	struct jdoc *list;
	CLEANUP(xmalloc_freep)
	char *gv = group.len == 0
			   ? xmalloc_dup_n(version.p, version.len)
			   : xmalloc_printf(STR_FMT "/" STR_FMT, STR_ARG(group), STR_ARG(version));

	jdoc_set_str(doc, "kind", "APIResourceList");
	jdoc_set_str(doc, "apiVersion", "v1");
	jdoc_set_str(doc, "groupVersion", gv);
	list = jdoc_ensure_array(doc, "resources");
	for (size_t i = 0; i < t->n; i++) {
		if (!t->v[i]->removed && str_streq(t->v[i]->api_version, gv)) {
			add_resource(list, t->v[i]);
		}
	}
	return jdoc_first(list) == NULL ? kstatus_no_route(c->resp) : answer(c, doc);
}

static struct jdoc *find_group(struct jdoc *groups, const char *name)
{
	for (size_t i = 0; i < jdoc_count(groups); i++) {
		struct jdoc *g = jdoc_at_mut(groups, i);

		if (jdoc_is_str(jdoc_get(g, "name"), name)) {
			return g;
		}
	}
	return NULL;
}

static void add_version(struct jdoc *versions, const struct resource *r)
{
	struct jdoc *v;

	for (const struct jdoc *o = jdoc_first(versions); o != NULL; o = jdoc_next(o)) {
		if (jdoc_is_str(jdoc_get(o, "groupVersion"), r->api_version)) {
			return;
		}
	}
	v = jdoc_append_take(versions, jdoc_new_object());
	jdoc_set_str(v, "groupVersion", r->api_version);
	jdoc_set_str(v, "version", r->version);
}

/* APIGroups of all resources outside the core group. */
static struct jdoc *all_groups(const struct resource_table *t)
{
	struct jdoc *groups = jdoc_new_array();

	for (size_t i = 0; i < t->n; i++) {
		const struct resource *r = t->v[i];
		struct jdoc *g;

		if (r->removed || r->group[0] == '\0') {
			continue;
		}
		g = find_group(groups, r->group);
		if (g == NULL) {
			g = jdoc_append_take(groups, jdoc_new_object());
			jdoc_set_str(g, "name", r->group);
		}
		add_version(jdoc_ensure_array(g, "versions"), r);
		if (jdoc_get(g, "preferredVersion") == NULL) {
			jdoc_set_take(g, "preferredVersion",
				      jdoc_copy(jdoc_first(jdoc_get(g, "versions"))));
		}
	}
	return groups;
}

static int group_list(struct call *c)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = jdoc_new_object();

	jdoc_set_str(doc, "kind", "APIGroupList");
	jdoc_set_str(doc, "apiVersion", "v1");
	jdoc_set_take(doc, "groups", all_groups(&c->s->resources));
	return answer(c, doc);
}

static int one_group(struct call *c, struct str name)
{
	CLEANUP(jdoc_destroyp) struct jdoc *groups = all_groups(&c->s->resources);
	CLEANUP(xmalloc_freep) char *text = xmalloc_dup_n(name.p, name.len);
	struct jdoc *g = find_group(groups, text);

	if (g == NULL) {
		return kstatus_no_route(c->resp);
	}
	jdoc_set_str(g, "kind", "APIGroup");
	jdoc_set_str(g, "apiVersion", "v1");
	return answer(c, g);
}

static int core_versions(struct call *c)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = jdoc_new_object();

	jdoc_set_str(doc, "kind", "APIVersions");
	jdoc_append_take(jdoc_ensure_array(doc, "versions"), jdoc_new_str("v1"));
	jdoc_ensure_array(doc, "serverAddressByClientCIDRs");
	return answer(c, doc);
}

static int version(struct call *c)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = jdoc_new_object();

	jdoc_set_str(doc, "major", VERSION_MAJOR);
	jdoc_set_str(doc, "minor", VERSION_MINOR);
	jdoc_set_str(doc, "gitVersion", VERSION_GIT);
	jdoc_set_str(doc, "gitCommit", "");
	jdoc_set_str(doc, "gitTreeState", "clean");
	jdoc_set_str(doc, "buildDate", "1970-01-01T00:00:00Z");
	jdoc_set_str(doc, "goVersion", "none");
	jdoc_set_str(doc, "compiler", "gcc");
	jdoc_set_str(doc, "platform", "linux/amd64");
	return answer(c, doc);
}

static int handle_apis(struct call *c, struct str rest)
{
	struct str group = str_next(&rest, '/');
	struct str ver = str_next(&rest, '/');

	if (group.len == 0) {
		return group_list(c);
	}
	if (ver.len == 0) {
		return one_group(c, group);
	}
	return rest.len > 0 ? kstatus_no_route(c->resp) : resource_list(c, group, ver);
}

int discovery_handle(struct call *c)
{
	static const char *const health[] = { "/healthz", "/livez", "/readyz" };
	struct str path = strbuf_str(&c->info.path);

	while (path.len > 1 && path.p[path.len - 1] == '/') {
		path.len--;
	}
	for (size_t i = 0; i < ARRAY_LEN(health); i++) {
		if (str_eq_c(path, health[i])) {
			c->resp->status = 200;
			c->resp->content_type = "text/plain";
			strbuf_add_c(&c->resp->body, "ok");
			return 0;
		}
	}
	if (c->req->method != HTTP_GET && c->req->method != HTTP_HEAD) {
		return kstatus_no_route(c->resp);
	}
	if (str_eq_c(path, "/version")) {
		return version(c);
	}
	if (str_eq_c(path, "/api")) {
		return core_versions(c);
	}
	if (str_eq_c(path, "/api/v1")) {
		return resource_list(c, STR_LIT(""), STR_LIT("v1"));
	}
	if (str_eq_c(path, "/apis")) {
		return group_list(c);
	}
	if (str_has_prefix(path, "/apis/")) {
		return handle_apis(c, (struct str){ path.p + 6, path.len - 6 });
	}
	if (str_has_prefix(path, "/openapi")) {
		return openapi_handle(c, path);
	}
	return kstatus_no_route(c->resp);
}
