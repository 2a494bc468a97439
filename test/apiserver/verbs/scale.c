#include "apiserver/verbs/scale.h"

#include "apiserver/kstatus.h"
#include "apiserver/kubectl/jsonpath.h"
#include "apiserver/server.h"
#include "apiserver/store/object.h"
#include "apiserver/verbs/body.h"
#include "apiserver/verbs/patching.h"
#include "base/attrs.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "schema/causes.h"

static const char *spec_path(const struct call *c)
{
	return c->res->scale_path != NULL ? c->res->scale_path : ".spec.replicas";
}

/* The selector as text. Expressions are left out: whoever scales by hand does not read them. */
static void set_selector(const struct jdoc *selector, struct jdoc *status)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	const struct jdoc *labels = jdoc_get(selector, "matchLabels");

	for (const struct jdoc *l = jdoc_first(labels); l != NULL; l = jdoc_next(l)) {
		strbuf_printf(&text, "%s%s=%s", text.len > 0 ? "," : "", jdoc_key(l),
			      jdoc_str_or(l, ""));
	}
	if (text.len > 0) {
		jdoc_set_str(status, "selector", text.p);
	}
}

static struct jdoc *scale_of(const struct call *c, const struct jdoc *doc)
{
	static const char *const keep[] = { "name", "namespace", "uid", "resourceVersion",
					    "creationTimestamp" };
	const char *status_path =
		c->res->scale_status_path != NULL ? c->res->scale_status_path : ".status.replicas";
	struct jdoc *scale = jdoc_new_object();
	struct jdoc *meta;
	int64_t replicas;

	jdoc_set_str(scale, "kind", "Scale");
	jdoc_set_str(scale, "apiVersion", "autoscaling/v1");
	meta = jdoc_ensure_object(scale, "metadata");
	for (size_t i = 0; i < ARRAY_LEN(keep); i++) {
		const struct jdoc *v = jdoc_get(jdoc_get(doc, "metadata"), keep[i]);

		if (v != NULL) {
			jdoc_set_take(meta, keep[i], jdoc_copy(v));
		}
	}
	replicas = jdoc_int(jsonpath_get(doc, spec_path(c)), 0);
	(void)jdoc_ensure_object(scale, "spec");
	if (replicas > 0) { /* 0 is left out */
		jdoc_set_int(jdoc_get_mut(scale, "spec"), "replicas", replicas);
	}
	jdoc_set_int(jdoc_ensure_object(scale, "status"), "replicas",
		     jdoc_int(jsonpath_get(doc, status_path), 0));
	if (!c->res->is_custom) {
		set_selector(jdoc_path(doc, "spec.selector"), jdoc_get_mut(scale, "status"));
	}
	return scale;
}

int scale_get(struct call *c, const struct object *o)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = object_parse(o);
	CLEANUP(jdoc_destroyp) struct jdoc *scale = scale_of(c, doc);

	jdoc_format(scale, &c->resp->body);
	return 0;
}

/* Writes n at the path of plain member names. */
static void set_at(struct jdoc *doc, const char *path, int64_t n)
{
	struct str rest = str_of(path + 1);
	struct str part = str_next(&rest, '.');

	while (rest.p != NULL) {
		CLEANUP(xmalloc_freep) char *key = xmalloc_dup_n(part.p, part.len);

		doc = jdoc_ensure_object(doc, key);
		if (doc == NULL) {
			return;
		}
		part = str_next(&rest, '.');
	}
	if (part.len > 0) {
		CLEANUP(xmalloc_freep) char *key = xmalloc_dup_n(part.p, part.len);

		jdoc_set_int(doc, key, n);
	}
}

static int with_replicas(struct call *c, const struct jdoc *old, const struct jdoc *scale,
			 struct jdoc **ret)
{
	const char *rv = jdoc_path_str(scale, "metadata.resourceVersion");
	int64_t n = jdoc_int(jdoc_path(scale, "spec.replicas"), 0);
	struct jdoc *new;

	if (n < 0 || n > INT32_MAX) {
		CLEANUP(jdoc_destroyp) struct jdoc *causes = jdoc_new_array();

		causes_add_value(causes, "spec.replicas", jdoc_path(scale, "spec.replicas"),
				 "must be greater than or equal to 0");
		return kstatus_invalid_kind(c->resp, "autoscaling", "Scale", c->info.name, causes);
	}
	new = jdoc_copy(old);
	if (rv != NULL) {
		jdoc_set_str(jdoc_get_mut(new, "metadata"), "resourceVersion", rv);
	}
	set_at(new, spec_path(c), n);
	*ret = new;
	return 0;
}

int scale_make_put(struct call *c, const struct jdoc *old, struct jdoc **ret)
{
	CLEANUP(jdoc_destroyp) struct jdoc *scale = NULL;
	int r = body_parse(c, &scale);

	return r < 0 ? r : with_replicas(c, old, scale, ret);
}

int scale_make_patch(struct call *c, const struct jdoc *old, struct jdoc **ret)
{
	CLEANUP(jdoc_destroyp) struct jdoc *before = scale_of(c, old);
	CLEANUP(jdoc_destroyp) struct jdoc *scale = NULL;
	int r = patching_make(c, before, &scale);

	return r < 0 ? r : with_replicas(c, old, scale, ret);
}
