#include "scheduler/workloads/preempt/fair_tournament.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "scheduler/workloads/preempt/ranking.h"

#define NONE FAIR_TOURNAMENT_NONE

/* The keys of a match, in little memory. */
struct fair_tournament_entry {
	double height;                 /* of the share: weighted; INFINITY: compare the shares */
	const struct candidate *front; /* NULL: a cohort */
};

struct fair_tournament_node {    /* a queue that has candidates or is the preemptor's, or a cohort
				    above one */
	struct candidate *front; /* of a queue: its next candidate; NULL: none is left */
	struct share share;      /* with what was taken so far */
	bool share_is_current, is_queue, pruned;
	uint32_t node;    /* of the forest */
	uint32_t up;      /* NONE: the root */
	uint32_t place;   /* among those below the same cohort */
	uint32_t towards; /* the one below on the way to the preemptor's; NONE: not above */
	/* Of a cohort, the tournament of those right below it, which are so many: best[below +
	 * place] is the one in that place, NONE while it does not compete; best[i] is the winner of
	 * best[2 * i] and best[2 * i + 1]; so best[1] is the winner of all. */
	uint32_t below;
	uint32_t *best;
	/* Of a queue: */
	struct candidates all;
	struct ranking ranking;   /* of them: the first pass */
	struct candidates later;  /* in order, those that were kept: the second pass */
	size_t at;                /* the one behind the front, in ranking or later */
	bool second_pass, popped; /* popped: front is the one that was popped last */
};

/* --- the part of the tree that matters --- */

static uint32_t node_create(struct fair_tournament *t, uint32_t node)
{
	struct fair_tournament_node s = {
		.node = node,
		.up = NONE,
		.towards = NONE,
		.is_queue = forest_model(t->forest)->nodes.v[node]->is_queue
	};

	t->node_at[node] = (uint32_t)t->nodes.n;
	vec_push(&t->nodes, s);
	return t->node_at[node];
}

static void node_link(struct fair_tournament *t, uint32_t up, uint32_t below)
{
	t->nodes.v[below].up = up;
	t->nodes.v[below].place = t->nodes.v[up].below++;
}

/* Adds node and what is above it. */
static uint32_t node_add(struct fair_tournament *t, uint32_t node)
{
	uint32_t below = NONE;

	for (uint32_t at = node; at != MODEL_NONE; at = forest_parent(t->forest, at)) {
		uint32_t id = t->node_at[at];
		bool known = id != NONE;

		if (!known) {
			id = node_create(t, at);
		}
		if (below != NONE) {
			node_link(t, id, below);
		}
		if (known) {
			break;
		}
		below = id;
	}
	return t->node_at[node];
}

static void collect_queue(struct fair_tournament *t, const struct victims_request *r, uint32_t node)
{
	const struct cluster_queue *queue = forest_model(t->forest)->nodes.v[r->node]->queue;
	struct candidates found = { 0 };
	bool own = node == r->node;
	uint32_t id;

	candidates_collect(r, node, own ? queue->within_queue : queue->reclaim, t->arena, &found);
	if (r->passed_over != NULL && !own &&
	    forest_within_nominal(r->forest, node, r->pairs, r->npairs)) {
		candidates_pass_over(r, &found, 0, PASSED_OVER_NOMINAL, node);
	}
	if (found.n == 0 && !own) {
		return;
	}
	id = node_add(t, node);
	assert(t->nodes.v != NULL);
	t->nodes.v[id].all = found;
	candidates_append(&t->all, &found, t->arena);
}

/* The own queue and those of the tree that borrow. Cohorts below one are found in its order. */
static void collect(struct fair_tournament *t, const struct victims_request *r)
{
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
		/* The own queue takes part even if it is within its quota. It is added with its
		 * siblings: cohorts are numbered in the order in which their queues are added, and
		 * the numbers decide ties. */
		if (at == r->node || at == forest_parent(r->forest, r->node)) {
			vec_push(&queues, r->node);
		}
		candidates_find_queues(r, at, &queues);
	}
	for (size_t i = 0; i < queues.n; i++) {
		if (t->node_at[queues.v[i]] == NONE) {
			collect_queue(t, r, queues.v[i]);
		}
	}
	vec_finish(&queues);
	vec_finish(&stack);
	t->own = t->node_at[r->node];
	t->root = t->own;
	assert(t->nodes.v != NULL); /* the own queue is always there */
	for (uint32_t at = t->own; t->nodes.v[at].up != NONE; at = t->root) {
		t->root = t->nodes.v[at].up;
		t->nodes.v[t->root].towards = at;
	}
}

