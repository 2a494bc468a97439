#include "scheduler/pods/values/pod_class.h"

#include <stdlib.h>

#include "base/attrs.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "scheduler/pods/values/signature.h"

const char *pod_class_refusal(struct str text)
{
	static const char two_groups[] = POD_CLASS_TWO_GROUPS;
	static const char *const refusals[] = { POD_CLASS_MANY_TERMS,      POD_CLASS_CLAIMS,
						POD_CLASS_RESOURCE_CLAIMS, POD_CLASS_TOO_LARGE,
						POD_CLASS_UNREADABLE,      two_groups,
						POD_CLASS_SCHEDULING_GROUP };

	for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
		if (str_eq_c(text, refusals[i])) {
			return refusals[i];
		}
	}
	return NULL;
}

/* Interned strings of equal text are one pointer, but the order must not depend on addresses. */
static int text_cmp(const char *a, const char *b)
{
	if (a == b) {
		return 0;
	}
	if (a == NULL || b == NULL) {
		return a == NULL ? -1 : 1;
	}
	return strcmp(a, b);
}

static int selector_cmp(const void *a, const void *b)
{
	const struct label *x = a, *y = b;
	int r = text_cmp(x->key, y->key);

	return r != 0 ? r : text_cmp(x->value, y->value);
}

static int toleration_cmp(const void *a, const void *b)
{
	const struct toleration *x = a, *y = b;
	int r = text_cmp(x->key, y->key);

	r = r != 0 ? r : text_cmp(x->value, y->value);
	r = r != 0 ? r : (int)x->exists - (int)y->exists;
	r = r != 0 ? r : (int)x->any_effect - (int)y->any_effect;
	return r != 0 ? r : (int)x->effect - (int)y->effect;
}

static int port_cmp(const void *a, const void *b)
{
	const struct host_port *x = a, *y = b;
	int r = (int)x->port - (int)y->port;

	r = r != 0 ? r : (int)x->protocol - (int)y->protocol;
	return r != 0 ? r : text_cmp(x->ip, y->ip);
}

static int claim_cmp(const void *a, const void *b)
{
	const struct pod_claim *x = a, *y = b;
	int r = text_cmp(x->name, y->name);

	return r != 0 ? r : text_cmp(x->owner, y->owner);
}

static int image_cmp(const void *a, const void *b)
{
	const struct pod_image *x = a, *y = b;

	return text_cmp(x->name, y->name);
}

static void sort(void *v, size_t n, size_t size, int (*cmp)(const void *, const void *))
{
	if (n > 1) {
		qsort(v, n, size, cmp);
	}
}

/* Several volumes of a pod may name one claim. */
static void drop_repeated_claims(struct pod_class *k)
{
	size_t kept = 0;

	for (size_t i = 0; i < k->nclaims; i++) {
		if (kept == 0 || claim_cmp(&k->claims[kept - 1], &k->claims[i]) != 0) {
			k->claims[kept++] = k->claims[i];
		}
	}
	k->nclaims = kept;
}

/* Lists that mean the same in any order get one order, so that equal pods have equal signatures.
 * The order of terms is kept: it decides nothing, but is the same in all pods of a template. */
void pod_class_normalise(struct pod_class *k)
{
	k->request.v[RES_PODS] = 1;
	k->mask = res_mask(&k->request) & ~RES_PODS_BIT;
	k->best_effort = k->mask == 0 && k->unoffered.n == 0;
	sort(k->selector, k->nselector, sizeof(k->selector[0]), selector_cmp);
	sort(k->tolerations, k->ntolerations, sizeof(k->tolerations[0]), toleration_cmp);
	sort(k->ports, k->nports, sizeof(k->ports[0]), port_cmp);
	sort(k->claims, k->nclaims, sizeof(k->claims[0]), claim_cmp);
	drop_repeated_claims(k);
	sort(k->images, k->nimages, sizeof(k->images[0]), image_cmp);
	for (size_t i = 0; i < k->nrequired; i++) {
		pod_term_normalise_match(&k->required[i]);
	}
	for (size_t i = 0; i < k->npreferred; i++) {
		pod_term_normalise_match(&k->preferred[i]);
	}
	for (size_t i = 0; i < k->nterms; i++) {
		pod_term_normalise(&k->terms[i]);
	}
}

const struct res *pod_class_charge(const struct pod_class *k)
{
	/* Its Workload holds the quota, in a ClusterQueue: no pod is charged twice. */
	static const struct res nothing;

	return k->charged_to_workload ? &nothing : &k->request;
}

uint32_t pod_class_charge_mask(const struct pod_class *k)
{
	return k->charged_to_workload ? 0 : k->mask | RES_PODS_BIT;
}

