/* A radix sort: the first keys of the order are packed into one number for each candidate, each in
 * no more bits than its values differ by. Candidates are sorted by that, byte by byte, which reads
 * memory in order and has no branches to predict; candidates with equal numbers are compared. */
#include "scheduler/workloads/preempt/ranking.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"

#define FEW 24 /* sorted by insertion */

#define KEY_BITS 64
#define DIGIT_BITS 8
#define DIGITS (1 << DIGIT_BITS)

struct ranked {
	uint64_t key;
	struct candidate *c;
};

/* In the order of candidates_cmp. */
enum field { FIELD_LIST, FIELD_PRIORITY, FIELD_COST, FIELD_TIME, FIELD_COUNT_ };

struct layout {
	struct {
		__int128 least;
		unsigned bits;    /* in the key */
		unsigned dropped; /* for which there was no room */
	} fields[FIELD_COUNT_];
	unsigned bits;
};

static inline __int128 value_of(const struct candidate *c, enum field f)
{
	switch (f) {
	case FIELD_LIST:
		/* The keys of greatest weight: the list, then evicted ones, then those of other
		 * queues. */
		return c->rank << 2 | (c->evicted ? 0 : 2) | (c->outside ? 0 : 1);
	case FIELD_PRIORITY:
		return c->priority;
	case FIELD_COST:
		return candidates_cost(c);
	case FIELD_TIME:
		/* The later reservation comes first. In 64 bits the smallest time would have no
		 * negative. */
		return -(__int128)c->reserved;
	case FIELD_COUNT_:
		break;
	}
	return 0;
}

/* By how much v is above the least one; fits, whatever the two are. */
static inline unsigned __int128 distance(__int128 v, __int128 least)
{
	return (unsigned __int128)v - (unsigned __int128)least;
}

static unsigned bits_of(unsigned __int128 v)
{
	unsigned bits = 0;

	for (; v > 0; v >>= 1) {
		bits++;
	}
	return bits;
}

/* Adds a field to the key; false: it does not fit, so later fields must not be added.
 * A field without room for all of its bits gives its upper ones: they sort correctly, and equal
 * keys are compared in the end. Bits of a later field behind them would decide before its lower
 * ones. */
static bool add_field(struct layout *l, const struct ranking *r, enum field f)
{
	__int128 least = value_of(r->v[0], f), most = least;
	unsigned bits, room = KEY_BITS - l->bits;

	for (size_t i = 1; i < r->n; i++) {
		__int128 v = value_of(r->v[i], f);

		least = v < least ? v : least;
		most = v > most ? v : most;
	}
	bits = bits_of(distance(most, least));
	l->fields[f].least = least;
	l->fields[f].bits = bits < room ? bits : room;
	l->fields[f].dropped = bits - l->fields[f].bits;
	l->bits += l->fields[f].bits;
	return bits <= room;
}

static bool counts_usage(const struct ranking *r)
{
	for (size_t i = 0; i < r->n; i++) {
		if (r->v[i]->by_usage) {
			return true;
		}
	}
	return false;
}

static void layout_init(struct layout *l, const struct ranking *r)
{
	*l = (struct layout){ 0 };
	if (!add_field(l, r, FIELD_LIST) || counts_usage(r)) {
		return; /* usage comes before priority */
	}
	for (enum field f = FIELD_PRIORITY; f < FIELD_COUNT_ && add_field(l, r, f); f++) {
	}
}

/* The smaller key comes first; equal keys decide nothing. */
static uint64_t key_of(const struct layout *l, const struct candidate *c)
{
	uint64_t key = 0;

	for (enum field f = FIELD_LIST; f < FIELD_COUNT_; f++) {
		if (l->fields[f].bits > 0) {
			unsigned __int128 d = distance(value_of(c, f), l->fields[f].least);

			/* Of 64 bits, one shift would be too far. */
			key = key << (l->fields[f].bits - 1) << 1 |
			      (uint64_t)(d >> l->fields[f].dropped);
		}
	}
	return key;
}

