#include "collections/heap.h"

#include <assert.h>
#include <stdint.h>

#include "collections/vec.h"

static void place(struct heap *h, size_t i, void *elem)
{
	h->v[i] = elem;
	if (h->moved != NULL) {
		h->moved(elem, i);
	}
}

/* Moves elem from the hole i towards the root until its parent is not larger. */
static size_t sift_up(struct heap *h, size_t i, void *elem)
{
	while (i > 0) {
		size_t parent = (i - 1) / 2;

		if (h->cmp(h->v[parent], elem, h->ctx) <= 0) {
			break;
		}
		place(h, i, h->v[parent]);
		i = parent;
	}
	return i;
}

/* Moves elem from the hole i towards the leaves until no child is smaller. */
static size_t sift_down(struct heap *h, size_t i, void *elem)
{
	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= h->n) {
			break;
		}
		if (child + 1 < h->n && h->cmp(h->v[child + 1], h->v[child], h->ctx) < 0) {
			child++;
		}
		if (h->cmp(elem, h->v[child], h->ctx) <= 0) {
			break;
		}
		place(h, i, h->v[child]);
		i = child;
	}
	return i;
}

/* Moves the element at index up or down to its place. */
static void settle(struct heap *h, size_t index)
{
	void *elem;
	size_t i;

	elem = h->v[index];
	i = sift_up(h, index, elem);
	if (i == index) {
		i = sift_down(h, index, elem);
	}
	place(h, i, elem);
}

void heap_init(struct heap *h, heap_cmp_fn cmp, heap_moved_fn moved, const void *ctx)
{
	*h = (struct heap){ .cmp = cmp, .moved = moved, .ctx = ctx };
}

void heap_finish(struct heap *h)
{
	vec_finish(h);
}

void heap_push(struct heap *h, void *elem)
{
	vec_push(h, elem);
	place(h, sift_up(h, h->n - 1, elem), elem);
}

void *heap_peek(const struct heap *h)
{
	return h->n == 0 ? NULL : h->v[0];
}

void *heap_pop(struct heap *h)
{
	return h->n == 0 ? NULL : heap_remove(h, 0);
}

void *heap_remove(struct heap *h, size_t index)
{
	void *elem;

	assert(index < h->n);
	elem = h->v[index];
	h->n--;
	if (index < h->n) {
		/* The last element fills the hole. If it comes from another branch, it may belong
		 * above the hole as well as below it. */
		h->v[index] = h->v[h->n];
		settle(h, index);
	}
	if (h->moved != NULL) {
		h->moved(elem, SIZE_MAX);
	}
	return elem;
}
