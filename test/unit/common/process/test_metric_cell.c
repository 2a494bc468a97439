#include "process/metric_cell.h"

#include "lib/unit.h"

#include "base/attrs.h"

static void test_counter(void **state)
{
	struct metric_cell c = { .type = METRIC_COUNTER };

	(void)state;
	metric_cell_add(&c, 3);
	metric_cell_add(&c, 4);
	assert_true(metric_cell_get(&c) == 7);
}

static void test_gauge(void **state)
{
	_Atomic uint64_t round = 1;
	struct metric_cell c = { .type = METRIC_GAUGE, .round = &round };

	(void)state;
	assert_false(metric_cell_is_of_round(&c, 1));
	metric_cell_set(&c, 2.5);
	metric_cell_add(&c, -1);
	assert_true(metric_cell_get(&c) == 1.5);
	assert_true(metric_cell_is_of_round(&c, 1));
	assert_false(metric_cell_is_of_round(&c, 2));
}

/* A bound belongs to its own bucket; what is no number is above all of them. */
static void test_histogram(void **state)
{
	static const double bounds[] = { 0.1, 1 };
	_Atomic uint64_t above[ARRAY_LEN(bounds) + 1] = { 0 };
	struct metric_cell c = { .type = METRIC_HISTOGRAM,
				 .bounds = bounds,
				 .nbounds = ARRAY_LEN(bounds),
				 .above = above };

	(void)state;
	metric_cell_observe(&c, 0.1);
	metric_cell_observe(&c, 0.5);
	metric_cell_observe(&c, 1);
	metric_cell_observe(&c, 100);
	assert_int_equal(metric_cell_bucket(&c, 0), 1);
	assert_int_equal(metric_cell_bucket(&c, 1), 2);
	assert_int_equal(metric_cell_bucket(&c, 2), 1);
	assert_int_equal(metric_cell_observations(&c), 4);
	assert_true(metric_cell_get(&c) == 101.6);
	metric_cell_observe(&c, __builtin_nan(""));
	assert_int_equal(metric_cell_bucket(&c, 2), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counter),
		cmocka_unit_test(test_gauge),
		cmocka_unit_test(test_histogram),
	};

	return cmocka_run_group_tests_name("metric_cell", tests, NULL, NULL);
}
