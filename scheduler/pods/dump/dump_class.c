#include "scheduler/pods/dump/dump_class.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/intern.h"
#include "collections/strmap.h"
#include "enc/json/jdoc.h"
#include "scheduler/pods/dump/dump_fields.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/model/selectors.h"

int dump_class_text(struct cluster *c, const struct jdoc *d, const char **ret, struct err *err)
{
	uint32_t id;

	if (jdoc_kind(d) == JDOC_NULL) {
		*ret = NULL;
		return 0;
	}
	if (jdoc_kind(d) != JDOC_STRING) {
		return err_set(err, ERR_INVALID, "not a text");
	}
	id = intern_id(c->names, str_of(jdoc_str(d)));
	if (id == INTERN_NONE) {
		return err_set(err, ERR_INVALID, "too many different texts");
	}
	*ret = intern_name(c->names, id);
	return 0;
}

static int needed_text(struct cluster *c, const struct jdoc *d, const char **ret, struct err *err)
{
	if (jdoc_kind(d) == JDOC_NULL) {
		return err_set(err, ERR_INVALID, "a text is missing");
	}
	return dump_class_text(c, d, ret, err);
}

int dump_class_labels(struct cluster *c, const struct jdoc *d, struct label **ret, size_t *ret_n,
		      struct err *err)
{
	size_t n = jdoc_count(d), i = 0;
	CLEANUP(xmalloc_freep) struct label *v = xmalloc_zero(n + 1, sizeof(*v));

	for (const struct jdoc *pair = jdoc_first(d); pair != NULL; pair = jdoc_next(pair), i++) {
		if (needed_text(c, jdoc_at(pair, 0), &v[i].key, err) < 0 ||
		    needed_text(c, jdoc_at(pair, 1), &v[i].value, err) < 0) {
			return err_wrap(err, "[%zu]", i);
		}
	}
	*ret = take_ptr(&v);
	*ret_n = n;
	return 0;
}

static int load_expr(struct cluster *c, const struct jdoc *d, struct match_expr *e, struct err *err)
{
	const struct jdoc *values = jdoc_get(d, "values");
	int64_t op = 0;

	if (needed_text(c, jdoc_get(d, "key"), &e->key, err) < 0 ||
	    dump_fields_read_int(jdoc_get(d, "op"), 0, MATCH_LT, &op, err) < 0) {
		return err_wrap(err, "key or op");
	}
	e->op = (enum match_op)op;
	e->on_field = jdoc_bool(jdoc_get(d, "onField"), false);
	e->values = xmalloc_zero(jdoc_count(values) + 1, sizeof(e->values[0]));
	for (const struct jdoc *v = jdoc_first(values); v != NULL; v = jdoc_next(v)) {
		if (needed_text(c, v, &e->values[e->nvalues], err) < 0) {
			return err_wrap(err, "values");
		}
		e->nvalues++;
	}
	return 0;
}

static int load_terms(struct cluster *c, const struct jdoc *d, struct match_term **ret,
		      size_t *ret_n, struct err *err)
{
	*ret = xmalloc_zero(jdoc_count(d) + 1, sizeof(**ret));
	for (const struct jdoc *row = jdoc_first(d); row != NULL; row = jdoc_next(row)) {
		const struct jdoc *exprs = jdoc_get(row, "exprs");
		/* Counted before it is filled, so that what was read is freed when the rest fails.
		 */
		struct match_term *t = &(*ret)[(*ret_n)++];
		int64_t weight = 0;

		if (dump_fields_read_int(jdoc_get(row, "weight"), INT32_MIN, INT32_MAX, &weight,
					 err) < 0) {
			return err_wrap(err, "weight");
		}
		t->weight = (int32_t)weight;
		t->exprs = xmalloc_zero(jdoc_count(exprs) + 1, sizeof(t->exprs[0]));
		for (const struct jdoc *e = jdoc_first(exprs); e != NULL; e = jdoc_next(e)) {
			if (load_expr(c, e, &t->exprs[t->nexprs++], err) < 0) {
				return -ERR_INVALID;
			}
		}
	}
	return 0;
}

static int load_texts(struct cluster *c, const struct jdoc *d, const char ***ret, size_t *ret_n,
		      struct err *err)
{
	*ret = xmalloc_zero(jdoc_count(d) + 1, sizeof(**ret));
	for (const struct jdoc *v = jdoc_first(d); v != NULL; v = jdoc_next(v)) {
		if (needed_text(c, v, &(*ret)[*ret_n], err) < 0) {
			return -ERR_INVALID;
		}
		(*ret_n)++;
	}
	return 0;
}

/* The one term of a list; absent: without expressions. */
static int load_match(struct cluster *c, const struct jdoc *d, struct match_term *ret,
		      struct err *err)
{
	struct match_term *v = NULL;
	size_t n = 0;
	int r;

	if (jdoc_count(d) > 1) {
		return err_set(err, ERR_INVALID, "more than one term");
	}
	r = load_terms(c, d, &v, &n, err);
	if (n > 0) {
		*ret = v[0];
	}
	free(v);
	return r;
}

static int load_pod_term(struct cluster *c, const struct jdoc *d, struct pod_term *t,
			 struct err *err)
{
	if (needed_text(c, jdoc_get(d, "topologyKey"), &t->topology_key, err) < 0 ||
	    dump_fields_read(dump_fields_pod_term, d, t, err) < 0 ||
	    load_texts(c, jdoc_get(d, "namespaces"), &t->namespaces, &t->nnamespaces, err) < 0 ||
	    load_match(c, jdoc_get(d, "namespacesBy"), &t->namespaces_by, err) < 0) {
		return -ERR_INVALID;
	}
	return load_match(c, jdoc_get(d, "pods"), &t->pods, err);
}

