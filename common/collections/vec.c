#include "collections/vec.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"

#define FIRST_BYTES ((size_t)64) /* most lists of many objects hold one or two elements */

/* pv really points to a `T *`: memcpy keeps within the aliasing rules. */
static void *load(void **pv)
{
	void *p;

	memcpy(&p, pv, sizeof(p));
	return p;
}

static void store(void **pv, void *p)
{
	memcpy(pv, &p, sizeof(p));
}

void vec_grow(void **pv, size_t *cap, size_t need, size_t size)
{
	/* Doubled, so that adding n elements copies O(n). */
	size_t n = *cap > SIZE_MAX / 2 ? SIZE_MAX : *cap * 2;

	if (need <= *cap) {
		return;
	}
	n = n < FIRST_BYTES / size ? FIRST_BYTES / size : n;
	n = n < need ? need : n;
	store(pv, xmalloc_resize(load(pv), n, size));
	*cap = n;
}

void vec_free(void **pv)
{
	free(load(pv));
	store(pv, NULL);
}