void fair_tournament_init(struct fair_tournament *t, const struct victims_request *r,
			  struct arena *arena)
{
	size_t n = forest_model(r->forest)->nodes.n;

	*t = (struct fair_tournament){ .forest = r->forest, .arena = arena };
	t->node_at = arena_alloc(arena, n * sizeof(*t->node_at));
	memset(t->node_at, 0xff, n * sizeof(*t->node_at));
	collect(t, r);
}

void fair_tournament_finish(struct fair_tournament *t)
{
	vec_finish(&t->nodes);
}

void fair_tournament_rank(struct fair_tournament *t)
{
	for (size_t i = 0; i < t->nodes.n; i++) {
		struct fair_tournament_node *s = &t->nodes.v[i];

		ranking_init(&s->ranking, &s->all, t->arena);
		s->best = arena_alloc(t->arena, 2 * (size_t)s->below * sizeof(*s->best));
	}
	t->entries = arena_alloc(t->arena, t->nodes.n * sizeof(*t->entries));
}

void fair_tournament_reset(struct fair_tournament *t)
{
	for (size_t i = 0; i < t->nodes.n; i++) {
		t->nodes.v[i].share_is_current = false;
		t->nodes.v[i].later.n = 0;
	}
}

/* --- candidates of a queue, and shares --- */

static void advance(struct fair_tournament_node *s)
{
	s->front = NULL;
	s->popped = false;
	if (s->second_pass) {
		s->front = s->at < s->later.n ? s->later.v[s->at++] : NULL;
		return;
	}
	while (s->at < s->ranking.n && s->front == NULL) {
		struct candidate *c = ranking_at(&s->ranking, s->at++);

		s->front = c->banned ? NULL : c;
	}
	if (s->front != NULL) {
		candidates_fetch(s->front);
	}
}

static void begin_pass(struct fair_tournament_node *s, bool second_pass)
{
	s->at = 0;
	s->pruned = false;
	s->second_pass = second_pass;
	advance(s);
}

/* The successor of a popped candidate is found only when it is needed: often the popped one was the
 * last of the search, and then the others need no order. */
static void settle_front(struct fair_tournament_node *s)
{
	if (s->popped) {
		advance(s);
	}
}

struct candidate *fair_tournament_pop(struct fair_tournament *t, uint32_t queue)
{
	struct fair_tournament_node *s = &t->nodes.v[queue];

	settle_front(s);
	s->popped = s->front != NULL;
	return s->front;
}

void fair_tournament_keep(struct fair_tournament *t, uint32_t queue, struct candidate *c)
{
	candidates_push(&t->nodes.v[queue].later, c, t->arena);
}

void fair_tournament_skip(struct fair_tournament *t, uint32_t queue)
{
	t->nodes.v[queue].pruned = true;
}

uint32_t fair_tournament_queue_of(const struct fair_tournament *t, const struct candidate *c)
{
	return t->node_at[c->holds];
}

uint32_t fair_tournament_forest_node(const struct fair_tournament *t, uint32_t id)
{
	return t->nodes.v[id].node;
}

struct share fair_tournament_share(struct fair_tournament *t, uint32_t id)
{
	struct fair_tournament_node *s = &t->nodes.v[id];

	if (!s->share_is_current) {
		s->share = share_of(t->forest, s->node, NULL);
		s->share_is_current = true;
	}
	return s->share;
}

void fair_tournament_changed(struct fair_tournament *t, uint32_t queue)
{
	for (uint32_t id = queue; id != NONE; id = t->nodes.v[id].up) {
		t->nodes.v[id].share_is_current = false;
	}
}

static bool is_above_preemptor(const struct fair_tournament *t, uint32_t id)
{
	return id == t->own || t->nodes.v[id].towards != NONE;
}

struct fair_tournament_shares fair_tournament_compare(struct fair_tournament *t, uint32_t queue)
{
	struct fair_tournament_shares s = { .target = queue };
	uint32_t common = t->nodes.v[queue].up;

	while (!is_above_preemptor(t, common)) {
		s.target = common;
		common = t->nodes.v[common].up;
	}
	s.preemptor = fair_tournament_share(t, t->nodes.v[common].towards);
	s.old = fair_tournament_share(t, s.target);
	return s;
}

/* --- the order of the queues --- */

/* The higher share first. Of equals cohorts before queues; of cohorts the last one: they are
 * numbered in the order of the forest; of queues the one with the better candidate: no two share
 * it. */
