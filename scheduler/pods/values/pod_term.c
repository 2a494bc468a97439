#include "scheduler/pods/values/pod_term.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/intern.h"
#include "scheduler/pods/values/signature.h"

/* Interned strings of equal text are one pointer, but the order must not depend on addresses. */
static int by_text(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return *x == *y ? 0 : strcmp(*x, *y);
}

static void sort(const char **v, size_t n)
{
	if (n > 1) {
		qsort(v, n, sizeof(v[0]), by_text);
	}
}

void pod_term_normalise_match(struct match_term *t)
{
	for (size_t i = 0; i < t->nexprs; i++) {
		sort(t->exprs[i].values, t->exprs[i].nvalues);
	}
}

void pod_term_normalise(struct pod_term *t)
{
	size_t n = 0;

	sort(t->namespaces, t->nnamespaces);
	for (size_t i = 0; i < t->nnamespaces; i++) {
		if (n == 0 || t->namespaces[n - 1] != t->namespaces[i]) {
			t->namespaces[n++] = t->namespaces[i];
		}
	}
	t->nnamespaces = n;
	pod_term_normalise_match(&t->namespaces_by);
	pod_term_normalise_match(&t->pods);
}

void pod_term_format_selector(const struct pod_term *t, struct strbuf *out)
{
	strbuf_add_ch(out, t->selects ? '+' : '-');
	for (size_t i = 0; i < t->nnamespaces; i++) {
		strbuf_add_ch(out, 'n');
		signature_put_text(out, t->namespaces[i]);
	}
	if (t->selects_namespaces) {
		signature_put_term(out, 'N', &t->namespaces_by);
	}
	signature_put_term(out, 'P', &t->pods);
}

void pod_term_format(const struct pod_term *t, struct strbuf *out)
{
	strbuf_add_ch(out, 'x');
	signature_put_int(out, t->kind);
	signature_put_text(out, t->topology_key);
	pod_term_format_selector(t, out);
	if (t->kind == POD_TERM_SPREAD || t->kind == POD_TERM_SPREAD_ANYWAY) {
		strbuf_add_ch(out, 'k');
		signature_put_int(out, t->max_skew);
		strbuf_add_ch(out, '/');
		signature_put_int(out, t->min_domains);
		strbuf_add_c(out, t->ignores_affinity ? "i" : "");
		strbuf_add_c(out, t->honors_taints ? "t" : "");
	}
	if (t->kind == POD_TERM_PREFERRED) {
		strbuf_add_ch(out, 'w');
		signature_put_int(out, t->weight);
	}
}

struct pod_term *pod_term_copy(const struct pod_term *terms, size_t n)
{
	struct pod_term *copy = xmalloc_dup_array(terms, n, sizeof(*terms));

	for (size_t i = 0; i < n; i++) {
		struct pod_term *t = &copy[i];

		t->namespaces =
			xmalloc_dup_array(t->namespaces, t->nnamespaces, sizeof(t->namespaces[0]));
		match_term_copy(&t->namespaces_by);
		match_term_copy(&t->pods);
		t->selector = NULL;
	}
	return copy;
}

void pod_term_free(struct pod_term *terms, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(terms[i].namespaces);
		match_term_finish(&terms[i].namespaces_by);
		match_term_finish(&terms[i].pods);
	}
	free(terms);
}

void pod_term_mark_match(struct intern *names, const struct match_term *t)
{
	for (size_t i = 0; i < t->nexprs; i++) {
		intern_mark_name(names, t->exprs[i].key);
		for (size_t v = 0; v < t->exprs[i].nvalues; v++) {
			intern_mark_name(names, t->exprs[i].values[v]);
		}
	}
}

void pod_term_mark(struct intern *names, const struct pod_term *t)
{
	intern_mark_name(names, t->topology_key);
	for (size_t i = 0; i < t->nnamespaces; i++) {
		intern_mark_name(names, t->namespaces[i]);
	}
	pod_term_mark_match(names, &t->namespaces_by);
	pod_term_mark_match(names, &t->pods);
}
