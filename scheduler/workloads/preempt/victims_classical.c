/* The classical search (Kueue: hierarchical preemption; KEP-83 is its ground):
 *   1. Candidates. Own queue: by withinClusterQueue. Of each cohort above, lowest first: the
 *      queues below it that are over their quota, by reclaimWithinCohort. They are in LIST_RIGHT
 *      (Kueue: hierarchical reclaim) when the request fits into the quota of some node below that
 *      cohort, so that the preemptor has a right to it, else in LIST_PRIORITY.
 *   2. Order: the evicted ones of LIST_RIGHT, LIST_PRIORITY, LIST_OWN; then the rest of these.
 *   3. One or two attempts, with and without borrowing. Each takes candidates in order until the
 *      request fits, passing over those with a queue or cohort that is back within its quota; then
 *      it gives back the victims that it does not need. */
#include "scheduler/workloads/preempt/victims.h"

#include "base/arena.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/preempt/ranking.h"
#include "scheduler/workloads/preempt/victim_set.h"

enum list { LIST_RIGHT, LIST_PRIORITY, LIST_OWN, LIST_COUNT_ };

struct search {
	const struct victims_request *r;
	const struct cluster_queue *queue;
	struct arena *arena;
	struct candidates all;
	struct ranking ranking; /* of them */
	size_t in_list[LIST_COUNT_];
	bool may_reclaim_borrowing; /* borrowWithinCohort */
};

static bool is_within_quota(const struct search *s, uint32_t node)
{
	return forest_within_nominal(s->r->forest, node, s->r->pairs, s->r->npairs);
}

static uint32_t find_within_quota(const struct search *s, uint32_t node, uint32_t above)
{
	return forest_find_within_nominal(s->r->forest, node, above, s->r->pairs, s->r->npairs);
}

/* Sets the reason for which c, of another queue, would be preempted, and whether it may be for
 * a preemptor that borrows. */
static void classify(const struct search *s, bool by_right, struct candidate *c)
{
	int64_t priority = workload_priority(forest_model(s->r->forest), s->r->w);

	c->reason = VICTIM_IN_COHORT_RECLAMATION;
	if (by_right) {
		return;
	}
	c->no_borrow = (uint8_t)victims_borrow_rule(s->queue, priority, c->priority);
	if (c->no_borrow == PASSED_OVER_NOT) {
		c->reason = VICTIM_IN_COHORT_RECLAIM_WHILE_BORROWING;
	}
}

static void collect_queue(struct search *s, uint32_t node, uint32_t above, enum list list)
{
	enum quota_policy policy = list == LIST_OWN ? s->queue->within_queue : s->queue->reclaim;
	size_t from = s->all.n;

	candidates_collect(s->r, node, policy, s->arena, &s->all);
	if (s->r->passed_over != NULL && list != LIST_OWN) {
		uint32_t within = find_within_quota(s, node, above);

		if (within != MODEL_NONE) {
			candidates_pass_over(s->r, &s->all, from, PASSED_OVER_NOMINAL, within);
		}
	}
	s->in_list[list] += s->all.n - from;
	for (size_t i = from; i < s->all.n; i++) {
		struct candidate *c = s->all.v[i];

		c->above = above;
		c->rank = (uint8_t)((c->evicted ? 0 : LIST_COUNT_) + list);
		c->reason = VICTIM_IN_CLUSTER_QUEUE;
		if (list != LIST_OWN) {
			classify(s, list == LIST_RIGHT, c);
		}
	}
}

/* The queues below `above` that are over their quota, without the branch `done` and without what
 * is below a cohort that is within its quota. */
static void collect_below(struct search *s, uint32_t above, uint32_t done, enum list list)
{
	struct forest *f = s->r->forest;
	struct VEC(uint32_t) stack = VEC_INIT;
	struct forest_over_list queues = VEC_INIT;

	vec_push(&stack, above);
	while (stack.n > 0) {
		uint32_t at = vec_pop(&stack);
		size_t n;
		const uint32_t *cohorts = forest_cohorts(f, at, &n);

		for (size_t i = 0; i < n; i++) {
			if (cohorts[i] != done &&
			    (s->r->passed_over != NULL || !is_within_quota(s, cohorts[i]))) {
				vec_push(&stack, cohorts[i]);
			}
		}
		candidates_find_queues(s->r, at, &queues);
	}
	for (size_t i = 0; i < queues.n; i++) {
		if (queues.v[i] != done) {
			collect_queue(s, queues.v[i], above, list);
		}
	}
	vec_finish(&queues);
	vec_finish(&stack);
}

