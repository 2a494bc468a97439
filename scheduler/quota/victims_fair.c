/* The fair sharing search (Kueue: fair preemption):
 *   1. Candidates: own queue by withinClusterQueue; all queues of the tree that borrow what is
 *      needed, by reclaimWithinCohort. The request is charged to its queue for the whole search.
 *   2. First pass. Again and again the tree is walked down from its root to the child with the
 *      highest share that still has candidates. Of the own queue the first candidate goes; of
 *      another one the first, unasked, when the own queue is within its nominal quota with the
 *      request and all that it has; else the first that passes the first strategy. What fails is
 *      kept for later.
 *   3. Second pass, with two strategies: the kept ones by the second, at most one per queue.
 *   4. When the request fits, whoever is not needed is given back.
 *   5. Giving back may take away what made a victim legal: a victim of the own queue (or of a close
 *      relative) had lowered the share of the preemptor. Kueue preempts it all the same, and the
 *      two may then preempt each other for ever (kubernetes-sigs/kueue#14543). Here those who are
 *      left are asked again in their order. Who is on its way out already is taken unasked, given
 *      back or not. Who is not legal is banned, and the search begins anew, ROUNDS_MAX times. */
#include "quota/victims.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/heap.h"
#include "quota/forest_over.h"
#include "quota/ranking.h"
#include "quota/share.h"
#include "quota/trial.h"

#define ROUNDS_MAX 8
#define NONE MODEL_NONE

/* LessThanOrEqualToFinalShare, LessThanInitialShare */
enum strategy { FINAL_SHARE, INITIAL_SHARE };

struct spot { /* a queue that has candidates or is the preemptor's, or a cohort above one */
	uint32_t node;        /* of the forest */
	uint32_t up;          /* NONE: the root */
	uint32_t first, last; /* cohorts right below, in the order of the forest */
	uint32_t next;        /* of a cohort: below the same one */
	uint32_t towards;     /* the spot below on the way to the preemptor's; NONE: not above it */
	struct share share;   /* with what was taken so far */
	bool share_is_current, is_queue, pruned;
	struct heap queues; /* of a cohort: the queues right below that may still give */
	/* Of a queue: */
	size_t place; /* in the heap of its cohort; SIZE_MAX: it may not give */
	struct candidates all;
	struct ranking ranking;  /* of them: the first pass */
	struct candidates later; /* in order, those that it kept: the second pass */
	struct candidate *front; /* whose turn it is; NULL: everybody is dealt with */
	size_t at;               /* the one behind it, in ranking or later */
	bool second_pass;
	bool took_second; /* the second strategy alone was for a victim of this queue */
};

struct fair {
	const struct victims_request *r;
	const struct quota *q;
	struct arena *arena;
	struct VEC(struct spot) spots;
	uint32_t *spot_of; /* of a node; NONE */
	uint32_t root, own;
	struct candidates all;
	struct candidates asked; /* again: those taken, before some are given back */
	enum strategy first;
	bool has_second;
	bool gave_back;      /* in this round; else all are as legal as when they were taken */
	bool within_nominal; /* the preemptor's queue with the request, before anybody is taken */
	struct trial trial;
};

struct shares { /* of the two nodes right below the lowest cohort above preemptor and target */
	uint32_t target;
	struct share preemptor_new, target_old;
};

/* --- the part of the tree that matters --- */

static uint32_t spot_create(struct fair *f, uint32_t node)
{
	struct spot s = { .node = node,
			  .up = NONE,
			  .first = NONE,
			  .last = NONE,
			  .next = NONE,
			  .towards = NONE,
			  .place = SIZE_MAX,
			  .is_queue = f->q->nodes.v[node]->is_queue };

	f->spot_of[node] = (uint32_t)f->spots.n;
	vec_push(&f->spots, s);
	return f->spot_of[node];
}

