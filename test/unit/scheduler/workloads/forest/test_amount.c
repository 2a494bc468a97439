#include "scheduler/workloads/forest/amount.h"

#include "base/attrs.h"
#include "lib/unit.h"
#include "scheduler/workloads/model/quota_model.h"

#define U QUOTA_UNLIMITED

static void test_arithmetic(void **state)
{
	static const struct {
		int64_t a, b, sum, difference;
	} rows[] = {
		{ 1, 2, 3, -1 },
		{ -5, 3, -2, -8 },
		{ U, 5, U, U },
		{ 5, U, U, INT64_MIN },
		{ U, U, U, 0 },
		{ U, INT64_MIN, U, U },
		{ U - 1, 1, U, U - 2 },
		{ U - 1, 2, U, U - 3 },
		{ INT64_MIN, -1, INT64_MIN, INT64_MIN + 1 },
		{ INT64_MIN, 1, INT64_MIN + 1, INT64_MIN },
		{ 1, INT64_MIN, INT64_MIN + 1, U },
		{ 0, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(amount_add(rows[i].a, rows[i].b), rows[i].sum);
		assert_int_equal(amount_sub(rows[i].a, rows[i].b), rows[i].difference);
	}
}

static void test_a_product_is_never_unlimited(void **state)
{
	static const struct {
		int64_t a, times, product;
	} rows[] = {
		{ 3, 4, 12 },        { 0, U, 0 },          { U, 1, U - 1 },
		{ U / 2, 3, U - 1 }, { -2, U, INT64_MIN }, { U - 1, 1, U - 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(amount_mul(rows[i].a, rows[i].times), rows[i].product);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arithmetic),
		cmocka_unit_test(test_a_product_is_never_unlimited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
