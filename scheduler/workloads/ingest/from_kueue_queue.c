#include <stdlib.h>

#include "api/kueue/kueue.h"
#include "api/kueue/kueue_keys.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "scheduler/base/match_from_api.h"
#include "scheduler/workloads/ingest/from_kueue_priv.h"

/* The fields of a ClusterQueue that can be wrong, read before the model is changed. */
struct reading {
	unsigned strategy, when_can_borrow, when_can_preempt, preference;
	unsigned within, reclaim, borrow_within, stop;
	double weight;
	struct match_expr *exprs; /* in the arena */
	size_t nexprs;
};

static int read_policies(const struct api_cluster_queue_spec *spec, struct reading *r,
			 struct err *err)
{
	static const char *const borrows[] = { "Borrow", NULL };
	static const char *const preempts[] = { "Preempt", NULL };
	const struct api_flavor_fungibility *f = &spec->flavor_fungibility;
	const struct api_queue_preemption *p = &spec->preemption;
	/* All policies are read into numbers before the model is changed, and an unknown value
	 * names its field. */
	const struct {
		const char *field, *text;
		const char *const *names, *const *old; /* v1beta1 called the first of names so */
		unsigned absent;
		unsigned *ret;
	} rows[] = {
		{ "queueingStrategy", spec->queueing_strategy, from_kueue_strategies, NULL,
		  QUOTA_BEST_EFFORT_FIFO, &r->strategy },
		{ "flavorFungibility.whenCanBorrow", f->when_can_borrow, from_kueue_searches,
		  borrows, QUOTA_MAY_STOP_SEARCH, &r->when_can_borrow },
		{ "flavorFungibility.whenCanPreempt", f->when_can_preempt, from_kueue_searches,
		  preempts, QUOTA_TRY_NEXT_FLAVOR, &r->when_can_preempt },
		{ "flavorFungibility.preference", f->preference, from_kueue_preferences, NULL,
		  QUOTA_BORROWING_OVER_PREEMPTION, &r->preference },
		{ "preemption.withinClusterQueue", p->within_cluster_queue, from_kueue_policies,
		  NULL, QUOTA_NEVER, &r->within },
		{ "preemption.reclaimWithinCohort", p->reclaim_within_cohort, from_kueue_policies,
		  NULL, QUOTA_NEVER, &r->reclaim },
		{ "preemption.borrowWithinCohort.policy", p->borrow_within_cohort.policy,
		  from_kueue_policies, NULL, QUOTA_NEVER, &r->borrow_within },
		{ "stopPolicy", spec->stop_policy, from_kueue_stops, NULL, QUOTA_RUN, &r->stop },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].old != NULL && str_streq(rows[i].text, rows[i].old[0])) {
			/* The first of the new names means the same. */
			*rows[i].ret = 0;
			continue;
		}
		if (from_kueue_enum(rows[i].text, rows[i].names, rows[i].absent, rows[i].ret, err) <
		    0) {
			return err_wrap(err, "spec.%s", rows[i].field);
		}
	}
	return 0;
}

static int check_checks(const struct api_check_strategy *s, struct err *err)
{
	for (size_t i = 0; i < s->checks.n; i++) {
		if (s->checks.v[i].name == NULL) {
			return err_set(err, ERR_INVALID,
				       "spec.admissionChecksStrategy.admissionChecks[%zu].name: "
				       "missing",
				       i);
		}
	}
	return 0;
}

static int read_spec(struct quota_model *q, const struct api_cluster_queue *cq, struct arena *arena,
		     struct reading *r, struct err *err)
{
	const struct api_cluster_queue_spec *spec = &cq->spec;

