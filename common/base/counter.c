#include "base/counter.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "base/xmalloc.h"

struct counter_cell {
	const struct counter_family *family;
	const char *labels;       /* the values, each ended by NUL; the key in `cells` */
	size_t labels_len;        /* all NULs counted */
	_Atomic int64_t count;    /* counters: the value; histograms: the observations */
	_Atomic double value;     /* gauges: the value; histograms: the sum */
	_Atomic uint64_t pass;    /* of the family, when it was set last */
	_Atomic uint64_t above[]; /* histograms: observations per bucket, not cumulated */
};

struct counter_family {
	char *name;
	char *help;
	enum counter_type type;
	char *labels[COUNTER_MAX_LABELS];
	size_t nlabels;
	double *bounds;
	size_t nbounds;
	_Atomic uint64_t pass;
	pthread_mutex_t lock; /* guards cells */
	struct strmap *cells;
};

struct counter_registry {
	pthread_mutex_t lock; /* guards families */
	struct strmap *families;
};

static void free_family(void *p)
{
	struct counter_family *f = p;

	strmap_destroy(f->cells);
	for (size_t i = 0; i < f->nlabels; i++) {
		free(f->labels[i]);
	}
	pthread_mutex_destroy(&f->lock);
	free(f->bounds);
	free(f->name);
	free(f->help);
	free(f);
}

struct counter_registry *counter_registry_create(void)
{
	struct counter_registry *r = xmalloc_zero(1, sizeof(*r));

	pthread_mutex_init(&r->lock, NULL);
	r->families = strmap_create(free_family);
	return r;
}

void counter_registry_destroy(struct counter_registry *r)
{
	if (r == NULL) {
		return;
	}
	strmap_destroy(r->families);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static void assert_same(const struct counter_family *a, const struct counter_family *b)
{
	assert(a->type == b->type);
	assert(a->nlabels == b->nlabels);
	assert(a->nbounds == b->nbounds);
	for (size_t i = 0; i < a->nlabels; i++) {
		assert(str_streq(a->labels[i], b->labels[i]));
	}
	(void)a;
	(void)b;
}

/* Adopts f: returned itself, or freed in favour of the family of that name. */
static struct counter_family *adopt(struct counter_registry *r, struct counter_family *f)
{
	struct counter_family *known;

	pthread_mutex_lock(&r->lock);
	known = strmap_get(r->families, str_of(f->name));
	if (known == NULL) {
		strmap_set(r->families, str_of(f->name), f);
	}
	pthread_mutex_unlock(&r->lock);
	if (known == NULL) {
		return f;
	}
	assert_same(known, f);
	free_family(f);
	return known;
}

static struct counter_family *family_create(const char *name, const char *help,
					    enum counter_type type, const char *const *labels)
{
	struct counter_family *f = xmalloc_zero(1, sizeof(*f));

	f->name = xmalloc_dup(name);
	f->help = xmalloc_dup(help);
	f->type = type;
	f->cells = strmap_create(free);
	pthread_mutex_init(&f->lock, NULL);
	while (labels != NULL && labels[f->nlabels] != NULL) {
		assert(f->nlabels < COUNTER_MAX_LABELS);
		f->labels[f->nlabels] = xmalloc_dup(labels[f->nlabels]);
		f->nlabels++;
	}
	return f;
}

struct counter_family *counter_register(struct counter_registry *r, const char *name,
					const char *help, enum counter_type type,
					const char *const *labels)
{
	assert(type != COUNTER_HISTOGRAM);
	return adopt(r, family_create(name, help, type, labels));
}

struct counter_family *counter_register_histogram(struct counter_registry *r, const char *name,
						  const char *help, const char *const *labels,
						  const double *bounds, size_t nbounds)
{
	struct counter_family *f = family_create(name, help, COUNTER_HISTOGRAM, labels);

	f->nbounds = nbounds;
	f->bounds = xmalloc_zero(nbounds, sizeof(bounds[0]));
	for (size_t i = 0; i < nbounds; i++) {
		assert(i == 0 || bounds[i - 1] < bounds[i]);
		f->bounds[i] = bounds[i];
	}
	return adopt(r, f);
}

static void add_key(const struct counter_family *f, const char *const *values, struct strbuf *out)
{
	for (size_t i = 0; i < f->nlabels; i++) {
		strbuf_add(out, values[i], strlen(values[i]) + 1);
	}
}

/* Among the others, with the lock held. */
static struct counter_cell *new_cell(struct counter_family *f, struct str key)
{
	size_t nbuckets = f->type == COUNTER_HISTOGRAM ? f->nbounds + 1 : 0;
	struct counter_cell *c = xmalloc_zero(1, sizeof(*c) + nbuckets * sizeof(c->above[0]));

	c->family = f;
	strmap_set(f->cells, key, c);
	c->labels = strmap_key(f->cells, key);
	c->labels_len = key.len;
	return c;
}

struct counter_cell *counter_cell(struct counter_family *f, const char *const *values)
{
	static const char *const other[] = { "other", "other", "other", "other", "other", "other",
					     "other", "other", "other", "other", "other", "other",
					     "other", "other", "other", "other" };
	_Static_assert(ARRAY_LEN(other) == COUNTER_MAX_LABELS, "one for each");
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	struct counter_cell *c;

	add_key(f, values, &key);
	pthread_mutex_lock(&f->lock);
	c = strmap_get(f->cells, strbuf_str(&key));
	if (c == NULL && f->nlabels > 0 && strmap_count(f->cells) >= COUNTER_MAX_CELLS) {
		strbuf_reset(&key);
		add_key(f, other, &key);
		c = strmap_get(f->cells, strbuf_str(&key));
	}
	if (c == NULL) {
		c = new_cell(f, strbuf_str(&key));
	}
	pthread_mutex_unlock(&f->lock);
	return c;
}

void counter_remove(struct counter_family *f, const char *const *values)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;

	add_key(f, values, &key);
	pthread_mutex_lock(&f->lock);
	strmap_remove(f->cells, strbuf_str(&key));
	pthread_mutex_unlock(&f->lock);
}

