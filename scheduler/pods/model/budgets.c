#include "scheduler/pods/model/budgets.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/meta/selector.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"

struct rule { /* of a budget */
	struct arena *arena;
	struct selector selector;
	char *uid;          /* of the version of which the selector is */
	int64_t generation; /* 0: not known */
};

struct pod {
	struct field_pair
		*labels; /* with their texts in one block; NULL: no budget matters to it */
	size_t nlabels;
	uint32_t pos; /* in the pods of its namespace */
	/* Budgets that cover it: their number, and the sum of their ids, which is the id of the one
	 * if there is one. */
	uint32_t count;
	uint64_t sum;
};

struct space {                              /* a namespace */
	struct VEC(uint32_t) pods, budgets; /* ids */
};

struct budget_index {
	struct VEC(struct pod) pods;   /* by task id */
	struct VEC(struct rule) rules; /* by budget id */
	struct strmap *spaces, *by_key;
};

static void free_space(void *value)
{
	struct space *s = value;

	vec_finish(&s->pods);
	vec_finish(&s->budgets);
	free(s);
}

void budgets_begin(struct cluster *c)
{
	assert(c->budget_index == NULL && slots_count(&c->tasks) == 0);
	c->budget_index = xmalloc_zero(1, sizeof(*c->budget_index));
	c->budget_index->spaces = strmap_create(free_space);
	c->budget_index->by_key = strmap_create(NULL);
}

static void free_rule(struct rule *r)
{
	arena_destroy(r->arena);
	free(r->uid);
	*r = (struct rule){ .arena = NULL };
}

void budgets_finish(struct cluster *c)
{
	struct budget_index *x = c->budget_index;

	for (size_t i = 0; i < c->budgets.n; i++) {
		if (c->budgets.v[i] != NULL) {
			free(c->budgets.v[i]->key);
			free(c->budgets.v[i]);
		}
	}
	slots_finish(&c->budgets);
	if (x == NULL) {
		return;
	}
	for (size_t i = 0; i < x->pods.n; i++) {
		free(x->pods.v[i].labels);
	}
	for (size_t i = 0; i < x->rules.n; i++) {
		free_rule(&x->rules.v[i]);
	}
	vec_finish(&x->pods);
	vec_finish(&x->rules);
	strmap_destroy(x->spaces);
	strmap_destroy(x->by_key);
	free(x);
	c->budget_index = NULL;
}

static struct space *space_of(struct budget_index *x, struct str namespace_)
{
	struct space *s = strmap_get(x->spaces, namespace_);

	if (s == NULL) {
		s = xmalloc_zero(1, sizeof(*s));
		strmap_set(x->spaces, namespace_, s);
	}
	return s;
}

static void prune(struct budget_index *x, struct str namespace_, const struct space *s)
{
	if (s->pods.n == 0 && s->budgets.n == 0) {
		(void)strmap_remove(x->spaces, namespace_);
	}
}

/* --- which budgets cover which pods ------------------------------------------------------------
 */

static bool covers(const struct rule *r, const struct pod *p)
{
	const struct field_map labels = { p->labels, p->nlabels };

	return selector_match(&r->selector, &labels);
}

static void count(struct pod *p, uint32_t budget, bool more)
{
	p->count += more ? 1 : UINT32_MAX;
	p->sum += more ? budget : -(uint64_t)budget;
}

/* After the budgets that cover it have changed. */
static void settle(struct cluster *c, struct task *t)
{
	const struct pod *p = &c->budget_index->pods.v[t->id];
	uint32_t budget = p->count == 0   ? MODEL_NONE
			  : p->count == 1 ? (uint32_t)p->sum
					  : TASK_BUDGETS_SEVERAL;

	if (t->budget != budget) {
		t->budget = budget;
		c->demand_gen++;
	}
}

/* The pods that it covers are counted, or not any more. */
static void count_all(struct cluster *c, const struct space *s, uint32_t budget, bool more)
{
	const struct rule *r = &c->budget_index->rules.v[budget];

	for (size_t i = 0; i < s->pods.n; i++) {
		struct pod *p = &c->budget_index->pods.v[s->pods.v[i]];

		if (covers(r, p)) {
			count(p, budget, more);
			settle(c, c->tasks.v[s->pods.v[i]]);
		}
	}
}

/* --- budgets -----------------------------------------------------------------------------------
 */

