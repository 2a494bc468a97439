#include "kube/pool.h"

#include "lib/unit.h"

#include "base/clock.h"

static void test_burst_then_rate(void **state)
{
	struct clock_fake clock;
	struct pool_limiter *l;
	int64_t wait;
	(void)state;

	clock_fake_init(&clock, 0);
	l = pool_limiter_create(10, 3, &clock.base);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(pool_limiter_take(l), 0);
	}
	for (int i = 0; i < 20; i++) {
		wait = pool_limiter_take(l);
		assert_in_range(wait, 99 * CLOCK_NS_PER_MS, 101 * CLOCK_NS_PER_MS);
		clock_fake_advance(&clock, wait - 2 * CLOCK_NS_PER_MS);
		assert_true(pool_limiter_take(l) > 0);
		clock_fake_advance(&clock, 2 * CLOCK_NS_PER_MS);
		assert_int_equal(pool_limiter_take(l), 0);
	}
	/* A long rest earns no more than the burst. */
	clock_fake_advance(&clock, 100 * CLOCK_NS_PER_S);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(pool_limiter_take(l), 0);
	}
	assert_true(pool_limiter_take(l) > 0);
	pool_limiter_destroy(l);
}

static void test_give_back(void **state)
{
	struct clock_fake clock;
	struct pool_limiter *l;
	(void)state;

	clock_fake_init(&clock, 0);
	l = pool_limiter_create(1, 1, &clock.base);
	assert_int_equal(pool_limiter_take(l), 0);
	pool_limiter_give_back(l);
	assert_int_equal(pool_limiter_take(l), 0);
	assert_true(pool_limiter_take(l) > 0);
	pool_limiter_give_back(l);
	pool_limiter_give_back(l);
	assert_int_equal(pool_limiter_take(l), 0);
	assert_true(pool_limiter_take(l) > 0);
	pool_limiter_destroy(l);
}

static void test_off(void **state)
{
	struct clock_fake clock;
	struct pool_limiter *l;
	(void)state;

	clock_fake_init(&clock, 0);
	l = pool_limiter_create(0, 0, &clock.base);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(pool_limiter_take(l), 0);
	}
	pool_limiter_destroy(l);
	assert_int_equal(pool_limiter_take(NULL), 0);
	pool_limiter_give_back(NULL);
	pool_limiter_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_burst_then_rate),
		cmocka_unit_test(test_give_back),
		cmocka_unit_test(test_off),
	};

	return cmocka_run_group_tests_name("pool_limiter", tests, NULL, NULL);
}
