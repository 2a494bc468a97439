#include <stdlib.h>
#include <string.h>

#include "api/core/pod.h"
#include "base/arena.h"
#include "base/err.h"
#include "scheduler/base/match_from_api.h"
#include "scheduler/pods/ingest/from_api.h"

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"

/* Of one pod. */
struct reading {
	struct cluster *c;
	const struct api_pod *pod;
	struct arena *scratch;
	struct pod_class *k;
	struct err *err;
};

static int by_text(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

/* The keys about which the labelSelector says something, sorted. */
static struct field_strs named_keys(const struct reading *r, const struct match_term *selector)
{
	const char **v = arena_alloc(r->scratch, (selector->nexprs + 1) * sizeof(*v));

	for (size_t i = 0; i < selector->nexprs; i++) {
		v[i] = selector->exprs[i].key;
	}
	qsort(v, selector->nexprs, sizeof(*v), by_text);
	return (struct field_strs){ v, selector->nexprs };
}

static bool has_text(const struct field_strs *sorted, const char *text)
{
	return sorted->n > 0 &&
	       bsearch(&text, sorted->v, sorted->n, sizeof(sorted->v[0]), by_text) != NULL;
}

/* named: of the labelSelector itself. The caller has made room for the expressions. */
static int add_keys(const struct reading *r, const struct field_strs *keys, enum match_op op,
		    const struct field_strs *named, struct pod_term *t)
{
	for (size_t i = 0; i < keys->n; i++) {
		const char *value = field_map_get(&r->pod->meta.labels, keys->v[i]);
		struct match_expr *e = &t->pods.exprs[t->pods.nexprs];

		/* As in Kubernetes, a key that the pod does not have is passed over. */
		if (value == NULL || has_text(named, keys->v[i])) {
			continue;
		}
		*e = (struct match_expr){ .op = op,
					  .values = arena_zero(r->scratch, 1, sizeof(*e->values)),
					  .nvalues = 1 };
		if (from_api_text(r->c, keys->v[i], &e->key, r->err) < 0 ||
		    from_api_text(r->c, value, &e->values[0], r->err) < 0) {
			return -ERR_INVALID;
		}
		t->pods.nexprs++;
	}
	return 0;
}

/* matchLabelKeys and mismatchLabelKeys stand for expressions with the pod's own values. API servers
 * add these to the labelSelector when the pod is created; where an older one, or a manifest, has
 * not, they are added here. */
static int read_pods(const struct reading *r, const struct api_label_selector *selector,
		     const struct field_strs *match, const struct field_strs *mismatch,
		     struct pod_term *t)
{
	struct field_strs named = { .n = 0 };
	struct match_expr *v;
	size_t n;

	t->selects = selector != NULL;
	if (selector == NULL) {
		return 0;
	}
	if (match_from_api_label_selector(r->c->names, selector, r->scratch, &v, &n, r->err) < 0) {
		return err_wrap(r->err, "labelSelector");
	}
	t->pods.exprs = arena_zero(r->scratch, n + match->n + mismatch->n, sizeof(*v));
	for (size_t i = 0; i < n; i++) {
		t->pods.exprs[i] = v[i];
	}
	t->pods.nexprs = n;
	if (match->n + mismatch->n > 0) {
		named = named_keys(r, &t->pods);
	}
	return add_keys(r, match, MATCH_IN, &named, t) < 0 ||
			       add_keys(r, mismatch, MATCH_NOT_IN, &named, t) < 0
		       ? -ERR_INVALID
		       : 0;
}

/* Without namespaces and namespaceSelector: that of the pod. */
static int read_namespaces(const struct reading *r, const struct field_strs *names,
			   const struct api_label_selector *selector, struct pod_term *t)
{
	const char *own = r->pod->meta.namespace_ == NULL ? "default" : r->pod->meta.namespace_;
	const struct field_strs alone = { &own, 1 };

	if (names->n == 0 && selector == NULL) {
		names = &alone;
	}
	t->namespaces = arena_zero(r->scratch, names->n, sizeof(t->namespaces[0]));
	for (size_t i = 0; i < names->n; i++) {
		if (from_api_text(r->c, names->v[i], &t->namespaces[i], r->err) < 0) {
			return -ERR_INVALID;
		}
	}
	t->nnamespaces = names->n;
	t->selects_namespaces = selector != NULL;
	if (selector != NULL && match_from_api_label_selector(
					r->c->names, selector, r->scratch, &t->namespaces_by.exprs,
					&t->namespaces_by.nexprs, r->err) < 0) {
		return err_wrap(r->err, "namespaceSelector");
	}
	return 0;
}

/* False: there are too many. */
static bool has_room(const struct reading *r)
{
	if (r->k->nterms < POD_CLASS_TERMS_MAX) {
		return true;
	}
	r->k->unsupported = POD_CLASS_MANY_TERMS;
	return false;
}

static int read_term(const struct reading *r, const struct api_pod_term *from,
		     enum pod_term_kind kind)
{
	struct pod_term *t = &r->k->terms[r->k->nterms];

	*t = (struct pod_term){ .kind = (uint8_t)kind };
	if (from_api_text(r->c, from->topology_key, &t->topology_key, r->err) < 0 ||
	    read_namespaces(r, &from->namespaces, from->namespace_selector, t) < 0 ||
	    read_pods(r, from->selector, &from->match_label_keys, &from->mismatch_label_keys, t) <
		    0) {
		return -ERR_INVALID;
	}
	r->k->nterms++;
	return 0;
}

static int read_required(const struct reading *r, const struct api_pod_affinity *a,
			 enum pod_term_kind kind, const char *name)
{
	for (size_t i = 0; a != NULL && i < a->required.n && has_room(r); i++) {
		if (read_term(r, &a->required.v[i], kind) < 0) {
			return err_wrap(r->err, "spec.affinity.%s." REQUIRED "[%zu]", name, i);
		}
	}
	return 0;
}

static int read_weighted(const struct reading *r, const struct api_preferred_pod_term *from,
			 int sign)
{
	size_t i = r->k->nterms;

	if (from->weight < 1 || from->weight > POD_TERM_WEIGHT_MAX) {
		return err_set(r->err, ERR_INVALID, "weight: %d is not 1 to %d", from->weight,
			       POD_TERM_WEIGHT_MAX);
	}
	if (read_term(r, &from->term, POD_TERM_PREFERRED) < 0) {
		return err_wrap(r->err, "podAffinityTerm");
	}
	r->k->terms[i].weight = sign * from->weight;
	return 0;
}

static int read_preferred(const struct reading *r, const struct api_pod_affinity *a, int sign,
			  const char *name)
{
	for (size_t i = 0; a != NULL && i < a->preferred.n && has_room(r); i++) {
		if (read_weighted(r, &a->preferred.v[i], sign) < 0) {
			return err_wrap(r->err, "spec.affinity.%s." PREFERRED "[%zu]", name, i);
		}
	}
	return 0;
}

static int read_spread(const struct reading *r, const struct api_spread *from,
		       enum pod_term_kind kind)
{
	static const struct field_strs none;
	struct pod_term *t = &r->k->terms[r->k->nterms];

	*t = (struct pod_term){
		.kind = (uint8_t)kind,
		.max_skew = from->max_skew,
		.min_domains = from->min_domains < 1 ? 1 : from->min_domains,
		.ignores_affinity = str_streq(from->affinity_policy, "Ignore"),
		.honors_taints = str_streq(from->taints_policy, "Honor"),
	};
	if (from_api_text(r->c, from->topology_key, &t->topology_key, r->err) < 0 ||
	    read_namespaces(r, &none, NULL, t) < 0 ||
	    read_pods(r, from->selector, &from->match_label_keys, &none, t) < 0) {
		return -ERR_INVALID;
	}
	/* kube-scheduler counts no pod for a selector without requirements. */
	t->selects = t->pods.nexprs > 0;
	r->k->nterms++;
	return 0;
}

static int read_spreads(const struct reading *r, enum pod_term_kind kind)
{
	for (size_t i = 0; i < r->pod->spec.spread.n; i++) {
		const struct api_spread *from = &r->pod->spec.spread.v[i];

		if (str_streq(from->when_unsatisfiable, "ScheduleAnyway") !=
		    (kind == POD_TERM_SPREAD_ANYWAY)) {
			continue;
		}
		if (!has_room(r)) {
			break;
		}
		if (read_spread(r, from, kind) < 0) {
			return err_wrap(r->err, "spec.topologySpreadConstraints[%zu]", i);
		}
	}
	return 0;
}

int from_api_terms_read(struct cluster *c, const struct api_pod *pod, bool places,
			struct arena *scratch, struct pod_class *k, struct err *err)
{
	const struct reading r = { c, pod, scratch, k, err };
	const struct api_affinity *a = pod->spec.affinity;

	if (a == NULL && pod->spec.spread.n == 0) {
		return 0;
	}
	k->terms = arena_zero(scratch, POD_CLASS_TERMS_MAX, sizeof(k->terms[0]));
	/* In this order, by kind. Of a pod that another scheduler places only those matter which
	 * keep other pods away from it, or are preferences about them. */
	if (places && a != NULL &&
	    read_required(&r, a->pod, POD_TERM_AFFINITY, "podAffinity") < 0) {
		return -ERR_INVALID;
	}
	if (a != NULL &&
	    read_required(&r, a->pod_anti, POD_TERM_ANTI_AFFINITY, "podAntiAffinity") < 0) {
		return -ERR_INVALID;
	}
	if (places && read_spreads(&r, POD_TERM_SPREAD) < 0) {
		return -ERR_INVALID;
	}
	if (a != NULL && (read_preferred(&r, a->pod, 1, "podAffinity") < 0 ||
			  read_preferred(&r, a->pod_anti, -1, "podAntiAffinity") < 0)) {
		return -ERR_INVALID;
	}
	return places ? read_spreads(&r, POD_TERM_SPREAD_ANYWAY) : 0;
}
