#include "scheduler/workloads/preempt/ranking.h"

#include "lib/unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/rng.h"
#include "base/xmalloc.h"

struct list {
	struct workload *w;
	struct candidate *c;
	struct candidate **v;
	char (*keys)[32];
	struct candidates all;
};

static void list_init(struct list *l, size_t n)
{
	l->w = xmalloc_zero(n + 1, sizeof(*l->w));
	l->c = xmalloc_zero(n + 1, sizeof(*l->c));
	l->v = xmalloc_zero(n + 1, sizeof(struct candidate *));
	l->keys = xmalloc_zero(n + 1, sizeof(*l->keys));
	l->all = (struct candidates){ l->v, n, n };
	for (size_t i = 0; i < n; i++) {
		snprintf(l->keys[i], sizeof(l->keys[i]), "ns/%zu", i);
		l->w[i].key = l->keys[i];
		l->c[i].w = &l->w[i];
		l->v[i] = &l->c[i];
	}
}

static void list_finish(struct list *l)
{
	free(l->w);
	free(l->c);
	free(l->v);
	free(l->keys);
}

/* Each key has few values, so that all of them decide. */
static void fill(struct candidate *c, struct workload *w, struct rng *rng)
{
	static const int64_t priorities[] = { 0, 1, -1, INT64_MAX, INT64_MIN, INT64_MAX - 1 };

	c->rank = (uint8_t)rng_below(rng, 3);
	c->evicted = rng_below(rng, 4) == 0;
	c->outside = rng_below(rng, 2);
	c->priority = priorities[rng_below(rng, ARRAY_LEN(priorities))];
	c->reserved = (int64_t)rng_below(rng, 3);
	c->has_cost = rng_below(rng, 2);
	w->object.cost = c->has_cost ? (__int128)rng_below(rng, 3) - 1 : 7; /* 7: does not count */
}

static void shuffle(struct list *l, struct rng *rng)
{
	for (size_t i = l->all.n; i-- > 1;) {
		size_t k = rng_below(rng, i + 1);
		struct candidate *swap = l->v[i];

		l->v[i] = l->v[k];
		l->v[k] = swap;
	}
}

static int compare(const struct candidate *a, const struct candidate *b)
{
	return a->rank != b->rank ? (a->rank < b->rank ? -1 : 1) : candidates_cmp(a, b);
}

/* All are there once, in order, whatever the order before and the first one that was read. */
static void test_the_order_is_total(void **state)
{
	static const size_t sizes[] = { 0, 1, 2, 15, 16, 23, 24, 25, 26, 100, 1000 };
	struct rng rng;

	(void)state;
	rng_init(&rng, 7);
	for (size_t s = 0; s < ARRAY_LEN(sizes); s++) {
		unit_row_number(s);
		for (int round = 0; round < 30; round++) {
			CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
			CLEANUP(list_finish) struct list l;
			struct ranking r;

			list_init(&l, sizes[s]);
			for (size_t i = 0; i < sizes[s]; i++) {
				fill(&l.c[i], &l.w[i], &rng);
			}
			shuffle(&l, &rng);
			ranking_init(&r, &l.all, arena);
			if (sizes[s] > 0) {
				(void)ranking_at(&r, rng_below(&rng, sizes[s]));
			}
			for (size_t i = 1; i < sizes[s]; i++) {
				assert_true(compare(ranking_at(&r, i - 1), ranking_at(&r, i)) < 0);
			}
		}
	}
}

/* Admission fair sharing: usage of LocalQueues, of one ClusterQueue, is before priority. */
static void test_usage_is_before_priority(void **state)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(list_finish) struct list l;
	struct ranking r;

	(void)state;
	list_init(&l, 3);
	for (size_t i = 0; i < 3; i++) {
		l.c[i].by_usage = true;
		l.c[i].priority = (int64_t)i;
		l.c[i].local_usage = (double)i;
	}
	ranking_init(&r, &l.all, arena);
	for (size_t i = 0; i < 3; i++) {
		assert_ptr_equal(ranking_at(&r, i), &l.c[2 - i]);
	}
}

/* Values too large for the packed key are compared as they are. */
static void test_values_far_apart(void **state)
{
	static const int64_t far[] = { INT64_MIN, INT64_MIN + 1, -1, 0, 1, 1LL << 40, INT64_MAX };
	const __int128 huge = (__int128)1 << 126;
	const __int128 costs[] = { -huge - huge, -huge - huge + 1, -huge, -1, 0, 1, huge };
	enum { N = 500, KINDS = 16 };
	struct rng rng;

	(void)state;
	rng_init(&rng, 9);
	for (unsigned kind = 0; kind < KINDS; kind++) { /* by bits: which fields are far apart */
		CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
		CLEANUP(list_finish) struct list l;
		struct ranking r;

		list_init(&l, N);
		for (size_t i = 0; i < N; i++) {
			struct candidate *c = &l.c[i];

			fill(c, &l.w[i], &rng);
			c->priority = far[rng_below(&rng, kind & 1 ? ARRAY_LEN(far) : 1)];
			c->reserved = far[rng_below(&rng, kind & 2 ? ARRAY_LEN(far) : 1)];
			c->has_cost = kind & 4;
			l.w[i].object.cost = costs[rng_below(&rng, ARRAY_LEN(costs))];
			c->rank = kind & 8 ? c->rank : 0;
		}
		ranking_init(&r, &l.all, arena);
		for (size_t i = 1; i < N; i++) {
			assert_true(compare(ranking_at(&r, i - 1), ranking_at(&r, i)) < 0);
		}
	}
}

/* Reading the first sorts nothing, and the list that was given does not change. */
static void test_it_is_sorted_when_it_is_read(void **state)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(list_finish) struct list l;
	struct ranking r;

	(void)state;
	list_init(&l, 100);
	for (size_t i = 0; i < 100; i++) {
		l.c[i].priority = -(int64_t)i;
	}
	ranking_init(&r, &l.all, arena);
	assert_ptr_equal(ranking_at(&r, 0), &l.c[99]);
	assert_ptr_equal(ranking_at(&r, 0), &l.c[99]);
	assert_false(r.sorted);
	assert_ptr_equal(ranking_at(&r, 1), &l.c[98]);
	assert_true(r.sorted);
	assert_ptr_equal(ranking_at(&r, 0), &l.c[99]);
	for (size_t i = 0; i < 100; i++) {
		assert_ptr_equal(l.v[i], &l.c[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_order_is_total),
		cmocka_unit_test(test_usage_is_before_priority),
		cmocka_unit_test(test_values_far_apart),
		cmocka_unit_test(test_it_is_sorted_when_it_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
