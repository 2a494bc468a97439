#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/xmalloc.h"
#include "collections/intern.h"
#include "collections/strmap.h"
#include "scheduler/workloads/model/quota_store.h"

/* docs/deviations.md says why prioritize_preemptors and nominal_first are on. */
void quota_options_default(struct quota_options *o)
{
	*o = (struct quota_options){
		.lte_final = true,
		.lt_initial = true,
		.partial_admission = true,
		.flavor_fungibility = true,
		.priority_sorting = true,
		.preempt_within_nominal = true,
		.prioritize_non_borrowing = true,
		.recompute_on_overlap = true,
		.preserve_scan_progress = true,
		.prioritize_preemptors = true,
		.equivalence_hashing = true,
		.observability = true,
		.nominal_first = true,
		.topology = true,
		.reclaimable_pods = true,
		.admission_gates = true,
		.heads = 1,
	};
}

struct quota_model *quota_create(void)
{
	struct quota_model *q = xmalloc_zero(1, sizeof(*q));

	q->names = intern_create();
	q->resources = intern_create();
	q->flavor_of = strmap_create(NULL);
	q->queue_of = strmap_create(NULL);
	q->cohort_of = strmap_create(NULL);
	q->local_of = strmap_create(NULL);
	q->workload_of = strmap_create(NULL);
	q->namespace_of = strmap_create(NULL);
	q->check_of = strmap_create(free);
	q->topology_of = strmap_create(NULL);
	quota_options_default(&q->options);
	return q;
}

static void destroy_namespace(struct quota_namespace *ns)
{
	free(ns->labels);
	free(ns->name);
	free(ns);
}

static bool destroy_each_namespace(struct str key, void *value, void *ctx)
{
	(void)key;
	(void)ctx;
	destroy_namespace(value);
	return true;
}

static void destroy_objects(struct quota_model *q)
{
	for (size_t i = 0; i < q->workloads.n; i++) {
		struct workload *w = q->workloads.v[i];

		if (w != NULL) {
			/* The trees go as well: nothing has to be released. */
			w->holding.node = MODEL_NONE;
			w->pending.where = QUOTA_NOWHERE;
			quota_workload_remove(q, w);
		}
	}
	for (size_t i = 0; i < q->locals.n; i++) {
		if (q->locals.v[i] != NULL) {
			quota_local_remove(q, q->locals.v[i]);
		}
	}
	for (size_t i = 0; i < q->nodes.n; i++) {
		if (q->nodes.v[i] != NULL) {
			quota_node_drop(q, q->nodes.v[i]);
		}
	}
	for (size_t i = 0; i < q->flavors.n; i++) {
		quota_flavor_clear(q->flavors.v[i]);
		free(q->flavors.v[i]);
	}
	strmap_each(q->namespace_of, destroy_each_namespace, NULL);
}

void quota_destroy(struct quota_model *q)
{
	if (q == NULL) {
		return;
	}
	destroy_objects(q);
	vec_finish(&q->pairs);
	vec_finish(&q->pairs_sorted);
	vec_finish(&q->flavors);
	slots_finish(&q->nodes);
	slots_finish(&q->locals);
	slots_finish(&q->workloads);
	vec_finish(&q->timers);
	strmap_destroy(q->flavor_of);
	strmap_destroy(q->queue_of);
	strmap_destroy(q->cohort_of);
	strmap_destroy(q->local_of);
	strmap_destroy(q->workload_of);
	strmap_destroy(q->namespace_of);
	strmap_destroy(q->check_of);
	strmap_destroy(q->topology_of);
	intern_destroy(q->resources);
	intern_destroy(q->names);
	free(q);
}

static uint32_t name_id(struct quota_model *q, struct str name)
{
	uint32_t id = intern_id(q->names, name.p == NULL ? STR_LIT("") : name);

	/* from_kueue_check_names has seen to the room. */
	assert(id != INTERN_NONE);
	return id;
}

const char *quota_name(struct quota_model *q, struct str name)
{
	uint32_t id = name_id(q, name);

	intern_keep(q->names, id);
	return intern_name(q->names, id);
}

const char *quota_text(struct quota_model *q, struct str text)
{
	return intern_name(q->names, name_id(q, text));
}

uint32_t quota_resource(struct quota_model *q, struct str name)
{
	uint32_t id = intern_id(q->resources, name);

	assert(id != INTERN_NONE);
	return id;
}

