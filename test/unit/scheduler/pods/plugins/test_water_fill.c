#include "scheduler/pods/plugins/water_fill.h"

#include "base/attrs.h"
#include "lib/unit.h"

static const struct {
	const char *name;
	int64_t total;
	size_t n;
	struct water_fill v[4]; /* weight, want, guarantee, share, 0 */
} rows[] = {
	{ "by weight", 90, 2, { { 1, 100, 0, 30, 0 }, { 2, 100, 0, 60, 0 } } },
	{ "no more than wanted", 90, 2, { { 1, 10, 0, 10, 0 }, { 2, 20, 0, 20, 0 } } },
	{ "the rest goes to others", 90, 2, { { 1, 100, 0, 80, 0 }, { 2, 10, 0, 10, 0 } } },
	{ "the rest by weight",
	  100,
	  3,
	  { { 1, 100, 0, 30, 0 }, { 2, 100, 0, 60, 0 }, { 5, 10, 0, 10, 0 } } },
	{ "one after the other has enough",
	  100,
	  4,
	  { { 1, 10, 0, 10, 0 }, { 1, 26, 0, 26, 0 }, { 1, 30, 0, 30, 0 }, { 1, 99, 0, 34, 0 } } },
	{ "a guarantee is met, and others have less",
	  90,
	  2,
	  { { 1, 100, 70, 70, 0 }, { 2, 100, 0, 60, 0 } } },
	{ "a guarantee without a wish", 90, 2, { { 1, 0, 5, 5, 0 }, { 1, 200, 0, 85, 0 } } },
	{ "a share beyond the guarantee", 90, 2, { { 1, 100, 7, 45, 0 }, { 1, 100, 7, 45, 0 } } },
	{ "what is left comes on top of a guarantee",
	  100,
	  3,
	  { { 1, 100, 40, 57, 0 }, { 1, 100, 0, 42, 0 }, { 2, 0, 0, 0, 0 } } },
	{ "no weights", 90, 2, { { 0, 100, 3, 3, 0 }, { -4, 100, 0, 0, 0 } } },
	{ "nothing to divide", 0, 2, { { 1, 100, 0, 0, 0 }, { 1, 100, 2, 2, 0 } } },
	{ "even after several rounds",
	  1000,
	  4,
	  { { 7, 10, 0, 10, 0 },
	    { 11, 30, 0, 30, 0 },
	    { 3, 999, 0, 720, 0 },
	    { 1, 999, 0, 240, 0 } } },
	{ "fractions are cut off",
	  100,
	  3,
	  { { 1, 99, 0, 33, 0 }, { 1, 99, 0, 33, 0 }, { 1, 99, 0, 33, 0 } } },
	{ "no queue", 10, 0, { { 0, 0, 0, 0, 0 } } },
	{ "the largest numbers",
	  INT64_MAX,
	  2,
	  { { INT32_MAX, INT64_MAX, INT64_MAX, INT64_MAX, 0 },
	    { 1, INT64_MAX, 0, 4294967296, 0 } } },
};

static void test_shares(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct water_fill v[4];

		unit_row(rows[i].name);
		for (size_t k = 0; k < 4; k++) {
			v[k] = rows[i].v[k];
			v[k].share = -1;
		}
		water_fill(v, rows[i].n, rows[i].total);
		for (size_t k = 0; k < rows[i].n; k++) {
			assert_int_equal(v[k].share, rows[i].v[k].share);
		}
	}
}

/* The shares add up to the total, but for fractions, whenever the queues want as much. */
static void test_nothing_is_lost(void **state)
{
	(void)state;
	for (int64_t seed = 1; seed < 200; seed++) {
		struct water_fill v[20];
		int64_t total = 1000 + seed * 37 % 900, wanted = 0, given = 0;

		for (int64_t i = 0; i < 20; i++) {
			v[i] = (struct water_fill){ .weight = 1 + (seed * (i + 3)) % 9,
						    .want = (seed * seed * (i + 1)) % 200 };
			wanted += v[i].want;
		}
		water_fill(v, 20, total);
		for (size_t i = 0; i < 20; i++) {
			assert_true(v[i].share <= v[i].want);
			given += v[i].share;
		}
		assert_true(given <= total);
		assert_true(given + 20 > (total < wanted ? total : wanted));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_nothing_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
