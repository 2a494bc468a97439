#include "scheduler/workloads/cycle/nomination.h"

#include <string.h>

#include "base/arena.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/pending/pending.h"

/* One computation of flavors and victims for an entry. */
struct attempt {
	const struct nominate_context *c;
	const struct entry *e;
	struct assign_request request;
	struct victims_probe probe;
	struct assignment assignment; /* of the last try */
	struct victims victims;
	/* Partial admission: the last try that succeeded, and its counts. */
	struct assignment good;
	struct victims good_victims;
	int32_t *good_counts;
};

static void reject(struct entry *e, enum nofit_reason reason, const char *message)
{
	e->status = ENTRY_NOT_NOMINATED;
	e->reason = reason;
	e->message = message;
}

static const char *first_invalid(const struct workload *w)
{
	for (size_t i = 0; i < w->object.npodsets; i++) {
		if (w->object.podsets[i].invalid != NULL) {
			return w->object.podsets[i].invalid;
		}
	}
	return NULL;
}

/* The checks before flavors are assigned; the first that fails gives the reason. The order is
 * Kueue's (scheduler.nominate). A stopped ClusterQueue has no heads, so it is not checked here. */
static bool passes(const struct nominate_context *c, struct entry *e)
{
	const struct quota_model *q = forest_model(c->forest);
	const struct workload *w = e->w;
	const char *invalid = first_invalid(w);

	if (w->flags.check_blocks) {
		reject(e, QUOTA_PENDING_EVALUATION,
		       "an admission check is in state Retry or Rejected");
	} else if (quota_namespace_find(q, str_of(w->object.namespace_)) == NULL) {
		reject(e, QUOTA_MISCONFIGURED, "its namespace does not exist");
	} else if (!pending_selects(q, q->nodes.v[e->node]->queue, w)) {
		reject(e, QUOTA_MISCONFIGURED,
		       "the namespaceSelector of the ClusterQueue does not match its namespace");
		e->requeue = QUOTA_REQUEUE_NAMESPACE_MISMATCH;
	} else if (invalid != NULL) {
		reject(e, QUOTA_MISCONFIGURED, invalid);
	} else if (w->object.unsupported != NULL) {
		reject(e, QUOTA_MISCONFIGURED, w->object.unsupported);
	} else {
		return true;
	}
	return false;
}

/* The pairs that fit only by preemption; sorted, each once. */
static uint32_t *contested_pairs(const struct quota_model *q, const struct assignment *a,
				 struct arena *arena, size_t *ret_n)
{
	uint32_t *pairs;
	size_t n = 0, most = 0;

	for (size_t i = 0; i < a->npodsets; i++) {
		most += a->podsets[i].nflavors;
	}
	pairs = arena_alloc(arena, (most + 1) * sizeof(*pairs));
	for (size_t i = 0; i < a->npodsets; i++) {
		for (size_t k = 0; k < a->podsets[i].nflavors; k++) {
			const struct assigned_flavor *f = &a->podsets[i].flavors[k];
			uint32_t pair = quota_pair_find(q, f->flavor, f->resource);
			size_t at = 0;

			if (f->mode == FLAVOR_FIT || f->mode == FLAVOR_NO_FIT) {
				continue;
			}
			/* A handful of pairs: insertion keeps them sorted, and each once. */
			while (at < n && pairs[at] < pair) {
				at++;
			}
			if (at < n && pairs[at] == pair) {
				continue;
			}
			memmove(&pairs[at + 1], &pairs[at], (n - at) * sizeof(*pairs));
			pairs[at] = pair;
			n++;
		}
	}
	*ret_n = n;
	return pairs;
}

static void find_victims(struct attempt *t)
{
	const struct nominate_context *c = t->c;
	struct victims_request r = {
		.forest = c->forest,
		.w = t->e->w,
		.node = t->e->node,
		.need = &t->assignment.usage,
		.now = c->now,
		.gone = c->gone,
		.ngone = c->ngone,
		.scratch = c->scratch,
	};

	t->victims = (struct victims){ NULL, 0 };
	if (t->assignment.mode == ASSIGN_PREEMPT) {
		r.pairs = contested_pairs(forest_model(c->forest), &t->assignment, c->arena,
					  &r.npairs);
		victims_probe_find(&t->probe, &r, &t->victims);
	}
}

/* With these counts, or those of its spec (NULL): whether it fits, now or without its victims. */
static bool try_counts(void *ctx, const int32_t *counts)
{
	struct attempt *t = ctx;

	t->request.counts = counts;
	memset(&t->assignment, 0, sizeof(t->assignment));
	assign_flavors(&t->request, t->c->arena, &t->assignment);
	find_victims(t);
	if (t->assignment.mode != ASSIGN_FIT && t->victims.n == 0) {
		return false;
	}
	/* The search returns counts alone; its last success is what it returns. */
	if (counts != NULL) {
		t->good = t->assignment;
		t->good_victims = t->victims;
		memcpy(t->good_counts, counts, t->e->w->object.npodsets * sizeof(counts[0]));
	}
	return true;
}