static bool wins(const struct fair_tournament *t, uint32_t a, uint32_t b)
{
	const struct fair_tournament_entry *x = &t->entries[a], *y = &t->entries[b];

	if (x->height != y->height) {
		return x->height > y->height;
	}
	if (isinf(x->height)) {
		int c = share_cmp(t->nodes.v[a].share, t->nodes.v[b].share);

		if (c != 0) {
			return c > 0;
		}
	}
	if (x->front != NULL && y->front != NULL) {
		return candidates_cmp(x->front, y->front) < 0;
	}
	return x->front == NULL && (y->front != NULL || a > b);
}

static void play(const struct fair_tournament *t, struct fair_tournament_node *cohort, size_t i)
{
	uint32_t a = cohort->best[2 * i], b = cohort->best[2 * i + 1];

	cohort->best[i] = b == NONE || (a != NONE && wins(t, a, b)) ? a : b;
}

/* The own queue, and what is above it, need not borrow. */
static bool borrows_or_is_own(struct fair_tournament *t, uint32_t id)
{
	return fair_tournament_share(t, id).borrowing || is_above_preemptor(t, id);
}

uint32_t fair_tournament_find_within_quota(struct fair_tournament *t, uint32_t queue)
{
	for (uint32_t id = queue; id != NONE; id = t->nodes.v[id].up) {
		if (!borrows_or_is_own(t, id)) {
			return t->nodes.v[id].node;
		}
	}
	return MODEL_NONE;
}

/* A queue competes as long as it has candidates and borrows, a cohort as long as it borrows. */
static bool competes(struct fair_tournament *t, uint32_t id)
{
	const struct fair_tournament_node *s = &t->nodes.v[id];

	if (s->pruned || (s->is_queue && s->front == NULL)) {
		return false;
	}
	return borrows_or_is_own(t, id);
}

/* Among those below the same cohort. */
static void enter(struct fair_tournament *t, uint32_t id)
{
	const struct fair_tournament_node *s = &t->nodes.v[id];
	struct fair_tournament_node *cohort = &t->nodes.v[s->up];
	bool enters = competes(t, id);

	cohort->best[cohort->below + s->place] = enters ? id : NONE;
	if (enters) {
		struct share share = fair_tournament_share(t, id);

		t->entries[id].height =
			share_is_infinite(share) ? INFINITY : share_weighted(&share);
		t->entries[id].front = s->front;
	}
}

/* Shares change only on the way from the queue to the root. */
static void settle(struct fair_tournament *t, uint32_t id)
{
	for (; t->nodes.v[id].up != NONE; id = t->nodes.v[id].up) {
		struct fair_tournament_node *cohort = &t->nodes.v[t->nodes.v[id].up];

		enter(t, id);
		for (size_t i = (cohort->below + t->nodes.v[id].place) / 2; i > 0; i /= 2) {
			play(t, cohort, i);
		}
	}
}

void fair_tournament_settle(struct fair_tournament *t, uint32_t queue)
{
	settle_front(&t->nodes.v[queue]);
	settle(t, queue);
}

void fair_tournament_begin(struct fair_tournament *t, bool second_pass)
{
	for (uint32_t i = 0; i < t->nodes.n; i++) {
		begin_pass(&t->nodes.v[i], second_pass);
		if (i != t->root) {
			enter(t, i);
		}
	}
	for (uint32_t i = 0; i < t->nodes.n; i++) {
		struct fair_tournament_node *s = &t->nodes.v[i];

		/* From the last match to the first: the two that meet in a match are known by
		 * then. */
		for (size_t k = s->below; k-- > 1;) {
			play(t, s, k);
		}
	}
}

/* Kueue's order of target ClusterQueues. Without a cohort the own queue has all victims. Otherwise
 * the walk goes from the root to the winner below each cohort. A cohort below which nothing
 * competes is taken out, and the walk begins again, since another one may win at the root then. */
uint32_t fair_tournament_next(struct fair_tournament *t)
{
	uint32_t at = t->root;

	if (at == t->own) {
		return t->nodes.v[at].front == NULL ? NONE : at;
	}
	while (!t->nodes.v[at].is_queue) {
		uint32_t best = t->nodes.v[at].best[1];

		if (best != NONE) {
			at = best;
		} else if (at == t->root) {
			return NONE;
		} else {
			t->nodes.v[at].pruned = true;
			settle(t, at);
			at = t->root;
		}
	}
	return at;
}