static void spot_link(struct fair *f, uint32_t up, uint32_t below)
{
	struct spot *s = &f->spots.v[up];

	f->spots.v[below].up = up;
	if (f->spots.v[below].is_queue) {
		return;
	}
	if (s->last == NONE) {
		s->first = below;
	} else {
		f->spots.v[s->last].next = below;
	}
	s->last = below;
}

/* Adds node and what is above it. */
static uint32_t spot_add(struct fair *f, uint32_t node)
{
	uint32_t below = NONE;

	for (uint32_t at = node; at != MODEL_NONE; at = forest_parent(f->r->forest, at)) {
		uint32_t id = f->spot_of[at];
		bool known = id != NONE;

		if (!known) {
			id = spot_create(f, at);
		}
		if (below != NONE) {
			spot_link(f, id, below);
		}
		if (known) {
			break;
		}
		below = id;
	}
	return f->spot_of[node];
}

static void collect_queue(struct fair *f, uint32_t node)
{
	const struct victims_request *r = f->r;
	const struct quota_queue *queue = f->q->nodes.v[r->node]->queue;
	struct candidates found = { 0 };
	bool own = node == r->node;
	uint32_t id;

	candidates_collect(r, node, own ? queue->within_queue : queue->reclaim, f->arena, &found);
	if (found.n == 0 && !own) {
		return;
	}
	id = spot_add(f, node);
	assert(f->spots.v != NULL);
	f->spots.v[id].all = found;
	for (size_t i = 0; i < found.n; i++) {
		candidates_push(&f->all, found.v[i], f->arena);
	}
}

/* The own queue and those of the tree that borrow. Cohorts below one are found in its order. */
static void collect(struct fair *f)
{
	const struct victims_request *r = f->r;
	struct VEC(uint32_t) stack = VEC_INIT;
	struct forest_over_list queues = VEC_INIT;

	vec_push(&stack, forest_root(r->forest, r->node));
	while (stack.n > 0) {
		uint32_t at = vec_pop(&stack);
		size_t n;
		const uint32_t *cohorts = forest_cohorts(r->forest, at, &n);

		while (n > 0) {
			vec_push(&stack, cohorts[--n]);
		}
		if (at == r->node || at == forest_parent(r->forest, r->node)) {
			vec_push(&queues, r->node);
		}
		forest_over_collect(r->forest, at, r->pairs, r->npairs, &queues);
	}
	for (size_t i = 0; i < queues.n; i++) {
		if (f->spot_of[queues.v[i]] == NONE) {
			collect_queue(f, queues.v[i]);
		}
	}
	vec_finish(&queues);
	vec_finish(&stack);
	f->own = f->spot_of[f->r->node];
	f->root = f->own;
	assert(f->spots.v != NULL); /* the own queue is always there */
	for (uint32_t at = f->own; f->spots.v[at].up != NONE; at = f->root) {
		f->root = f->spots.v[at].up;
		f->spots.v[f->root].towards = at;
	}
}

/* --- candidates of a queue, and shares --- */

static void advance(struct spot *s)
{
	s->front = NULL;
	if (s->second_pass) {
		s->front = s->at < s->later.n ? s->later.v[s->at++] : NULL;
		return;
	}
	while (s->at < s->ranking.n && s->front == NULL) {
		struct candidate *c = ranking_at(&s->ranking, s->at++);

		s->front = c->banned ? NULL : c;
	}
}

static void begin_pass(struct spot *s, bool second_pass)
{
	s->at = 0;
	s->pruned = false;
	s->second_pass = second_pass;
	advance(s);
}

static struct candidate *pop(struct spot *s)
{
	struct candidate *c = s->front;

	advance(s);
	return c;
}

static struct share share_at(struct fair *f, uint32_t id)
{
	struct spot *s = &f->spots.v[id];

	if (!s->share_is_current) {
		s->share = share_of(f->r->forest, s->node, NULL);
		s->share_is_current = true;
	}
	return s->share;
}