static void format_claims(const struct pod_class *k, struct strbuf *out)
{
	if (k->nclaims > 0) {
		strbuf_add_ch(out, 'v');
		signature_put_text(out, k->claims_in);
	}
	for (size_t i = 0; i < k->nclaims; i++) {
		strbuf_add_ch(out, 'c');
		signature_put_text(out, k->claims[i].name);
		signature_put_text(out, k->claims[i].owner);
	}
}

void pod_class_format_shape(const struct pod_class *k, struct strbuf *out)
{
	for (unsigned i = 0; i < res_width(&k->request); i++) {
		if (res_get(&k->request, i) != 0) {
			strbuf_add_ch(out, 'r');
			signature_put_int(out, i);
			strbuf_add_ch(out, '=');
			signature_put_int(out, res_get(&k->request, i));
		}
	}
	for (size_t i = 0; i < k->unoffered.n; i++) {
		strbuf_add_ch(out, 'o');
		signature_put_text(out, k->unoffered.v[i].name);
		signature_put_int(out, k->unoffered.v[i].amount);
	}
	if (k->charged_to_workload) {
		strbuf_add_ch(out, 'w');
	}
	for (size_t i = 0; i < k->nselector; i++) {
		strbuf_add_ch(out, 's');
		signature_put_text(out, k->selector[i].key);
		signature_put_text(out, k->selector[i].value);
	}
	/* A required affinity without terms matches no node; none at all matches every one. */
	strbuf_add_c(out, k->has_required ? "A" : "");
	for (size_t i = 0; i < k->nrequired; i++) {
		signature_put_term(out, 'a', &k->required[i]);
	}
	for (size_t i = 0; i < k->npreferred; i++) {
		signature_put_term(out, 'p', &k->preferred[i]);
	}
	for (size_t i = 0; i < k->ntolerations; i++) {
		const struct toleration *t = &k->tolerations[i];

		strbuf_add_ch(out, 't');
		signature_put_text(out, t->key);
		signature_put_text(out, t->value);
		strbuf_add_c(out, t->exists ? "e" : "");
		signature_put_int(out, t->any_effect ? -1 : t->effect);
	}
	for (size_t i = 0; i < k->nports; i++) {
		strbuf_add_ch(out, 'h');
		signature_put_int(out, k->ports[i].port);
		strbuf_add_ch(out, '/');
		signature_put_int(out, k->ports[i].protocol);
		signature_put_text(out, k->ports[i].ip);
	}
	format_claims(k, out);
	if (k->unsupported != NULL) {
		strbuf_add_ch(out, 'u');
		signature_put_text(out, k->unsupported);
	}
}

void pod_class_format(const struct pod_class *k, struct strbuf *out)
{
	pod_class_format_shape(k, out);
	for (size_t i = 0; i < k->nterms; i++) {
		pod_term_format(&k->terms[i], out);
	}
	for (size_t i = 0; i < k->nimages; i++) {
		strbuf_add_ch(out, 'i');
		signature_put_text(out, k->images[i].name);
		signature_put_int(out, k->images[i].times);
	}
	if (k->nimages > 0) {
		strbuf_add_ch(out, '/');
		signature_put_int(out, k->image_sources);
	}
}

struct pod_class *pod_class_copy(const struct pod_class *k, const char *signature)
{
	struct pod_class *copy = xmalloc(sizeof(*copy));

	/* The numbers come with the struct; what it points to is copied below, but for interned
	 * strings. */
	*copy = *k;
	copy->refs = 0;
	copy->id = 0;
	copy->signature = xmalloc_dup(signature);
	copy->unoffered = unoffered_copy(&k->unoffered);
	copy->selector = xmalloc_dup_array(k->selector, k->nselector, sizeof(k->selector[0]));
	copy->tolerations =
		xmalloc_dup_array(k->tolerations, k->ntolerations, sizeof(k->tolerations[0]));
	copy->ports = xmalloc_dup_array(k->ports, k->nports, sizeof(k->ports[0]));
	copy->claims = xmalloc_dup_array(k->claims, k->nclaims, sizeof(k->claims[0]));
	copy->images = xmalloc_dup_array(k->images, k->nimages, sizeof(k->images[0]));
	copy->required = match_terms_copy(k->required, k->nrequired);
	copy->preferred = match_terms_copy(k->preferred, k->npreferred);
	copy->terms = pod_term_copy(k->terms, k->nterms);
	memset(&copy->tasks, 0, sizeof(copy->tasks));
	return copy;
}

void pod_class_destroy(struct pod_class *k)
{
	if (k == NULL) {
		return;
	}
	unoffered_finish(&k->unoffered);
	free(k->selector);
	free(k->tolerations);
	free(k->ports);
	free(k->claims);
	free(k->images);
	match_terms_free(k->required, k->nrequired);
	match_terms_free(k->preferred, k->npreferred);
	pod_term_free(k->terms, k->nterms);
	vec_finish(&k->tasks);
	free(k->signature);
	free(k);
}
