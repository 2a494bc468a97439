#include "scheduler/workloads/preempt/protection.h"

#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/pending/pending.h"

static const struct cluster_queue *queue_of(const struct victims_request *r)
{
	return forest_world(r->forest)->nodes.v[r->node]->queue;
}

static bool is_concerned(const struct victims_request *r, const struct workload *w)
{
	if (forest_root(r->forest, w->holds) != forest_root(r->forest, r->node)) {
		return false;
	}
	for (size_t i = 0; i < r->npairs; i++) {
		for (size_t k = 0; k < w->usage.n; k++) {
			if (w->usage.v[k].id == r->pairs[i]) {
				return true;
			}
		}
	}
	return false;
}

/* What the policy of the preemptor's queue says about it. */
static enum protection_rule by_policy(const struct victims_request *r, const struct workload *w)
{
	const struct quota *q = forest_world(r->forest);
	enum quota_policy policy =
		w->holds == r->node ? queue_of(r)->within_queue : queue_of(r)->reclaim;

	if (policy == QUOTA_NEVER) {
		return PROTECTION_POLICY;
	}
	if (!pending_is_active(r->forest, q->nodes.v[w->holds])) {
		return PROTECTION_INACTIVE;
	}
	if (victims_allowed(q, policy, r->w, w)) {
		return PROTECTION_NONE;
	}
	return policy == QUOTA_LOWER_OR_NEWER_EQUAL &&
			       workload_priority(q, w) == workload_priority(q, r->w)
		       ? PROTECTION_AGE
		       : PROTECTION_PRIORITY;
}

/* From its queue up to below the cohort above both: who is within quota; MODEL_NONE: nobody. */
static uint32_t find_nominal(const struct victims_request *r, const struct workload *w)
{
	uint32_t common = forest_common(r->forest, w->holds, r->node);

	for (uint32_t at = w->holds; at != common; at = forest_parent(r->forest, at)) {
		if (forest_within_nominal(r->forest, at, r->pairs, r->npairs)) {
			return at;
		}
	}
	return MODEL_NONE;
}

/* --- classical ---------------------------------------------------------------------------------*/

/* The request fits into the quota of some node below the cohort above both: what w uses is the
 * preemptor's by right. */
static bool is_by_right(const struct victims_request *r, const struct workload *w)
{
	struct forest *f = r->forest;
	uint32_t common = forest_common(f, w->holds, r->node);
	struct quota_amounts rest = { 0 };
	bool by_right = forest_fits_here(f, r->node, r->need, &rest);

	for (uint32_t at = forest_parent(f, r->node); at != common && at != MODEL_NONE;
	     at = forest_parent(f, at)) {
		by_right = forest_fits_here(f, at, &rest, &rest) || by_right;
	}
	quota_amounts_finish(&rest);
	return by_right;
}

/* Even without those of its own queue that it may preempt. */
static bool would_borrow(const struct victims_request *r)
{
	const struct cluster_queue *queue = queue_of(r);
	size_t mark = forest_mark(r->forest);
	bool borrows = false;

	for (size_t i = 0; i < queue->holders.n; i++) {
		const struct workload *w = queue->holders.v[i].w;

		if (is_concerned(r, w) && by_policy(r, w) == PROTECTION_NONE) {
			forest_remove(r->forest, w->holds, &w->usage);
		}
	}
	for (size_t i = 0; i < r->need->n && !borrows; i++) {
		borrows = r->need->v[i].value > 0 &&
			  forest_borrows_with(r->forest, r->node, r->need->v[i].id,
					      r->need->v[i].value);
	}
	forest_undo(r->forest, mark);
	return borrows;
}

static bool is_under_nominal(const struct victims_request *r)
{
	for (size_t i = 0; i < r->npairs; i++) {
		if (forest_usage(r->forest, r->node, r->pairs[i]) >=
		    forest_nominal(r->forest, r->node, r->pairs[i])) {
			return false;
		}
	}
	return true;
}

