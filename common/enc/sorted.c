#include "enc/sorted.h"

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"

static const char *key_at(const char *items, size_t i, size_t size)
{
	const char *key;

	memcpy(&key, items + i * size, sizeof(key));
	return key;
}

static bool is_sorted(const char *items, size_t n, size_t size)
{
	for (size_t i = 1; i < n; i++) {
		if (strcmp(key_at(items, i - 1, size), key_at(items, i, size)) >= 0) {
			return false;
		}
	}
	return true;
}

/* Merges from[lo, mid) and from[mid, hi) into to; equal keys keep their order. */
static void merge(const char *from, char *to, size_t size, const size_t bounds[3])
{
	size_t a = bounds[0], b = bounds[1], out = bounds[0];

	while (a < bounds[1] || b < bounds[2]) {
		bool first = b == bounds[2] ||
			     (a < bounds[1] &&
			      strcmp(key_at(from, a, size), key_at(from, b, size)) <= 0);

		memcpy(to + out++ * size, from + (first ? a++ : b++) * size, size);
	}
}

/* Not qsort, which need not keep the order of equal keys. */
static void merge_sort(char *items, size_t n, size_t size, char *scratch)
{
	char *from = items, *to = scratch, *swap;

	for (size_t width = 1; width < n; width *= 2) {
		for (size_t lo = 0; lo < n; lo += 2 * width) {
			size_t mid = lo + width < n ? lo + width : n;
			size_t hi = lo + 2 * width < n ? lo + 2 * width : n;

			merge(from, to, size, (const size_t[3]){ lo, mid, hi });
		}
		swap = from;
		from = to;
		to = swap;
	}
	if (from != items) {
		memcpy(items, from, n * size);
	}
}

size_t sorted_by_key(void *items, size_t n, size_t size, struct arena *scratch)
{
	char *p = items;
	size_t kept = 0;

	/* The usual case: encoders of Go write maps in the order of their keys. */
	if (is_sorted(p, n, size)) {
		return n;
	}
	merge_sort(p, n, size, arena_alloc(scratch, n * size));
	for (size_t i = 0; i < n; i++) {
		/* The sort keeps the order of equal keys, so the last one of them is the last one
		 * in the text. */
		if (i + 1 < n && strcmp(key_at(p, i, size), key_at(p, i + 1, size)) == 0) {
			continue;
		}
		if (kept != i) {
			memcpy(p + kept * size, p + i * size, size);
		}
		kept++;
	}
	return kept;
}