static void forget_shares(struct fair *f, uint32_t id)
{
	for (; id != NONE; id = f->spots.v[id].up) {
		f->spots.v[id].share_is_current = false;
	}
}

static bool is_above_preemptor(const struct fair *f, uint32_t id)
{
	return id == f->own || f->spots.v[id].towards != NONE;
}

static struct shares shares_of(struct fair *f, uint32_t queue)
{
	struct shares s = { .target = queue };
	uint32_t common = f->spots.v[queue].up;

	while (!is_above_preemptor(f, common)) {
		s.target = common;
		common = f->spots.v[common].up;
	}
	s.preemptor_new = share_at(f, f->spots.v[common].towards);
	s.target_old = share_at(f, s.target);
	return s;
}

static bool is_never_below(const struct shares *s)
{
	return share_is_infinite(s->preemptor_new) && !share_is_infinite(s->target_old);
}

/* Whether the strategy allows what was just taken from the target. */
static bool passes(struct fair *f, enum strategy strategy, const struct shares *s)
{
	if (strategy == INITIAL_SHARE) {
		return share_cmp(s->preemptor_new, s->target_old) < 0;
	}
	return share_cmp(s->preemptor_new, share_at(f, s->target)) <= 0;
}

static void take(struct fair *f, uint32_t queue, struct candidate *c, enum victim_reason reason)
{
	c->reason = (uint8_t)reason;
	trial_take(&f->trial, c);
	forget_shares(f, queue);
}

/* The request is charged to its queue while victims are looked for; not when it is to fit. */
static bool fits(struct fair *f)
{
	struct forest *forest = f->r->forest;
	size_t mark = forest_mark(forest);
	bool yes;

	if (!trial_may_fit(&f->trial)) {
		return false;
	}
	forest_remove(forest, f->r->node, f->r->need);
	yes = trial_fits(&f->trial, true);
	forest_undo(forest, mark);
	return yes;
}

/* --- whose turn it is --- */

/* The higher share first; of equals by their first candidates, which no two queues share. */
static int by_share(const void *pa, const void *pb, const void *ctx)
{
	const struct spot *a = pa, *b = pb;
	int c = share_cmp(b->share, a->share);

	(void)ctx;
	return c != 0 ? c : candidates_cmp(a->front, b->front);
}

static void on_moved(void *elem, size_t index)
{
	((struct spot *)elem)->place = index;
}

static bool may_give(struct fair *f, uint32_t id)
{
	const struct spot *s = &f->spots.v[id];

	return !s->pruned && s->front != NULL && (id == f->own || share_at(f, id).borrowing);
}

/* A queue is asked as long as it has candidates and borrows; the own queue needs not borrow. Its
 * share changes only by what is taken from it: it is put in its place after that. */
static void settle(struct fair *f, uint32_t id)
{
	struct spot *s = &f->spots.v[id];
	struct heap *h = s->up == NONE ? NULL : &f->spots.v[s->up].queues;

	if (h == NULL) {
		return;
	}
	if (!may_give(f, id)) {
		if (s->place != SIZE_MAX) {
			(void)heap_remove(h, s->place);
		}
		return;
	}
	(void)share_at(f, id);
	if (s->place == SIZE_MAX) {
		heap_push(h, s);
	} else {
		heap_fix(h, s->place);
	}
}

static void settle_all(struct fair *f, bool second_pass)
{
	for (uint32_t i = 0; i < f->spots.n; i++) {
		struct spot *s = &f->spots.v[i];

		begin_pass(s, second_pass);
		heap_finish(&s->queues);
		heap_init(&s->queues, by_share, on_moved, NULL);
		s->place = SIZE_MAX;
	}
	for (uint32_t i = 0; i < f->spots.n; i++) {
		if (f->spots.v[i].is_queue) {
			settle(f, i);
		}
	}
}

