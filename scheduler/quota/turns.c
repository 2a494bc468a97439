#include "quota/turns.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/heap.h"
#include "quota/forest_over.h"
#include "quota/ranking.h"

#define NONE TURNS_NONE

struct turns_spot { /* a queue that has candidates or is the preemptor's, or a cohort above one */
	/* What the order of turns looks at comes first, side by side: */
	double height;           /* of share: weighted; INFINITY: compare the shares */
	struct candidate *front; /* of a queue: whose turn it is; NULL: everybody is dealt with */
	struct share share;      /* with what was taken so far */
	bool share_is_current, is_queue, pruned;
	uint32_t node;        /* of the forest */
	uint32_t up;          /* NONE: the root */
	uint32_t first, last; /* cohorts right below, in the order of the forest */
	uint32_t next;        /* of a cohort: below the same one */
	uint32_t towards;     /* the one below on the way to the preemptor's; NONE: not above */
	struct heap queues;   /* of a cohort: the queues right below that may still give */
	/* Of a queue: */
	size_t place; /* in the heap of its cohort; SIZE_MAX: it may not give */
	struct candidates all;
	struct ranking ranking;   /* of them: the first pass */
	struct candidates later;  /* in order, those that were kept: the second pass */
	size_t at;                /* the one behind the front, in ranking or later */
	bool second_pass, popped; /* popped: front is the one that was popped last */
};

/* --- the part of the tree that matters --- */

static uint32_t spot_create(struct turns *t, uint32_t node)
{
	struct turns_spot s = { .node = node,
				.up = NONE,
				.first = NONE,
				.last = NONE,
				.next = NONE,
				.towards = NONE,
				.place = SIZE_MAX,
				.is_queue = forest_world(t->forest)->nodes.v[node]->is_queue };

	t->spot_of[node] = (uint32_t)t->spots.n;
	vec_push(&t->spots, s);
	return t->spot_of[node];
}

static void spot_link(struct turns *t, uint32_t up, uint32_t below)
{
	struct turns_spot *s = &t->spots.v[up];

	t->spots.v[below].up = up;
	if (t->spots.v[below].is_queue) {
		return;
	}
	if (s->last == NONE) {
		s->first = below;
	} else {
		t->spots.v[s->last].next = below;
	}
	s->last = below;
}

/* Adds node and what is above it. */
static uint32_t spot_add(struct turns *t, uint32_t node)
{
	uint32_t below = NONE;

	for (uint32_t at = node; at != MODEL_NONE; at = forest_parent(t->forest, at)) {
		uint32_t id = t->spot_of[at];
		bool known = id != NONE;

		if (!known) {
			id = spot_create(t, at);
		}
		if (below != NONE) {
			spot_link(t, id, below);
		}
		if (known) {
			break;
		}
		below = id;
	}
	return t->spot_of[node];
}

static void collect_queue(struct turns *t, const struct victims_request *r, uint32_t node)
{
	const struct quota_queue *queue = forest_world(t->forest)->nodes.v[r->node]->queue;
	struct candidates found = { 0 };
	bool own = node == r->node;
	uint32_t id;

	candidates_collect(r, node, own ? queue->within_queue : queue->reclaim, t->arena, &found);
	if (found.n == 0 && !own) {
		return;
	}
	id = spot_add(t, node);
	assert(t->spots.v != NULL);
	t->spots.v[id].all = found;
	candidates_append(&t->all, &found, t->arena);
}

/* The own queue and those of the tree that borrow. Cohorts below one are found in its order. */
static void collect(struct turns *t, const struct victims_request *r)
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
		if (at == r->node || at == forest_parent(r->forest, r->node)) {
			vec_push(&queues, r->node);
		}
		forest_over_collect(r->forest, at, r->pairs, r->npairs, &queues);
	}
	for (size_t i = 0; i < queues.n; i++) {
		if (t->spot_of[queues.v[i]] == NONE) {
			collect_queue(t, r, queues.v[i]);
		}
	}
	vec_finish(&queues);
	vec_finish(&stack);
	t->own = t->spot_of[r->node];
	t->root = t->own;
	assert(t->spots.v != NULL); /* the own queue is always there */
	for (uint32_t at = t->own; t->spots.v[at].up != NONE; at = t->root) {
		t->root = t->spots.v[at].up;
		t->spots.v[t->root].towards = at;
	}
}

void turns_init(struct turns *t, const struct victims_request *r, struct arena *arena)
{
	size_t n = forest_world(r->forest)->nodes.n;

	*t = (struct turns){ .forest = r->forest, .arena = arena };
	t->spot_of = arena_alloc(arena, n * sizeof(*t->spot_of));
	memset(t->spot_of, 0xff, n * sizeof(*t->spot_of));
	collect(t, r);
}

void turns_finish(struct turns *t)
{
	for (size_t i = 0; i < t->spots.n; i++) {
		heap_finish(&t->spots.v[i].queues);
	}
	vec_finish(&t->spots);
}

void turns_rank(struct turns *t)
{
	for (size_t i = 0; i < t->spots.n; i++) {
		ranking_init(&t->spots.v[i].ranking, &t->spots.v[i].all, t->arena);
	}
}

void turns_reset(struct turns *t)
{
	for (size_t i = 0; i < t->spots.n; i++) {
		t->spots.v[i].share_is_current = false;
		t->spots.v[i].later.n = 0;
	}
}

/* --- candidates of a queue, and shares --- */

static void advance(struct turns_spot *s)
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
}

static void begin_pass(struct turns_spot *s, bool second_pass)
{
	s->at = 0;
	s->pruned = false;
	s->second_pass = second_pass;
	advance(s);
}

