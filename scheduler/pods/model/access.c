#include "scheduler/pods/model/access.h"

#include <stdlib.h>

#include "api/meta/selector.h"
#include "api/volcano/keys.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/model/selectors.h"

struct rule { /* of a queue */
	struct arena *arena;
	char *text;
	struct selector selector;
	struct err err; /* why it does not parse */
	bool broken;
};

struct labels { /* of a namespace */
	struct arena *arena;
	struct field_map map;
};

struct access {
	struct strmap *rules, *namespaces; /* by name */
	bool used; /* a rule has existed: until then PodGroups need no check */
};

static void free_rule(void *value)
{
	struct rule *r = value;

	arena_destroy(r->arena);
	free(r);
}

static void free_labels(void *value)
{
	struct labels *l = value;

	arena_destroy(l->arena);
	free(l);
}

struct access *access_create(void)
{
	struct access *a = xmalloc_zero(1, sizeof(*a));

	a->rules = strmap_create(free_rule);
	a->namespaces = strmap_create(free_labels);
	return a;
}

void access_destroy(struct access *a)
{
	if (a == NULL) {
		return;
	}
	strmap_destroy(a->rules);
	strmap_destroy(a->namespaces);
	free(a);
}

static struct labels *copy(const struct field_map *from)
{
	struct labels *l = xmalloc_zero(1, sizeof(*l));
	struct field_pair *pairs;

	l->arena = arena_create(256);
	pairs = arena_alloc(l->arena, (from->n + 1) * sizeof(*pairs));
	for (size_t i = 0; i < from->n; i++) {
		pairs[i].key = arena_dup(l->arena, from->v[i].key);
		pairs[i].value = arena_dup(l->arena, from->v[i].value);
	}
	l->map.v = pairs;
	l->map.n = from->n;
	return l;
}

static bool same(const struct field_map *a, const struct field_map *b)
{
	if (a->n != b->n) {
		return false;
	}
	for (size_t i = 0; i < a->n; i++) {
		if (!str_streq(a->v[i].key, b->v[i].key) ||
		    !str_streq(a->v[i].value, b->v[i].value)) {
			return false;
		}
	}
	return true;
}

bool access_set_namespace(struct cluster *c, struct str name, const struct field_map *labels)
{
	const struct labels *known = strmap_get(c->access->namespaces, name);

	if (labels == NULL) {
		strmap_remove(c->access->namespaces, name);
	} else if (known != NULL && same(&known->map, labels)) {
		return false;
	} else {
		strmap_set(c->access->namespaces, name, copy(labels));
	}
	selectors_namespace_changed(c, name);
	return access_update(c);
}

bool access_set_queue(struct cluster *c, struct str queue, const char *text)
{
	const struct rule *known = strmap_get(c->access->rules, queue);
	struct rule *r;

	if (text == NULL) {
		return strmap_remove(c->access->rules, queue);
	}
	if (known != NULL && str_streq(known->text, text)) {
		return false;
	}
	r = xmalloc_zero(1, sizeof(*r));
	r->arena = arena_create(256);
	r->text = arena_dup(r->arena, text);
	if (selector_parse_labels(str_of(r->text), r->arena, &r->selector, &r->err) < 0) {
		/* It is better that no namespace may use the queue than that all may. */
		r->broken = true;
		r->selector = (struct selector){ .matches_none = true };
	}
	strmap_set(c->access->rules, queue, r);
	/* It stays true when the last rule goes, so that the PodGroups which that one barred are
	 * checked again. */
	c->access->used = true;
	return true;
}

int access_check_queue(const struct cluster *c, struct str queue, struct err *err)
{
	const struct rule *r = strmap_get(c->access->rules, queue);

	if (r == NULL || !r->broken) {
		return 0;
	}
	return err_set(err, ERR_INVALID,
		       "metadata.annotations[" KEYS_NAMESPACE_SELECTOR
		       "]: %s: no namespace may use the queue",
		       r->err.text);
}

struct namespace_ref {
	const char *name;
	const struct labels *labels; /* NULL: not known */
};

static const char *get_label(const void *ctx, const char *key)
{
	const struct namespace_ref *w = ctx;
	const char *value = w->labels == NULL ? NULL : field_map_get(&w->labels->map, key);

	/* The API server gives every Namespace this label, so that a selector of it works before
	 * the Namespace is seen. */
	return value == NULL && str_streq(key, KEYS_NAMESPACE_NAME) ? w->name : value;
}

const char *access_namespace_label(const struct cluster *c, const char *name, const char *key)
{
	const struct namespace_ref ref = { name, strmap_get(c->access->namespaces, str_of(name)) };

	return get_label(&ref, key);
}

struct each {
	void (*fn)(void *ctx, struct str name, const struct field_map *labels);
	void *ctx;
};

static bool call_each(struct str name, void *value, void *ctx)
{
	const struct labels *l = value;
	const struct each *e = ctx;

	e->fn(e->ctx, name, &l->map);
	return true;
}

void access_each_namespace(const struct cluster *c,
			   void (*fn)(void *ctx, struct str name, const struct field_map *labels),
			   void *ctx)
{
	struct each e = { fn, ctx };

	strmap_each(c->access->namespaces, call_each, &e);
}

/* The nearest queue, upwards, that the namespace may not use. */
static uint32_t find_bar(const struct cluster *c, const struct podgroup *g)
{
	struct namespace_ref ref = { g->namespace_,
				     strmap_get(c->access->namespaces, str_of(g->namespace_)) };

	const struct queue *q;

	QUEUE_FOR_EACH_UP (q, c, g->queue) {
		const struct rule *r = strmap_get(c->access->rules, str_of(q->name));

		if (r != NULL && !selector_match_with(&r->selector, get_label, &ref)) {
			return q->id;
		}
	}
	return MODEL_NONE;
}

bool access_update_podgroup(struct cluster *c, struct podgroup *g)
{
	uint32_t bar;

	if (!c->access->used) {
		return false;
	}
	bar = find_bar(c, g);
	if (bar == g->barred_by) {
		return false;
	}
	g->barred_by = bar;
	cluster_podgroup_changed(c, g);
	return true;
}

/* A walk over all PodGroups, only after a label, a rule or the tree has changed. */
bool access_update(struct cluster *c)
{
	bool any = false;

	for (size_t i = 0; c->access->used && i < c->podgroups.n; i++) {
		if (c->podgroups.v[i] != NULL) {
			any |= access_update_podgroup(c, c->podgroups.v[i]);
		}
	}
	return any;
}
