#include "apiserver/store/bucket.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "apiserver/store/object.h"
#include "base/xmalloc.h"

void bucket_init(struct bucket *b, size_t ring_max)
{
	memset(b, 0, sizeof(*b));
	sorted_init(&b->objects);
	b->ring_max = ring_max;
}

static void drop_oldest(struct bucket *b)
{
	struct bucket_event *e = &b->ring[b->ring_at];

	b->compacted = e->rv;
	object_unref(e->obj);
	object_unref(e->prev);
	b->ring_at = (b->ring_at + 1) % b->ring_cap;
	b->ring_n--;
}

void bucket_finish(struct bucket *b)
{
	while (b->ring_n > 0) {
		drop_oldest(b);
	}
	free(b->ring);
	b->ring = NULL;
	sorted_finish(&b->objects);
}

static void grow_ring(struct bucket *b)
{
	size_t cap = b->ring_cap == 0 ? 16 : b->ring_cap * 2;
	struct bucket_event *ring;

	if (cap > b->ring_max) {
		cap = b->ring_max;
	}
	ring = xmalloc_zero(cap, sizeof(*ring));
	for (size_t i = 0; i < b->ring_n; i++) {
		ring[i] = b->ring[(b->ring_at + i) % b->ring_cap];
	}
	free(b->ring);
	b->ring = ring;
	b->ring_cap = cap;
	b->ring_at = 0;
}

/* Takes over the reference prev. */
static void add_event(struct bucket *b, int64_t rv, enum bucket_op op, struct object *obj,
		      struct object *prev)
{
	struct bucket_event *e;

	if (b->ring_n == b->ring_cap) {
		if (b->ring_cap < b->ring_max) {
			grow_ring(b);
		} else {
			drop_oldest(b);
		}
	}
	e = &b->ring[(b->ring_at + b->ring_n) % b->ring_cap];
	e->rv = rv;
	e->op = op;
	e->obj = object_ref(obj);
	e->prev = prev;
	b->ring_n++;
}

void bucket_put(struct bucket *b, struct object *o)
{
	struct object *prev = object_ref(sorted_find(&b->objects, o->key));

	sorted_put(&b->objects, o);
	add_event(b, o->rv, prev == NULL ? BUCKET_ADDED : BUCKET_MODIFIED, o, prev);
}

void bucket_remove(struct bucket *b, struct str key, int64_t rv)
{
	struct object *prev = object_ref(sorted_find(&b->objects, key));

	assert(prev != NULL);
	sorted_remove(&b->objects, prev->key);
	add_event(b, rv, BUCKET_DELETED, prev, prev);
}

void bucket_compact(struct bucket *b, int64_t rv)
{
	while (b->ring_n > 0 && b->ring[b->ring_at].rv <= rv) {
		drop_oldest(b);
	}
	if (rv > b->compacted) {
		b->compacted = rv;
	}
}

const struct bucket_event *bucket_event(const struct bucket *b, size_t i)
{
	assert(i < b->ring_n);
	return &b->ring[(b->ring_at + i) % b->ring_cap];
}

size_t bucket_after(const struct bucket *b, int64_t rv)
{
	size_t lo = 0, hi = b->ring_n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (bucket_event(b, mid)->rv <= rv) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	return lo;
}

bool bucket_walk_init(struct bucket_walk *w, const struct bucket *b, int64_t rv, struct str from,
		      bool after)
{
	memset(w, 0, sizeof(*w));
	sorted_init(&w->past);
	sorted_init(&w->gone);
	w->bucket = b;
	if (rv >= 0 && rv < b->compacted) {
		return false;
	}
	for (size_t i = rv < 0 ? b->ring_n : bucket_after(b, rv); i < b->ring_n; i++) {
		const struct bucket_event *e = bucket_event(b, i);

		if (sorted_find(&w->gone, e->obj->key) != NULL) {
			continue; /* its first change after rv holds the object as of rv */
		}
		sorted_put(&w->gone, e->obj);
		if (e->prev != NULL) {
			sorted_put(&w->past, e->prev);
		}
	}
	w->now_at = sorted_seek(&b->objects, from, after);
	w->past_at = sorted_seek(&w->past, from, after);
	w->now_next = sorted_next(&b->objects, &w->now_at);
	w->past_next = sorted_next(&w->past, &w->past_at);
	return true;
}

struct object *bucket_walk_next(struct bucket_walk *w)
{
	struct object *o;

	while (w->now_next != NULL && w->gone.count > 0 &&
	       sorted_find(&w->gone, w->now_next->key) != NULL) {
		w->now_next = sorted_next(&w->bucket->objects, &w->now_at);
	}
	if (w->past_next != NULL &&
	    (w->now_next == NULL || strcmp(w->past_next->key.p, w->now_next->key.p) < 0)) {
		o = w->past_next;
		w->past_next = sorted_next(&w->past, &w->past_at);
		return o;
	}
	o = w->now_next;
	if (o != NULL) {
		w->now_next = sorted_next(&w->bucket->objects, &w->now_at);
	}
	return o;
}

void bucket_walk_finish(struct bucket_walk *w)
{
	sorted_finish(&w->past);
	sorted_finish(&w->gone);
}

struct object *bucket_get_at(const struct bucket *b, struct str key, int64_t rv)
{
	if (rv >= 0 && rv >= b->compacted) {
		for (size_t i = bucket_after(b, rv); i < b->ring_n; i++) {
			const struct bucket_event *e = bucket_event(b, i);

			if (str_eq(e->obj->key, key)) {
				return e->prev;
			}
		}
	}
	return sorted_find(&b->objects, key);
}
