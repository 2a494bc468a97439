/* From a change in the cluster to a handler:
 * 1. A reflector delivers the object on the transport's thread. It is decoded without the lock,
 *    into an entry with an arena of its own, which is immutable from here on.
 * 2. replace() puts the entry under its key and drops the current view. The lock is held for
 *    one operation on a map, so that a long list does not hold up reviews.
 * 3. The next lister_view builds a view: sorted arrays for binary search. So a burst of changes,
 *    such as the first list, costs one build and not one for each object.
 * 4. Handlers read their view without the lock. It holds a reference to each of its entries, so
 *    an entry that was replaced or removed meanwhile lives until the last such view is released. */
#include "webhook/server/lister.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "api/core/namespace.h"
#include "api/kueue/kueue_keys.h"
#include "api/volcano/gate.h"
#include "api/volcano/keys.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/decode.h"
#include "kube/reflector/reflector.h"
#include "obs/metric.h"
#include "process/log.h"
#include "webhook/admit/admit.h"
#include "webhook/server/lookups.h"

#define LISTER_ARENA 1024

/* A queue or a namespace, immutable once it is in the map; views share it. */
struct entry {
	atomic_uint refs;
	struct arena *arena;
	struct api_queue queue;
	struct admit_namespace ns;
};

struct view {
	struct admit_view base; /* first member */
	atomic_uint refs;
	struct entry **entries; /* queues, then namespaces, then those with a default queue */
	size_t entry_count;
};

struct lister {
	struct reflector *queue_reflector, *namespace_reflector;
	struct reflector *default_queue_reflector,
		*default_class_reflector; /* NULL: not followed */
	bool quota;
	struct metric_cell *undecodable;
	bool connected;
	struct lookups *lookups;          /* NULL: not connected */
	struct metric_registry *counters; /* borrowed, or NULL */
	atomic_uint synced;               /* reflectors that are */

	pthread_mutex_t lock; /* guards what follows */
	struct strmap *queues, *namespaces;
	struct strmap *default_queues, *default_classes;
	struct view *view; /* NULL: to be built, something has changed */
};

static void entry_unref(struct entry *e)
{
	if (e != NULL && atomic_fetch_sub(&e->refs, 1) == 1) {
		arena_destroy(e->arena);
		free(e);
	}
}

static void free_entry(void *value)
{
	entry_unref(value);
}

static struct entry *entry_create(void)
{
	struct entry *e = xmalloc_zero(1, sizeof(*e));

	atomic_init(&e->refs, 1);
	e->arena = arena_create(LISTER_ARENA);
	return e;
}

static void view_unref(struct view *v)
{
	if (v == NULL || atomic_fetch_sub(&v->refs, 1) != 1) {
		return;
	}
	for (size_t i = 0; i < v->entry_count; i++) {
		entry_unref(v->entries[i]);
	}
	free(v->entries);
	free((void *)(uintptr_t)v->base.queues);
	free((void *)(uintptr_t)v->base.namespaces);
	free((void *)(uintptr_t)v->base.default_queues);
	free(v);
}

struct lister *lister_create(struct metric_registry *registry)
{
	struct lister *l = xmalloc_zero(1, sizeof(*l));

	l->counters = registry;
	pthread_mutex_init(&l->lock, NULL);
	l->queues = strmap_create(free_entry);
	l->namespaces = strmap_create(free_entry);
	l->default_queues = strmap_create(free_entry);
	l->default_classes = strmap_create(free_entry);
	if (registry != NULL) {
		l->undecodable = metric_cell(
			metric_register(registry, "headgate_webhook_undecodable_objects_total",
					"Queues and namespaces that could not be decoded.",
					METRIC_COUNTER, NULL),
			NULL);
	}
	return l;
}

