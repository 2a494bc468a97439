#include "scheduler/workloads/forest/amount.h"

#include "base/attrs.h"
#include "lib/unit.h"
#include "scheduler/workloads/model/quota_model.h"

#define U QUOTA_UNLIMITED

static void test_arithmetic(void **state)
{
	static const struct {
		const char *name;
		int64_t a, b, sum, difference;
	} rows[] = {
		{ "small", 1, 2, 3, -1 },
		{ "negative", -5, 3, -2, -8 },
		{ "unlimited and a number", U, 5, U, U },
		{ "a number and unlimited", 5, U, U, INT64_MIN },
		{ "unlimited twice", U, U, U, 0 },
		{ "unlimited and the least number", U, INT64_MIN, U, U },
		{ "the sum is unlimited", U - 1, 1, U, U - 2 },
		{ "the sum is beyond unlimited", U - 1, 2, U, U - 3 },
		{ "the sum is below the least number", INT64_MIN, -1, INT64_MIN, INT64_MIN + 1 },
		{ "the difference is below the least number", INT64_MIN, 1, INT64_MIN + 1,
		  INT64_MIN },
		{ "the difference is beyond unlimited", 1, INT64_MIN, INT64_MIN + 1, U },
		{ "zero", 0, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].name);
		assert_int_equal(amount_add(rows[i].a, rows[i].b), rows[i].sum);
		assert_int_equal(amount_sub(rows[i].a, rows[i].b), rows[i].difference);
	}
}

static void test_a_product_is_never_unlimited(void **state)
{
	static const struct {
		const char *name;
		int64_t a, times, product;
	} rows[] = {
		{ "small", 3, 4, 12 },
		{ "none of unlimited", 0, U, 0 },
		{ "one of unlimited", U, 1, U - 1 },
		{ "beyond unlimited", U / 2, 3, U - 1 },
		{ "below the least number", -2, U, INT64_MIN },
		{ "the largest", U - 1, 1, U - 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].name);
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
