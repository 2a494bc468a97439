#include "scheduler/pods/model/volume_match.h"

#include <string.h>

/* Of every volume, also one with a claimRef to the claim. */
static bool has_form(const struct claim *cl, const struct volume *v)
{
	return v->exists && !v->deleting && v->form.bytes >= cl->form.bytes &&
	       v->form.block == cl->form.block && v->form.attributes == cl->form.attributes;
}

static bool is_selected(const struct claim *cl, const struct volume *v)
{
	const struct match_term *t = cl->selector;

	for (size_t i = 0; t != NULL && i < t->nexprs; i++) {
		const struct match_expr *e = &t->exprs[i];

		if (!match_expr_holds(e, match_label(v->labels.v, v->labels.n, e->key))) {
			return false;
		}
	}
	return true;
}

bool volume_match_suits(const struct claim *cl, const struct volume *v)
{
	return has_form(cl, v) && (cl->form.access & ~v->form.access) == 0 && is_selected(cl, v);
}

/* Kubernetes asks neither for access modes nor for labels where the claimRef is there. */
static bool refers(const struct claim *cl, const struct volume *v)
{
	return has_form(cl, v) &&
	       (v->ref_uid == NULL || (cl->uid != NULL && strcmp(v->ref_uid, cl->uid) == 0));
}

const struct volume *volume_match_reserved(const struct cluster *c, const struct claim *cl)
{
	const struct volume *first = NULL;

	if (cl->taken != NULL) {
		return cl->taken;
	}
	for (size_t i = 0; i < cl->refs.n; i++) {
		const struct volume *v = c->volumes.v[cl->refs.v[i]];

		if (refers(cl, v) && (first == NULL || strcmp(v->name, first->name) < 0)) {
			first = v;
		}
	}
	return first;
}

static const char *host_of(const struct volume *v)
{
	return v->host == NULL ? "" : v->host;
}

/* By host, size and name. name NULL: before all names. */
static int compare(const struct volume *v, const char *host, int64_t bytes, const char *name)
{
	int by_host = strcmp(host_of(v), host);

	if (by_host != 0) {
		return by_host;
	}
	if (v->form.bytes != bytes) {
		return v->form.bytes < bytes ? -1 : 1;
	}
	return name == NULL ? 1 : strcmp(v->name, name);
}

static size_t find(const struct storage_class *k, const char *host, int64_t bytes, const char *name)
{
	size_t low = 0, high = k->unclaimed.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (compare(k->unclaimed.v[mid], host, bytes, name) < 0) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low;
}

size_t volume_match_position(const struct storage_class *k, const char *host, int64_t bytes)
{
	return find(k, host, bytes, NULL);
}

bool volume_match_is_unclaimed(const struct volume *v)
{
	return v->exists && v->available && !v->deleting && v->ref == NULL && v->klass != NULL;
}

bool volume_match_enter(struct volume *v)
{
	size_t at;

	if (!volume_match_is_unclaimed(v)) {
		return false;
	}
	at = find(v->klass, host_of(v), v->form.bytes, v->name);
	vec_push(&v->klass->unclaimed, v);
	memmove(&v->klass->unclaimed.v[at + 1], &v->klass->unclaimed.v[at],
		(v->klass->unclaimed.n - 1 - at) * sizeof(v));
	v->klass->unclaimed.v[at] = v;
	return true;
}

void volume_match_leave(struct volume *v)
{
	size_t at;

	if (!volume_match_is_unclaimed(v)) {
		return;
	}
	at = find(v->klass, host_of(v), v->form.bytes, v->name);
	memmove(&v->klass->unclaimed.v[at], &v->klass->unclaimed.v[at + 1],
		(v->klass->unclaimed.n - 1 - at) * sizeof(v));
	v->klass->unclaimed.n--;
}