/* They are sorted by kind, on which questions about them rely. */
static int load_pod_terms(struct cluster *c, const struct jdoc *d, struct pod_class *k,
			  struct err *err)
{
	if (jdoc_count(d) > POD_CLASS_TERMS_MAX) {
		return err_set(err, ERR_INVALID, "podTerms: more than %d", POD_CLASS_TERMS_MAX);
	}
	k->terms = xmalloc_zero(jdoc_count(d) + 1, sizeof(k->terms[0]));
	for (const struct jdoc *row = jdoc_first(d); row != NULL; row = jdoc_next(row)) {
		struct pod_term *t = &k->terms[k->nterms++];

		if (load_pod_term(c, row, t, err) < 0) {
			return err_wrap(err, "podTerms");
		}
		if (k->nterms > 1 && t[-1].kind > t->kind) {
			return err_set(err, ERR_INVALID, "podTerms: not sorted by kind");
		}
	}
	return 0;
}

static int load_tolerations(struct cluster *c, const struct jdoc *d, struct pod_class *k,
			    struct err *err)
{
	k->tolerations = xmalloc_zero(jdoc_count(d) + 1, sizeof(k->tolerations[0]));
	for (const struct jdoc *row = jdoc_first(d); row != NULL; row = jdoc_next(row)) {
		struct toleration *t = &k->tolerations[k->ntolerations++];
		int64_t effect = 0;

		if (dump_class_text(c, jdoc_get(row, "key"), &t->key, err) < 0 ||
		    needed_text(c, jdoc_get(row, "value"), &t->value, err) < 0 ||
		    dump_fields_read_int(jdoc_get(row, "effect"), 0, TAINT_NO_EXECUTE, &effect,
					 err) < 0) {
			return err_wrap(err, "tolerations");
		}
		t->exists = jdoc_bool(jdoc_get(row, "exists"), false);
		t->any_effect = jdoc_bool(jdoc_get(row, "anyEffect"), false);
		t->effect = (uint8_t)effect;
	}
	return 0;
}

static int load_ports(struct cluster *c, const struct jdoc *d, struct pod_class *k, struct err *err)
{
	k->ports = xmalloc_zero(jdoc_count(d) + 1, sizeof(k->ports[0]));
	for (const struct jdoc *row = jdoc_first(d); row != NULL; row = jdoc_next(row)) {
		struct host_port *p = &k->ports[k->nports++];
		int64_t protocol = 0, port = 0;

		if (needed_text(c, jdoc_get(row, "ip"), &p->ip, err) < 0 ||
		    dump_fields_read_int(jdoc_get(row, "protocol"), 0, 2, &protocol, err) < 0 ||
		    dump_fields_read_int(jdoc_get(row, "port"), 0, UINT16_MAX, &port, err) < 0) {
			return err_wrap(err, "ports");
		}
		p->protocol = (uint8_t)protocol;
		p->port = (uint16_t)port;
	}
	return 0;
}

static int load_parts(struct cluster *c, const struct jdoc *d, struct pod_class *k, struct err *err)
{
	const struct jdoc *refusal = jdoc_get(d, "unsupported");

	k->has_required = jdoc_get(d, "required") != NULL;
	k->charged_to_workload = jdoc_bool(jdoc_get(d, "elsewhere"), false);
	if (refusal != NULL) {
		k->unsupported = pod_class_refusal(str_of(jdoc_str(refusal)));
		if (k->unsupported == NULL) {
			return err_set(err, ERR_INVALID, "unsupported: unknown text");
		}
	}
	if (dump_fields_read_res(d, "request", c->res, 0, &k->request, err) < 0 ||
	    dump_fields_read_unoffered(d, "unoffered", &k->unoffered, err) < 0 ||
	    dump_class_labels(c, jdoc_get(d, "selector"), &k->selector, &k->nselector, err) < 0 ||
	    load_terms(c, jdoc_get(d, "required"), &k->required, &k->nrequired, err) < 0 ||
	    load_terms(c, jdoc_get(d, "preferred"), &k->preferred, &k->npreferred, err) < 0 ||
	    load_pod_terms(c, jdoc_get(d, "podTerms"), k, err) < 0 ||
	    load_tolerations(c, jdoc_get(d, "tolerations"), k, err) < 0) {
		return -ERR_INVALID;
	}
	return load_ports(c, jdoc_get(d, "ports"), k, err);
}

static void destroyp(struct pod_class **pk)
{
	pod_class_destroy(*pk);
}

int dump_class_load(struct cluster *c, const struct jdoc *d, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf signature = STRBUF_INIT;
	CLEANUP(destroyp) struct pod_class *k = xmalloc_zero(1, sizeof(*k));

	if (load_parts(c, d, k, err) < 0) {
		return -ERR_INVALID;
	}
	pod_class_normalise(k);
	pod_class_format(k, &signature);
	if (strmap_has(c->classes, strbuf_str(&signature))) {
		return err_set(err, ERR_INVALID, "a class is there twice");
	}
	k->signature = xmalloc_dup(signature.p);
	/* Not interned, since that would give out a reference: the tasks bring theirs. */
	k->id = (uint32_t)c->class_by_id.n;
	strmap_set(c->classes, strbuf_str(&signature), k);
	selectors_add_class(c, k);
	vec_push(&c->class_by_id, take_ptr(&k));
	return 0;
}
