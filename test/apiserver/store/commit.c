#include "apiserver/store/commit.h"

#include <stdlib.h>

#include "apiserver/server.h"
#include "apiserver/store/object.h"
#include "base/attrs.h"
#include "base/xmalloc.h"
#include "collections/vec.h"
#include "enc/json/jdoc.h"

static bool is_crd(const struct resource *res)
{
	return str_streq(res->plural, "customresourcedefinitions");
}

static bool is_namespace(const struct resource *res)
{
	return res->group[0] == '\0' && str_streq(res->plural, "namespaces");
}

static void note_due(struct apiserver *s, struct resource *res, const struct object *o, int64_t now)
{
	struct server_due due;

	if (s->opt.finalise_ns <= 0 || (res->flags & RESOURCE_POD) == 0 || !o->terminating) {
		return;
	}
	due.at = now + s->opt.finalise_ns;
	due.res = res;
	due.key = xmalloc_dup(o->key.p);
	due.uid = xmalloc_dup(o->uid.p);
	vec_grow((void **)&s->due, &s->cap_due, s->n_due + 1, sizeof(s->due[0]));
	s->due[s->n_due++] = due;
}

struct object *commit_put(struct apiserver *s, struct resource *res, struct jdoc **doc, int64_t now)
{
	int64_t rv = ++s->rv;
	struct object *o;

	object_normalise(doc, rv);
	if (is_crd(res)) {
		resource_add_crd(&s->resources, *doc);
	}
	o = object_create(*doc, rv, res->fields);
	if (s->opt.keeps_trees) {
		object_keep_doc(o, take_ptr(doc));
	}
	bucket_put(&res->bucket, o);
	note_due(s, res, o, now);
	object_unref(o); /* the bucket holds it */
	return o;
}

/* Stands in for the namespace controller: the content goes at once. */
static void remove_content(struct apiserver *s, struct str ns)
{
	CLEANUP(xmalloc_freep) char *prefix = xmalloc_printf(STR_FMT "/", STR_ARG(ns));

	for (size_t i = 0; i < s->resources.n; i++) {
		struct resource *res = s->resources.v[i];

		for (;;) {
			struct sorted_pos pos =
				sorted_seek(&res->bucket.objects, str_of(prefix), false);
			struct object *o = sorted_next(&res->bucket.objects, &pos);

			if (o == NULL || !resource_is_namespaced(res) ||
			    !str_has_prefix(o->key, prefix)) {
				break;
			}
			bucket_remove(&res->bucket, o->key, ++s->rv);
		}
	}
}

static void remove_custom_objects(struct apiserver *s, const struct jdoc *crd)
{
	struct resource *res = resource_find(
		&s->resources, str_of(jdoc_path_str(crd, "spec.group")), (struct str){ NULL, 0 },
		str_of(jdoc_path_str(crd, "spec.names.plural")));

	while (res != NULL && res->is_custom && res->bucket.objects.count > 0) {
		struct sorted_pos pos = { 0, 0 };
		struct object *o = sorted_next(&res->bucket.objects, &pos);

		bucket_remove(&res->bucket, o->key, ++s->rv);
	}
	resource_remove_crd(&s->resources, crd);
}

void commit_remove(struct apiserver *s, struct resource *res, struct str key)
{
	struct object *o = object_ref(sorted_find(&res->bucket.objects, key));

	if (o == NULL) {
		return;
	}
	if (is_crd(res)) {
		CLEANUP(jdoc_destroyp) struct jdoc *crd = object_parse(o);

		remove_custom_objects(s, crd);
	}
	if (is_namespace(res)) {
		remove_content(s, o->name);
	}
	bucket_remove(&res->bucket, o->key, ++s->rv);
	object_unref(o);
}

struct object *commit_find(const struct resource *res, struct str ns, struct str name)
{
	CLEANUP(xmalloc_freep) char *key = NULL;

	if (!resource_is_namespaced(res)) {
		return sorted_find(&res->bucket.objects, name);
	}
	key = xmalloc_printf(STR_FMT "/" STR_FMT, STR_ARG(ns), STR_ARG(name));
	return sorted_find(&res->bucket.objects, str_of(key));
}