/* By key, from the last digit to the first. `spare` is as long; returns which of the two it is
 * in.
 * A pass keeps the order of elements with the same digit, so that the digits sorted before it still
 * count. */
static struct ranked *sort_by_key(struct ranked *v, struct ranked *spare, size_t n, unsigned bits)
{
	for (unsigned shift = 0; shift < bits; shift += DIGIT_BITS) {
		size_t at[DIGITS] = { 0 }, sum = 0;
		struct ranked *sorted = spare;

		for (size_t i = 0; i < n; i++) {
			at[v[i].key >> shift & (DIGITS - 1)]++;
		}
		for (size_t d = 0; d < DIGITS; d++) {
			size_t count = at[d];

			at[d] = sum;
			sum += count;
		}
		for (size_t i = 0; i < n; i++) {
			sorted[at[v[i].key >> shift & (DIGITS - 1)]++] = v[i];
		}
		spare = v;
		v = sorted;
	}
	return v;
}

static int compare(const struct candidate *a, const struct candidate *b)
{
	return a->rank != b->rank ? a->rank - b->rank : candidates_cmp(a, b);
}

static int compare_ranked(const void *a, const void *b)
{
	return compare(((const struct ranked *)a)->c, ((const struct ranked *)b)->c);
}

static void sort_equal_keys(struct ranked *v, size_t n)
{
	for (size_t from = 0, end; from < n; from = end) {
		for (end = from + 1; end < n && v[end].key == v[from].key; end++) {
		}
		if (end - from > 1) {
			qsort(&v[from], end - from, sizeof(v[0]), compare_ranked);
		}
	}
}

static void sort_many(struct ranking *r, struct candidate **ret)
{
	struct ranked *v = arena_alloc(r->arena, r->n * sizeof(*v));
	struct ranked *spare = arena_alloc(r->arena, r->n * sizeof(*spare));
	struct layout l;

	layout_init(&l, r);
	for (size_t i = 0; i < r->n; i++) {
		v[i] = (struct ranked){ key_of(&l, r->v[i]), r->v[i] };
	}
	v = sort_by_key(v, spare, r->n, l.bits);
	sort_equal_keys(v, r->n);
	for (size_t i = 0; i < r->n; i++) {
		ret[i] = v[i].c;
	}
}

static void sort_few(const struct ranking *r, struct candidate **ret)
{
	for (size_t i = 0; i < r->n; i++) {
		size_t k = i;

		for (; k > 0 && compare(r->v[i], ret[k - 1]) < 0; k--) {
			ret[k] = ret[k - 1];
		}
		ret[k] = r->v[i];
	}
}

static void sort(struct ranking *r)
{
	struct candidate **sorted = arena_alloc(r->arena, r->n * sizeof(*sorted));

	if (r->n <= FEW) {
		sort_few(r, sorted);
	} else {
		sort_many(r, sorted);
	}
	r->v = sorted;
	r->sorted = true;
}

static struct candidate *find_first(const struct ranking *r)
{
	struct candidate *first = r->v[0];

	for (size_t i = 1; i < r->n; i++) {
		first = compare(r->v[i], first) < 0 ? r->v[i] : first;
	}
	return first;
}

void ranking_init(struct ranking *r, const struct candidates *all, struct arena *arena)
{
	*r = (struct ranking){ .v = all->v, .n = all->n, .arena = arena };
}

struct candidate *ranking_at(struct ranking *r, size_t i)
{
	assert(i < r->n);
	if (i == 0 && !r->sorted) {
		if (r->first == NULL) {
			r->first = find_first(r);
		}
		return r->first;
	}
	if (!r->sorted) {
		sort(r);
	}
	if (i + CANDIDATES_AHEAD < r->n) {
		candidates_fetch(r->v[i + CANDIDATES_AHEAD]);
	}
	return r->v[i];
}
