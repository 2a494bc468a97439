#include <assert.h>
#include <stdlib.h>

#include "base/strmap.h"
#include "base/xmalloc.h"
#include "scheduler/pods/model/access.h"
#include "scheduler/pods/model/cluster.h"

struct queue_list VEC(struct queue *);

static int by_name(const void *a, const void *b)
{
	const struct queue *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

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

static uint32_t wanted_parent(const struct cluster *c, struct queue *q)
{
	const struct queue *parent;

	q->broken = NULL;
	if (q->id == c->root_queue) {
		return MODEL_NONE;
	}
	if (!q->exists) {
		q->broken = "the queue does not exist";
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
	if (parent == NULL || (!parent->exists && parent->id != c->root_queue)) {
		if (q->broken == NULL) {
			q->broken = "the parent queue does not exist";
		}
		return MODEL_NONE;
	}
	return parent->id;
}

/* depth marks the visit: 0 not yet, 1 on the present walk, 2 done. Every member of a cycle loses
 * its parent; what hangs below the cycle keeps its link and inherits the fault. */
static void cut_cycles(struct cluster *c, const struct queue_list *all)
{
	for (size_t i = 0; i < all->n; i++) {
		all->v[i]->depth = 0;
	}
	for (size_t i = 0; i < all->n; i++) {
		struct queue *q = all->v[i];

		while (q != NULL && q->depth == 0) {
			q->depth = 1;
			q = q->parent == MODEL_NONE ? NULL : c->queues.v[q->parent];
		}
		while (q != NULL && q->depth == 1 && q->parent != MODEL_NONE) {
			struct queue *next = c->queues.v[q->parent];

			q->parent = MODEL_NONE;
			q->broken = "the queue is its own ancestor";
			q = next;
		}
		for (q = all->v[i]; q != NULL && q->depth == 1;) {
			q->depth = 2;
			q = q->parent == MODEL_NONE ? NULL : c->queues.v[q->parent];
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

/* Breadth first from all tops: depth, and the fault of a parent spreads to all below it. */
static void descend(struct cluster *c, const struct queue_list *all)
{
	struct queue_list order = VEC_INIT;

	for (size_t i = 0; i < all->n; i++) {
		if (all->v[i]->parent == MODEL_NONE) {
			all->v[i]->depth = 0;
			vec_push(&order, all->v[i]);
		}
	}
	for (size_t i = 0; i < order.n; i++) {
		for (size_t k = 0; k < order.v[i]->children.n; k++) {
			struct queue *child = c->queues.v[order.v[i]->children.v[k]];

			child->depth = order.v[i]->depth + 1;
			if (child->broken == NULL && order.v[i]->broken != NULL) {
				child->broken = "an ancestor of the queue cannot be used";
			} else if (child->broken == NULL &&
				   child->depth > CLUSTER_MAX_QUEUE_DEPTH) {
				child->broken = "the queue lies too deep below the root";
			}
			vec_push(&order, child);
		}
	}
	assert(order.n == all->n);
	vec_finish(&order);
}

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

/* 1. The parent that each queue asks for. 2. Cycles are cut. 3. Children, sorted by name.
 * 4. Depths and inherited faults from the tops down. 5. PodGroups of queues that came or went. */
bool queue_topology_changed(struct cluster *c)
{
	struct queue_list all = sorted_queues(c);
	uint32_t *old = xmalloc_zero(all.n + 1, sizeof(*old));
	bool rolled = false;

	for (size_t i = 0; i < all.n; i++) {
		old[i] = all.v[i]->parent;
		all.v[i]->parent = wanted_parent(c, all.v[i]);
	}
	cut_cycles(c, &all);
	link_children(c, &all);
	descend(c, &all);
	for (size_t i = 0; i < all.n; i++) {
		move_podgroups(c, all.v[i]);
		if (all.v[i]->parent != old[i] && !res_is_zero(&all.v[i]->charged)) {
			rolled = true;
		}
	}
	free(old);
	vec_finish(&all);
	c->queues_gen++;
	(void)access_settle(c);
	return rolled;
}