/* Which cells are to go. */
struct removal {
	const char *const *values; /* of the first labels; NULL: those of another pass */
	size_t n;
	uint64_t pass;
	struct VEC(struct counter_cell *) found;
};

static bool begins_with(const struct counter_cell *c, const char *const *values, size_t n)
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
	struct counter_cell *c = value;
	struct removal *r = ctx;
	bool found = r->values != NULL
			     ? begins_with(c, r->values, r->n)
			     : atomic_load_explicit(&c->pass, memory_order_relaxed) != r->pass;

	if (found) {
		vec_push(&r->found, c);
	}
	return true;
}

static void remove_found(struct counter_family *f, struct removal *r)
{
	pthread_mutex_lock(&f->lock);
	strmap_each(f->cells, find_cell, r);
	for (size_t i = 0; i < r->found.n; i++) {
		struct counter_cell *c = r->found.v[i];

		strmap_remove(f->cells, (struct str){ c->labels, c->labels_len });
	}
	pthread_mutex_unlock(&f->lock);
	vec_finish(&r->found);
}

void counter_remove_where(struct counter_family *f, const char *const *values, size_t n)
{
	struct removal r = { .values = values, .n = n };

	assert(n <= f->nlabels);
	remove_found(f, &r);
}

void counter_begin(struct counter_family *f)
{
	assert(f->type == COUNTER_GAUGE);
	atomic_fetch_add_explicit(&f->pass, 1, memory_order_relaxed);
}

void counter_end(struct counter_family *f)
{
	struct removal r = { .pass = atomic_load_explicit(&f->pass, memory_order_relaxed) };

	remove_found(f, &r);
}