static struct budget *add(struct cluster *c, struct space *s, const char *key)
{
	struct budget_index *x = c->budget_index;
	struct budget *b = xmalloc_zero(1, sizeof(*b));

	b->key = xmalloc_dup(key);
	b->id = slots_add(&c->budgets, b);
	while (x->rules.n <= b->id) {
		vec_push(&x->rules, (struct rule){ .arena = NULL });
	}
	strmap_set(x->by_key, str_of(key), b);
	vec_push(&s->budgets, b->id);
	return b;
}

/* The selector has not changed: so much is spared with every status. */
static bool is_same_rule(const struct rule *r, const struct budgets_spec *spec)
{
	return r->generation != 0 && r->generation == spec->generation &&
	       str_streq(r->uid, spec->uid);
}

/* The texts of the object go with its message. */
static void copy_selector(struct selector *to, const struct selector *from, struct arena *arena)
{
	struct selector_requirement *v = arena_alloc(arena, (from->n + 1) * sizeof(*v));

	for (size_t i = 0; i < from->n; i++) {
		const struct field_strs *values = &from->requirements[i].values;
		const char **texts = arena_alloc(arena, (values->n + 1) * sizeof(*texts));

		for (size_t k = 0; k < values->n; k++) {
			texts[k] = arena_dup(arena, values->v[k]);
		}
		v[i] = from->requirements[i];
		v[i].key = arena_dup(arena, v[i].key);
		v[i].values.v = texts;
	}
	*to = *from;
	to->requirements = v;
}

static int parse_rule(const struct budgets_spec *spec, struct rule *ret, struct err *err)
{
	struct rule r = { .arena = arena_create(256), .generation = spec->generation };
	struct selector selector;

	if (selector_from_struct(spec->selector, r.arena, &selector, err) < 0) {
		arena_destroy(r.arena);
		return err_wrap(err, "spec.selector");
	}
	copy_selector(&r.selector, &selector, r.arena);
	r.uid = spec->uid == NULL ? NULL : xmalloc_dup(spec->uid);
	*ret = r;
	return 0;
}

/* b NULL: it is new. */
static int set_rule(struct cluster *c, struct space *s, const char *key, struct budget **b,
		    const struct budgets_spec *spec, struct err *err)
{
	struct rule r;

	if (*b != NULL && is_same_rule(&c->budget_index->rules.v[(*b)->id], spec)) {
		return 0;
	}
	if (*b == NULL && s->budgets.n >= BUDGETS_MAX) {
		return err_set(err, ERR_INVALID,
			       "the namespace has more than %d PodDisruptionBudgets: this one is "
			       "not looked at before evictions",
			       BUDGETS_MAX);
	}
	if (parse_rule(spec, &r, err) < 0) {
		return -ERR_INVALID;
	}
	if (*b == NULL) {
		*b = add(c, s, key);
	} else {
		count_all(c, s, (*b)->id, false);
		free_rule(&c->budget_index->rules.v[(*b)->id]);
	}
	c->budget_index->rules.v[(*b)->id] = r;
	count_all(c, s, (*b)->id, true);
	return 0;
}

int budgets_set(struct cluster *c, const struct budgets_spec *spec, struct err *err)
{
	CLEANUP(xmalloc_freep)
	char *key =
		xmalloc_printf(STR_FMT "/" STR_FMT, STR_ARG(spec->namespace_), STR_ARG(spec->name));
	struct space *s = space_of(c->budget_index, spec->namespace_);
	struct budget *b = strmap_get(c->budget_index->by_key, str_of(key));

	if (set_rule(c, s, key, &b, spec, err) < 0) {
		prune(c->budget_index, spec->namespace_, s);
		return -ERR_INVALID;
	}
	c->demand_gen +=
		b->allowed != spec->allowed || b->granted > 0 || b->unready_go != spec->unready_go;
	b->allowed = spec->allowed;
	b->unready_go = spec->unready_go;
	b->granted = 0;
	return 0;
}

struct budget *budgets_find(const struct cluster *c, struct str key)
{
	return c->budget_index == NULL ? NULL : strmap_get(c->budget_index->by_key, key);
}

