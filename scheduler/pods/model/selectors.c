#include "scheduler/pods/model/selectors.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/intern.h"
#include "collections/strmap.h"
#include "scheduler/pods/model/access.h"
#include "scheduler/pods/values/signature.h"

struct space {                                  /* a namespace */
	struct VEC(uint32_t) labels, selectors; /* ids; selectors: those that name it */
};

static void free_space(void *value)
{
	struct space *s = value;

	vec_finish(&s->labels);
	vec_finish(&s->selectors);
	free(s);
}

struct selector_index *selectors_create(void)
{
	struct selector_index *x = xmalloc_zero(1, sizeof(*x));

	x->labels_by_text = strmap_create(NULL);
	x->selector_by_text = strmap_create(NULL);
	x->spaces = strmap_create(free_space);
	return x;
}

static void free_labels(struct pod_labels *l)
{
	if (l != NULL) {
		idset_finish(&l->selectors);
		vec_finish(&l->tasks);
		free(l->signature);
		free(l->v);
		free(l);
	}
}

static void free_selector(struct pod_selector *s)
{
	if (s != NULL) {
		idset_finish(&s->labels);
		vec_finish(&s->classes);
		pod_term_free(s->term, 1);
		free(s->signature);
		free(s);
	}
}

void selectors_destroy(struct selector_index *x)
{
	if (x == NULL) {
		return;
	}
	for (size_t i = 0; i < x->labels.n; i++) {
		free_labels(x->labels.v[i]);
	}
	for (size_t i = 0; i < x->selectors.n; i++) {
		free_selector(x->selectors.v[i]);
	}
	slots_finish(&x->labels);
	slots_finish(&x->selectors);
	vec_finish(&x->wide);
	strmap_destroy(x->labels_by_text);
	strmap_destroy(x->selector_by_text);
	strmap_destroy(x->spaces);
	free(x);
}

static struct space *space_of(struct selector_index *x, const char *namespace_)
{
	struct space *s = strmap_get(x->spaces, str_of(namespace_));

	if (s == NULL) {
		s = xmalloc_zero(1, sizeof(*s));
		strmap_set(x->spaces, str_of(namespace_), s);
	}
	return s;
}

static void prune(struct selector_index *x, const char *namespace_, const struct space *s)
{
	if (s->labels.n == 0 && s->selectors.n == 0) {
		(void)strmap_remove(x->spaces, str_of(namespace_));
	}
}

/* --- which selectors select which labels -------------------------------------------------------
 */

static bool term_holds(const struct match_term *t, const struct pod_labels *l)
{
	for (size_t i = 0; i < t->nexprs; i++) {
		if (!match_expr_holds(&t->exprs[i], match_label(l->v, l->n, t->exprs[i].key))) {
			return false;
		}
	}
	return true;
}

/* Labels of namespaces are not interned: a text that is not in the table is in no expression. */
static bool namespace_holds(const struct cluster *c, const struct match_term *t,
			    const char *namespace_)
{
	for (size_t i = 0; i < t->nexprs; i++) {
		const char *value = access_namespace_label(c, namespace_, t->exprs[i].key);
		uint32_t id = value == NULL ? INTERN_NONE : intern_find(c->names, str_of(value));

		value = id == INTERN_NONE ? value : intern_name(c->names, id);
		if (!match_expr_holds(&t->exprs[i], value)) {
			return false;
		}
	}
	return true;
}

static bool looks_into(const struct cluster *c, const struct pod_term *t, const char *namespace_)
{
	for (size_t i = 0; i < t->nnamespaces; i++) {
		if (t->namespaces[i] == namespace_) {
			return true;
		}
	}
	return t->selects_namespaces && namespace_holds(c, &t->namespaces_by, namespace_);
}

/* The cheaper question first: most labels differ from what a term asks for. */
static bool matches(const struct cluster *c, const struct pod_selector *s,
		    const struct pod_labels *l)
{
	return s->term->selects && term_holds(&s->term->pods, l) &&
	       looks_into(c, s->term, l->namespace_);
}

