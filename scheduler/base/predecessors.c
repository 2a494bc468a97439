#include "scheduler/base/predecessors.h"

#include <assert.h>

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "collections/bitset.h"

/* Of the ids from out->v[from] on, keeps those that are not known yet. */
static void keep_new(struct predecessors *out, size_t from, size_t nids, uint64_t *known)
{
	size_t kept = from;

	for (size_t i = from; i < out->n; i++) {
		uint32_t id = out->v[i];

		assert(id < nids);
		if (!bitset_has(known, id)) {
			bitset_set(known, id);
			out->v[kept++] = id;
		}
	}
	out->n = kept;
}

/* Breadth first: the part of the list behind `at` has ids that are still to be asked about. */
void predecessors_collect(predecessors_fn direct, const void *ctx, uint32_t id, size_t nids,
			  struct predecessors *out)
{
	CLEANUP(xmalloc_freep) uint64_t *known = NULL;
	size_t at = out->n, from = at;

	direct(ctx, id, out);
	if (out->n == from) {
		return;
	}
	known = xmalloc_zero(BITSET_WORDS(nids), sizeof(*known));
	keep_new(out, from, nids, known);
	for (; at < out->n; at++) {
		from = out->n;
		direct(ctx, out->v[at], out);
		keep_new(out, from, nids, known);
	}
}
