#include "base/arena.h"
#include "scheduler/workloads/assign/assign.h"

/* By how many pods the pod set may be smaller. */
static int64_t slack(const struct podset *p)
{
	return p->min_count > 0 && p->min_count < p->count ? p->count - p->min_count : 0;
}

/* All pod sets shrink in proportion to their slack; step `total` is the minimum of all. */
static void counts_at(const struct workload *w, int64_t step, int64_t total, int32_t *counts)
{
	for (size_t i = 0; i < w->object.npodsets; i++) {
		const struct podset *p = &w->object.podsets[i];

		counts[i] = p->count - (int32_t)((__int128)slack(p) * step / total);
	}
}

bool assign_search_counts(const struct workload *w, struct arena *arena, assign_try_fn try_counts,
			  void *ctx, int32_t *ret_counts)
{
	int32_t *counts = arena_alloc(arena, w->object.npodsets * sizeof(counts[0]));
	int64_t total = 0, low = 0, high;

	for (size_t i = 0; i < w->object.npodsets; i++) {
		total += slack(&w->object.podsets[i]);
	}
	if (total == 0) {
		return false;
	}
	/* A smaller size need not fit where a larger one does, so the order of the probes decides
	 * the answer; it is Kueue's. `high` is the last size that fitted. */
	high = total + 1;
	while (low < high) {
		int64_t middle = (low + high) / 2;

		counts_at(w, middle, total, counts);
		if (try_counts(ctx, counts)) {
			high = middle;
		} else {
			low = middle + 1;
		}
	}
	if (high > total) {
		return false;
	}
	counts_at(w, high, total, ret_counts);
	return true;
}
