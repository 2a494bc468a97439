#include "base/rng.h"

#include "lib/unit.h"

#include <string.h>

/* The published sequence of xoshiro256** for the state 1, 2, 3, 4. */
static void test_reference(void **state)
{
	static const uint64_t want[] = {
		UINT64_C(11520),
		UINT64_C(0),
		UINT64_C(1509978240),
		UINT64_C(1215971899390074240),
	};
	struct rng r = { { 1, 2, 3, 4 } };

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		assert_true(rng_next(&r) == want[i]);
	}
}

static void test_seeds(void **state)
{
	struct rng a, b, c;

	(void)state;
	rng_init(&a, 7);
	rng_init(&b, 7);
	rng_init(&c, 8);
	/* The first output of splitmix64 for the seed 0 is published as well. */
	for (int i = 0; i < 10; i++) {
		uint64_t n = rng_next(&a);

		assert_true(n == rng_next(&b));
		assert_true(n != rng_next(&c));
	}
	rng_init(&a, 0);
	assert_true(a.s[0] == UINT64_C(0xe220a8397b1dcdaf));
}

static void test_ranges(void **state)
{
	unsigned seen[7] = { 0 };
	struct rng r;

	(void)state;
	rng_init(&r, 3);
	for (int i = 0; i < 7000; i++) {
		uint64_t n = rng_below(&r, 7);
		double d = rng_unit(&r);

		assert_true(n < 7);
		seen[n]++;
		assert_true(d >= 0 && d < 1);
		assert_int_equal(rng_below(&r, 1), 0);
		assert_true(rng_below(&r, UINT64_MAX) < UINT64_MAX);
	}
	for (size_t i = 0; i < 7; i++) {
		assert_in_range(seen[i], 800, 1200);
	}
}

static void test_uuid(void **state)
{
	char a[37], b[37];
	struct rng r;

	(void)state;
	rng_init(&r, 4);
	for (int i = 0; i < 200; i++) {
		rng_uuid(&r, a);
		rng_uuid(&r, b);
		assert_string_not_equal(a, b);
		assert_int_equal(strlen(a), 36);
		assert_int_equal(strspn(a, "0123456789abcdef-"), 36);
		assert_int_equal(a[8], '-');
		assert_int_equal(a[13], '-');
		assert_int_equal(a[14], '4');
		assert_int_equal(a[18], '-');
		assert_non_null(strchr("89ab", a[19]));
		assert_int_equal(a[23], '-');
	}
}

static void test_entropy(void **state)
{
	(void)state;
	assert_true(rng_entropy() != rng_entropy());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reference), cmocka_unit_test(test_seeds),
		cmocka_unit_test(test_ranges),    cmocka_unit_test(test_uuid),
		cmocka_unit_test(test_entropy),
	};

	return cmocka_run_group_tests_name("rng", tests, NULL, NULL);
}