static void add_double(_Atomic double *cell, double n)
{
	double old = atomic_load_explicit(cell, memory_order_relaxed);

	while (!atomic_compare_exchange_weak_explicit(cell, &old, old + n, memory_order_relaxed,
						      memory_order_relaxed)) {
	}
}

void counter_add(struct counter_cell *c, int64_t n)
{
	assert(c->family->type != COUNTER_HISTOGRAM);
	if (c->family->type == COUNTER_COUNTER) {
		atomic_fetch_add_explicit(&c->count, n, memory_order_relaxed);
	} else {
		add_double(&c->value, (double)n);
	}
}

void counter_set(struct counter_cell *c, double value)
{
	assert(c->family->type == COUNTER_GAUGE);
	atomic_store_explicit(&c->value, value, memory_order_relaxed);
	atomic_store_explicit(&c->pass,
			      atomic_load_explicit(&c->family->pass, memory_order_relaxed),
			      memory_order_relaxed);
}

void counter_observe(struct counter_cell *c, double value)
{
	const struct counter_family *f = c->family;
	size_t i = 0;

	assert(f->type == COUNTER_HISTOGRAM);
	while (i < f->nbounds && !(value <= f->bounds[i])) {
		i++;
	}
	atomic_fetch_add_explicit(&c->above[i], 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&c->count, 1, memory_order_relaxed);
	add_double(&c->value, value);
}

double counter_get(const struct counter_cell *c)
{
	if (c->family->type == COUNTER_COUNTER) {
		return (double)atomic_load_explicit(&c->count, memory_order_relaxed);
	}
	return atomic_load_explicit(&c->value, memory_order_relaxed);
}

uint64_t counter_observations(const struct counter_cell *c)
{
	return (uint64_t)atomic_load_explicit(&c->count, memory_order_relaxed);
}

static void add_number(struct strbuf *out, double d)
{
	if (isnan(d)) {
		strbuf_add_c(out, "NaN");
	} else if (isinf(d)) {
		strbuf_add_c(out, d > 0 ? "+Inf" : "-Inf");
	} else {
		char text[32];

		/* The shortest of two forms that reads back as the same number. */
		snprintf(text, sizeof(text), "%.15g", d);
		if (strtod(text, NULL) != d) {
			snprintf(text, sizeof(text), "%.17g", d);
		}
		strbuf_add_c(out, text);
	}
}

/* Text that is not ASCII stays as it is: readers take UTF-8. A byte that UTF-8 does not have (the
 * overlong form of a NUL, enc/scan.h) would make them refuse the whole page. */
static void add_escaped(struct strbuf *out, const char *text, bool quotes)
{
	for (; *text != '\0'; text++) {
		if ((unsigned char)*text == 0xc0 && (unsigned char)text[1] == 0x80) {
			strbuf_add_c(out, "\xef\xbf\xbd");
			text++;
			continue;
		}
		if (*text == '\n') {
			strbuf_add_c(out, "\\n");
			continue;
		}
		if (*text == '\\' || (quotes && *text == '"')) {
			strbuf_add_ch(out, '\\');
		}
		strbuf_add_ch(out, *text);
	}
}

/* name suffix {label="value",...,le="bound"}; le may be NULL. */
static void add_sample_head(struct strbuf *out, const struct counter_cell *c, const char *suffix,
			    const double *le)
{
	const struct counter_family *f = c->family;
	const char *value = c->labels;

	strbuf_add_c(out, f->name);
	strbuf_add_c(out, suffix);
	if (f->nlabels == 0 && le == NULL) {
		strbuf_add_ch(out, ' ');
		return;
	}
	strbuf_add_ch(out, '{');
	for (size_t i = 0; i < f->nlabels; i++) {
		strbuf_printf(out, "%s%s=\"", i == 0 ? "" : ",", f->labels[i]);
		add_escaped(out, value, true);
		strbuf_add_ch(out, '"');
		value += strlen(value) + 1;
	}
	if (le != NULL) {
		strbuf_add_c(out, f->nlabels == 0 ? "le=\"" : ",le=\"");
		add_number(out, *le);
		strbuf_add_ch(out, '"');
	}
	strbuf_add_c(out, "} ");
}