static uint32_t highest_cohort(struct fair *f, uint32_t cohort)
{
	uint32_t best = NONE;

	for (uint32_t id = f->spots.v[cohort].first; id != NONE; id = f->spots.v[id].next) {
		struct spot *s = &f->spots.v[id];

		if (s->pruned) {
			continue;
		}
		if (!is_above_preemptor(f, id) && !share_at(f, id).borrowing) {
			s->pruned = true;
		} else if (best == NONE || share_cmp(share_at(f, id), share_at(f, best)) >= 0) {
			best = id;
		}
	}
	return best;
}

/* The queue that is to give next; NONE: nobody has anything left. */
static uint32_t next_queue(struct fair *f)
{
	uint32_t at = f->root;

	if (at == f->own) {
		return f->spots.v[at].front == NULL ? NONE : at;
	}
	while (!f->spots.v[at].is_queue) {
		const struct spot *top = heap_peek(&f->spots.v[at].queues);
		uint32_t queue = top == NULL ? NONE : f->spot_of[top->node];
		uint32_t cohort = highest_cohort(f, at);

		if (cohort != NONE &&
		    (queue == NONE || share_cmp(share_at(f, cohort), share_at(f, queue)) >= 0)) {
			at = cohort;
		} else if (queue != NONE) {
			at = queue;
		} else if (at == f->root) {
			return NONE;
		} else {
			f->spots.v[at].pruned = true;
			at = f->root;
		}
	}
	return at;
}

/* --- the two passes --- */

/* Takes the first candidate of this queue that the first strategy allows. False: none. */
static bool take_by_strategy(struct fair *f, uint32_t queue)
{
	struct shares shares = shares_of(f, queue);
	struct spot *s = &f->spots.v[queue];

	while (s->front != NULL) {
		struct candidate *c = pop(s);
		size_t mark = forest_mark(f->r->forest);

		if (!is_never_below(&shares)) {
			take(f, queue, c, VICTIM_IN_COHORT_FAIR_SHARING);
			if (passes(f, f->first, &shares)) {
				return true;
			}
			trial_take_back(&f->trial, mark);
			forget_shares(f, queue);
		}
		candidates_push(&s->later, c, f->arena);
	}
	return false;
}

static bool first_pass(struct fair *f)
{
	uint32_t queue;

	settle_all(f, false);
	for (; (queue = next_queue(f)) != NONE; settle(f, queue)) {
		struct spot *s = &f->spots.v[queue];

		if (queue == f->own) {
			take(f, queue, pop(s), VICTIM_IN_CLUSTER_QUEUE);
		} else if (f->within_nominal) {
			take(f, queue, pop(s), VICTIM_IN_COHORT_RECLAMATION);
		} else if (!take_by_strategy(f, queue)) {
			continue;
		}
		if (fits(f)) {
			return true;
		}
	}
	return false;
}

static bool second_pass(struct fair *f)
{
	uint32_t queue;

	settle_all(f, true);
	for (; (queue = next_queue(f)) != NONE; settle(f, queue)) {
		struct shares shares = shares_of(f, queue);
		struct spot *s = &f->spots.v[queue];

		if (passes(f, INITIAL_SHARE, &shares)) {
			take(f, queue, pop(s), VICTIM_IN_COHORT_FAIR_SHARING);
			if (fits(f)) {
				return true;
			}
		}
		s->pruned = true;
	}
	return false;
}

/* --- rounds --- */

static void begin_round(struct fair *f)
{
	for (size_t i = 0; i < f->spots.n; i++) {
		struct spot *s = &f->spots.v[i];

		s->share_is_current = s->took_second = false;
		s->later.n = 0;
	}
	f->asked.n = 0;
	trial_begin(&f->trial, f->r, f->arena);
	forest_add(f->r->forest, f->r->node, f->r->need);
	f->within_nominal =
		f->q->options.preempt_within_nominal &&
		forest_within_nominal(f->r->forest, f->r->node, f->r->pairs, f->r->npairs);
}

