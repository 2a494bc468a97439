#include "process/backoff.h"

#include "lib/unit.h"

#include <stdbool.h>

#include "base/rng.h"

static void test_doubles_up_to_max(void **state)
{
	static const int64_t want[] = { 100, 200, 400, 800, 1000, 1000, 1000 };
	struct backoff b;
	struct rng r;

	(void)state;
	rng_init(&r, 1);
	backoff_init(&b, 100, 1000, 0);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
			assert_int_equal(backoff_next(&b, &r), want[i]);
			assert_int_equal(b.failures, i + 1);
		}
		backoff_reset(&b);
		assert_int_equal(b.failures, 0);
	}
}

static void test_jitter(void **state)
{
	bool below = false, above = false;
	struct backoff b;
	struct rng r;

	(void)state;
	rng_init(&r, 2);
	for (int i = 0; i < 200; i++) {
		int64_t d;

		backoff_init(&b, 1000, 1000000, 0.25);
		d = backoff_next(&b, &r);
		assert_in_range(d, 750, 1250);
		below = below || d < 1000;
		above = above || d > 1000;
	}
	assert_true(below && above);
}

static void test_extremes(void **state)
{
	struct backoff b;
	struct rng r;

	(void)state;
	rng_init(&r, 3);
	backoff_init(&b, 1, INT64_MAX, 1);
	for (int i = 0; i < 200; i++) {
		assert_true(backoff_next(&b, &r) >= 0);
	}
	b.failures = UINT32_MAX;
	b.jitter = 0;
	assert_true(backoff_next(&b, &r) == INT64_MAX);
	assert_true(b.failures == UINT32_MAX);
	backoff_init(&b, 0, 100, 1);
	b.failures = UINT32_MAX;
	assert_int_equal(backoff_next(&b, &r), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_doubles_up_to_max),
		cmocka_unit_test(test_jitter),
		cmocka_unit_test(test_extremes),
	};

	return cmocka_run_group_tests_name("backoff", tests, NULL, NULL);
}
