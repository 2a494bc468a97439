#include "scheduler/workloads/controller/owner_world.h"

#include <stdlib.h>

#include "api/core/namespace.h"
#include "api/kueue/kueue.h"
#include "api/meta/selector.h"
#include "api/volcano/scheduling.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/decode.h"
#include "enc/encode.h"

struct class_entry { /* of a WorkloadPriorityClass, a PriorityClass */
	char *name;
	int32_t value;
	bool global_default;
};

struct flavor_entry {
	struct arena *arena;
	struct api_resource_flavor *rf;
};

struct owner_world {
	const struct selector *selector;
	struct strmap *flavors, *classes, *pod_classes;
	struct strmap *namespaces; /* those that are managed */
	struct strmap *ending;     /* those that are being deleted */
};

void *owner_world_copy(const struct field_table *table, const void *object, struct arena *arena)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	void *out = arena_zero(arena, 1, table->size);

	encode_text(table, object, &text);
	if (decode_text(table, strbuf_str(&text), out, arena, NULL) < 0) {
		decode_init(table, out); /* what was decoded once decodes again */
	}
	return out;
}

static void class_free(void *p)
{
	struct class_entry *e = p;

	free(e->name);
	free(e);
}

static void flavor_free(void *p)
{
	struct flavor_entry *e = p;

	arena_destroy(e->arena);
	free(e);
}

static const struct api_resource_flavor *find_flavor(void *ctx, const char *name)
{
	const struct owner_world *w = ctx;
	const struct flavor_entry *e = strmap_get(w->flavors, str_of(name));

	return e == NULL ? NULL : e->rf;
}

static bool find_class(void *ctx, const char *name, int32_t *ret)
{
	const struct owner_world *w = ctx;
	const struct class_entry *e = strmap_get(w->classes, str_of(name));

	if (e != NULL) {
		*ret = e->value;
	}
	return e != NULL;
}

struct lowest {
	const struct class_entry *found;
};

/* Kubernetes: of several default classes the one with the lowest value counts. */
static bool take_lowest(struct str key UNUSED, void *value, void *ctx)
{
	const struct class_entry *e = value;
	struct lowest *l = ctx;

	if (e->global_default && (l->found == NULL || e->value < l->found->value)) {
		l->found = e;
	}
	return true;
}

static bool find_pod_class(void *ctx, const char *name, const char **ret_name, int32_t *ret)
{
	const struct owner_world *w = ctx;
	struct lowest l = { NULL };

	if (name == NULL) {
		strmap_each(w->pod_classes, take_lowest, &l);
	} else {
		l.found = strmap_get(w->pod_classes, str_of(name));
	}
	if (l.found == NULL) {
		return false;
	}
	*ret_name = l.found->name;
	*ret = l.found->value;
	return true;
}

void owner_world_env(struct owner_world *w, struct owner_plan_env *env)
{
	env->classes = (struct owner_spec_classes){ w, find_class, find_pod_class };
	env->flavors = (struct placement_flavors){ w, find_flavor };
}

bool owner_world_manages(const struct owner_world *w, const char *namespace_)
{
	return w->selector == NULL || strmap_has(w->namespaces, str_of(namespace_));
}

bool owner_world_ends(const struct owner_world *w, const char *namespace_)
{
	return strmap_has(w->ending, str_of(namespace_));
}

/* --- objects -----------------------------------------------------------------------------------
 */

bool owner_world_flavor(struct owner_world *w, const struct api_resource_flavor *rf)
{
	struct flavor_entry *e = xmalloc_zero(1, sizeof(*e));
	bool known = strmap_has(w->flavors, str_of(rf->meta.name));

	e->arena = arena_create(512);
	e->rf = owner_world_copy(&kueue_resource_flavor_fields, rf, e->arena);
	strmap_set(w->flavors, str_of(rf->meta.name), e);
	return !known; /* somebody may have waited for it */
}

/* True: it is new, or worth something else. */
static bool set_class(struct strmap *m, const char *name, int32_t value, bool global_default)
{
	struct class_entry *e = strmap_get(m, str_of(name));

	if (e != NULL && e->value == value && e->global_default == global_default) {
		return false;
	}
	e = xmalloc_zero(1, sizeof(*e));
	e->name = xmalloc_dup(name);
	e->value = value;
	e->global_default = global_default;
	strmap_set(m, str_of(name), e);
	return true;
}

bool owner_world_class(struct owner_world *w, const struct api_workload_priority_class *pc)
{
	return set_class(w->classes, pc->meta.name, pc->value == FIELD_NO_I32 ? 0 : pc->value,
			 false);
}

bool owner_world_pod_class(struct owner_world *w, const struct api_priority_class *pc)
{
	return set_class(w->pod_classes, pc->meta.name, pc->value, pc->global_default);
}

/* True: it changed. */
static bool set_member(struct strmap *m, struct str name, bool on)
{
	if (on == strmap_has(m, name)) {
		return false;
	}
	if (on) {
		strmap_set(m, name, m);
	} else {
		(void)strmap_remove(m, name);
	}
	return true;
}

bool owner_world_namespace(struct owner_world *w, const struct api_namespace *ns)
{
	struct str name = str_of(ns->meta.name);
	bool managed = w->selector != NULL && selector_match(w->selector, &ns->meta.labels);
	bool changed = set_member(w->namespaces, name, managed);

	return set_member(w->ending, name, ns->meta.deleted != FIELD_NO_TIME) || changed;
}

void owner_world_flavor_gone(struct owner_world *w, struct str name)
{
	(void)strmap_remove(w->flavors, name);
}

void owner_world_class_gone(struct owner_world *w, struct str name)
{
	(void)strmap_remove(w->classes, name);
}

void owner_world_pod_class_gone(struct owner_world *w, struct str name)
{
	(void)strmap_remove(w->pod_classes, name);
}

void owner_world_namespace_gone(struct owner_world *w, struct str name)
{
	(void)strmap_remove(w->namespaces, name);
	(void)strmap_remove(w->ending, name);
}

struct owner_world *owner_world_create(const struct selector *namespaces)
{
	struct owner_world *w = xmalloc_zero(1, sizeof(*w));

	w->selector = namespaces;
	w->flavors = strmap_create(flavor_free);
	w->classes = strmap_create(class_free);
	w->pod_classes = strmap_create(class_free);
	w->namespaces = strmap_create(NULL);
	w->ending = strmap_create(NULL);
	return w;
}

void owner_world_destroy(struct owner_world *w)
{
	if (w == NULL) {
		return;
	}
	strmap_destroy(w->flavors);
	strmap_destroy(w->classes);
	strmap_destroy(w->pod_classes);
	strmap_destroy(w->namespaces);
	strmap_destroy(w->ending);
	free(w);
}