void lister_destroy(struct lister *l)
{
	if (l == NULL) {
		return;
	}
	/* Reflectors call back into the lister and offer look-ups to it, so they go first. */
	if (l->connected) {
		reflector_destroy(l->queue_reflector);
		reflector_destroy(l->namespace_reflector);
		reflector_destroy(l->default_queue_reflector);
		reflector_destroy(l->default_class_reflector);
	}
	lookups_destroy(l->lookups);
	view_unref(l->view);
	strmap_destroy(l->queues);
	strmap_destroy(l->namespaces);
	strmap_destroy(l->default_queues);
	strmap_destroy(l->default_classes);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

void lister_follow_quota(struct lister *l)
{
	l->quota = true;
}

static void follow_defaults(struct lister *l, struct reflector_options opt)
{
	/* Kueue's CRDs may be missing: then no namespace has a default queue. */
	opt.missing_ok = true;
	/* Handlers ask for the objects called "default" alone: no others are sent. */
	opt.field_selector = "metadata.name=" KUEUE_DEFAULT_QUEUE;
	opt.path = "/apis/" KUEUE_API_VERSION "/localqueues";
	opt.resource = "localqueues";
	opt.on_event = lister_on_default_queue;
	opt.seed = 3;
	l->default_queue_reflector = reflector_create(&opt);
	opt.field_selector = "metadata.name=" KUEUE_DEFAULT_PRIORITY_CLASS;
	opt.path = "/apis/" KUEUE_API_VERSION "/workloadpriorityclasses";
	opt.resource = "workloadpriorityclasses";
	opt.on_event = lister_on_default_class;
	opt.seed = 4;
	l->default_class_reflector = reflector_create(&opt);
	reflector_start(l->default_queue_reflector);
	reflector_start(l->default_class_reflector);
}

/* The reflector decides whether the object is newer than what the watch has delivered: a slow
 * answer must neither overwrite a later change nor bring back for good a queue that was deleted. */
static void on_looked_up(void *ctx, struct str object)
{
	struct lister *l = ctx;

	(void)reflector_offer(l->queue_reflector, object);
}

void lister_connect(struct lister *l, struct transport *t, const struct clock *clock)
{
	struct reflector_options opt = {
		.transport = t, .clock = clock, .counters = l->counters, .ctx = l
	};

	l->connected = true;
	l->lookups = lookups_create(&(struct lookups_options){ .transport = t,
							       .clock = clock,
							       .registry = l->counters,
							       .on_found = on_looked_up,
							       .ctx = l });
	/* Each reflector has a seed of its own, so that their retries do not coincide. */
	opt.path = "/apis/" KEYS_VOLCANO_API_VERSION "/queues";
	opt.resource = "queues";
	opt.on_event = lister_on_queue;
	opt.seed = 1;
	l->queue_reflector = reflector_create(&opt);
	opt.path = "/api/v1/namespaces";
	opt.resource = "namespaces";
	opt.on_event = lister_on_namespace;
	opt.seed = 2;
	l->namespace_reflector = reflector_create(&opt);
	reflector_start(l->queue_reflector);
	reflector_start(l->namespace_reflector);
	if (l->quota) {
		follow_defaults(l, opt);
	}
}

bool lister_is_synced(const struct lister *l)
{
	/* A reflector reports its first list once, so counting the reports is enough. */
	return !l->connected || atomic_load(&l->synced) >= (l->quota ? 4 : 2);
}

const char *lister_stale_since(const struct lister *l, int64_t now, int64_t *ret)
{
	const struct {
		const struct reflector *reflector;
		const char *name;
	} all[] = { { l->queue_reflector, "queues" },
		    { l->namespace_reflector, "namespaces" },
		    { l->default_queue_reflector, "localqueues" },
		    { l->default_class_reflector, "workloadpriorityclasses" } };

	for (size_t i = 0; l->connected && i < ARRAY_LEN(all); i++) {
		int64_t since = all[i].reflector == NULL
					? CLOCK_NEVER
					: reflector_stale_since(all[i].reflector, now);

		if (since != CLOCK_NEVER) {
			*ret = since;
			return all[i].name;
		}
	}
	return NULL;
}

/* Stores the entry (NULL: removes it) under its key; the next lister_view builds a new view. */
static void replace(struct lister *l, struct strmap *map, struct str key, struct entry *e)
{
	struct view *old;

	pthread_mutex_lock(&l->lock);
	if (e != NULL) {
		strmap_set(map, key, e);
	} else if (!strmap_remove(map, key)) {
		/* Nothing has changed, so the view stays. */
		pthread_mutex_unlock(&l->lock);
		return;
	}
	/* The view is dropped and not changed: handlers may be reading it. */
	old = l->view;
	l->view = NULL;
	pthread_mutex_unlock(&l->lock);
	/* Not under the lock: the last reference frees the entries, too. */
	view_unref(old);
}

static void report(struct lister *l, const char *kind, struct str key, const struct err *err)
{
	log_warn("skipped an object that does not decode", LOG_STR("kind", kind),
		 LOG_SLICE("key", key), LOG_STR("error", err->text));
	if (l->undecodable != NULL) {
		metric_cell_add(l->undecodable, 1);
	}
}

/* True: the event was about the list, not about an object. */
static bool take_progress(struct lister *l, const struct reflector_event *event)
{
	if (event->kind == REFLECTOR_SYNCED) {
		atomic_fetch_add(&l->synced, 1);
		return true;
	}
	return event->kind == REFLECTOR_RELISTED || event->kind == REFLECTOR_REFRESHED;
}

void lister_on_queue(void *ctx, const struct reflector_event *event)
{
	struct lister *l = ctx;
	struct err err = ERR_INIT;
	struct entry *e = NULL;

	if (take_progress(l, event)) {
		return;
	}
	if (event->kind == REFLECTOR_UPSERT) {
		e = entry_create();
		if (decode_text(&scheduling_queue_fields, event->object, &e->queue, e->arena,
				&err) < 0) {
			report(l, "Queue", event->key, &err);
			entry_unref(e);
			return; /* the previous state stays */
		}
		/* Views are sorted by the name, which must not be NULL. */
		e->queue.meta.name = arena_str(e->arena, event->key).p;
	}
	replace(l, l->queues, event->key, e);
}

uint64_t lister_look_up_queue(struct lister *l, const char *name, struct http_server *server)
{
	return l->connected ? lookups_ask(l->lookups, name, server) : 0;
}

void lister_stop_lookups(struct lister *l)
{
	if (l->connected) {
		lookups_stop(l->lookups);
	}
}

static void copy_labels(struct arena *arena, const struct field_map *from, struct field_map *ret)
{
	struct field_pair *pairs = arena_alloc(arena, (from->n + 1) * sizeof(*pairs));

	for (size_t i = 0; i < from->n; i++) {
		pairs[i].key = arena_dup(arena, from->v[i].key);
		pairs[i].value = arena_dup(arena, from->v[i].value);
	}
	ret->v = pairs;
	ret->n = from->n;
}

/* Copies the parts that handlers read: the decoded namespace also has its annotations, of up to
 * 256 KiB, which are not kept. */
static struct entry *entry_of_namespace(struct str key, const struct api_namespace *ns)
{
	const char *queue = field_map_get(&ns->meta.annotations, KEYS_QUEUE_NAME);
	struct entry *e;

	if (queue != NULL && queue[0] == '\0') {
		queue = NULL;
	}
	e = entry_create();
	e->ns.name = arena_str(e->arena, key).p;
	e->ns.gate = gate_opt_in(&ns->meta.labels);
	copy_labels(e->arena, &ns->meta.labels, &e->ns.labels);
	e->ns.queue = arena_dup(e->arena, queue);
	return e;
}

void lister_on_namespace(void *ctx, const struct reflector_event *event)
{
	struct lister *l = ctx;
	struct err err = ERR_INIT;
	struct api_namespace ns;
	struct entry *e = NULL;
	struct arena *arena;

	if (take_progress(l, event)) {
		return;
	}
	if (event->kind == REFLECTOR_UPSERT) {
		arena = arena_create(LISTER_ARENA);
		if (decode_text(&namespace_fields, event->object, &ns, arena, &err) < 0) {
			report(l, "Namespace", event->key, &err);
			arena_destroy(arena);
			return;
		}
		e = entry_of_namespace(event->key, &ns);
		arena_destroy(arena);
	}
	replace(l, l->namespaces, event->key, e);
}

void lister_on_default_queue(void *ctx, const struct reflector_event *event)
{
	struct str ns = event->key;
	struct lister *l = ctx;
	struct entry *e = NULL;

	if (take_progress(l, event)) {
		return;
	}
	/* The key is "namespace/default": it says all that is needed, so nothing is decoded. */
	ns = str_next(&ns, '/');
	if (event->kind == REFLECTOR_UPSERT) {
		e = entry_create();
		e->ns.name = arena_str(e->arena, ns).p;
	}
	replace(l, l->default_queues, ns, e);
}

void lister_on_default_class(void *ctx, const struct reflector_event *event)
{
	struct lister *l = ctx;

	if (!take_progress(l, event)) {
		replace(l, l->default_classes, event->key,
			event->kind == REFLECTOR_UPSERT ? entry_create() : NULL);
	}
}

static int cmp_queues(const void *a, const void *b)
{
	return strcmp((*(const struct api_queue *const *)a)->meta.name,
		      (*(const struct api_queue *const *)b)->meta.name);
}

static int cmp_namespaces(const void *a, const void *b)
{
	return strcmp((*(const struct admit_namespace *const *)a)->name,
		      (*(const struct admit_namespace *const *)b)->name);
}

static bool collect(struct str key, void *value, void *ctx)
{
	struct view *v = ctx;
	struct entry *e = value;

	(void)key;
	atomic_fetch_add(&e->refs, 1);
	v->entries[v->entry_count++] = e;
	return true;
}

static int cmp_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void view_add_queues(struct view *v, const struct lister *l)
{
	size_t at = v->entry_count, n = strmap_count(l->queues);
	const struct api_queue **list = xmalloc_zero(n, sizeof(struct api_queue *));

	strmap_each(l->queues, collect, v);
	for (size_t i = 0; i < n; i++) {
		list[i] = &v->entries[at + i]->queue;
	}
	qsort(list, n, sizeof(list[0]), cmp_queues);
	v->base.queues = list;
	v->base.queue_count = n;
}

static void view_add_namespaces(struct view *v, const struct lister *l)
{
	size_t at = v->entry_count, n = strmap_count(l->namespaces);
	const struct admit_namespace **list = xmalloc_zero(n, sizeof(struct admit_namespace *));

	strmap_each(l->namespaces, collect, v);
	for (size_t i = 0; i < n; i++) {
		list[i] = &v->entries[at + i]->ns;
	}
	qsort(list, n, sizeof(list[0]), cmp_namespaces);
	v->base.namespaces = list;
	v->base.namespace_count = n;
}

static void view_add_default_queues(struct view *v, const struct lister *l)
{
	size_t at = v->entry_count, n = strmap_count(l->default_queues);
	const char **list = xmalloc_zero(n, sizeof(char *));

	strmap_each(l->default_queues, collect, v);
	for (size_t i = 0; i < n; i++) {
		list[i] = v->entries[at + i]->ns.name;
	}
	qsort(list, n, sizeof(list[0]), cmp_texts);
	v->base.default_queues = list;
	v->base.default_queue_count = n;
}

static struct view *view_build(const struct lister *l)
{
	struct view *v = xmalloc_zero(1, sizeof(*v));
	size_t entries = strmap_count(l->queues) + strmap_count(l->namespaces) +
			 strmap_count(l->default_queues);

	atomic_init(&v->refs, 1);
	v->entries = xmalloc_zero(entries, sizeof(struct entry *));
	view_add_queues(v, l);
	view_add_namespaces(v, l);
	view_add_default_queues(v, l);
	/* The class is cluster-scoped and called "default": that it exists is all that handlers
	 * ask. */
	v->base.has_default_class = strmap_count(l->default_classes) > 0;
	/* Without an API server an empty list does not mean that there are no queues. */
	v->base.queues_known = l->connected || v->base.queue_count > 0;
	return v;
}

const struct admit_view *lister_view(struct lister *l)
{
	struct view *v;

	pthread_mutex_lock(&l->lock);
	/* Built under the lock, so that of many reviews after a change one builds and all share. */
	if (l->view == NULL) {
		l->view = view_build(l);
	}
	v = l->view;
	atomic_fetch_add(&v->refs, 1);
	pthread_mutex_unlock(&l->lock);
	return &v->base;
}

void lister_release(const struct admit_view *view)
{
	view_unref((struct view *)(uintptr_t)view);
}