static void link_pair(struct pod_selector *s, struct pod_labels *l)
{
	(void)idset_add(&l->selectors, s->id);
	(void)idset_add(&s->labels, l->id);
}

/* --- labels ------------------------------------------------------------------------------------
 */

static void format_labels(const char *namespace_, const struct label *v, size_t n,
			  struct strbuf *out)
{
	signature_put_text(out, namespace_);
	for (size_t i = 0; i < n; i++) {
		signature_put_text(out, v[i].key);
		signature_put_text(out, v[i].value);
	}
}

static void match_labels(struct cluster *c, struct pod_labels *l, const uint32_t *ids, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct pod_selector *s = c->selectors->selectors.v[ids[i]];

		if (matches(c, s, l)) {
			link_pair(s, l);
		}
	}
}

static struct pod_labels *add_labels(struct cluster *c, const char *namespace_,
				     const struct label *v, size_t n, const struct strbuf *text)
{
	struct selector_index *x = c->selectors;
	struct space *space = space_of(x, namespace_);
	struct pod_labels *l = xmalloc_zero(1, sizeof(*l));

	l->namespace_ = namespace_;
	l->signature = xmalloc_dup_n(strbuf_str(text).p, strbuf_str(text).len);
	l->v = xmalloc_zero(n + 1, sizeof(l->v[0]));
	memcpy(l->v, v, n * sizeof(l->v[0]));
	l->n = n;
	l->id = slots_add(&x->labels, l);
	strmap_set(x->labels_by_text, strbuf_str(text), l);
	l->space_pos = (uint32_t)space->labels.n;
	vec_push(&space->labels, l->id);
	match_labels(c, l, space->selectors.v, space->selectors.n);
	match_labels(c, l, x->wide.v, x->wide.n);
	return l;
}

static void remove_labels(struct selector_index *x, struct pod_labels *l)
{
	struct space *space = space_of(x, l->namespace_);

	for (struct idset_cursor i = IDSET_FIRST; idset_next(&l->selectors, &i);) {
		(void)idset_remove(&x->selectors.v[i.id]->labels, l->id);
	}
	vec_swap_remove(&space->labels, l->space_pos);
	if (l->space_pos < space->labels.n) {
		x->labels.v[space->labels.v[l->space_pos]]->space_pos = l->space_pos;
	}
	prune(x, l->namespace_, space);
	(void)strmap_remove(x->labels_by_text, str_of(l->signature));
	slots_remove(&x->labels, l->id);
	free_labels(l);
}

static void leave(struct cluster *c, struct task *t)
{
	struct pod_labels *l = c->selectors->labels.v[t->labels->id];

	vec_swap_remove(&l->tasks, t->labels_pos);
	if (t->labels_pos < l->tasks.n) {
		c->tasks.v[l->tasks.v[t->labels_pos]]->labels_pos = t->labels_pos;
	}
	t->labels = NULL;
	/* Pods that wait may have waited for it. */
	c->demand_gen += selectors_decide_about(c, l);
	if (l->tasks.n == 0) {
		remove_labels(c->selectors, l);
	}
}

static void enter(struct cluster *c, struct task *t, struct pod_labels *l)
{
	t->labels = l;
	t->labels_pos = (uint32_t)l->tasks.n;
	vec_push(&l->tasks, t->id);
	c->demand_gen += selectors_decide_about(c, l);
}

void selectors_set_labels(struct cluster *c, struct task *t, const struct label *v, size_t n)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct pod_labels *l;

	format_labels(t->namespace_, v, n, &text);
	l = strmap_get(c->selectors->labels_by_text, strbuf_str(&text));
	if (l != NULL && t->labels == l) {
		return;
	}
	if (l == NULL) {
		l = add_labels(c, t->namespace_, v, n, &text);
	}
	if (t->labels != NULL) {
		leave(c, t);
	}
	enter(c, t, l);
}

