#include "scheduler/pods/model/queue.h"

#include <assert.h>
#include <stdlib.h>

#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "scheduler/base/tree.h"
#include "scheduler/pods/model/access.h"

struct queue_list VEC(struct queue *);

static int by_name(const void *a, const void *b)
{
	const struct queue *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/* By name, so that the order of children does not depend on the order in which queues were seen. */
static struct queue_list sorted_queues(const struct cluster *c)
{
	struct queue_list all = VEC_INIT;

	for (size_t i = 0; i < c->queues.n; i++) {
		if (c->queues.v[i] != NULL) {
			vec_push(&all, c->queues.v[i]);
		}
	}
	if (all.n > 1) {
		qsort(all.v, all.n, sizeof(all.v[0]), by_name);
	}
	return all;
}

static uint32_t find_parent_or_fault(const struct cluster *c, struct queue *q)
{
	const struct queue *parent;

	q->broken = NULL;
	if (q->id == c->root_queue) {
		return MODEL_NONE;
	}
	if (!q->exists) {
		q->broken = "does not exist";
		/* A deleted queue stays in its place for as long as pods are charged to it, so that
		 * its ancestors keep counting them. */
		if (res_is_zero(&q->charged)) {
			return MODEL_NONE;
		}
	}
	if (q->parent_name == NULL) {
		return c->root_queue;
	}
	parent = queue_find(c, str_of(q->parent_name));
	/* In Volcano a missing parent stops every queue of the cluster; here those below it. */
	if (parent == NULL || (!parent->exists && parent->id != c->root_queue)) {
		if (q->broken == NULL) {
			q->broken = "has a parent that does not exist";
		}
		return MODEL_NONE;
	}
	return parent->id;
}

struct tree *queue_topology_tree(const struct cluster *c)
{
	uint32_t *parent = xmalloc(c->queues.n * sizeof(*parent));
	struct tree *t;

	_Static_assert(MODEL_NONE == TREE_NONE, "parents are taken as they are");
	for (size_t i = 0; i < c->queues.n; i++) {
		parent[i] = c->queues.v[i] == NULL ? TREE_NONE : c->queues.v[i]->parent;
	}
	t = tree_create(parent, c->queues.n);
	free(parent);
	return t;
}

/* Every member of a cycle loses its parent; what hangs below the cycle keeps its link and inherits
 * the fault. */
static void cut_cycles(const struct tree *t, const struct queue_list *all)
{
	for (size_t i = 0; i < all->n; i++) {
		if (tree_is_on_cycle(t, all->v[i]->id)) {
			all->v[i]->parent = MODEL_NONE;
			all->v[i]->broken = "is its own ancestor";
		}
	}
}

static void link_children(struct cluster *c, const struct queue_list *all)
{
	for (size_t i = 0; i < all->n; i++) {
		vec_clear(&all->v[i]->children);
	}
	for (size_t i = 0; i < all->n; i++) {
		if (all->v[i]->parent != MODEL_NONE) {
			vec_push(&c->queues.v[all->v[i]->parent]->children, all->v[i]->id);
		}
	}
}

static void place_below_parent(const struct cluster *c, struct queue *q)
{
	const struct queue *parent = queue_at(c, q->parent);

	q->depth = parent == NULL ? 0 : parent->depth + 1;
	if (parent == NULL || q->broken != NULL) {
		return;
	}
	if (parent->broken != NULL) {
		q->broken = "has an ancestor that cannot be used";
	} else if (q->depth > QUEUE_MAX_DEPTH) {
		q->broken = "lies too deep below the root";
	}
}

/* Parents first: depth, and the fault of a queue spreads to all below it. */
static void descend(const struct cluster *c, const struct queue_list *all)
{
	struct tree *t = queue_topology_tree(c);
	const uint32_t *order;
	size_t n;

	/* Queues on a cycle, and below one, have no place in the order. */
	(void)tree_order(t, &n);
	if (n < c->queues.n) {
		cut_cycles(t, all);
		tree_destroy(t);
		t = queue_topology_tree(c);
	}
	order = tree_order(t, &n);
	assert(n == c->queues.n);
	for (size_t i = 0; i < n; i++) {
		if (c->queues.v[order[i]] != NULL) {
			place_below_parent(c, c->queues.v[order[i]]);
		}
	}
	tree_destroy(t);
}

/* A PodGroup is in the list podgroups of a queue that exists, or in waiting of one that does not.
 */
static void move_podgroups(struct cluster *c, struct queue *q)
{
	if (q->exists) {
		for (size_t i = 0; i < q->waiting.n; i++) {
			struct podgroup *g = c->podgroups.v[q->waiting.v[i]];

			g->queue = q->id;
			g->queue_pos = (uint32_t)q->podgroups.n;
			vec_push(&q->podgroups, g->id);
			q->podgroups_gen++;
		}
		vec_clear(&q->waiting);
		return;
	}
	for (size_t i = 0; i < q->podgroups.n; i++) {
		struct podgroup *g = c->podgroups.v[q->podgroups.v[i]];

		g->queue = MODEL_NONE;
		g->queue_pos = (uint32_t)q->waiting.n;
		vec_push(&q->waiting, g->id);
		q->podgroups_gen++;
	}
	vec_clear(&q->podgroups);
}

/* 1. The parent that each queue asks for.
 * 2. Cycles are cut; depths and inherited faults from the tops down.
 * 3. Children, sorted by name.
 * 4. PodGroups of queues that came or went. */
bool queue_topology_changed(struct cluster *c)
{
	struct queue_list all = sorted_queues(c);
	uint32_t *old = xmalloc_zero(all.n + 1, sizeof(*old));
	bool sums_are_stale = false;

	for (size_t i = 0; i < all.n; i++) {
		old[i] = all.v[i]->parent;
		all.v[i]->parent = find_parent_or_fault(c, all.v[i]);
	}
	descend(c, &all);
	link_children(c, &all);
	for (size_t i = 0; i < all.n; i++) {
		move_podgroups(c, all.v[i]);
		if (all.v[i]->parent != old[i] && !res_is_zero(&all.v[i]->charged)) {
			sums_are_stale = true;
		}
	}
	free(old);
	vec_finish(&all);
	c->queues_gen++;
	/* A queue that moved is below other rules. */
	(void)access_update(c);
	return sums_are_stale;
}
