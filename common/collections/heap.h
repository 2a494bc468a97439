/* common/collections/heap.h: binary heap of pointers, smallest first by a caller's comparator.
 * Owner: one thread. Elements are borrowed. The comparator must be a total order (end in a unique
 * key) so that the pop order does not depend on the insertion order. O(log n) push and pop. */
#ifndef COMMON_COLLECTIONS_HEAP_H
#define COMMON_COLLECTIONS_HEAP_H

#include <stdbool.h>
#include <stddef.h>

typedef int (*heap_cmp_fn)(const void *a, const void *b, const void *ctx);
/* Called with the new index of an element when it moves; SIZE_MAX when it is removed. May be
 * NULL. */
typedef void (*heap_moved_fn)(void *elem, size_t index);

struct heap {
	void **v;
	size_t n, cap;
	heap_cmp_fn cmp;
	heap_moved_fn moved;
	const void *ctx;
};

void heap_init(struct heap *h, heap_cmp_fn cmp, heap_moved_fn moved, const void *ctx);
void heap_finish(struct heap *h);
void heap_push(struct heap *h, void *elem);
void *heap_peek(const struct heap *h); /* NULL when empty */
void *heap_pop(struct heap *h);        /* NULL when empty */
void *heap_remove(struct heap *h, size_t index);

#endif