const char *quota_resource_name(const struct quota_model *q, uint32_t resource)
{
	return intern_name(q->resources, resource);
}

/* Index into pairs_sorted of the first pair that is not before (flavor, resource). */
static size_t pair_bound(const struct quota_model *q, uint32_t flavor, uint32_t resource)
{
	size_t lo = 0, hi = q->pairs_sorted.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct flavor_resource *p = &q->pairs.v[q->pairs_sorted.v[mid]];

		if (p->flavor < flavor || (p->flavor == flavor && p->resource < resource)) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	return lo;
}

static bool is_pair(const struct quota_model *q, size_t at, uint32_t flavor, uint32_t resource)
{
	const struct flavor_resource *p;

	if (at == q->pairs_sorted.n) {
		return false;
	}
	p = &q->pairs.v[q->pairs_sorted.v[at]];
	return p->flavor == flavor && p->resource == resource;
}

uint32_t quota_pair_find(const struct quota_model *q, uint32_t flavor, uint32_t resource)
{
	size_t at = pair_bound(q, flavor, resource);

	return is_pair(q, at, flavor, resource) ? q->pairs_sorted.v[at] : MODEL_NONE;
}

uint32_t quota_pair_get(struct quota_model *q, uint32_t flavor, uint32_t resource)
{
	size_t at = pair_bound(q, flavor, resource);
	uint32_t id = (uint32_t)q->pairs.n;

	if (is_pair(q, at, flavor, resource)) {
		return q->pairs_sorted.v[at];
	}
	/* Ids are in the order of coming, since forests and usage refer to them; a second list
	 * sorts them. */
	vec_push(&q->pairs, ((struct flavor_resource){ flavor, resource }));
	vec_push(&q->pairs_sorted, id);
	memmove(&q->pairs_sorted.v[at + 1], &q->pairs_sorted.v[at],
		(q->pairs_sorted.n - 1 - at) * sizeof(q->pairs_sorted.v[0]));
	q->pairs_sorted.v[at] = id;
	return id;
}

struct flavor *quota_flavor_find(const struct quota_model *q, struct str name)
{
	return strmap_get(q->flavor_of, name);
}

struct flavor *quota_flavor_get(struct quota_model *q, struct str name)
{
	struct flavor *f = quota_flavor_find(q, name);

	if (f == NULL) {
		f = xmalloc_zero(1, sizeof(*f));
		f->id = (uint32_t)q->flavors.n;
		f->name = quota_name(q, name);
		vec_push(&q->flavors, f);
		strmap_set(q->flavor_of, name, f);
	}
	return f;
}

void quota_flavor_clear(struct flavor *f)
{
	free(f->labels);
	free(f->taints);
	free(f->tolerations);
	/* Its id stays: resource groups, pairs and assignments refer to it. */
	*f = (struct flavor){ .id = f->id, .name = f->name };
}

/* A forest that was synchronised before does not know the new node. */
static struct quota_node *add_node(struct quota_model *q, struct str name)
{
	struct quota_node *n = xmalloc_zero(1, sizeof(*n));

	n->name = quota_name(q, name);
	n->parent_id = MODEL_NONE;
	n->weight = 1;
	n->id = slots_add(&q->nodes, n);
	q->forest_gen++;
	return n;
}

struct quota_node *quota_queue_find(const struct quota_model *q, struct str name)
{
	return strmap_get(q->queue_of, name);
}

struct quota_node *quota_queue_get(struct quota_model *q, struct str name)
{
	struct quota_node *n = quota_queue_find(q, name);

	if (n == NULL) {
		n = add_node(q, name);
		n->is_queue = true;
		n->queue = xmalloc_zero(1, sizeof(*n->queue));
		/* Below the number of any cycle: there was no flush. */
		n->queue->inadmissible_cycle = -1;
		n->queue->preemptor = MODEL_NONE;
		n->queue->allocatable_gen = 1;
		quota_node_clear(n);
		strmap_set(q->queue_of, name, n);
	}
	return n;
}

struct quota_node *quota_cohort_find(const struct quota_model *q, struct str name)
{
	return strmap_get(q->cohort_of, name);
}

struct quota_node *quota_cohort_get(struct quota_model *q, struct str name)
{
	struct quota_node *n = quota_cohort_find(q, name);

	if (n == NULL) {
		n = add_node(q, name);
		strmap_set(q->cohort_of, name, n);
	}
	return n;
}

