#include "scheduler/pods/dump/dump_pod_terms.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/field.h"
#include "enc/json/jdoc.h"
#include "enc/json/json_out.h"
#include "scheduler/pods/dump/dump_fields.h"
#include "scheduler/pods/dump/dump_terms.h"
#include "scheduler/pods/dump/dump_text.h"
#include "scheduler/pods/model/access.h"
#include "scheduler/pods/model/selectors.h"

static void put_texts(struct json_out *o, const char *key, const char *const *v, size_t n)
{
	json_out_key(o, key);
	json_out_array(o);
	for (size_t i = 0; i < n; i++) {
		json_out_str(o, v[i]);
	}
	json_out_array_end(o);
}

void dump_pod_terms_write_class(struct json_out *o, const struct pod_class *k)
{
	if (k->nterms == 0) {
		return;
	}
	json_out_key(o, "podTerms");
	json_out_array(o);
	for (size_t i = 0; i < k->nterms; i++) {
		const struct pod_term *t = &k->terms[i];

		json_out_object(o);
		json_out_kv(o, "topologyKey", t->topology_key);
		dump_fields_write(dump_fields_pod_term, t, o);
		put_texts(o, "namespaces", t->namespaces, t->nnamespaces);
		dump_terms_write(o, "namespacesBy", &t->namespaces_by, 1);
		dump_terms_write(o, "pods", &t->pods, 1);
		json_out_object_end(o);
	}
	json_out_array_end(o);
}

static void put_namespace(void *ctx, struct str name, const struct field_map *labels)
{
	struct json_out *o = ctx;

	json_out_object(o);
	json_out_key(o, "name");
	json_out_slice(o, name);
	json_out_key(o, "labels");
	json_out_array(o);
	for (size_t i = 0; i < labels->n; i++) {
		json_out_array(o);
		json_out_str(o, labels->v[i].key);
		json_out_str(o, labels->v[i].value);
		json_out_array_end(o);
	}
	json_out_array_end(o);
	json_out_object_end(o);
}

void dump_pod_terms_write_namespaces(struct json_out *o, const struct cluster *c)
{
	if (c->selectors->wide.n > 0) {
		json_out_key(o, "namespaces");
		json_out_array(o);
		access_each_namespace(c, put_namespace, o);
		json_out_array_end(o);
	}
}

static int read_texts(struct cluster *c, const struct jdoc *d, const char ***ret, size_t *ret_n,
		      struct err *err)
{
	*ret = xmalloc_zero(jdoc_count(d) + 1, sizeof(**ret));
	for (const struct jdoc *v = jdoc_first(d); v != NULL; v = jdoc_next(v)) {
		if (dump_text_read_needed(c, v, &(*ret)[*ret_n], err) < 0) {
			return -ERR_INVALID;
		}
		(*ret_n)++;
	}
	return 0;
}

/* The one term of a list; absent: without expressions. */
static int read_match(struct cluster *c, const struct jdoc *d, struct match_term *ret,
		      struct err *err)
{
	struct match_term *v = NULL;
	size_t n = 0;
	int r;

	if (jdoc_count(d) > 1) {
		return err_set(err, ERR_INVALID, "more than one term");
	}
	r = dump_terms_read(c, d, &v, &n, err);
	if (n > 0) {
		*ret = v[0];
	}
	free(v);
	return r;
}

static int read_term(struct cluster *c, const struct jdoc *d, struct pod_term *t, struct err *err)
{
	if (dump_text_read_needed(c, jdoc_get(d, "topologyKey"), &t->topology_key, err) < 0 ||
	    dump_fields_read(dump_fields_pod_term, d, t, err) < 0 ||
	    read_texts(c, jdoc_get(d, "namespaces"), &t->namespaces, &t->nnamespaces, err) < 0 ||
	    read_match(c, jdoc_get(d, "namespacesBy"), &t->namespaces_by, err) < 0) {
		return -ERR_INVALID;
	}
	return read_match(c, jdoc_get(d, "pods"), &t->pods, err);
}

/* They are sorted by kind, on which questions about them rely. */
int dump_pod_terms_read(struct cluster *c, const struct jdoc *d, struct pod_class *k,
			struct err *err)
{
	if (jdoc_count(d) > POD_CLASS_TERMS_MAX) {
		return err_set(err, ERR_INVALID, "podTerms: more than %d", POD_CLASS_TERMS_MAX);
	}
	k->terms = xmalloc_zero(jdoc_count(d) + 1, sizeof(k->terms[0]));
	for (const struct jdoc *row = jdoc_first(d); row != NULL; row = jdoc_next(row)) {
		struct pod_term *t = &k->terms[k->nterms++];

		if (read_term(c, row, t, err) < 0) {
			return err_wrap(err, "podTerms");
		}
		if (k->nterms > 1 && t[-1].kind > t->kind) {
			return err_set(err, ERR_INVALID, "podTerms: not sorted by kind");
		}
	}
	return 0;
}

static int read_namespace(struct cluster *c, const struct jdoc *d, struct err *err)
{
	CLEANUP(arena_destroyp) struct arena *scratch = arena_create(0);
	const struct jdoc *labels = jdoc_get(d, "labels");
	const char *name = jdoc_str(jdoc_get(d, "name"));
	struct field_pair *pairs = arena_zero(scratch, jdoc_count(labels), sizeof(*pairs));
	struct field_map map = { pairs, 0 };

	for (const struct jdoc *l = jdoc_first(labels); l != NULL; l = jdoc_next(l)) {
		struct field_pair *p = &pairs[map.n++];

		*p = (struct field_pair){ jdoc_str(jdoc_at(l, 0)), jdoc_str(jdoc_at(l, 1)) };
		if (p->key == NULL || p->value == NULL) {
			return err_set(err, ERR_INVALID, "labels: a text is missing");
		}
	}
	if (name == NULL || name[0] == '\0') {
		return err_set(err, ERR_INVALID, "name: absent");
	}
	(void)access_set_namespace(c, str_of(name), &map);
	return 0;
}

int dump_pod_terms_read_namespaces(struct cluster *c, const struct jdoc *d, struct err *err)
{
	for (const struct jdoc *row = jdoc_first(d); row != NULL; row = jdoc_next(row)) {
		if (read_namespace(c, row, err) < 0) {
			return err_wrap(err, "namespaces");
		}
	}
	return 0;
}
