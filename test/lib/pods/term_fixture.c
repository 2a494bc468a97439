#include "lib/pods/term_fixture.h"

#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "collections/intern.h"
#include "enc/field.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/model/access.h"
#include "scheduler/pods/model/selectors.h"

#define LABELS_MAX 16

static const char *in(struct cluster *c, struct str text)
{
	return intern_name(c->names, intern_id(c->names, text));
}

static size_t parse(struct cluster *c, struct str text, struct label *v)
{
	size_t n = 0;

	while (text.len > 0) {
		struct str value = str_next(&text, ','), key = str_next(&value, '=');

		assert_true(n < LABELS_MAX);
		v[n++] = (struct label){ in(c, key), in(c, value) };
	}
	return n;
}

void term_fixture_labels(struct cluster *c, struct task *t, const char *text)
{
	struct label v[LABELS_MAX];

	selectors_set_labels(c, t, v, parse(c, str_of(text), v));
}

void term_fixture_node_labels(struct cluster *c, struct node *n, const char *text)
{
	struct label v[LABELS_MAX];
	size_t count = parse(c, str_of(text), v);

	vec_clear(&n->labels);
	for (size_t i = 0; i < count; i++) {
		vec_push(&n->labels, v[i]);
	}
	cluster_node_changed(c, n, &n->allocatable, true);
}

void term_fixture_namespace(struct cluster *c, const char *name, const char *text)
{
	struct field_pair pairs[LABELS_MAX];
	struct label v[LABELS_MAX];
	struct field_map map = { pairs, parse(c, str_of(text), v) };

	for (size_t i = 0; i < map.n; i++) {
		pairs[i] = (struct field_pair){ v[i].key, v[i].value };
	}
	(void)access_set_namespace(c, str_of(name), &map);
}

static void parse_match(struct cluster *c, struct arena *a, struct str text, struct match_term *ret)
{
	struct label v[LABELS_MAX];

	ret->nexprs = str_eq_c(text, "*") ? 0 : parse(c, text, v);
	ret->exprs = arena_zero(a, ret->nexprs, sizeof(ret->exprs[0]));
	for (size_t i = 0; i < ret->nexprs; i++) {
		ret->exprs[i].key = v[i].key;
		ret->exprs[i].values = arena_zero(a, 1, sizeof(ret->exprs[i].values[0]));
		ret->exprs[i].values[0] = v[i].value;
		ret->exprs[i].nvalues = 1;
	}
}

static void parse_option(struct cluster *c, struct arena *a, struct str word, struct pod_term *t)
{
	struct str value = word, name = str_next(&value, '=');
	int64_t n = 0;

	if (str_eq_c(name, "in")) {
		for (t->nnamespaces = 0; value.len > 0;) {
			t->namespaces[t->nnamespaces++] = in(c, str_next(&value, '+'));
		}
	} else if (str_eq_c(name, "of")) {
		t->selects_namespaces = true;
		t->nnamespaces = 0;
		parse_match(c, a, value, &t->namespaces_by);
	} else if (str_eq_c(name, "ignore")) {
		t->ignores_affinity = true;
	} else if (str_eq_c(name, "honor")) {
		t->honors_taints = true;
	} else {
		assert_true(str_to_i64(value, &n));
		*(str_eq_c(name, "skew")     ? &t->max_skew
		  : str_eq_c(name, "weight") ? &t->weight
					     : &t->min_domains) = (int32_t)(t->weight < 0 ? -n : n);
	}
}

static void parse_term(struct cluster *c, struct arena *a, const struct task *task, struct str text,
		       struct pod_term *t)
{
	struct str kind = str_next(&text, ' '), key = str_next(&text, ' '),
		   pods = str_next(&text, ' ');

	*t = (struct pod_term){
		.kind = str_eq_c(kind, "near")     ? POD_TERM_AFFINITY
			: str_eq_c(kind, "away")   ? POD_TERM_ANTI_AFFINITY
			: str_eq_c(kind, "spread") ? POD_TERM_SPREAD
			: str_eq_c(kind, "anyway") ? POD_TERM_SPREAD_ANYWAY
						   : POD_TERM_PREFERRED,
		.weight = str_eq_c(kind, "prefer")  ? 1
			  : str_eq_c(kind, "avoid") ? -1
						    : 0,
		.topology_key = in(c, key),
		.selects = !str_eq_c(pods, "-"),
		.namespaces = arena_zero(a, LABELS_MAX, sizeof(t->namespaces[0])),
		.nnamespaces = 1,
		.max_skew = 1,
		.min_domains = 1,
	};
	t->namespaces[0] = task->namespace_;
	if (t->selects) {
		parse_match(c, a, pods, &t->pods);
	}
	while (text.len > 0) {
		parse_option(c, a, str_next(&text, ' '), t);
	}
}

void term_fixture_terms(struct cluster *c, struct task *t, const char *text)
{
	CLEANUP(arena_destroyp) struct arena *a = arena_create(0);
	struct pod_class k = *t->klass;
	struct str rest = str_of(text);

	k.terms = arena_zero(a, POD_CLASS_TERMS_MAX, sizeof(k.terms[0]));
	k.nterms = 0;
	while (rest.len > 0) {
		struct str one = str_next(&rest, ';');

		while (one.len > 0 && one.p[0] == ' ') {
			one = (struct str){ one.p + 1, one.len - 1 };
		}
		parse_term(c, a, t, one, &k.terms[k.nterms++]);
	}
	pod_class_normalise(&k);
	cluster_task_set_class(c, t, cluster_class_intern(c, &k));
}

struct task *term_fixture_task(struct cluster *c, const char *name, struct podgroup *g,
			       const char *labels, const char *terms)
{
	struct task *t = cluster_fixture_task(c, name, g, 100);

	term_fixture_labels(c, t, labels);
	term_fixture_terms(c, t, terms);
	return t;
}