	if (from_kueue_check_names(q, cq->meta.name, err) < 0 ||
	    from_kueue_groups_check(&spec->resource_groups, err) < 0 ||
	    read_policies(spec, r, err) < 0 || check_checks(&spec->admission_checks, err) < 0) {
		return -ERR_INVALID;
	}
	if (spec->namespace_selector != NULL &&
	    match_from_api_label_selector(q->names, spec->namespace_selector, arena, &r->exprs,
					  &r->nexprs, err) < 0) {
		return err_path(err, "spec.namespaceSelector.");
	}
	return from_kueue_weight(spec->fair_sharing.weight, &r->weight, err);
}

static void fill_selector(const struct api_cluster_queue_spec *spec, const struct reading *r,
			  struct namespace_selector *s)
{
	/* Kueue: without a selector no namespace is selected, with an empty one all are. */
	s->absent = spec->namespace_selector == NULL;
	s->nexprs = r->nexprs;
	s->exprs = xmalloc_zero(r->nexprs, sizeof(*s->exprs));
	for (size_t i = 0; i < r->nexprs; i++) {
		s->exprs[i] = r->exprs[i];
		s->exprs[i].values = xmalloc_zero(r->exprs[i].nvalues, sizeof(char *));
		for (size_t k = 0; k < r->exprs[i].nvalues; k++) {
			s->exprs[i].values[k] = r->exprs[i].values[k];
		}
	}
}

static void fill_checks(struct quota_model *q, const struct api_check_strategy *s,
			struct cluster_queue *queue)
{
	for (size_t i = 0; i < s->checks.n; i++) {
		const struct api_check_rule *a = &s->checks.v[i];
		struct quota_check c = { .name = quota_name(q, str_of(a->name)),
					 .nflavors = a->on_flavors.n };

		c.flavors = xmalloc_zero(c.nflavors, sizeof(*c.flavors));
		for (size_t k = 0; k < c.nflavors; k++) {
			/* A flavor that does not exist gets a record, too: objects come in any
			 * order. */
			c.flavors[k] = quota_flavor_get(q, str_of(a->on_flavors.v[k]))->id;
		}
		vec_push(&queue->checks, c);
	}
}

static void fill_queue(struct quota_model *q, const struct api_cluster_queue *cq,
		       const struct reading *r, struct cluster_queue *queue)
{
	const struct api_cluster_queue_spec *spec = &cq->spec;
	int32_t threshold = spec->preemption.borrow_within_cohort.max_priority_threshold;

	queue->strategy = r->strategy;
	queue->when_can_borrow = r->when_can_borrow;
	queue->when_can_preempt = r->when_can_preempt;
	queue->preference = r->preference;
	queue->within_queue = r->within;
	queue->reclaim = r->reclaim;
	queue->borrow_within = r->borrow_within;
	queue->stop = r->stop;
	/* 0 is a threshold, so its absence needs a flag of its own. */
	queue->has_threshold = threshold != FIELD_NO_I32;
	queue->threshold = queue->has_threshold ? threshold : 0;
	queue->terminating = cq->meta.deleted != FIELD_NO_TIME;
	queue->usage_based = spec->admission_scope != NULL &&
			     str_streq(spec->admission_scope->mode, KUEUE_USAGE_BASED);
	fill_selector(spec, r, &queue->namespaces);
	fill_checks(q, &spec->admission_checks, queue);
}

int from_kueue_queue(struct quota_model *q, const struct api_cluster_queue *cq, struct err *err)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct reading r = { .weight = 1 };
	struct quota_node *n;

	if (read_spec(q, cq, arena, &r, err) < 0) {
		return err_wrap(err, "ClusterQueue %s", cq->meta.name == NULL ? "" : cq->meta.name);
	}
	/* Everything that can be wrong has been read: from here on nothing fails. */
	n = quota_queue_get(q, str_of(cq->meta.name));
	quota_node_clear(n);
	n->exists = true;
	n->weight = r.weight;
	if (cq->spec.cohort != NULL) {
		n->parent = quota_name(q, str_of(cq->spec.cohort));
	}
	from_kueue_groups_fill(q, &cq->spec.resource_groups, n);
	fill_queue(q, cq, &r, n->queue);
	return 0;
}