/* Whether w may go for a preemptor that borrows. */
static enum protection_rule by_borrowing(const struct victims_request *r, const struct workload *w)
{
	const struct quota *q = forest_world(r->forest);
	const struct cluster_queue *queue = queue_of(r);

	if (queue->borrow_within == QUOTA_NEVER) {
		return !is_under_nominal(r) || would_borrow(r) ? PROTECTION_BORROW_POLICY
							       : PROTECTION_NONE;
	}
	if (workload_priority(q, w) >= workload_priority(q, r->w)) {
		return would_borrow(r) ? PROTECTION_BORROW_PRIORITY : PROTECTION_NONE;
	}
	if (queue->has_threshold && workload_priority(q, w) > queue->threshold) {
		return would_borrow(r) ? PROTECTION_BORROW_THRESHOLD : PROTECTION_NONE;
	}
	return PROTECTION_NONE;
}

static struct protection classical(const struct victims_request *r, const struct workload *w)
{
	struct protection p = { .rule = PROTECTION_NONE, .node = find_nominal(r, w) };

	if (p.node != MODEL_NONE) {
		p.rule = PROTECTION_NOMINAL;
	} else if (!is_by_right(r, w)) {
		p.rule = by_borrowing(r, w);
	}
	return p;
}

/* --- fair sharing ------------------------------------------------------------------------------*/

/* A queue is asked while it uses more than its quota of what is needed, cohorts above it while they
 * borrow anything. */
static uint32_t find_not_borrowing(const struct victims_request *r, const struct workload *w)
{
	uint32_t common = forest_common(r->forest, w->holds, r->node);

	if (forest_within_nominal(r->forest, w->holds, r->pairs, r->npairs)) {
		return w->holds;
	}
	for (uint32_t at = forest_parent(r->forest, w->holds); at != common;
	     at = forest_parent(r->forest, at)) {
		if (!share_of(r->forest, at, NULL).borrowing) {
			return at;
		}
	}
	return MODEL_NONE;
}

/* As if w were the first to go; the request is charged to its queue meanwhile. */
static bool shares_allow(const struct victims_request *r, const struct workload *w,
			 struct protection *p)
{
	const struct quota_options *o = &forest_world(r->forest)->options;
	uint32_t common = forest_common(r->forest, w->holds, r->node);

	p->node = forest_below(r->forest, w->holds, common);
	p->preemptor = share_of(r->forest, forest_below(r->forest, r->node, common), NULL);
	p->target = share_of(r->forest, p->node, NULL);
	forest_remove(r->forest, w->holds, &w->usage);
	p->after = share_of(r->forest, p->node, NULL);
	if (share_is_infinite(p->preemptor) && !share_is_infinite(p->target)) {
		return false;
	}
	return (o->lte_final && share_cmp(p->preemptor, p->after) <= 0) ||
	       (o->lt_initial && share_cmp(p->preemptor, p->target) < 0);
}

static struct protection fair(const struct victims_request *r, const struct workload *w)
{
	struct protection p = { .rule = PROTECTION_NONE, .node = find_not_borrowing(r, w) };
	size_t mark = forest_mark(r->forest);

	if (p.node != MODEL_NONE) {
		p.rule = PROTECTION_NOMINAL;
		return p;
	}
	forest_add(r->forest, r->node, r->need);
	if ((!forest_world(r->forest)->options.preempt_within_nominal ||
	     !forest_within_nominal(r->forest, r->node, r->pairs, r->npairs)) &&
	    !shares_allow(r, w, &p)) {
		p.rule = PROTECTION_SHARE;
	}
	forest_undo(r->forest, mark);
	return p;
}

struct protection protection_of(const struct victims_request *r, const struct workload *w)
{
	struct protection p = { .rule = PROTECTION_UNCONCERNED, .node = MODEL_NONE };

	if (!is_concerned(r, w)) {
		return p;
	}
	p.rule = by_policy(r, w);
	if (p.rule != PROTECTION_NONE || w->holds == r->node) {
		return p;
	}
	return forest_world(r->forest)->options.fair_sharing ? fair(r, w) : classical(r, w);
}