void selectors_forget_labels(struct cluster *c, struct task *t)
{
	if (t->labels != NULL) {
		leave(c, t);
	}
}

/* --- selectors ---------------------------------------------------------------------------------
 */

static void match_selector(struct cluster *c, struct pod_selector *s, const uint32_t *ids, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct pod_labels *l = c->selectors->labels.v[ids[i]];

		if (matches(c, s, l)) {
			link_pair(s, l);
		}
	}
}

static void match_everywhere(struct cluster *c, struct pod_selector *s)
{
	for (size_t i = 0; i < c->selectors->labels.n; i++) {
		struct pod_labels *l = c->selectors->labels.v[i];

		if (l != NULL && matches(c, s, l)) {
			link_pair(s, l);
		}
	}
}

static struct pod_selector *add_selector(struct cluster *c, const struct pod_term *t,
					 const struct strbuf *text)
{
	struct selector_index *x = c->selectors;
	struct pod_selector *s = xmalloc_zero(1, sizeof(*s));

	s->signature = xmalloc_dup_n(strbuf_str(text).p, strbuf_str(text).len);
	s->term = pod_term_copy(t, 1);
	s->id = slots_add(&x->selectors, s);
	strmap_set(x->selector_by_text, strbuf_str(text), s);
	for (size_t i = 0; i < t->nnamespaces; i++) {
		struct space *space = space_of(x, t->namespaces[i]);

		vec_push(&space->selectors, s->id);
		if (!t->selects_namespaces) {
			match_selector(c, s, space->labels.v, space->labels.n);
		}
	}
	if (t->selects_namespaces) {
		vec_push(&x->wide, s->id);
		match_everywhere(c, s);
	}
	return s;
}

static void remove_id(uint32_t *v, size_t *n, uint32_t id)
{
	for (size_t i = 0; i < *n; i++) {
		if (v[i] == id) {
			v[i] = v[--*n];
			return;
		}
	}
	assert(!"an id that is not in its list");
}

static void remove_selector(struct selector_index *x, struct pod_selector *s)
{
	for (struct idset_cursor i = IDSET_FIRST; idset_next(&s->labels, &i);) {
		(void)idset_remove(&x->labels.v[i.id]->selectors, s->id);
	}
	for (size_t i = 0; i < s->term->nnamespaces; i++) {
		struct space *space = space_of(x, s->term->namespaces[i]);

		remove_id(space->selectors.v, &space->selectors.n, s->id);
		prune(x, s->term->namespaces[i], space);
	}
	if (s->term->selects_namespaces) {
		remove_id(x->wide.v, &x->wide.n, s->id);
	}
	(void)strmap_remove(x->selector_by_text, str_of(s->signature));
	slots_remove(&x->selectors, s->id);
	free_selector(s);
}

/* --- classes -----------------------------------------------------------------------------------
 */

static bool had_before(const struct pod_class *k, size_t i)
{
	for (size_t j = 0; j < i; j++) {
		if (k->terms[j].selector == k->terms[i].selector) {
			return true;
		}
	}
	return false;
}

void selectors_add_class(struct cluster *c, struct pod_class *k)
{
	for (size_t i = 0; i < k->nterms; i++) {
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
		struct pod_selector *s;

		pod_term_format_selector(&k->terms[i], &text);
		s = strmap_get(c->selectors->selector_by_text, strbuf_str(&text));
		if (s == NULL) {
			s = add_selector(c, &k->terms[i], &text);
		}
		s->refs++;
		s->by_kind[k->terms[i].kind]++;
		k->terms[i].selector = s;
		if (!had_before(k, i)) {
			vec_push(&s->classes, k->id);
		}
	}
}