/* The count is the sum of the buckets read here, so that one rendering agrees with itself. */
static void add_histogram(struct strbuf *out, const struct counter_cell *c)
{
	const struct counter_family *f = c->family;
	const double inf = INFINITY;
	uint64_t total = 0;

	for (size_t i = 0; i <= f->nbounds; i++) {
		total += atomic_load_explicit(&c->above[i], memory_order_relaxed);
		add_sample_head(out, c, "_bucket", i < f->nbounds ? &f->bounds[i] : &inf);
		strbuf_printf(out, "%llu\n", (unsigned long long)total);
	}
	add_sample_head(out, c, "_sum", NULL);
	add_number(out, counter_get(c));
	strbuf_add_ch(out, '\n');
	add_sample_head(out, c, "_count", NULL);
	strbuf_printf(out, "%llu\n", (unsigned long long)total);
}

static void add_cell(struct strbuf *out, const struct counter_cell *c)
{
	switch (c->family->type) {
	case COUNTER_HISTOGRAM:
		add_histogram(out, c);
		break;
	case COUNTER_COUNTER:
		add_sample_head(out, c, "", NULL);
		strbuf_printf(out, "%lld\n",
			      (long long)atomic_load_explicit(&c->count, memory_order_relaxed));
		break;
	case COUNTER_GAUGE:
		add_sample_head(out, c, "", NULL);
		add_number(out, counter_get(c));
		strbuf_add_ch(out, '\n');
		break;
	}
}

struct pointers VEC(void *);

static bool collect(struct str key, void *value, void *ctx)
{
	struct pointers *all = ctx;

	(void)key;
	vec_push(all, value);
	return true;
}

static int by_labels(const void *a, const void *b)
{
	const struct counter_cell *x = *(void *const *)a;
	const struct counter_cell *y = *(void *const *)b;

	return str_cmp((struct str){ x->labels, x->labels_len },
		       (struct str){ y->labels, y->labels_len });
}

static int by_name(const void *a, const void *b)
{
	const struct counter_family *x = *(void *const *)a;
	const struct counter_family *y = *(void *const *)b;

	return strcmp(x->name, y->name);
}

static void sort(struct pointers *all, int (*cmp)(const void *, const void *))
{
	if (all->n > 1) {
		qsort(all->v, all->n, sizeof(all->v[0]), cmp);
	}
}

static void add_family(struct strbuf *out, struct counter_family *f)
{
	static const char *const types[] = { "counter", "gauge", "histogram" };
	struct pointers cells = VEC_INIT;

	strbuf_printf(out, "# HELP %s ", f->name);
	add_escaped(out, f->help, false);
	strbuf_printf(out, "\n# TYPE %s %s\n", f->name, types[f->type]);
	pthread_mutex_lock(&f->lock);
	strmap_each(f->cells, collect, &cells);
	sort(&cells, by_labels);
	for (size_t i = 0; i < cells.n; i++) {
		add_cell(out, cells.v[i]);
	}
	pthread_mutex_unlock(&f->lock);
	vec_finish(&cells);
}

void counter_render(struct counter_registry *r, struct strbuf *out)
{
	struct pointers families = VEC_INIT;

	/* Families are never removed: their pointers outlive the lock. */
	pthread_mutex_lock(&r->lock);
	strmap_each(r->families, collect, &families);
	pthread_mutex_unlock(&r->lock);
	sort(&families, by_name);
	for (size_t i = 0; i < families.n; i++) {
		add_family(out, families.v[i]);
	}
	vec_finish(&families);
}
