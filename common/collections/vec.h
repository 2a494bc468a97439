/* common/collections/vec.h: growing array of one element type.
 *   struct VEC(struct pod *) pods = VEC_INIT;
 *   vec_push(&pods, pod);  pods.v[i], pods.n
 *   vec_finish(&pods);
 * or, with a name, to be passed around: struct pods VEC(struct pod *);
 * Owner: one thread. Elements are moved by realloc: keep indices, not pointers, across pushes. */
#ifndef COMMON_COLLECTIONS_VEC_H
#define COMMON_COLLECTIONS_VEC_H

#include <assert.h>
#include <stddef.h>

#define VEC(type)                                                                                  \
	{                                                                                          \
		type *v;                                                                           \
		size_t n;                                                                          \
		size_t cap;                                                                        \
	}
#define VEC_INIT                                                                                   \
	{                                                                                          \
		NULL, 0, 0                                                                         \
	}

#define vec_push(vec, item)                                                                        \
	do {                                                                                       \
		if ((vec)->n == (vec)->cap) {                                                      \
			vec_grow((void **)&(vec)->v, &(vec)->cap, (vec)->n + 1,                    \
				 sizeof((vec)->v[0]));                                             \
		}                                                                                  \
		(vec)->v[(vec)->n++] = (item);                                                     \
	} while (0)
#define vec_reserve(vec, count)                                                                    \
	vec_grow((void **)&(vec)->v, &(vec)->cap, (count), sizeof((vec)->v[0]))
#define vec_pop(vec) ((vec)->v[--(vec)->n])
/* Removes element i by moving the last one into its place. */
#define vec_swap_remove(vec, i)                                                                    \
	do {                                                                                       \
		(vec)->v[(i)] = (vec)->v[(vec)->n - 1];                                            \
		(vec)->n--;                                                                        \
	} while (0)
#define vec_clear(vec) ((void)((vec)->n = 0))
#define vec_finish(vec)                                                                            \
	do {                                                                                       \
		vec_free((void **)&(vec)->v);                                                      \
		(vec)->n = (vec)->cap = 0;                                                         \
	} while (0)

/* Makes room for at least need elements of size bytes; aborts on exhaustion. */
void vec_grow(void **pv, size_t *cap, size_t need, size_t size);
void vec_free(void **pv); /* frees and sets NULL */

#endif