void selectors_remove_class(struct cluster *c, struct pod_class *k)
{
	for (size_t i = k->nterms; i-- > 0;) {
		struct pod_selector *s = c->selectors->selectors.v[k->terms[i].selector->id];

		if (!had_before(k, i)) {
			remove_id(s->classes.v, &s->classes.n, k->id);
		}
		k->terms[i].selector = NULL;
		s->by_kind[k->terms[i].kind]--;
		if (--s->refs == 0) {
			remove_selector(c->selectors, s);
		}
	}
}

void selectors_add_task(struct cluster *c, struct task *t)
{
	struct pod_class *k = c->class_by_id.v[t->klass->id];

	t->class_pos = (uint32_t)k->tasks.n;
	vec_push(&k->tasks, t->id);
}

void selectors_remove_task(struct cluster *c, struct task *t)
{
	struct pod_class *k = c->class_by_id.v[t->klass->id];

	vec_swap_remove(&k->tasks, t->class_pos);
	if (t->class_pos < k->tasks.n) {
		c->tasks.v[k->tasks.v[t->class_pos]]->class_pos = t->class_pos;
	}
}

/* --- namespaces --------------------------------------------------------------------------------
 */

/* The selectors with a namespaceSelector are asked again about these labels. */
static bool match_again(struct cluster *c, struct pod_labels *l)
{
	struct selector_index *x = c->selectors;
	bool changed = false;

	for (size_t i = 0; i < x->wide.n; i++) {
		struct pod_selector *s = x->selectors.v[x->wide.v[i]];
		bool was = selectors_selects(s, l), is = matches(c, s, l);

		if (is && !was) {
			link_pair(s, l);
		} else if (was && !is) {
			(void)idset_remove(&l->selectors, s->id);
			(void)idset_remove(&s->labels, l->id);
		}
		changed |= is != was;
	}
	return changed;
}

void selectors_namespace_changed(struct cluster *c, struct str name)
{
	const struct space *space = strmap_get(c->selectors->spaces, name);
	bool changed = false;

	for (size_t i = 0; space != NULL && i < space->labels.n; i++) {
		changed |= match_again(c, c->selectors->labels.v[space->labels.v[i]]);
	}
	c->demand_gen += changed;
}

/* --- questions ---------------------------------------------------------------------------------
 */

bool selectors_selects(const struct pod_selector *s, const struct pod_labels *l)
{
	return l != NULL && idset_has(&l->selectors, s->id);
}

bool selectors_decide_about(const struct cluster *c, const struct pod_labels *l)
{
	for (struct idset_cursor i = IDSET_FIRST; idset_next(&l->selectors, &i);) {
		const struct pod_selector *s = c->selectors->selectors.v[i.id];

		if (s->refs > s->by_kind[POD_TERM_PREFERRED] + s->by_kind[POD_TERM_SPREAD_ANYWAY]) {
			return true;
		}
	}
	return false;
}

bool selectors_are_alike(const struct pod_labels *a, const struct pod_labels *b)
{
	static const struct idset none = IDSET_INIT;

	return a == b ||
	       idset_equal(a == NULL ? &none : &a->selectors, b == NULL ? &none : &b->selectors);
}

const char *selectors_verify(const struct cluster *c)
{
	const struct selector_index *x = c->selectors;

	for (size_t i = 0; i < x->selectors.n; i++) {
		const struct pod_selector *s = x->selectors.v[i];
		size_t n = 0;

		for (size_t k = 0; s != NULL && k < x->labels.n; k++) {
			const struct pod_labels *l = x->labels.v[k];

			if (l != NULL &&
			    (matches(c, s, l) != selectors_selects(s, l) ||
			     selectors_selects(s, l) != idset_has(&s->labels, l->id))) {
				return "a selector selects other labels than it has";
			}
			n += l != NULL && selectors_selects(s, l);
		}
		if (s != NULL && (n != idset_count(&s->labels) || s->refs == 0)) {
			return "a selector lists other labels than those that it selects";
		}
	}
	return NULL;
}
