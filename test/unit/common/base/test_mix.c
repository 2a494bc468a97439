#include "base/mix.h"

#include "base/attrs.h"
#include "lib/unit.h"

static void test_order_and_number_of_words_count(void **state)
{
	const uint64_t prints[] = {
		mix(0, 0),         mix(0, 1),         mix(mix(0, 0), 0),
		mix(mix(0, 0), 1), mix(mix(0, 1), 0), mix(mix(0, 1), UINT64_MAX),
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(prints); i++) {
		unit_row_number(i);
		for (size_t k = 0; k < i; k++) {
			assert_true(prints[i] != prints[k]);
		}
	}
}

/* Fingerprints are kept in dumps, which another process may read. */
static void test_is_the_same_in_every_process(void **state)
{
	(void)state;
	assert_true(mix(mix(1, 2), 3) == UINT64_C(0xa27a4ce2f15f9ab3));
}

/* A change of one bit of a word changes about half of the bits of the fingerprint. */
static void test_every_bit_counts(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit < 64; bit++) {
		uint64_t h = mix(mix(7, UINT64_C(1) << bit), 7) ^ mix(mix(7, 0), 7);

		assert_in_range(__builtin_popcountll(h), 12, 52);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_and_number_of_words_count),
		cmocka_unit_test(test_is_the_same_in_every_process),
		cmocka_unit_test(test_every_bit_counts),
	};

	return cmocka_run_group_tests_name("mix", tests, NULL, NULL);
}
