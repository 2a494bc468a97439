#include "scheduler/workloads/preempt/victims.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "scheduler/workloads/forest/precedence.h"
#include "scheduler/workloads/model/quota_store.h"

static bool may_preempt(const struct victims_request *r)
{
	const struct cluster_queue *queue = forest_model(r->forest)->nodes.v[r->node]->queue;

	if (r->npairs == 0 || !forest_is_placed(r->forest, r->node)) {
		return false;
	}
	/* An explanation wants the rule for each holder, also where no policy allows anything. */
	return r->passed_over != NULL || queue->within_queue != QUOTA_NEVER ||
	       (queue->reclaim != QUOTA_NEVER && forest_parent(r->forest, r->node) != MODEL_NONE);
}

static int by_id(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return a < b ? -1 : a > b;
}

/* The ids that are no candidates: those that are gone, and those with precedence over r->w. */
static void collect_gone(const struct victims_request *r, struct victims_request *ret,
			 struct arena *arena)
{
	struct predecessors before = VEC_INIT;
	uint32_t *v = NULL;

	precedence_collect(r->forest, r->w, &before);
	ret->ngone = r->ngone + before.n;
	if (ret->ngone > 0) {
		v = arena_alloc(arena, ret->ngone * sizeof(*v));
		for (size_t i = 0; i < ret->ngone; i++) {
			v[i] = i < r->ngone ? r->gone[i] : before.v[i - r->ngone];
		}
		/* Sorted for the search in candidates.c, which asks for each holder that counts. */
		qsort(v, ret->ngone, sizeof(*v), by_id);
	}
	ret->gone = v;
	vec_finish(&before);
}

/* The request without its zeros: zero of a resource fits even where usage is above the quota. */
static struct quota_amounts more_than_zero(const struct quota_amounts *need, struct arena *arena)
{
	struct quota_amounts out = { .n = 0, .cap = need->n };

	out.v = arena_alloc(arena, (need->n + 1) * sizeof(out.v[0]));
	for (size_t i = 0; i < need->n; i++) {
		if (need->v[i].value != 0) {
			out.v[out.n++] = need->v[i];
		}
	}
	return out;
}

/* 1. No search where no policy allows a victim.
 * 2. The request without zeros, and the ids that are no candidates, are the same for both searches.
 * 3. The search runs in the scratch, which is emptied by the next one: its result alone is copied
 *    out. */
void victims_find(const struct victims_request *r, struct arena *arena, struct victims *ret)
{
	CLEANUP(arena_destroyp) struct arena *own = NULL;
	struct arena *scratch = r->scratch;
	struct victims_request inner = *r;
	struct quota_amounts need;
	struct victims found = { 0 };

	*ret = found;
	if (!may_preempt(r)) {
		return;
	}
	if (scratch == NULL) {
		own = arena_create(0);
		scratch = own;
	}
	arena_reset(scratch);
	need = more_than_zero(r->need, scratch);
	inner.need = &need;
	collect_gone(r, &inner, scratch);
	if (forest_model(r->forest)->options.fair_sharing) {
		victims_fair(&inner, scratch, &found);
	} else {
		victims_classical(&inner, scratch, &found);
	}
	if (found.n == 0) {
		return;
	}
	ret->v = arena_alloc(arena, found.n * sizeof(*ret->v));
	for (size_t i = 0; i < found.n; i++) {
		ret->v[i] = found.v[i];
	}
	ret->n = found.n;
}

/* Whether a victim is in the preemptor's own queue, and the level of borrowing without them all. */
static enum assign_answer answer(const struct victims_probe *o, const struct victims_found *found,
				 unsigned *level)
{
	const struct quota_model *q = forest_model(o->forest);
	enum assign_answer r = ASSIGN_TARGETS_OUTSIDE;
	size_t mark = forest_mark(o->forest);
	bool reclaim;

	for (size_t i = 0; i < found->victims.n; i++) {
		const struct workload *v = q->workloads.v[found->victims.v[i].workload];

		forest_remove(o->forest, v->holding.node, &v->holding.usage);
		if (v->holding.node == o->node) {
			r = ASSIGN_TARGETS_INSIDE;
		}
	}
	*level = forest_level(o->forest, o->node, found->pair, found->amount, &reclaim);
	forest_undo(o->forest, mark);
	return r;
}

enum assign_answer victims_probe_ask(void *ctx, const struct workload *w, uint32_t pair,
				     int64_t amount, unsigned *level)
{
	struct victims_probe *o = ctx;
	struct quota_amount one = { .id = pair, .value = amount };
	struct quota_amounts need = { .v = &one, .n = 1, .cap = 1 };
	struct victims_request r = { .forest = o->forest,
				     .w = w,
				     .node = o->node,
				     .need = &need,
				     .pairs = &pair,
				     .npairs = 1,
				     .now = o->now,
				     .gone = o->gone,
				     .ngone = o->ngone,
				     .scratch = o->scratch };
	struct victims_found *found = arena_alloc(o->arena, sizeof(*found));

	*found = (struct victims_found){ .pair = pair, .amount = amount, .next = o->answers };
	victims_find(&r, o->arena, &found->victims);
	/* Kept: when the assignment needs preemption for this pair alone, the search for its
	 * victims would be the same again (victims_probe_find). */
	o->answers = found;
	return found->victims.n == 0 ? ASSIGN_NO_TARGETS : answer(o, found, level);
}

/* The request is for this pair alone. */
static bool is_for(const struct victims_request *r, uint32_t pair, int64_t amount)
{
	if (r->npairs != 1 || r->pairs[0] != pair || quota_amounts_get(r->need, pair) != amount) {
		return false;
	}
	for (size_t i = 0; i < r->need->n; i++) {
		if (r->need->v[i].id != pair && r->need->v[i].value != 0) {
			return false;
		}
	}
	return true;
}

void victims_probe_find(const struct victims_probe *o, const struct victims_request *r,
			struct victims *ret)
{
	for (const struct victims_found *a = o->answers; a != NULL; a = a->next) {
		if (is_for(r, a->pair, a->amount)) {
			*ret = a->victims;
			return;
		}
	}
	victims_find(r, o->arena, ret);
}