bool nomination_may_shrink(const struct quota_model *q, const struct workload *w)
{
	for (size_t i = 0; q->options.partial_admission && i < w->object.npodsets; i++) {
		if (w->object.podsets[i].min_count > 0 &&
		    w->object.podsets[i].min_count < w->object.podsets[i].count) {
			return true;
		}
	}
	return false;
}

/* Partial admission: the largest counts that can be admitted. False: there are none. */
static bool shrink(struct attempt *t)
{
	const struct workload *w = t->e->w;
	struct arena *arena = t->c->arena;
	size_t size = w->object.npodsets * sizeof(int32_t);
	int32_t *counts = arena_alloc(arena, size);

	t->good_counts = arena_zero(arena, w->object.npodsets, sizeof(int32_t));
	/* As in Kueue: a success counts only if it was at the counts that the search ends with.
	 * Sizes need not be monotonic, so it may have been at others. */
	if (!assign_search_counts(w, arena, try_counts, t, counts) ||
	    memcmp(counts, t->good_counts, size) != 0) {
		return false;
	}
	t->good.is_partial = true;
	return true;
}

static bool scan_restarts(const struct quota_model *q, const struct workload *w, uint32_t node)
{
	return w->pending.tried.n == 0 || assign_last_is_outdated(q, w, q->nodes.v[node]->queue);
}

const struct quota_amounts *nomination_usage_without_borrowing(const struct nominate_context *c,
							       struct workload *w, uint32_t node)
{
	struct entry e = { .w = w, .node = node };
	struct assign_request request = { .forest = c->forest, .w = w, .node = node };
	struct assignment *a;

	if (!passes(c, &e)) {
		return NULL;
	}
	a = arena_zero(c->arena, 1, sizeof(*a));
	request.from_start = scan_restarts(forest_model(c->forest), w, node);
	assign_flavors(&request, c->arena, a);
	return a->mode == ASSIGN_FIT && a->level == 0 ? &a->usage : NULL;
}

/* 1. Flavors for all pods, and victims where they are needed.
 * 2. If that cannot be admitted, the largest counts that can: with fewer pods it may fit, or need
 *    victims that can be found.
 * 3. Otherwise the assignment of all pods stays, as it has the reasons to report. */
static void compute(const struct nominate_context *c, struct entry *e,
		    const struct assignment *pinned)
{
	const struct quota_model *q = forest_model(c->forest);
	struct attempt t = { .c = c, .e = e };
	bool fits;

	t.probe = (struct victims_probe){ .forest = c->forest,
					  .node = e->node,
					  .now = c->now,
					  .gone = c->gone,
					  .ngone = c->ngone,
					  .arena = c->arena,
					  .scratch = c->scratch };
	t.request = (struct assign_request){ .forest = c->forest,
					     .w = e->w,
					     .node = e->node,
					     .from_start = e->w->pending.tried.n == 0,
					     .pinned = pinned,
					     .probe = victims_probe_ask,
					     .ctx = &t.probe };
	fits = try_counts(&t, NULL);
	e->assignment = t.assignment;
	e->victims = t.victims;
	if (!fits && nomination_may_shrink(q, e->w) && shrink(&t)) {
		e->assignment = t.good;
		e->victims = t.good_victims;
	}
}

static void store_last(const struct quota_model *q, struct entry *e)
{
	bool pending;

	assign_store_last(&e->assignment, e->w, q, q->nodes.v[e->node]->queue, &pending);
	e->keep_tried = true;
}

/* The scan begins at the first flavor. */
static void restart_scan(const struct quota_model *q, struct entry *e)
{
	vec_clear(&e->w->pending.tried);
	e->w->pending.scan_cycle = q->nodes.v[e->node]->queue->pop_cycle;
	e->w->pending.scan_lost_turn = false;
}

void nomination(const struct nominate_context *c, struct entry *e)
{
	const struct quota_model *q = forest_model(c->forest);

	if (!passes(c, e)) {
		return;
	}
	if (assign_last_is_outdated(q, e->w, q->nodes.v[e->node]->queue)) {
		restart_scan(q, e);
	}
	compute(c, e, NULL);
	e->status = ENTRY_NOMINATED;
	e->has_assignment = true;
	/* Whatever becomes of the entry: requeuing clears the position where it must not stay
	 * (`keep_tried`). */
	store_last(q, e);
}

/* Only the victims may change. The flavors stay those of `before`, from which the entry's place in
 * the order follows. */
void nomination_recompute(const struct nominate_context *c, struct entry *e)
{
	const struct quota_model *q = forest_model(c->forest);
	/* A copy: compute() replaces the assignment of the entry while it reads this one. */
	struct assignment before = e->assignment;

	restart_scan(q, e);
	compute(c, e, &before);
	store_last(q, e);
}
