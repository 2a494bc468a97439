#include "model/resources.h"

#include <stdio.h>

#include "base/err.h"
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
	zero.v[RES_MAX - 1] = -1;
	assert_false(res_is_zero(&zero));
	assert_int_equal(res_mask(&zero), 0);
	zero.v[RES_MAX - 1] = 1;
	assert_int_equal(res_mask(&zero), 1u << (RES_MAX - 1));
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
	for (int i = RES_FIRST_NAMED; i < RES_MAX; i++) {
		snprintf(name, sizeof(name), "example.com/r%d", i);
		assert_int_equal(res_names_add(n, str_of(name)), i);
		assert_int_equal(res_names_add(n, str_of(name)), i);
	}
	assert_int_equal(res_names_left_out(n), 0);
	assert_int_equal(res_names_add(n, STR_LIT("example.com/more")), -1);
	assert_int_equal(res_names_add(n, STR_LIT("example.com/more")), -1);
	assert_int_equal(res_names_left_out(n), 1);
	assert_int_equal(res_names_find(n, STR_LIT("example.com/more")), -1);
	assert_int_equal(res_names_count(n), RES_MAX);
	assert_string_equal(res_names_get(n, RES_CPU), "cpu");
	res_names_destroy(n);
	res_names_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arithmetic_saturates),
		cmocka_unit_test(test_over_looks_at_mask_only),
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_min_max_mask_zero),
		cmocka_unit_test(test_names_at_limit_and_beyond),
	};

	return cmocka_run_group_tests_name("model/resources", tests, NULL, NULL);
}
