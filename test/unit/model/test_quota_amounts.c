#include "lib/unit.h"
#include "model/quota_store.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sorted_without_duplicates),
		cmocka_unit_test(test_sums_stay_below_unlimited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
