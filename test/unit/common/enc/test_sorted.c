#include "enc/sorted.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/rng.h"

struct item {
	const char *key;
	int value;
};

static void test_last_of_equal_keys_stays(void **state)
{
	struct item items[] = { { "b", 1 }, { "a", 2 }, { "b", 3 }, { "c", 4 }, { "a", 5 } };
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	(void)state;

	assert_int_equal(sorted_by_key(items, 5, sizeof(items[0]), arena), 3);
	assert_string_equal(items[0].key, "a");
	assert_int_equal(items[0].value, 5);
	assert_string_equal(items[1].key, "b");
	assert_int_equal(items[1].value, 3);
	assert_string_equal(items[2].key, "c");
}

static void test_in_order_stays(void **state)
{
	struct item items[] = { { "", 1 }, { "a", 2 }, { "ab", 3 } };
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	(void)state;

	assert_int_equal(sorted_by_key(items, 3, sizeof(items[0]), arena), 3);
	assert_int_equal(items[2].value, 3);
	assert_int_equal(sorted_by_key(items, 0, sizeof(items[0]), arena), 0);
	assert_int_equal(arena_used(arena), 0);
}

static void test_random(void **state)
{
	static const char keys[16][3] = { "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7",
					  "k8", "k9", "ka", "kb", "kc", "kd", "ke", "kf" };
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	struct rng rng;
	(void)state;

	rng_init(&rng, 7);
	for (int round = 0; round < 500; round++) {
		size_t n = rng_below(&rng, 40), left;
		struct item items[40];
		int last[16];

		memset(last, -1, sizeof(last));
		for (size_t i = 0; i < n; i++) {
			size_t k = rng_below(&rng, 16);

			items[i] = (struct item){ keys[k], (int)i };
			last[k] = (int)i;
		}
		left = sorted_by_key(items, n, sizeof(items[0]), arena);
		for (size_t k = 0, i = 0; k < 16; k++) {
			if (last[k] >= 0) {
				assert_true(i < left);
				assert_string_equal(items[i].key, keys[k]);
				assert_int_equal(items[i].value, last[k]);
				i++;
				assert_true(k < 15 || i == left);
			}
		}
		arena_reset(arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_last_of_equal_keys_stays),
		cmocka_unit_test(test_in_order_stays),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("sorted", tests, NULL, NULL);
}
