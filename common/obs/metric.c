#include "obs/metric.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "collections/vec.h"

struct cell {
	const char *labels; /* the values, each ended by NUL; the key in `cells` */
	size_t labels_len;  /* all NULs counted */
	struct metric_cell cell;
	_Atomic uint64_t above[]; /* the cell's */
};

struct metric_family {
	struct metric_info info;
	char *name, *help;
	char *labels[METRIC_MAX_LABELS];
	double *bounds;
	size_t nbounds;
	_Atomic uint64_t round;
	pthread_mutex_t lock; /* guards cells */
	struct strmap *cells;
};

struct metric_registry {
	pthread_mutex_t lock; /* guards families */
	struct strmap *families;
};

static void free_family(void *p)
{
	struct metric_family *f = p;

	strmap_destroy(f->cells);
	for (size_t i = 0; i < f->info.nlabels; i++) {
		free(f->labels[i]);
	}
	pthread_mutex_destroy(&f->lock);
	free(f->bounds);
	free(f->name);
	free(f->help);
	free(f);
}

struct metric_registry *metric_registry_create(void)
{
	struct metric_registry *r = xmalloc_zero(1, sizeof(*r));

	pthread_mutex_init(&r->lock, NULL);
	r->families = strmap_create(free_family);
	return r;
}

void metric_registry_destroy(struct metric_registry *r)
{
	if (r == NULL) {
		return;
	}
	strmap_destroy(r->families);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static void assert_same(const struct metric_family *a, const struct metric_family *b)
{
	assert(a->info.type == b->info.type);
	assert(a->info.nlabels == b->info.nlabels);
	assert(a->nbounds == b->nbounds);
	for (size_t i = 0; i < a->info.nlabels; i++) {
		assert(str_streq(a->labels[i], b->labels[i]));
	}
	(void)a;
	(void)b;
}

/* Adopts f: returns it, or frees it and returns the family that already has its name. */
static struct metric_family *adopt(struct metric_registry *r, struct metric_family *f)
{
	struct metric_family *known;

	pthread_mutex_lock(&r->lock);
	known = strmap_get(r->families, str_of(f->info.name));
	if (known == NULL) {
		strmap_set(r->families, str_of(f->info.name), f);
	}
	pthread_mutex_unlock(&r->lock);
	if (known == NULL) {
		return f;
	}
	assert_same(known, f);
	free_family(f);
	return known;
}

static struct metric_family *family_create(const char *name, const char *help,
					   enum metric_type type, const char *const *labels)
{
	struct metric_family *f = xmalloc_zero(1, sizeof(*f));

	f->name = xmalloc_dup(name);
	f->help = xmalloc_dup(help);
	f->info.name = f->name;
	f->info.help = f->help;
	f->info.labels = (const char *const *)f->labels;
	f->info.type = type;
	f->cells = strmap_create(free);
	pthread_mutex_init(&f->lock, NULL);
	while (labels != NULL && labels[f->info.nlabels] != NULL) {
		assert(f->info.nlabels < METRIC_MAX_LABELS);
		f->labels[f->info.nlabels] = xmalloc_dup(labels[f->info.nlabels]);
		f->info.nlabels++;
	}
	return f;
}

struct metric_family *metric_register(struct metric_registry *r, const char *name, const char *help,
				      enum metric_type type, const char *const *labels)
{
	assert(type != METRIC_HISTOGRAM);
	return adopt(r, family_create(name, help, type, labels));
}

struct metric_family *metric_register_histogram(struct metric_registry *r, const char *name,
						const char *help, const char *const *labels,
						const double *bounds, size_t nbounds)
{
	struct metric_family *f = family_create(name, help, METRIC_HISTOGRAM, labels);

	f->nbounds = nbounds;
	f->bounds = xmalloc_zero(nbounds, sizeof(bounds[0]));
	for (size_t i = 0; i < nbounds; i++) {
		assert(i == 0 || bounds[i - 1] < bounds[i]);
		f->bounds[i] = bounds[i];
	}
	return adopt(r, f);
}

/* The values with their NULs are unambiguous as a key: no value contains one. */
static void add_key(const struct metric_family *f, const char *const *values, struct strbuf *out)
{
	for (size_t i = 0; i < f->info.nlabels; i++) {
		strbuf_add(out, values[i], strlen(values[i]) + 1);
	}
}

/* Adds a cell, with the lock held. */
static struct cell *new_cell(struct metric_family *f, struct str key)
{
	size_t nbuckets = f->info.type == METRIC_HISTOGRAM ? f->nbounds + 1 : 0;
	struct cell *c = xmalloc_zero(1, sizeof(*c) + nbuckets * sizeof(c->above[0]));

	c->cell = (struct metric_cell){ .type = f->info.type,
					.bounds = f->bounds,
					.nbounds = f->nbounds,
					.above = c->above,
					.round = &f->round };
	strmap_set(f->cells, key, c);
	/* The map has a copy of the key: the cell borrows it. */
	c->labels = strmap_key(f->cells, key);
	c->labels_len = key.len;
	return c;
}

struct metric_cell *metric_cell(struct metric_family *f, const char *const *values)
{
	static const char *const other[] = { "other", "other", "other", "other", "other", "other",
					     "other", "other", "other", "other", "other", "other",
					     "other", "other", "other", "other" };
	_Static_assert(ARRAY_LEN(other) == METRIC_MAX_LABELS, "one for each");
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	struct cell *c;

	add_key(f, values, &key);
	pthread_mutex_lock(&f->lock);
	c = strmap_get(f->cells, strbuf_str(&key));
	/* Values may be names that users choose: beyond the limit they share one cell. */
	if (c == NULL && f->info.nlabels > 0 && strmap_count(f->cells) >= METRIC_MAX_CELLS) {
		strbuf_reset(&key);
		add_key(f, other, &key);
		c = strmap_get(f->cells, strbuf_str(&key));
	}
	if (c == NULL) {
		c = new_cell(f, strbuf_str(&key));
	}
	pthread_mutex_unlock(&f->lock);
	return &c->cell;
}

void metric_remove(struct metric_family *f, const char *const *values)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;

	add_key(f, values, &key);
	pthread_mutex_lock(&f->lock);
	strmap_remove(f->cells, strbuf_str(&key));
	pthread_mutex_unlock(&f->lock);
}

