#include "plugins/predicates_match.h"

#include <string.h>

#include "base/str.h"
#include "model/model.h"
#include "model/pod_class.h"

static const char *label_value(const struct node *n, const char *key)
{
	for (size_t i = 0; i < n->labels.n; i++) {
		if (n->labels.v[i].key == key) {
			return n->labels.v[i].value;
		}
	}
	return NULL;
}

/* The only field that nodes are selected by is metadata.name, which is not interned. */
static bool has_value(const struct match_expr *e, const char *value)
{
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

static bool expr_holds(const struct match_expr *e, const struct node *n)
{
	const char *value = e->on_field ? n->name : label_value(n, e->key);

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

/* A term without expressions selects nothing, as in Kubernetes. */
static bool term_holds(const struct match_term *t, const struct node *n)
{
	for (size_t i = 0; i < t->nexprs; i++) {
		if (!expr_holds(&t->exprs[i], n)) {
			return false;
		}
	}
	return t->nexprs > 0;
}

bool predicates_match_affinity(const struct pod_class *k, const struct node *n)
{
	for (size_t i = 0; i < k->nselector; i++) {
		if (label_value(n, k->selector[i].key) != k->selector[i].value) {
			return false;
		}
	}
	if (!k->has_required) {
		return true;
	}
	for (size_t i = 0; i < k->nrequired; i++) {
		if (term_holds(&k->required[i], n)) {
			return true;
		}
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
	if (is_empty(t->key)) {
		return t->exists;
	}
	if (t->key != taint->key) {
		return false;
	}
	return t->exists || t->value == taint->value ||
	       (is_empty(t->value) && is_empty(taint->value));
}

static bool is_tolerated(const struct pod_class *k, const struct taint *taint)
{
	for (size_t i = 0; i < k->ntolerations; i++) {
		if (tolerates(&k->tolerations[i], taint)) {
			return true;
		}
	}
	return false;
}

const struct taint *predicates_match_taint(const struct pod_class *k, const struct node *n)
{
	for (size_t i = 0; i < n->taints.n; i++) {
		const struct taint *taint = &n->taints.v[i];

		if (taint->effect != TAINT_PREFER_NO_SCHEDULE && !is_tolerated(k, taint)) {
			return taint;
		}
	}
	return NULL;
}

/* As if the node had the taint node.kubernetes.io/unschedulable:NoSchedule with an empty value,
 * compared by text because that name may not be interned. */
bool predicates_match_cordoned(const struct pod_class *k)
{
	for (size_t i = 0; i < k->ntolerations; i++) {
		const struct toleration *t = &k->tolerations[i];

		if (!t->any_effect && t->effect != TAINT_NO_SCHEDULE) {
			continue;
		}
		if (is_empty(t->key) ? t->exists
				     : strcmp(t->key, "node.kubernetes.io/unschedulable") == 0 &&
					       (t->exists || is_empty(t->value))) {
			return true;
		}
	}
	return false;
}

static bool is_every_address(const struct host_port *p)
{
	return is_empty(p->ip) || strcmp(p->ip, "0.0.0.0") == 0;
}

bool predicates_match_ports(const struct pod_class *a, const struct pod_class *b)
{
	for (size_t i = 0; i < a->nports; i++) {
		for (size_t k = 0; k < b->nports; k++) {
			const struct host_port *x = &a->ports[i], *y = &b->ports[k];

			if (x->port == y->port && x->protocol == y->protocol &&
			    (x->ip == y->ip || is_every_address(x) || is_every_address(y))) {
				return true;
			}
		}
	}
	return false;
}