bool budgets_remove(struct cluster *c, struct str key)
{
	struct budget_index *x = c->budget_index;
	struct budget *b = strmap_get(x->by_key, key);
	struct str rest = key, namespace_ = str_next(&rest, '/');
	struct space *s;
	uint32_t id;

	if (b == NULL) {
		return false;
	}
	id = b->id;
	s = space_of(x, namespace_);
	count_all(c, s, id, false);
	free_rule(&x->rules.v[id]);
	for (size_t i = 0; i < s->budgets.n; i++) {
		if (s->budgets.v[i] == id) {
			vec_swap_remove(&s->budgets, i);
			break;
		}
	}
	prune(x, namespace_, s);
	(void)strmap_remove(x->by_key, key);
	slots_remove(&c->budgets, id);
	free(b->key);
	free(b);
	return true;
}

/* --- pods --------------------------------------------------------------------------------------
 */

static bool is_same(const struct pod *p, const struct field_map *labels)
{
	if ((p->labels == NULL) != (labels == NULL)) {
		return false;
	}
	if (labels == NULL) {
		return true;
	}
	if (p->nlabels != labels->n) {
		return false;
	}
	for (size_t i = 0; i < labels->n; i++) {
		if (!str_streq(p->labels[i].key, labels->v[i].key) ||
		    !str_streq(p->labels[i].value, labels->v[i].value)) {
			return false;
		}
	}
	return true;
}

static char *put(char *at, const char **ret, const char *text)
{
	size_t n = strlen(text) + 1;

	memcpy(at, text, n);
	*ret = at;
	return at + n;
}

/* One block: there are many pods. */
static void copy_labels(struct pod *p, const struct field_map *from)
{
	size_t bytes = (from->n + 1) * sizeof(*p->labels);
	char *at;

	for (size_t i = 0; i < from->n; i++) {
		bytes += strlen(from->v[i].key) + strlen(from->v[i].value) + 2;
	}
	p->labels = xmalloc_zero(bytes, 1);
	p->nlabels = from->n;
	at = (char *)&p->labels[from->n + 1];
	for (size_t i = 0; i < from->n; i++) {
		at = put(at, &p->labels[i].key, from->v[i].key);
		at = put(at, &p->labels[i].value, from->v[i].value);
	}
}

static void leave_space(struct budget_index *x, const struct task *t, struct pod *p)
{
	struct space *s = space_of(x, str_of(t->namespace_));

	free(p->labels);
	vec_swap_remove(&s->pods, p->pos);
	if (p->pos < s->pods.n) {
		x->pods.v[s->pods.v[p->pos]].pos = p->pos;
	}
	prune(x, str_of(t->namespace_), s);
	*p = (struct pod){ .labels = NULL };
}

static void enter_space(struct budget_index *x, const struct task *t, struct pod *p,
			const struct field_map *labels)
{
	struct space *s = space_of(x, str_of(t->namespace_));

	copy_labels(p, labels);
	p->pos = (uint32_t)s->pods.n;
	vec_push(&s->pods, t->id);
	for (size_t i = 0; i < s->budgets.n; i++) {
		if (covers(&x->rules.v[s->budgets.v[i]], p)) {
			count(p, s->budgets.v[i], true);
		}
	}
}

void budgets_set_labels(struct cluster *c, struct task *t, const struct field_map *labels)
{
	struct budget_index *x = c->budget_index;
	struct pod *p;

	if (x == NULL) {
		return;
	}
	while (x->pods.n <= t->id) {
		vec_push(&x->pods, (struct pod){ .labels = NULL });
	}
	p = &x->pods.v[t->id];
	if (is_same(p, labels)) {
		return;
	}
	if (p->labels != NULL) {
		leave_space(x, t, p);
	}
	if (labels != NULL) {
		enter_space(x, t, p, labels);
	}
	settle(c, t);
}

void budgets_set_unready(struct cluster *c, struct task *t, bool was, bool is)
{
	if (c->budget_index == NULL) {
		return;
	}
	t->flags |= is ? (uint32_t)TASK_UNREADY : 0;
	c->demand_gen += was != is && t->budget != MODEL_NONE;
}

void budgets_evict(struct cluster *c, const struct task *t, bool granted)
{
	struct budget *b = budgets_of(c, t);

	if (b == NULL || !budgets_guard(c, t)) {
		return;
	}
	if (granted) {
		b->granted++;
	} else if (b->granted > 0) {
		b->granted--;
		c->demand_gen++;
	}
}
