#include "scheduler/base/tree.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturating.h"
#include "base/xmalloc.h"
#include "collections/vec.h"

struct tree {
	size_t n, norder;
	uint32_t *parent;
	uint32_t *depth;    /* TREE_NONE: not placed */
	uint32_t *children; /* number of them */
	uint32_t *order;
	bool *on_cycle; /* NULL: there is no cycle */
};

/* Breadth first from the roots: a node that is not reached lies on a cycle or below one. `first`
 * and `next` are the child lists, in ascending index because they are filled backwards. */
static void place_from_roots(struct tree *t, const uint32_t *first, const uint32_t *next)
{
	for (uint32_t i = 0; i < t->n; i++) {
		if (t->parent[i] == TREE_NONE) {
			t->depth[i] = 0;
			t->order[t->norder++] = i;
		}
	}
	for (size_t at = 0; at < t->norder; at++) {
		uint32_t above = t->order[at];

		for (uint32_t c = first[above]; c != TREE_NONE; c = next[c]) {
			t->depth[c] = t->depth[above] + 1;
			t->order[t->norder++] = c;
		}
	}
}

static int compare_index(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Sorts each depth by index: the breadth-first walk orders by parents. */
static void sort_levels(struct tree *t)
{
	size_t begin = 0;

	while (begin < t->norder) {
		size_t end = begin;

		while (end < t->norder && t->depth[t->order[end]] == t->depth[t->order[begin]]) {
			end++;
		}
		qsort(&t->order[begin], end - begin, sizeof(t->order[0]), compare_index);
		begin = end;
	}
}

/* A node that was not placed lies on a cycle or below one: removes leaves until only cycles are
 * left. */
static void find_cycles(struct tree *t)
{
	uint32_t *left = xmalloc(t->n * sizeof(*left)); /* children not removed yet */
	uint32_t *leaves = xmalloc(t->n * sizeof(*leaves));
	size_t n = 0;

	t->on_cycle = xmalloc_zero(t->n, sizeof(*t->on_cycle));
	for (uint32_t i = 0; i < t->n; i++) {
		t->on_cycle[i] = t->depth[i] == TREE_NONE;
		left[i] = t->children[i];
		if (t->on_cycle[i] && left[i] == 0) {
			leaves[n++] = i;
		}
	}
	for (size_t at = 0; at < n; at++) {
		/* A node that was not placed has a parent: all roots were placed. */
		uint32_t above = t->parent[leaves[at]];

		/* Without its last child the node hangs below a cycle, as the child did. */
		t->on_cycle[leaves[at]] = false;
		if (--left[above] == 0) {
			leaves[n++] = above;
		}
	}
	free(left);
	free(leaves);
}

struct tree *tree_create(const uint32_t *parent, size_t n)
{
	struct tree *t = xmalloc_zero(1, sizeof(*t));
	uint32_t *first = xmalloc(n * sizeof(*first));
	uint32_t *next = xmalloc(n * sizeof(*next));

	assert(n < TREE_NONE);
	t->n = n;
	t->parent = xmalloc(n * sizeof(*t->parent));
	t->depth = xmalloc(n * sizeof(*t->depth));
	t->children = xmalloc_zero(n, sizeof(*t->children));
	t->order = xmalloc(n * sizeof(*t->order));
	for (size_t i = 0; i < n; i++) {
		t->parent[i] = parent[i];
		t->depth[i] = TREE_NONE;
		first[i] = next[i] = TREE_NONE;
	}
	for (uint32_t i = (uint32_t)n; i-- > 0;) {
		uint32_t above = t->parent[i];

		if (above != TREE_NONE) {
			assert(above < n);
			next[i] = first[above];
			first[above] = i;
			t->children[above]++;
		}
	}
	place_from_roots(t, first, next);
	sort_levels(t);
	if (t->norder < t->n) {
		find_cycles(t);
	}
	free(first);
	free(next);
	return t;
}

void tree_destroy(struct tree *t)
{
	if (t != NULL) {
		free(t->parent);
		free(t->depth);
		free(t->children);
		free(t->order);
		free(t->on_cycle);
		free(t);
	}
}

bool tree_is_placed(const struct tree *t, uint32_t node)
{
	return t->depth[node] != TREE_NONE;
}

bool tree_is_on_cycle(const struct tree *t, uint32_t node)
{
	return t->on_cycle != NULL && t->on_cycle[node];
}

bool tree_is_leaf(const struct tree *t, uint32_t node)
{
	return t->children[node] == 0;
}

uint32_t tree_parent(const struct tree *t, uint32_t node)
{
	return t->parent[node];
}

const uint32_t *tree_order(const struct tree *t, size_t *ret_n)
{
	*ret_n = t->norder;
	return t->order;
}

uint32_t tree_common(const struct tree *t, uint32_t a, uint32_t b)
{
	assert(tree_is_placed(t, a) && tree_is_placed(t, b));
	while (a != b) {
		/* Always the deeper one: at equal depth both go up in turn. */
		uint32_t *deeper = t->depth[a] >= t->depth[b] ? &a : &b;

		*deeper = t->parent[*deeper];
		if (*deeper == TREE_NONE) {
			return TREE_NONE;
		}
	}
	return a;
}

uint32_t tree_below(const struct tree *t, uint32_t node, uint32_t above)
{
	assert(tree_is_placed(t, node));
	while (node != above && t->parent[node] != above) {
		node = t->parent[node];
		assert(node != TREE_NONE);
	}
	return node;
}

struct undo {
	size_t at; /* index into v */
	int64_t before;
};

struct tree_sums {
	const struct tree *tree;
	unsigned width;
	int64_t *v; /* node * width + dim */
	struct VEC(struct undo) undo;
};

struct tree_sums *tree_sums_create(const struct tree *t, unsigned width)
{
	struct tree_sums *s = xmalloc_zero(1, sizeof(*s));

	s->tree = t;
	s->width = width;
	s->v = xmalloc_zero(t->n * width, sizeof(*s->v));
	return s;
}

struct tree_sums *tree_sums_copy(const struct tree_sums *from)
{
	struct tree_sums *s = tree_sums_create(from->tree, from->width);
	size_t n = from->tree->n * from->width;

	if (n > 0) {
		memcpy(s->v, from->v, n * sizeof(*s->v));
	}
	return s;
}

void tree_sums_destroy(struct tree_sums *s)
{
	if (s != NULL) {
		vec_finish(&s->undo);
		free(s->v);
		free(s);
	}
}

const int64_t *tree_sums_of(const struct tree_sums *s, uint32_t node)
{
	return &s->v[(size_t)node * s->width];
}

void tree_sums_charge(struct tree_sums *s, uint32_t node, unsigned dim, int64_t amount,
		      tree_rise_fn rise, void *ctx)
{
	int64_t part = amount;

	for (uint32_t at = node; at != TREE_NONE && part != 0; at = s->tree->parent[at]) {
		struct undo u = { .at = (size_t)at * s->width + dim };

		/* The value itself is kept: a sum that was cut off does not come back by
		 * subtraction. */
		u.before = s->v[u.at];
		vec_push(&s->undo, u);
		s->v[u.at] = saturating_add(u.before, part);
		if (rise != NULL) {
			part = rise(ctx, at, dim, u.before, part);
		}
		/* It lies on a cycle or below one, where the walk up would have no end. */
		if (!tree_is_placed(s->tree, at)) {
			break;
		}
	}
}

size_t tree_sums_mark(const struct tree_sums *s)
{
	return s->undo.n;
}

void tree_sums_undo(struct tree_sums *s, size_t mark)
{
	assert(mark <= s->undo.n);
	while (s->undo.n > mark) {
		struct undo u = vec_pop(&s->undo);

		s->v[u.at] = u.before;
	}
}

void tree_sums_forget(struct tree_sums *s)
{
	vec_clear(&s->undo);
}