static void collect_cohorts(struct search *s)
{
	struct forest *f = s->r->forest;
	struct quota_amounts rest = { 0 };
	uint32_t below = s->r->node;
	bool by_right = forest_fits_here(f, below, s->r->need, &rest);

	for (uint32_t at = forest_parent(f, below); at != MODEL_NONE; at = forest_parent(f, at)) {
		collect_below(s, at, below, by_right ? LIST_RIGHT : LIST_PRIORITY);
		if (forest_fits_here(f, at, &rest, &rest)) {
			by_right = true;
		}
		below = at;
	}
	quota_amounts_finish(&rest);
}

/* With the removals so far: whether its queue, and all cohorts between it and the one above both,
 * still use more than their quota. */
static bool is_valid(const struct search *s, const struct candidate *c, bool may_borrow)
{
	if (!c->outside) {
		return true;
	}
	if (may_borrow && c->no_borrow != PASSED_OVER_NOT) {
		return false;
	}
	return find_within_quota(s, c->holds, c->above) == MODEL_NONE;
}

static bool borrows(const struct victims_request *r)
{
	for (size_t i = 0; i < r->need->n; i++) {
		if (forest_borrows_with(r->forest, r->node, r->need->v[i].id,
					r->need->v[i].value)) {
			return true;
		}
	}
	return false;
}

static bool attempt(struct search *s, bool may_borrow, struct victims *ret)
{
	struct victim_set t;

	if (!may_borrow && s->in_list[LIST_OWN] == 0 && borrows(s->r)) {
		return false; /* removals in other queues do not change that */
	}
	victim_set_begin(&t, s->r, s->arena);
	for (size_t i = 0; i < s->ranking.n; i++) {
		struct candidate *c = ranking_at(&s->ranking, i);

		if (!is_valid(s, c, may_borrow)) {
			continue;
		}
		victim_set_add(&t, c);
		if (victim_set_fits(&t, may_borrow)) {
			(void)victim_set_fill_back(&t, may_borrow);
			victim_set_end(&t);
			victim_set_result(&t, ret);
			return true;
		}
	}
	victim_set_end(&t);
	return false;
}

static bool is_under_nominal(const struct search *s)
{
	const struct victims_request *r = s->r;

	for (size_t i = 0; i < r->npairs; i++) {
		if (forest_usage(r->forest, r->node, r->pairs[i]) >=
		    forest_nominal(r->forest, r->node, r->pairs[i])) {
			return false;
		}
	}
	return true;
}

/* Even without all candidates of its own queue. */
static bool borrows_without_own(const struct search *s)
{
	size_t mark = forest_mark(s->r->forest);
	bool yes;

	for (size_t i = 0; i < s->all.n; i++) {
		struct quota_amounts usage = candidates_usage(s->all.v[i]);

		if (!s->all.v[i]->outside) {
			forest_remove(s->r->forest, s->r->node, &usage);
		}
	}
	yes = borrows(s->r);
	forest_undo(s->r->forest, mark);
	return yes;
}

/* Those that no attempt can take: with borrowing a rule forbids it, and without borrowing no
 * attempt is made, or it cannot succeed. */
static void record_no_borrow(const struct search *s, bool must_borrow)
{
	if (!must_borrow && !borrows_without_own(s)) {
		return;
	}
	for (size_t i = 0; i < s->all.n; i++) {
		const struct candidate *c = s->all.v[i];

		s->r->passed_over[c->id].rule = (enum passed_over_rule)c->no_borrow;
	}
}

void victims_classical(const struct victims_request *r, struct arena *arena, struct victims *ret)
{
	const struct cluster_queue *queue = forest_model(r->forest)->nodes.v[r->node]->queue;
	struct search s = { .r = r,
			    .queue = queue,
			    .arena = arena,
			    .may_reclaim_borrowing = queue->borrow_within != QUOTA_NEVER };
	bool must_borrow; /* it is never tried without */

	collect_queue(&s, r->node, MODEL_NONE, LIST_OWN);
	if (queue->reclaim != QUOTA_NEVER || r->passed_over != NULL) {
		collect_cohorts(&s);
	}
	must_borrow = !s.may_reclaim_borrowing && !is_under_nominal(&s);
	if (r->passed_over != NULL) {
		record_no_borrow(&s, must_borrow);
	}
	*ret = (struct victims){ 0 };
	if (!victim_set_could_fit(r, &s.all)) {
		return;
	}
	ranking_init(&s.ranking, &s.all, arena);
	if ((s.in_list[LIST_RIGHT] == 0 && s.in_list[LIST_PRIORITY] == 0) || must_borrow) {
		attempt(&s, true, ret);
	} else if (!s.may_reclaim_borrowing && s.in_list[LIST_RIGHT] == 0) {
		(void)(attempt(&s, false, ret) || attempt(&s, true, ret));
	} else {
		(void)(attempt(&s, true, ret) || attempt(&s, false, ret));
	}
}
