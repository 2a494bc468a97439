#include "scheduler/workloads/controller/owner_world.h"

#include <stdlib.h>

#include "api/core/namespace.h"
#include "api/kueue/kueue.h"
#include "api/meta/selector.h"
#include "api/volcano/scheduling.h"
#include "base/attrs.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "scheduler/base/message.h"

struct class_entry { /* of a WorkloadPriorityClass, a PriorityClass */
	char *name;
	int32_t value;
	bool global_default;
};

struct owner_world {
	const struct selector *selector;
	struct strmap *flavors; /* their messages */
	struct strmap *classes, *pod_classes;
	struct strmap *namespaces; /* those that are managed */
	struct strmap *ending;     /* those that are being deleted */
};

static void class_free(void *p)
{
	struct class_entry *e = p;

	free(e->name);
	free(e);
}

static void flavor_free(void *p)
{
	message_free(p);
}

/* The message is kept, so its object lives as long as the flavor is known. */
static const struct api_resource_flavor *find_flavor(void *ctx, const char *name)
{
	const struct owner_world *w = ctx;
	const struct sched_msg *m = strmap_get(w->flavors, str_of(name));

	return m == NULL ? NULL : m->object;
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

/* A namespace that is not known yet is not managed: owners in it are planned for when it is
 * known. */
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

/* True: it is new, so that a plan may have waited for it. A change of one that is known counts for
 * later starts: pods that run keep what they were given. */
static bool set_flavor(struct owner_world *w, struct sched_msg *m)
{
	bool known = strmap_has(w->flavors, m->key);

	strmap_set(w->flavors, m->key, message_ref(m));
	return !known;
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

/* True: it changed. */
static bool set_member(struct strmap *m, struct str name, bool on)
{
	if (on == strmap_has(m, name)) {
		return false;
	}
	if (on) {
		/* Only the key counts. */
		strmap_set(m, name, m);
	} else {
		(void)strmap_remove(m, name);
	}
	return true;
}

static bool set_namespace(struct owner_world *w, const struct api_namespace *ns)
{
	struct str name = str_of(ns->meta.name);
	bool managed = w->selector != NULL && selector_match(w->selector, &ns->meta.labels);
	bool changed = set_member(w->namespaces, name, managed);

	/* Both sets have to be brought up to date, so the call comes before the ||. */
	return set_member(w->ending, name, ns->meta.deleted != FIELD_NO_TIME) || changed;
}

static void forget(struct owner_world *w, const struct sched_msg *m)
{
	if (m->resource == SCHED_FLAVORS) {
		(void)strmap_remove(w->flavors, m->key);
	} else if (m->resource == SCHED_WORKLOAD_PRIORITY_CLASSES) {
		(void)strmap_remove(w->classes, m->key);
	} else if (m->resource == SCHED_PRIORITY_CLASSES) {
		(void)strmap_remove(w->pod_classes, m->key);
	} else if (m->resource == SCHED_NAMESPACES) {
		(void)strmap_remove(w->namespaces, m->key);
		(void)strmap_remove(w->ending, m->key);
	}
}

bool owner_world_object(struct owner_world *w, struct sched_msg *m)
{
	const struct api_workload_priority_class *wpc = m->object;
	const struct api_priority_class *pc = m->object;

	if (m->object == NULL) {
		/* Nothing is planned again: Workloads keep the priority that they have, and a start
		 * reads the flavor when it is due. */
		forget(w, m);
		return false;
	}
	if (m->resource == SCHED_FLAVORS) {
		return set_flavor(w, m);
	}
	if (m->resource == SCHED_WORKLOAD_PRIORITY_CLASSES) {
		return set_class(w->classes, wpc->meta.name,
				 wpc->value == FIELD_NO_I32 ? 0 : wpc->value, false);
	}
	if (m->resource == SCHED_PRIORITY_CLASSES) {
		return set_class(w->pod_classes, pc->meta.name, pc->value, pc->global_default);
	}
	return m->resource == SCHED_NAMESPACES && set_namespace(w, m->object);
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
