#include "lib/unit.h"

#include "base/attrs.h"
#include "scheduler/workloads/model/quota_store.h"

static void test_sorted_without_duplicates(void **state)
{
	struct quota_amounts a = { .v = NULL };

	(void)state;
	assert_int_equal(quota_amounts_get(&a, 3), 0);
	quota_amounts_add(&a, 7, 1);
	quota_amounts_add(&a, 3, 2);
	quota_amounts_add(&a, 5, 0);
	quota_amounts_add(&a, 7, 10);
	assert_int_equal(a.n, 3);
	for (size_t i = 1; i < a.n; i++) {
		assert_true(a.v[i - 1].id < a.v[i].id);
	}
	assert_int_equal(quota_amounts_get(&a, 7), 11);
	assert_int_equal(quota_amounts_get(&a, 3), 2);
	assert_int_equal(quota_amounts_get(&a, 5), 0);
	assert_int_equal(quota_amounts_get(&a, 6), 0);
	quota_amounts_finish(&a);
	assert_int_equal(a.n, 0);
}

static void test_sums_stay_below_unlimited(void **state)
{
	struct quota_amounts a = { .v = NULL };

	(void)state;
	quota_amounts_add(&a, 1, QUOTA_UNLIMITED);
	assert_int_equal(quota_amounts_get(&a, 1), QUOTA_UNLIMITED - 1);
	quota_amounts_add(&a, 1, 1);
	assert_int_equal(quota_amounts_get(&a, 1), QUOTA_UNLIMITED - 1);
	quota_amounts_add(&a, 2, -5);
	quota_amounts_add(&a, 2, INT64_MIN);
	assert_int_equal(quota_amounts_get(&a, 2), INT64_MIN);
	quota_amounts_finish(&a);
}

static void test_mask(void **state)
{
	CLEANUP(quota_amounts_finish) struct quota_amounts a = { 0 };

	(void)state;
	assert_true(quota_amounts_mask(&a) == 0);
	quota_amounts_add(&a, 0, 1);
	quota_amounts_add(&a, 62, 0);
	assert_true(quota_amounts_mask(&a) == (UINT64_C(1) << 62 | 1));
	quota_amounts_add(&a, 63, 1);
	assert_true(quota_amounts_mask(&a) == (UINT64_C(1) << 62 | 1 | QUOTA_MASK_OTHERS));
	assert_true(quota_amounts_bit(63) == QUOTA_MASK_OTHERS);
	assert_true(quota_amounts_bit(UINT32_MAX) == QUOTA_MASK_OTHERS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sorted_without_duplicates),
		cmocka_unit_test(test_sums_stay_below_unlimited),
		cmocka_unit_test(test_mask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
