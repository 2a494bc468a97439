#include "scheduler/pods/session/volume_plan.h"

#include <string.h>

#include "scheduler/pods/model/storage_capacity.h"
#include "scheduler/pods/model/volume_match.h"
#include "scheduler/pods/model/volumes.h"
#include "scheduler/pods/session/session.h"

static bool is_planned(const struct volume_plan *plan, size_t nclaims, const struct volume *v)
{
	for (size_t i = 0; i < nclaims; i++) {
		if (plan->take[i] == v) {
			return true;
		}
	}
	return false;
}

struct search {
	const struct session *s;
	const struct pod_class *k;
	const struct node *n;
	const struct volume_plan *plan;
	const struct claim *cl;
};

static bool is_smaller(const struct volume *a, const struct volume *b)
{
	if (b == NULL || a->form.bytes != b->form.bytes) {
		return b == NULL || a->form.bytes < b->form.bytes;
	}
	return strcmp(a->name, b->name) < 0;
}

/* The smallest that does of those on the host, if it is smaller than best; else best. */
static const struct volume *search_host(const struct search *q, const char *host,
					const struct volume *best)
{
	const struct storage_class *k = q->cl->klass;

	for (size_t i = volume_match_position(k, host, q->cl->form.bytes); i < k->unclaimed.n;
	     i++) {
		const struct volume *v = k->unclaimed.v[i];

		if (strcmp(v->host == NULL ? "" : v->host, host) != 0 || !is_smaller(v, best)) {
			break;
		}
		if (session_volume_is_free(q->s, v) && !is_planned(q->plan, q->k->nclaims, v) &&
		    volume_match_suits(q->cl, v) && volumes_fits_node(v, q->n)) {
			return v;
		}
	}
	return best;
}

/* Local volumes name their host by its label, which most often is the name of the node, or by that
 * name. NULL: there is none. */
static const struct volume *search(const struct search *q)
{
	const struct volume *best;
	const char *label = NULL;

	if (q->cl->klass->unclaimed.n == 0) {
		return NULL;
	}
	for (size_t i = 0; i < q->n->labels.n; i++) {
		if (strcmp(q->n->labels.v[i].key, VOLUME_MATCH_HOST_LABEL) == 0) {
			label = q->n->labels.v[i].value;
		}
	}
	best = search_host(q, q->n->name, search_host(q, "", NULL));
	return label == NULL || strcmp(label, q->n->name) == 0 ? best : search_host(q, label, best);
}

/* Others get no volume by a pod. */
static bool awaits_pod(const struct claim *cl)
{
	return cl->exists && !cl->lost && !cl->deleting && cl->volume == NULL &&
	       cl->klass != NULL && cl->klass->waits;
}

static bool can_make(const struct claim *cl, const struct node *n)
{
	return cl->klass->provisioner != NULL && volumes_may_select(cl, n) &&
	       volumes_provides(cl->klass, n);
}

enum plan { PLAN_NONE, PLAN_FULL, PLAN_FOUND };

/* FULL: but for the free storage a volume could be made. */
static enum plan plan_made(const struct claim *cl, const struct node *n)
{
	if (!can_make(cl, n)) {
		return PLAN_NONE;
	}
	return storage_capacity_suffices(cl, n) ? PLAN_FOUND : PLAN_FULL;
}

/* A claim with a node is to get a volume that is made, as its provisioner may be at work; unless
 * there is none, so that the node means nothing. */
static enum plan plan_one(const struct search *q, const struct volume **ret)
{
	const struct cluster *c = session_cluster(q->s);
	const struct volume *reserved = volume_match_reserved(c, q->cl);
	uint32_t node = session_claim_node(q->s, q->cl);

	if (!awaits_pod(q->cl) || (node != MODEL_NONE && node != q->n->id)) {
		return PLAN_NONE;
	}
	if (reserved != NULL) {
		return volumes_fits_node(reserved, q->n) ? PLAN_FOUND : PLAN_NONE;
	}
	/* Its volume was decided about with an earlier pod. */
	if (node != MODEL_NONE) {
		return PLAN_FOUND;
	}
	if (q->cl->selected == NULL || q->cl->klass->provisioner == NULL) {
		*ret = search(q);
	}
	return *ret != NULL ? PLAN_FOUND : plan_made(q->cl, q->n);
}

/* Two volumes of a pod may name one claim. */
static bool is_repeated(const struct pod_class *k, size_t at)
{
	for (size_t i = 0; i < at; i++) {
		if (k->claims[i].id == k->claims[at].id) {
			return true;
		}
	}
	return false;
}

/* Indices of the unbound claims, each once, in the order of their sizes, then of their place in the
 * class. */
static size_t sort_claims(const struct cluster *c, const struct pod_class *k, size_t *order)
{
	size_t n = 0;

	for (size_t i = 0; i < k->nclaims; i++) {
		const struct claim *cl = c->claims.v[k->claims[i].id];
		size_t at = n;

		if (cl->bound || is_repeated(k, i)) {
			continue;
		}
		while (at > 0 &&
		       c->claims.v[k->claims[order[at - 1]].id]->form.bytes > cl->form.bytes) {
			order[at] = order[at - 1];
			at--;
		}
		order[at] = i;
		n++;
	}
	return n;
}

bool volume_plan_make(const struct session *s, const struct pod_class *k, const struct node *n,
		      struct volume_plan *ret)
{
	const struct cluster *c = session_cluster(s);
	size_t order[POD_CLASS_CLAIMS_MAX], nunbound = sort_claims(c, k, order);
	size_t found = 0, full = 0;

	memset(ret->take, 0, k->nclaims * sizeof(ret->take[0]));
	for (size_t i = 0; i < nunbound; i++) {
		const struct search q = { s, k, n, ret, c->claims.v[k->claims[order[i]].id] };
		enum plan plan = plan_one(&q, &ret->take[order[i]]);

		found += plan == PLAN_FOUND;
		full += plan == PLAN_FULL;
	}
	ret->lacks_storage = full > 0 && found + full == nunbound;
	return found == nunbound;
}
