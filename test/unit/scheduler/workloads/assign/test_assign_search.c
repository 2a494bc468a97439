#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "lib/unit.h"
#include "scheduler/workloads/assign/assign.h"

struct probe {
	const struct workload *w;
	int64_t most;       /* pods of all pod sets that will do */
	int64_t bad;        /* a sum that will not do although it is small enough; -1: none */
	struct strbuf sums; /* of the probes, in order */
};

static bool fits(void *ctx, const int32_t *counts)
{
	struct probe *p = ctx;
	int64_t sum = 0;

	for (size_t i = 0; i < p->w->object.npodsets; i++) {
		sum += counts[i];
	}
	strbuf_printf(&p->sums, "%lld ", (long long)sum);
	return sum <= p->most && sum != p->bad;
}

struct row {
	int32_t count[3], min[3];
	int64_t most, bad;
	const char *sums; /* NULL: not looked at */
	int32_t found[3]; /* 0: there is none */
};

static void search(const struct row *row)
{
	struct podset podsets[3] = { { .count = 0 } };
	struct workload w = { .object.podsets = podsets };
	struct probe p = { .w = &w, .most = row->most, .bad = row->bad, .sums = STRBUF_INIT };
	struct arena *arena = arena_create(0);
	int32_t counts[3] = { -1, -1, -1 };
	bool found;

	for (; w.object.npodsets < 3 && row->count[w.object.npodsets] > 0; w.object.npodsets++) {
		podsets[w.object.npodsets].count = row->count[w.object.npodsets];
		podsets[w.object.npodsets].min_count = row->min[w.object.npodsets];
	}
	found = assign_search_counts(&w, arena, fits, &p, counts);
	assert_int_equal(found, row->found[0] > 0);
	for (size_t i = 0; i < w.object.npodsets; i++) {
		assert_int_equal(counts[i], found ? row->found[i] : -1);
	}
	if (row->sums != NULL) {
		assert_string_equal(p.sums.p, row->sums);
	}
	strbuf_finish(&p.sums);
	arena_destroy(arena);
}

static void test_the_largest_counts_that_will_do_are_found(void **state)
{
	static const struct row rows[] = {
		{ { 10 }, { 2 }, 100, -1, NULL, { 10 } },
		{ { 10 }, { 2 }, 7, -1, NULL, { 7 } },
		{ { 10 }, { 2 }, 2, -1, NULL, { 2 } },
		{ { 10 }, { 2 }, 1, -1, NULL, { 0 } },
		{ { INT32_MAX }, { 1 }, 12345678, -1, NULL, { 12345678 } },
		{ { INT32_MAX, INT32_MAX }, { 1, 1 }, 2, -1, NULL, { 1, 1 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		search(&rows[i]);
	}
}

static void test_pod_sets_shrink_in_proportion(void **state)
{
	/* Slacks 10 and 5 of 15 steps; the second pod set gets smaller with every third step. */
	static const struct row rows[] = {
		{ { 20, 10 }, { 10, 5 }, 25, -1, NULL, { 16, 8 } },
		{ { 20, 10 }, { 10, 5 }, 29, -1, NULL, { 19, 10 } },
		{ { 20, 10 }, { 10, 5 }, 15, -1, NULL, { 10, 5 } },
		{ { 20, 10, 4 }, { 10, 0, 0 }, 30, -1, NULL, { 16, 10, 4 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		search(&rows[i]);
	}
}

static void test_without_slack_nothing_is_tried(void **state)
{
	static const struct row rows[] = {
		{ { 10 }, { 0 }, 100, -1, "", { 0 } },
		{ { 10 }, { 10 }, 100, -1, "", { 0 } },
		/* Reclaimable pods may leave fewer than the minimum. */
		{ { 10 }, { 12 }, 100, -1, "", { 0 } },
		{ { 10, 3 }, { 12, 0 }, 100, -1, "", { 0 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		search(&rows[i]);
	}
}

static void test_probes_come_in_the_order_of_a_lower_bound_search(void **state)
{
	/* Steps 0..8 and one behind: 4, then 2 or 6 or 7, ... */
	static const struct row rows[] = {
		{ { 10 }, { 2 }, 100, -1, "6 8 9 10 ", { 10 } },
		{ { 10 }, { 2 }, 7, -1, "6 8 7 ", { 7 } },
		{ { 10 }, { 2 }, 1, -1, "6 3 2 ", { 0 } },
		/* A size that does not fit, between sizes that do, changes the answer. */
		{ { 10 }, { 2 }, 100, 6, "6 3 4 5 ", { 5 } },
		{ { 10 }, { 2 }, 100, 8, "6 8 7 ", { 7 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		search(&rows[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_largest_counts_that_will_do_are_found),
		cmocka_unit_test(test_pod_sets_shrink_in_proportion),
		cmocka_unit_test(test_without_slack_nothing_is_tried),
		cmocka_unit_test(test_probes_come_in_the_order_of_a_lower_bound_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