/* Selects the cells to remove. */
struct removal {
	const char *const *values; /* of the first labels; NULL: those not set in this round */
	size_t n;
	uint64_t round;
	struct VEC(struct cell *) found;
};

static bool begins_with(const struct cell *c, const char *const *values, size_t n)
{
	const char *label = c->labels;

	for (size_t i = 0; i < n; i++) {
		if (!str_streq(label, values[i])) {
			return false;
		}
		label += strlen(label) + 1;
	}
	return true;
}

static bool find_cell(struct str key UNUSED, void *value, void *ctx)
{
	struct cell *c = value;
	struct removal *r = ctx;
	bool found = r->values != NULL ? begins_with(c, r->values, r->n)
				       : !metric_cell_is_of_round(&c->cell, r->round);

	if (found) {
		vec_push(&r->found, c);
	}
	return true;
}

/* Cells are collected first: a map must not change while it is walked. */
static void remove_found(struct metric_family *f, struct removal *r)
{
	pthread_mutex_lock(&f->lock);
	strmap_each(f->cells, find_cell, r);
	for (size_t i = 0; i < r->found.n; i++) {
		struct cell *c = r->found.v[i];

		strmap_remove(f->cells, (struct str){ c->labels, c->labels_len });
	}
	pthread_mutex_unlock(&f->lock);
	vec_finish(&r->found);
}

void metric_remove_where(struct metric_family *f, const char *const *values, size_t n)
{
	struct removal r = { .values = values, .n = n };

	assert(n <= f->info.nlabels);
	remove_found(f, &r);
}

void metric_begin(struct metric_family *f)
{
	assert(f->info.type == METRIC_GAUGE);
	atomic_fetch_add_explicit(&f->round, 1, memory_order_relaxed);
}

void metric_end(struct metric_family *f)
{
	struct removal r = { .round = atomic_load_explicit(&f->round, memory_order_relaxed) };

	remove_found(f, &r);
}

struct pointers VEC(void *);

static bool collect(struct str key, void *value, void *ctx)
{
	struct pointers *all = ctx;

	(void)key;
	vec_push(all, value);
	return true;
}

/* The map has the order in which cells were made, which differs between two processes. */
static int by_labels(const void *a, const void *b)
{
	const struct cell *x = *(void *const *)a;
	const struct cell *y = *(void *const *)b;

	return str_cmp((struct str){ x->labels, x->labels_len },
		       (struct str){ y->labels, y->labels_len });
}

static int by_name(const void *a, const void *b)
{
	const struct metric_family *x = *(void *const *)a;
	const struct metric_family *y = *(void *const *)b;

	return strcmp(x->info.name, y->info.name);
}

static void sort(struct pointers *all, int (*cmp)(const void *, const void *))
{
	if (all->n > 1) {
		qsort(all->v, all->n, sizeof(all->v[0]), cmp);
	}
}

/* The lock keeps cells from being removed while they are read. Their numbers may change
 * meanwhile. */
static void visit_cells(struct metric_family *f, const struct metric_visitor *v)
{
	struct pointers cells = VEC_INIT;

	pthread_mutex_lock(&f->lock);
	strmap_each(f->cells, collect, &cells);
	sort(&cells, by_labels);
	for (size_t i = 0; i < cells.n; i++) {
		const struct cell *c = cells.v[i];

		v->cell(v->ctx, &f->info, c->labels, &c->cell);
	}
	pthread_mutex_unlock(&f->lock);
	vec_finish(&cells);
}

void metric_visit(struct metric_registry *r, const struct metric_visitor *v)
{
	struct pointers families = VEC_INIT;

	/* Families are never removed: their pointers outlive the lock. */
	pthread_mutex_lock(&r->lock);
	strmap_each(r->families, collect, &families);
	pthread_mutex_unlock(&r->lock);
	sort(&families, by_name);
	for (size_t i = 0; i < families.n; i++) {
		struct metric_family *f = families.v[i];

		v->family(v->ctx, &f->info);
		visit_cells(f, v);
	}
	vec_finish(&families);
}
