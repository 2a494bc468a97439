#include "quota/ranking.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"

#define FEW 16 /* sorted by insertion */

#define PRIORITY_BITS 40
#define PRIORITY_MIDDLE (INT64_C(1) << (PRIORITY_BITS - 1))

/* Rank, evicted, outside, priority: equal keys say nothing, and a smaller one comes first. What is
 * beyond the bits of a priority is cut off, which leaves the rest to the comparison. */
static uint64_t key_of(const struct candidate *c, bool by_usage)
{
	uint64_t key = (uint64_t)c->rank << 2 | (c->evicted ? 0 : 2) | (c->outside ? 0 : 1);
	int64_t priority = c->priority;

	if (by_usage) {
		priority = 0; /* usage comes before priority */
	}
	priority = priority < -PRIORITY_MIDDLE ? -PRIORITY_MIDDLE : priority;
	priority = priority >= PRIORITY_MIDDLE ? PRIORITY_MIDDLE - 1 : priority;
	return key << PRIORITY_BITS | (uint64_t)(priority + PRIORITY_MIDDLE);
}

static bool is_before(const struct ranked *a, const struct ranked *b)
{
	return a->key != b->key ? a->key < b->key : candidates_cmp(a->c, b->c) < 0;
}

static int compare(const void *a, const void *b)
{
	return is_before(a, b) ? -1 : is_before(b, a);
}

void ranking_init(struct ranking *r, const struct candidates *all, struct arena *arena)
{
	bool by_usage = false;

	*r = (struct ranking){ .n = all->n, .nbounds = 1, .bounds = { (uint32_t)all->n } };
	r->v = arena_alloc(arena, (all->n + 1) * sizeof(r->v[0]));
	for (size_t i = 0; i < all->n; i++) {
		by_usage = by_usage || all->v[i]->by_usage;
	}
	for (size_t i = 0; i < all->n; i++) {
		r->v[i] = (struct ranked){ key_of(all->v[i], by_usage), all->v[i] };
	}
	for (size_t k = all->n; k > 0; k >>= 1) {
		r->budget += 4 * all->n; /* what halving takes, and more */
	}
}

static void swap(struct ranked *v, size_t i, size_t k)
{
	struct ranked x = v[i];

	v[i] = v[k];
	v[k] = x;
}

/* Of v[low], v[high] and the one in the middle, the middle one goes to v[low]. */
static void choose_pivot(struct ranked *v, size_t low, size_t high)
{
	size_t middle = low + (high - low) / 2;

	if (is_before(&v[middle], &v[low])) {
		swap(v, low, middle);
	}
	if (is_before(&v[high], &v[middle])) {
		swap(v, middle, high);
		if (is_before(&v[middle], &v[low])) {
			swap(v, low, middle);
		}
	}
	swap(v, low, middle);
}

/* Where the pivot of v[low .. end) belongs, and is then: smaller ones before it, larger ones
 * behind. */
static size_t divide(struct ranked *v, size_t low, size_t end)
{
	size_t i = low + 1, k = end - 1;

	choose_pivot(v, low, k);
	for (;; i++, k--) {
		while (i <= k && is_before(&v[i], &v[low])) {
			i++;
		}
		while (i < k && is_before(&v[low], &v[k])) {
			k--;
		}
		if (i >= k) {
			break;
		}
		swap(v, i, k);
	}
	swap(v, low, i - 1);
	return i - 1;
}

static void insert_all(struct ranked *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct ranked x = v[i];
		size_t k = i;

		for (; k > 0 && is_before(&x, &v[k - 1]); k--) {
			v[k] = v[k - 1];
		}
		v[k] = x;
	}
}

/* Most searches need one candidate or all of them. */
static void find_first(struct ranking *r)
{
	size_t first = 0;

	for (size_t i = 1; i < r->n; i++) {
		first = is_before(&r->v[i], &r->v[first]) ? i : first;
	}
	swap(r->v, 0, first);
	r->sorted = 1;
}

/* The nearest part of the rest is divided until it is small. */
static void sort_next(struct ranking *r)
{
	size_t end = r->bounds[r->nbounds - 1];

	while (end - r->sorted > FEW) {
		size_t n = end - r->sorted;

		if (r->budget < n || r->nbounds == RANKING_BOUNDS_MAX) {
			qsort(&r->v[r->sorted], n, sizeof(r->v[0]), compare);
			r->sorted = end;
			r->nbounds--;
			return;
		}
		r->budget -= n;
		end = divide(r->v, r->sorted, end);
		r->bounds[r->nbounds++] = (uint32_t)end;
	}
	insert_all(&r->v[r->sorted], end - r->sorted);
	r->sorted = end;
	r->nbounds--;
}

struct candidate *ranking_at(struct ranking *r, size_t i)
{
	assert(i < r->n);
	if (r->sorted == 0) {
		find_first(r);
	}
	while (i >= r->sorted) {
		sort_next(r);
	}
	if (i + CANDIDATES_AHEAD < r->n) {
		candidates_fetch(r->v[i + CANDIDATES_AHEAD].c); /* or one close to it */
	}
	return r->v[i].c;
}
