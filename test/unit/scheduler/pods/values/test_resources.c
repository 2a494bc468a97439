#include "scheduler/pods/values/resources.h"

#include <stdio.h>

#include "base/attrs.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "lib/pods/res_fixture.h"
#include "lib/unit.h"

static struct res r2(int64_t cpu, int64_t memory)
{
	return (struct res){ .v = { [RES_CPU] = cpu, [RES_MEMORY] = memory } };
}

static void test_arithmetic_saturates(void **state)
{
	static const struct {
		int64_t a, b, sum, diff, floor;
	} rows[] = {
		{ 5, 3, 8, 2, 2 },
		{ 3, 5, 8, -2, 0 },
		{ INT64_MAX - 1, 5, INT64_MAX, INT64_MAX - 6, INT64_MAX - 6 },
		{ -5, INT64_MAX - 1, INT64_MAX - 6, INT64_MIN, 0 },
		{ RES_UNLIMITED, 7, RES_UNLIMITED, INT64_MAX - 7, RES_UNLIMITED },
		{ RES_UNLIMITED, -7, RES_UNLIMITED, INT64_MAX, RES_UNLIMITED },
		{ -9, RES_UNLIMITED, RES_UNLIMITED, INT64_MIN, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct res a = r2(rows[i].a, 0), b = r2(rows[i].b, 0);

		res_add(&a, &b);
		assert_int_equal(a.v[RES_CPU], rows[i].sum);
		a = r2(rows[i].a, 0);
		res_sub_floor(&a, &b);
		assert_int_equal(a.v[RES_CPU], rows[i].floor);
		a = r2(rows[i].a, 0);
		res_sub(&a, &b);
		assert_int_equal(a.v[RES_CPU], rows[i].diff);
	}
}

static void test_over_looks_at_mask_only(void **state)
{
	struct res used = r2(900, 10), req = r2(200, 1), limit = r2(1000, 11);

	(void)state;
	assert_int_equal(res_over(&used, &req, &limit, res_mask(&req)), 1u << RES_CPU);
	assert_int_equal(res_over(&used, &req, &limit, 1u << RES_MEMORY), 0);
	limit.v[RES_MEMORY] = 10;
	assert_int_equal(res_over(&used, &req, &limit, res_mask(&req)), 3);
	res_fill(&limit, RES_UNLIMITED);
	used.v[RES_CPU] = INT64_MAX;
	assert_int_equal(res_over(&used, &req, &limit, res_mask(&req)), 0);
	assert_int_equal(res_over(&used, &req, &limit, 0), 0);
}

static void test_exceeds_is_not_as_much(void **state)
{
	struct res a = r2(1000, 11), limit = r2(1000, 10);

	(void)state;
	assert_int_equal(res_exceeds(&a, &limit, UINT32_MAX), 1u << RES_MEMORY);
	assert_int_equal(res_exceeds(&a, &limit, 1u << RES_CPU), 0);
	res_fill(&limit, RES_UNLIMITED);
	assert_int_equal(res_exceeds(&a, &limit, UINT32_MAX), 0);
}

static void test_share(void **state)
{
	struct res used = r2(500, 3), total = r2(1000, 0);
	uint32_t both = (1u << RES_CPU) | (1u << RES_MEMORY);

	(void)state;
	assert_true(res_share(&used, &total, 1u << RES_CPU) == 0.5);
	assert_true(res_share(&used, &total, both) == 1.0); /* 3 of nothing */
	used.v[RES_MEMORY] = 0;
	assert_true(res_share(&used, &total, both) == 0.5); /* nothing of nothing */
	total.v[RES_CPU] = RES_UNLIMITED;
	assert_true(res_share(&used, &total, both) == 0.0);
	total.v[RES_CPU] = 250;
	assert_true(res_share(&used, &total, both) == 2.0);
	used.v[RES_CPU] = 1;
	total.v[RES_CPU] = 3;
	assert_true(res_share(&used, &total, both) == 0.333333333);
}

static void test_min_max_mask_zero(void **state)
{
	struct res a = r2(1, 8), b = r2(5, 2), zero = r2(0, 0);

	(void)state;
	res_max(&a, &b);
	assert_int_equal(a.v[RES_CPU], 5);
	assert_int_equal(a.v[RES_MEMORY], 8);
	res_min(&a, &b);
	assert_true(res_eq(&a, &b));
	assert_true(res_is_zero(&zero));
	zero.v[RES_DENSE - 1] = -1;
	assert_false(res_is_zero(&zero));
	assert_int_equal(res_mask(&zero), 0);
	zero.v[RES_DENSE - 1] = 1;
	assert_int_equal(res_mask(&zero), 1u << (RES_DENSE - 1));
}

static void test_names_at_limit_and_beyond(void **state)
{
	struct res_names *n = res_names_create();
	char name[32];

	(void)state;
	assert_int_equal(res_names_count(n), RES_FIRST_NAMED);
	assert_int_equal(res_names_find(n, STR_LIT("memory")), RES_MEMORY);
	assert_int_equal(res_names_find(n, STR_LIT("ephemeral-storage")), RES_EPHEMERAL);
	assert_int_equal(res_names_find(n, STR_LIT("example.com/x")), -1);
	for (int i = RES_FIRST_NAMED; i < (int)RES_NAMES_MAX; i++) {
		snprintf(name, sizeof(name), "example.com/r%d", i);
		assert_int_equal(res_names_add(n, str_of(name)), i);
		assert_int_equal(res_names_add(n, str_of(name)), i);
	}
	assert_int_equal(res_names_left_out(n), 0);
	assert_int_equal(res_names_add(n, STR_LIT("example.com/more")), -1);
	assert_int_equal(res_names_add(n, STR_LIT("example.com/more")), -1);
	assert_int_equal(res_names_left_out(n), 1);
	assert_int_equal(res_names_find(n, STR_LIT("example.com/more")), -1);
	assert_int_equal(res_names_count(n), RES_NAMES_MAX);
	assert_string_equal(res_names_get(n, RES_CPU), "cpu");
	res_names_destroy(n);
	res_names_destroy(NULL);
}

enum { WIDTH = RES_DENSE + 9 };

static int64_t some_amount(struct rng *rng)
{
	static const int64_t odd[] = { 0, 0, 0, 1, -3, 7, INT64_MAX, INT64_MAX - 1, 1000 };

	return odd[rng_below(rng, ARRAY_LEN(odd))];
}

static void random_res(struct rng *rng, struct res_names *n, struct res *r)
{
	res_fill(r, rng_below(rng, 4) == 0 ? RES_UNLIMITED : 0);
	for (unsigned d = 0; d < WIDTH; d++) {
		if (rng_below(rng, 2) == 0) {
			res_fixture_set(n, r, d, some_amount(rng));
		}
	}
}

static int64_t plus(int64_t a, int64_t b)
{
	int64_t r;

	if (a == RES_UNLIMITED || b == RES_UNLIMITED) {
		return RES_UNLIMITED;
	}
	return __builtin_add_overflow(a, b, &r) ? b > 0 ? INT64_MAX : INT64_MIN : r;
}

static int64_t minus(int64_t a, int64_t b)
{
	int64_t r;

	return __builtin_sub_overflow(a, b, &r) ? b < 0 ? INT64_MAX : INT64_MIN : r;
}

static int64_t minus_floor(int64_t a, int64_t b)
{
	int64_t r = minus(a, b);

	return a == RES_UNLIMITED ? a : r < 0 ? 0 : r;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t inherit(int64_t a, int64_t b)
{
	return a == RES_UNLIMITED ? b : a;
}

/* Every operation does in the further dimensions what it does in the dense ones, also where none of
 * them was ever set. */
static void test_further_dimensions_are_like_the_others(void **state)
{
	static const struct {
		void (*all)(struct res *a, const struct res *b);
		int64_t (*one)(int64_t a, int64_t b);
	} rows[] = {
		{ res_add, plus },   { res_sub, minus },   { res_sub_floor, minus_floor },
		{ res_max, larger }, { res_min, smaller }, { res_inherit, inherit },
	};
	struct res_names *n = res_names_create();
	struct rng rng;

	(void)state;
	rng_init(&rng, 7);
	for (int round = 0; round < 3000; round++) {
		const size_t row = rng_below(&rng, ARRAY_LEN(rows));
		struct res a, b, was, copy;
		bool same = true;

		random_res(&rng, n, &a);
		random_res(&rng, n, &b);
		was = a;
		rows[row].all(&a, &b);
		for (unsigned d = 0; d < WIDTH; d++) {
			int64_t want = rows[row].one(res_get(&was, d), res_get(&b, d));

			if (res_get(&a, d) != want) {
				fail_msg("row %zu, dimension %u", row, d);
			}
			same &= res_get(&a, d) == res_get(&b, d);
		}
		assert_int_equal(res_eq(&a, &b), same && res_get(&a, WIDTH) == res_get(&b, WIDTH));
		copy = a;
		assert_true(res_eq(&a, &copy));
		res_fixture_set(n, &copy, RES_DENSE + 3, res_get(&a, RES_DENSE + 3) / 2 + 1);
		assert_int_equal(res_eq(&a, &copy),
				 res_get(&a, RES_DENSE + 3) == res_get(&copy, RES_DENSE + 3));
	}
	res_names_destroy(n);
}

static void test_masks_and_limits_of_further_dimensions(void **state)
{
	struct res_names *n = res_names_create();
	struct res used = { .more = NULL }, req = used, limit;

	(void)state;
	res_fill(&limit, RES_UNLIMITED);
	assert_int_equal(res_mask(&req), 0);
	res_fixture_set(n, &req, 40, 2);
	assert_int_equal(res_mask(&req), RES_FURTHER);
	assert_false(res_is_zero(&req));
	assert_int_equal(res_over(&used, &req, &limit, RES_FURTHER), 0);
	res_fixture_set(n, &limit, 40, 3);
	res_fixture_set(n, &limit, 41, 0);
	assert_int_equal(res_over(&used, &req, &limit, RES_FURTHER), 0);
	used.more_word = res_more_sum(&used, &req, 1);
	assert_int_equal(res_get(&used, 40), 2);
	assert_int_equal(res_over(&used, &req, &limit, RES_FURTHER), RES_FURTHER);
	assert_int_equal(res_exceeds(&used, &limit, UINT32_MAX), 0);
	res_fixture_set(n, &used, 41, 1); /* req does not ask for it */
	assert_int_equal(res_exceeds(&used, &limit, UINT32_MAX), RES_FURTHER);
	used.more_word = res_more_sum(&used, &req, -1);
	assert_int_equal(res_get(&used, 40), 0);
	used.more_word = res_more_sum(&used, &req, -1); /* not below 0 */
	assert_int_equal(res_over(&used, &req, &limit, RES_FURTHER), 0);
	res_fixture_set(n, &used, 40, 1);
	assert_true(res_share(&used, &limit, RES_FURTHER) > 0.3);
	res_fill(&req, 0);
	assert_true(res_is_zero(&req));
	res_names_destroy(n);
}

static void test_sweeping_keeps_what_is_marked(void **state)
{
	struct res_names *n = res_names_create();
	struct res kept = { .more = NULL }, r = kept;

	(void)state;
	res_fixture_set(n, &kept, 50, 5);
	for (int64_t i = 1; !res_names_wants_sweep(n); i++) {
		res_fixture_set(n, &r, 50, i);
		assert_in_range(i, 1, 100000);
	}
	res_names_mark(&kept);
	res_names_mark(&(struct res){ .more = NULL });
	res_names_sweep(n);
	assert_int_equal(res_get(&kept, 50), 5);
	assert_false(res_names_wants_sweep(n));
	res_names_destroy(n);
}

/* A vector for each amount would be 8 GiB. */
static void test_many_amounts_at_once_are_one_vector(void **state)
{
	struct res_names *n = res_names_create();
	struct res r, shared;
	struct res_edit e = res_edit_begin(n, &r);

	(void)state;
	res_fill(&r, RES_UNLIMITED);
	for (unsigned d = 0; d < RES_NAMES_MAX; d += 2) {
		res_edit_set(&e, d, d);
		assert_int_equal(res_edit_get(&e, d), d);
	}
	assert_true(res_edit_get(&e, 101) == RES_UNLIMITED);
	res_edit_end(&e);
	/* Up to the last one that was set. */
	assert_int_equal(res_width(&r), RES_NAMES_MAX);
	shared = r;
	for (unsigned d = 0; d < RES_NAMES_MAX; d++) {
		assert_true(res_get(&r, d) == (d % 2 == 0 ? d : RES_UNLIMITED));
	}
	assert_true(res_get(&r, RES_NAMES_MAX) == RES_UNLIMITED);
	e = res_edit_begin(n, &r);
	res_edit_set(&e, 100, 5);
	res_edit_set(&e, 103, 6);
	res_edit_set(&e, 7, 8);
	res_edit_end(&e);
	assert_int_equal(res_get(&r, 100), 5);
	assert_int_equal(res_get(&r, 103), 6);
	assert_int_equal(res_get(&r, 7), 8);
	assert_int_equal(res_get(&r, 102), 102);
	assert_int_equal(res_get(&shared, 100), 100);
	assert_true(res_get(&shared, 103) == RES_UNLIMITED);
	res_names_sweep(n);
	assert_false(res_names_wants_sweep(n));
	for (unsigned i = 0; i < 10; i++) {
		r = (struct res){ .more = NULL };
		e = res_edit_begin(n, &r);
		for (unsigned d = RES_DENSE; d < 1000; d++) {
			res_edit_set(&e, d, d);
		}
		res_edit_end(&e);
	}
	assert_false(res_names_wants_sweep(n)); /* 78 KB; 38 MB if each amount made a vector */
	res_names_destroy(n);
}

static void test_dimensions_that_are_over_are_described(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct res_names *n = res_names_create();

	(void)state;
	res_describe_over(n, 0, &text);
	assert_int_equal(text.len, 0);
	res_describe_over(n, UINT32_C(1) << RES_MEMORY, &text);
	assert_string_equal(text.p, "insufficient memory");
	strbuf_reset(&text);
	res_describe_over(n, UINT32_C(1) << RES_CPU | UINT32_C(1) << RES_MEMORY, &text);
	assert_string_equal(text.p, "insufficient cpu, memory");
	res_names_destroy(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arithmetic_saturates),
		cmocka_unit_test(test_over_looks_at_mask_only),
		cmocka_unit_test(test_exceeds_is_not_as_much),
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_min_max_mask_zero),
		cmocka_unit_test(test_names_at_limit_and_beyond),
		cmocka_unit_test(test_further_dimensions_are_like_the_others),
		cmocka_unit_test(test_masks_and_limits_of_further_dimensions),
		cmocka_unit_test(test_sweeping_keeps_what_is_marked),
		cmocka_unit_test(test_many_amounts_at_once_are_one_vector),
		cmocka_unit_test(test_dimensions_that_are_over_are_described),
	};

	return cmocka_run_group_tests_name("pods/values/resources", tests, NULL, NULL);
}
