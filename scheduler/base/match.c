#include "scheduler/base/match.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/xmalloc.h"

#define FEW_LABELS 32

const char *match_label(const struct label *labels, size_t n, const char *key)
{
	size_t from = 0;

	/* A long list, which a tenant may write, is searched by halving: beside as many
	 * requirements, a walk for each of them would be quadratic. */
	while (n > FEW_LABELS) {
		size_t half = n / 2;

		if (strcmp(labels[from + half].key, key) <= 0) {
			from += half;
			n -= half;
		} else {
			n = half;
		}
	}
	for (size_t i = from; i < from + n; i++) {
		if (labels[i].key == key) {
			return labels[i].value;
		}
	}
	return NULL;
}

#define FEW_VALUES 8

static int by_text(const void *key, const void *item)
{
	const char *const *at = item;

	return strcmp(key, *at);
}

/* The only supported field is metadata.name, which is not interned. */
static bool has_value(const struct match_expr *e, const char *value)
{
	/* The values are sorted by text, so that a long list, which a tenant may write, is
	 * searched. */
	if (e->nvalues > FEW_VALUES) {
		return bsearch(value, e->values, e->nvalues, sizeof(e->values[0]), by_text) != NULL;
	}
	for (size_t i = 0; i < e->nvalues; i++) {
		if (e->values[i] == value || (e->on_field && strcmp(e->values[i], value) == 0)) {
			return true;
		}
	}
	return false;
}

/* Gt and Lt: both sides must be whole numbers. */
static bool compare_numbers(const struct match_expr *e, const char *value)
{
	int64_t want, have;

	if (e->nvalues != 1 || !str_to_i64(str_of(e->values[0]), &want) ||
	    !str_to_i64(str_of(value), &have)) {
		return false;
	}
	return e->op == MATCH_GT ? have > want : have < want;
}

/* As in Kubernetes, NotIn holds for an absent label. */
bool match_expr_holds(const struct match_expr *e, const char *value)
{
	switch (e->op) {
	case MATCH_IN:
		return value != NULL && has_value(e, value);
	case MATCH_NOT_IN:
		return value == NULL || !has_value(e, value);
	case MATCH_EXISTS:
		return value != NULL;
	case MATCH_NOT_EXISTS:
		return value == NULL;
	case MATCH_GT:
	case MATCH_LT:
		return value != NULL && compare_numbers(e, value);
	}
	return false;
}

static bool is_empty(const char *text)
{
	return text == NULL || text[0] == '\0';
}

static bool tolerates(const struct toleration *t, const struct taint *taint)
{
	if (!t->any_effect && t->effect != taint->effect) {
		return false;
	}
	/* Kubernetes: an empty key with Exists tolerates every taint, and with Equal none. */
	if (is_empty(t->key)) {
		return t->exists;
	}
	if (t->key != taint->key) {
		return false;
	}
	return t->exists || t->value == taint->value ||
	       (is_empty(t->value) && is_empty(taint->value));
}

bool match_tolerates(const struct toleration *tolerations, size_t n, const struct taint *taint)
{
	for (size_t i = 0; i < n; i++) {
		if (tolerates(&tolerations[i], taint)) {
			return true;
		}
	}
	return false;
}

void match_term_copy(struct match_term *t)
{
	t->exprs = xmalloc_dup_array(t->exprs, t->nexprs, sizeof(t->exprs[0]));
	for (size_t j = 0; j < t->nexprs; j++) {
		struct match_expr *e = &t->exprs[j];

		e->values = xmalloc_dup_array(e->values, e->nvalues, sizeof(e->values[0]));
	}
}

void match_term_finish(struct match_term *t)
{
	for (size_t j = 0; j < t->nexprs; j++) {
		free(t->exprs[j].values);
	}
	free(t->exprs);
}

struct match_term *match_terms_copy(const struct match_term *terms, size_t n)
{
	struct match_term *copy = xmalloc_dup_array(terms, n, sizeof(*terms));

	for (size_t i = 0; i < n; i++) {
		match_term_copy(&copy[i]);
	}
	return copy;
}

void match_terms_free(struct match_term *terms, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		match_term_finish(&terms[i]);
	}
	free(terms);
}