/* Takes c once more if a rule allows it now; the reason is that rule. */
static bool take_if_legal(struct fair *f, struct candidate *c)
{
	uint32_t queue = f->spot_of[c->w->holds];
	size_t mark = forest_mark(f->r->forest);
	struct shares shares;

	if (queue == f->own || f->within_nominal) {
		take(f, queue, c,
		     queue == f->own ? VICTIM_IN_CLUSTER_QUEUE : VICTIM_IN_COHORT_RECLAMATION);
		return true;
	}
	shares = shares_of(f, queue);
	take(f, queue, c, VICTIM_IN_COHORT_FAIR_SHARING);
	if (!is_never_below(&shares)) {
		if (passes(f, f->first, &shares)) {
			return true;
		}
		if (f->has_second && !f->spots.v[queue].took_second &&
		    passes(f, INITIAL_SHARE, &shares)) {
			f->spots.v[queue].took_second = true;
			return true;
		}
	}
	trial_take_back(&f->trial, mark);
	forget_shares(f, queue);
	return false;
}

/* Step 5. The trial holds the victims of this round, in the order in which they were taken. */
static bool are_legal(struct fair *f)
{
	struct trial found = f->trial;
	bool all = true;

	for (size_t i = 0; i < f->spots.n; i++) {
		f->spots.v[i].share_is_current = false;
	}
	trial_begin(&f->trial, f->r, f->arena);
	forest_add(f->r->forest, f->r->node, f->r->need);
	for (size_t i = 0, at = 0; i < f->asked.n; i++) {
		struct candidate *c = f->asked.v[i];
		bool stays = at < found.taken.n && found.taken.v[at] == c;

		at += stays;
		if (c->evicted) {
			take(f, f->spot_of[c->w->holds], c, (enum victim_reason)c->reason);
		} else if (stays && !take_if_legal(f, c)) {
			c->banned = true;
			all = false;
		}
	}
	trial_end(&f->trial);
	f->trial.taken = found.taken;
	return all;
}

/* True: victims that would do, which may still be illegal. Usage is as before. */
static bool run_round(struct fair *f)
{
	bool found;

	begin_round(f);
	found = first_pass(f) || (f->has_second && second_pass(f));
	if (found) {
		for (size_t i = 0; i < f->trial.taken.n; i++) {
			candidates_push(&f->asked, f->trial.taken.v[i], f->arena);
		}
		forest_remove(f->r->forest, f->r->node, f->r->need);
		f->gave_back = trial_fill_back(&f->trial, true);
	}
	trial_end(&f->trial);
	return found;
}

static void finish(struct fair *f)
{
	for (size_t i = 0; i < f->spots.n; i++) {
		heap_finish(&f->spots.v[i].queues);
	}
	vec_finish(&f->spots);
}

void victims_fair(const struct victims_request *r, struct arena *arena, struct victims *ret)
{
	const struct quota *q = forest_world(r->forest);
	struct fair f = { .r = r,
			  .q = q,
			  .arena = arena,
			  .first = q->options.lte_final ? FINAL_SHARE : INITIAL_SHARE,
			  .has_second = q->options.lte_final && q->options.lt_initial };
	bool hopeful;

	*ret = (struct victims){ 0 };
	f.spot_of = arena_alloc(arena, q->nodes.n * sizeof(*f.spot_of));
	memset(f.spot_of, 0xff, q->nodes.n * sizeof(*f.spot_of));
	collect(&f);
	hopeful = trial_is_hopeful(r, &f.all);
	for (size_t i = 0; hopeful && i < f.spots.n; i++) {
		ranking_init(&f.spots.v[i].ranking, &f.spots.v[i].all, arena);
	}
	for (int round = 0; hopeful && round < ROUNDS_MAX && run_round(&f); round++) {
		if (!f.gave_back || are_legal(&f)) {
			trial_result(&f.trial, ret);
			break;
		}
	}
	finish(&f);
}