/* Who comes behind one that was popped is looked for only when somebody asks: often it is the last
 * one that is needed, and the order among the others does not matter. */
static void settle_front(struct turns_spot *s)
{
	if (s->popped) {
		advance(s);
	}
}

struct candidate *turns_pop(struct turns *t, uint32_t queue)
{
	struct turns_spot *s = &t->spots.v[queue];

	settle_front(s);
	s->popped = s->front != NULL;
	return s->front;
}

void turns_keep(struct turns *t, uint32_t queue, struct candidate *c)
{
	candidates_push(&t->spots.v[queue].later, c, t->arena);
}

void turns_skip(struct turns *t, uint32_t queue)
{
	t->spots.v[queue].pruned = true;
}

uint32_t turns_queue_of(const struct turns *t, const struct candidate *c)
{
	return t->spot_of[c->holds];
}

struct share turns_share(struct turns *t, uint32_t id)
{
	struct turns_spot *s = &t->spots.v[id];

	if (!s->share_is_current) {
		s->share = share_of(t->forest, s->node, NULL);
		s->height = share_is_infinite(s->share) ? INFINITY : share_weighted(&s->share);
		s->share_is_current = true;
	}
	return s->share;
}

void turns_changed(struct turns *t, uint32_t queue)
{
	for (uint32_t id = queue; id != NONE; id = t->spots.v[id].up) {
		t->spots.v[id].share_is_current = false;
	}
}

static bool is_above_preemptor(const struct turns *t, uint32_t id)
{
	return id == t->own || t->spots.v[id].towards != NONE;
}

struct turns_shares turns_compare(struct turns *t, uint32_t queue)
{
	struct turns_shares s = { .target = queue };
	uint32_t common = t->spots.v[queue].up;

	while (!is_above_preemptor(t, common)) {
		s.target = common;
		common = t->spots.v[common].up;
	}
	s.preemptor = turns_share(t, t->spots.v[common].towards);
	s.old = turns_share(t, s.target);
	return s;
}

/* --- whose turn it is --- */

/* The higher share first; of equals by their first candidates, which no two queues share. */
static int by_share(const void *pa, const void *pb, const void *ctx)
{
	const struct turns_spot *a = pa, *b = pb;
	int c = 0;

	(void)ctx;
	if (a->height != b->height) {
		return a->height > b->height ? -1 : 1;
	}
	if (isinf(a->height)) {
		c = share_cmp(b->share, a->share);
	}
	return c != 0 ? c : candidates_cmp(a->front, b->front);
}

static void on_moved(void *elem, size_t index)
{
	((struct turns_spot *)elem)->place = index;
}

static bool may_give(struct turns *t, uint32_t id)
{
	const struct turns_spot *s = &t->spots.v[id];

	return !s->pruned && s->front != NULL && (id == t->own || turns_share(t, id).borrowing);
}

/* A queue is asked as long as it has candidates and borrows; the own queue needs not borrow. Its
 * share changes only by what is taken from it: it is put in its place after that. */
void turns_settle(struct turns *t, uint32_t queue)
{
	struct turns_spot *s = &t->spots.v[queue];
	struct heap *h = s->up == NONE ? NULL : &t->spots.v[s->up].queues;

	settle_front(s);
	if (h == NULL) {
		return;
	}
	if (!may_give(t, queue)) {
		if (s->place != SIZE_MAX) {
			(void)heap_remove(h, s->place);
		}
		return;
	}
	(void)turns_share(t, queue);
	if (s->place == SIZE_MAX) {
		heap_push(h, s);
	} else {
		heap_fix(h, s->place);
	}
}

void turns_begin(struct turns *t, bool second_pass)
{
	for (uint32_t i = 0; i < t->spots.n; i++) {
		struct turns_spot *s = &t->spots.v[i];

		begin_pass(s, second_pass);
		heap_finish(&s->queues);
		heap_init(&s->queues, by_share, on_moved, NULL);
		s->place = SIZE_MAX;
	}
	for (uint32_t i = 0; i < t->spots.n; i++) {
		if (t->spots.v[i].is_queue) {
			turns_settle(t, i);
		}
	}
}

static uint32_t highest_cohort(struct turns *t, uint32_t cohort)
{
	uint32_t best = NONE;

	for (uint32_t id = t->spots.v[cohort].first; id != NONE; id = t->spots.v[id].next) {
		struct turns_spot *s = &t->spots.v[id];

		if (s->pruned) {
			continue;
		}
		if (!is_above_preemptor(t, id) && !turns_share(t, id).borrowing) {
			s->pruned = true;
		} else if (best == NONE ||
			   share_cmp(turns_share(t, id), turns_share(t, best)) >= 0) {
			best = id;
		}
	}
	return best;
}

uint32_t turns_next(struct turns *t)
{
	uint32_t at = t->root;

	if (at == t->own) {
		return t->spots.v[at].front == NULL ? NONE : at;
	}
	while (!t->spots.v[at].is_queue) {
		const struct turns_spot *top = heap_peek(&t->spots.v[at].queues);
		uint32_t queue = top == NULL ? NONE : t->spot_of[top->node];
		uint32_t cohort = highest_cohort(t, at);

		if (cohort != NONE && (queue == NONE || share_cmp(turns_share(t, cohort),
								  turns_share(t, queue)) >= 0)) {
			at = cohort;
		} else if (queue != NONE) {
			at = queue;
		} else if (at == t->root) {
			return NONE;
		} else {
			t->spots.v[at].pruned = true;
			at = t->root;
		}
	}
	return at;
}
