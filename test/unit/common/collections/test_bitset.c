#include "collections/bitset.h"

#include "lib/unit.h"

#include "base/rng.h"

/* Against an array of bool, for sizes on both sides of a word's end. */
static void test_model(void **state)
{
	static const size_t sizes[] = { 1, 63, 64, 65, 127, 128, 129, 200 };

	(void)state;
	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		uint64_t w[BITSET_WORDS(200)] = { 0 };
		bool model[200] = { false };
		size_t bits = sizes[k];
		struct rng rng;

		rng_init(&rng, k);
		for (int i = 0; i < 300; i++) {
			size_t b = rng_below(&rng, bits);

			model[b] = rng_below(&rng, 3) == 0;
			if (model[b]) {
				bitset_set(w, b);
			} else {
				bitset_clear(w, b);
			}
		}
		for (size_t b = 0; b < bits; b++) {
			assert_int_equal(bitset_has(w, b), model[b]);
		}
	}
}

static void test_words(void **state)
{
	(void)state;
	assert_int_equal(BITSET_WORDS(0), 0);
	assert_int_equal(BITSET_WORDS(1), 1);
	assert_int_equal(BITSET_WORDS(64), 1);
	assert_int_equal(BITSET_WORDS(65), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests_name("bitset", tests, NULL, NULL);
}