void quota_check_set(struct quota_model *q, struct str name, bool active,
		     enum quota_check_kind kind)
{
	struct quota_admission_check *c = strmap_get(q->check_of, name);

	if (c == NULL) {
		c = xmalloc_zero(1, sizeof(*c));
		strmap_set(q->check_of, name, c);
	}
	c->active = active;
	c->kind = kind;
}

void quota_check_remove(struct quota_model *q, struct str name)
{
	strmap_remove(q->check_of, name);
}

const struct quota_admission_check *quota_check_find(const struct quota_model *q, struct str name)
{
	return strmap_get(q->check_of, name);
}

void quota_topology_set(struct quota_model *q, struct str name, bool exists)
{
	if (exists) {
		(void)quota_name(q, name);
		/* Only the key counts. */
		strmap_set(q->topology_of, name, q);
	} else {
		strmap_remove(q->topology_of, name);
	}
}

struct local_queue *quota_local_find(const struct quota_model *q, struct str key)
{
	return strmap_get(q->local_of, key);
}

struct local_queue *quota_local_of(const struct quota_model *q, const struct workload *w)
{
	struct local_queue *l =
		w->pending.local < q->locals.n ? q->locals.v[w->pending.local] : NULL;
	char key[512];
	int n;

	if (w->object.local_queue == NULL) {
		return NULL;
	}
	/* The id that is remembered may have been given to another LocalQueue. */
	if (l != NULL && l->name == w->object.local_queue &&
	    l->namespace_ == w->object.namespace_) {
		return l; /* names are interned */
	}
	n = snprintf(key, sizeof(key), "%s/%s", w->object.namespace_, w->object.local_queue);
	if (n < 0 || (size_t)n >= sizeof(key)) {
		return NULL; /* longer than the API allows: no such LocalQueue */
	}
	return quota_local_find(q, (struct str){ key, (size_t)n });
}

void quota_local_remember(const struct quota_model *q, struct workload *w)
{
	const struct local_queue *l = quota_local_of(q, w);

	w->pending.local = l == NULL ? MODEL_NONE : l->id;
}

const struct quota_node *quota_local_queue(const struct quota_model *q, const struct local_queue *l)
{
	const struct quota_node *n = l->node < q->nodes.n ? q->nodes.v[l->node] : NULL;

	if (l->queue == NULL) {
		return NULL;
	}
	/* Likewise: the node may have been dropped, and its id given again. */
	if (n == NULL || !n->is_queue || n->name != l->queue) { /* names are interned */
		n = quota_queue_find(q, str_of(l->queue));
		q->locals.v[l->id]->node = n == NULL ? MODEL_NONE : n->id;
	}
	return n != NULL && n->exists ? n : NULL;
}

struct local_queue *quota_local_get(struct quota_model *q, struct str key)
{
	struct local_queue *l = quota_local_find(q, key);
	struct str name = key;

	if (l != NULL) {
		return l;
	}
	l = xmalloc_zero(1, sizeof(*l));
	l->key = xmalloc_dup_n(key.p, key.len);
	l->namespace_ = quota_name(q, str_next(&name, '/'));
	l->name = quota_name(q, name);
	l->queue = "";
	l->weight = 1;
	l->sampled_at = MODEL_TIME_NONE;
	l->node = MODEL_NONE;
	l->id = slots_add(&q->locals, l);
	strmap_set(q->local_of, key, l);
	return l;
}

void quota_local_remove(struct quota_model *q, struct local_queue *l)
{
	strmap_remove(q->local_of, str_of(l->key));
	slots_remove(&q->locals, l->id);
	vec_finish(&l->consumed);
	free(l->key);
	free(l);
}

struct quota_namespace *quota_namespace_find(const struct quota_model *q, struct str name)
{
	return strmap_get(q->namespace_of, name);
}

struct quota_namespace *quota_namespace_get(struct quota_model *q, struct str name)
{
	struct quota_namespace *ns = quota_namespace_find(q, name);

	if (ns == NULL) {
		ns = xmalloc_zero(1, sizeof(*ns));
		ns->name = xmalloc_dup_n(name.p, name.len);
		strmap_set(q->namespace_of, name, ns);
	}
	return ns;
}

void quota_namespace_remove(struct quota_model *q, struct str name)
{
	struct quota_namespace *ns = strmap_take(q->namespace_of, name);

	if (ns != NULL) {
		destroy_namespace(ns);
	}
}
