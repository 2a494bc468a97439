#include "scheduler/pods/search/order.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "collections/vec.h"
#include "scheduler/pods/session/hooks.h"

static int by_first(const void *a, const void *b, const void *ctx)
{
	const struct order_queue *x = a, *y = b;

	return hooks_queue_order(ctx, x->first->queue, y->first->queue);
}

static void on_moved(void *elem, size_t index)
{
	((struct order_queue *)elem)->place = index;
}

static int by_podgroup(const void *a, const void *b, const void *ctx)
{
	const struct order_podgroup *x = a, *y = b;
	int r;

	/* A gang that holds a part of its quota keeps others from it and cannot start: it goes
	 * first. */
	if (x->first != y->first) {
		return x->first ? -1 : 1;
	}
	/* Where plugins are indifferent, a gang that lacks members goes before more members of one
	 * that is complete already. */
	if (x->filled != y->filled) {
		r = hooks_job_preference(ctx, x->podgroup, y->podgroup);
		return r != 0 ? r : x->filled ? 1 : -1;
	}
	return hooks_job_order(ctx, x->podgroup, y->podgroup);
}

void order_init(struct order *o, const struct session *s)
{
	const struct cluster *c = session_cluster(s);

	*o = (struct order){ .session = s, .n = c->queues.n };
	o->by_id = arena_zero(session_arena(s), o->n + 1, sizeof(o->by_id[0]));
	heap_init(&o->top, by_first, on_moved, s);
}

void order_finish(struct order *o)
{
	for (size_t i = 0; i < o->n; i++) {
		if (o->by_id[i] != NULL) {
			heap_finish(&o->by_id[i]->podgroups);
			heap_finish(&o->by_id[i]->below);
		}
	}
	heap_finish(&o->top);
}

/* Makes it, and those above it, if need be. */
static struct order_queue *get_queue(struct order *o, uint32_t id)
{
	const struct cluster *c = session_cluster(o->session);
	struct order_queue *below = NULL;
	const struct queue *at;

	QUEUE_FOR_EACH_UP (at, c, id) {
		struct order_queue *q = o->by_id[at->id];
		bool is_new = q == NULL;

		if (is_new) {
			q = o->by_id[at->id] = arena_zero(session_arena(o->session), 1, sizeof(*q));
			q->queue = at;
			q->place = SIZE_MAX;
			heap_init(&q->podgroups, by_podgroup, NULL, o->session);
			heap_init(&q->below, by_first, on_moved, o->session);
		}
		if (below != NULL) {
			below->up = q;
		}
		if (!is_new) {
			break;
		}
		below = q;
	}
	return o->by_id[id];
}

void order_add(struct order *o, struct order_podgroup *g)
{
	heap_push(&get_queue(o, g->podgroup->queue)->podgroups, g);
}

static struct order_queue *find_first(const struct order *o, struct order_queue *q)
{
	const struct order_queue *child = heap_peek(&q->below);

	if (child != NULL &&
	    !(q->waits && hooks_queue_order(o->session, q->queue, child->first->queue) < 0)) {
		return child->first;
	}
	return q->waits ? q : NULL;
}

/* Queues are compared with their siblings, each by the first one below it: another queue's share
 * changes none of these comparisons but those of the queues above it. */
static void place_again(struct order *o, struct order_queue *q)
{
	for (; q != NULL; q = q->up) {
		struct heap *siblings = q->up == NULL ? &o->top : &q->up->below;

		if (q->place != SIZE_MAX) {
			heap_remove(siblings, q->place);
		}
		q->first = find_first(o, q);
		if (q->first != NULL) {
			heap_push(siblings, q);
		}
	}
}

void order_refresh(struct order *o)
{
	vec_clear(&o->top);
	for (size_t i = 0; i < o->n; i++) {
		if (o->by_id[i] != NULL) {
			vec_clear(&o->by_id[i]->below);
			o->by_id[i]->place = SIZE_MAX;
		}
	}
	for (size_t i = 0; i < o->n; i++) {
		if (o->by_id[i] != NULL && o->by_id[i]->waits) {
			place_again(o, o->by_id[i]);
		}
	}
}

void order_start(struct order *o)
{
	for (size_t i = 0; i < o->n; i++) {
		if (o->by_id[i] != NULL) {
			o->by_id[i]->waits = o->by_id[i]->podgroups.n > 0;
		}
	}
	order_refresh(o);
}

struct order_queue *order_next_queue(struct order *o)
{
	const struct order_queue *top;

	place_again(o, o->served);
	top = heap_peek(&o->top);
	o->served = top == NULL ? NULL : top->first;
	if (o->served != NULL) {
		o->served->waits = false;
	}
	return o->served;
}

void order_put_back(struct order *o, struct order_queue *q)
{
	assert(q == o->served);
	q->waits = true;
}

struct order_podgroup *order_next_podgroup(struct order_queue *q)
{
	return heap_pop(&q->podgroups);
}

static int by_task(const void *a, const void *b, void *ctx)
{
	const struct task *const *x = a, *const *y = b;

	return hooks_task_order(ctx, *x, *y);
}

void order_sort(const struct session *s, const struct task **tasks, size_t n)
{
	/* qsort_r may allocate for large arrays but calls nothing else; ctx is only read. */
	union {
		const struct session *in;
		void *out;
	} ctx = { .in = s };

	if (n > 1) {
		qsort_r(tasks, n, sizeof(tasks[0]), by_task, ctx.out);
	}
}

static void collect(struct order *o, struct session *s,
		    bool (*is_wanted)(struct session *s, const struct podgroup *g))
{
	const struct cluster *c = session_cluster(s);

	for (size_t i = 0; i < c->queues.n; i++) {
		const struct queue *q = c->queues.v[i];

		if (q == NULL || !q->exists) {
			continue;
		}
		for (size_t k = 0; k < session_podgroups(s, q)->n; k++) {
			const struct podgroup *g = session_podgroups(s, q)->v[k];
			struct order_podgroup *entry;

			if (!is_wanted(s, g)) {
				continue;
			}
			entry = arena_zero(session_arena(s), 1, sizeof(*entry));
			entry->podgroup = g;
			order_add(o, entry);
		}
	}
}

/* 1. Collect the PodGroups that are wanted, by queue.
 * 2. The first queue serves its first PodGroup and is put back, until no queue has any: as
 *    Volcano's actions do. */
void order_for_each_podgroup(struct session *s,
			     bool (*is_wanted)(struct session *s, const struct podgroup *g),
			     void (*serve)(struct session *s, const struct queue *q,
					   const struct podgroup *g))
{
	struct order_queue *q;
	struct order o;

	order_init(&o, s);
	collect(&o, s, is_wanted);
	order_start(&o);
	while ((q = order_next_queue(&o)) != NULL) {
		struct order_podgroup *next = order_next_podgroup(q);

		if (next == NULL) {
			continue;
		}
		serve(s, q->queue, next->podgroup);
		/* Its share may have grown: it is compared with the other queues again. */
		order_put_back(&o, q);
	}
	order_finish(&o);
}

const struct task **order_tasks(const struct session *s, const struct podgroup *g, size_t *ret_n)
{
	const struct task **v = arena_alloc(session_arena(s), (g->tasks.n + 1) * sizeof(*v));

	for (size_t i = 0; i < g->tasks.n; i++) {
		v[i] = session_task(s, g->tasks.v[i]);
	}
	order_sort(s, v, g->tasks.n);
	*ret_n = g->tasks.n;
	return v;
}
