#include "scheduler/workloads/cycle/admission_apply.h"

#include <assert.h>

#include "collections/intern.h"
#include "scheduler/workloads/forest/amount.h"
#include "scheduler/workloads/forest/precedence.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/pending/pending.h"
#include "scheduler/workloads/pending/usage.h"

int64_t admission_apply_amount(const struct quota_model *q, const struct podset *p, int32_t count,
			       uint32_t resource)
{
	if (resource == intern_find(q->resources, STR_LIT("pods"))) {
		/* No container requests pods: where a ClusterQueue has quota for them, each pod
		 * counts as one. */
		return count;
	}
	return amount_mul(quota_amounts_get(&p->request, resource), count);
}

static bool uses_flavor(const struct assignment *a, uint32_t flavor)
{
	for (size_t i = 0; i < a->npodsets; i++) {
		for (size_t k = 0; k < a->podsets[i].nflavors; k++) {
			if (a->podsets[i].flavors[k].flavor == flavor) {
				return true;
			}
		}
	}
	return false;
}

/* Kueue: onFlavors of admissionChecksStrategy. A check without flavors is for all of them. */
bool admission_apply_needs_check(const struct quota_check *check, const struct assignment *a)
{
	for (size_t i = 0; i < check->nflavors; i++) {
		if (uses_flavor(a, check->flavors[i])) {
			return true;
		}
	}
	return check->nflavors == 0;
}

static void assign_podset(const struct quota_model *q, struct workload *w, uint32_t podset,
			  const struct assigned_podset *a)
{
	for (size_t i = 0; i < a->nflavors; i++) {
		uint32_t resource = a->flavors[i].resource;
		struct quota_assigned one = { podset, resource, a->flavors[i].flavor,
					      admission_apply_amount(q, &w->object.podsets[podset],
								     a->count, resource) };

		vec_push(&w->holding.assigned, one);
	}
}

static void admit(struct forest *f, const struct admission_decision *d)
{
	struct quota_model *q = forest_model(f);
	struct workload *w = q->workloads.v[d->workload];
	const struct assignment *a = d->assignment;

	assert(w->holding.node == MODEL_NONE && !w->flags.evicted);
	/* It was in flight. This also ends its place as the sticky preemptor of its queue. */
	pending_remove(q, w);
	vec_clear(&w->pending.tried);
	vec_clear(&w->holding.assigned);
	for (size_t i = 0; i < a->npodsets; i++) {
		assign_podset(q, w, (uint32_t)i, &a->podsets[i]);
	}
	/* Copied, because the decision lives in the arena of the cycle. */
	w->holding.usage.n = 0;
	for (size_t i = 0; i < a->usage.n; i++) {
		quota_amounts_add(&w->holding.usage, a->usage.v[i].id, a->usage.v[i].value);
	}
	forest_hold(f, w, d->node);
	usage_enter(q, w);
}

/* The victim keeps its quota until its job has stopped, as in Kueue. An eviction that is under way
 * already is not recorded again. */
static void preempt(struct forest *f, const struct admission_decision *d)
{
	const struct quota_model *q = forest_model(f);
	struct workload *w = q->workloads.v[d->workload];

	assert(w->flags.evicted);
	if (!d->ongoing) {
		precedence_record(f, q->workloads.v[d->by], w);
	}
}

void admission_apply(struct forest *f, const struct admission_decision *d)
{
	switch (d->kind) {
	case QUOTA_DECIDE_ADMIT:
		admit(f, d);
		break;
	case QUOTA_DECIDE_PREEMPT:
		preempt(f, d);
		break;
	case QUOTA_DECIDE_PENDING:
		break;
	}
}
