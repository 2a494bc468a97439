#include "collections/idset.h"

#include "lib/unit.h"

#include "base/rng.h"

static void check(const struct idset *s, const bool *model, uint32_t ids)
{
	struct idset_cursor c = IDSET_FIRST;
	size_t n = 0;

	for (uint32_t id = 0; id < ids; id++) {
		assert_int_equal(idset_has(s, id), model[id]);
		if (model[id]) {
			assert_true(idset_next(s, &c));
			assert_int_equal(c.id, id);
			n++;
		}
	}
	assert_false(idset_next(s, &c));
	assert_false(idset_next(s, &c));
	assert_int_equal(idset_count(s), n);
	assert_int_equal(idset_is_empty(s), n == 0);
}

/* Against an array of bool, dense and thin, on both sides of a word's end. */
static void test_model(void **state)
{
	static const uint32_t sizes[] = { 1, 63, 64, 65, 129, 1000 };

	(void)state;
	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		struct idset s = IDSET_INIT;
		bool model[1000] = { false };
		struct rng rng;

		rng_init(&rng, k);
		for (int i = 0; i < 600; i++) {
			uint32_t id = (uint32_t)rng_below(&rng, sizes[k]);

			if (rng_below(&rng, 3) > 0) {
				assert_int_equal(idset_add(&s, id), !model[id]);
				model[id] = true;
			} else {
				assert_int_equal(idset_remove(&s, id), model[id]);
				model[id] = false;
			}
			if (i % 20 == 0) {
				check(&s, model, sizes[k]);
			}
		}
		idset_finish(&s);
	}
}

static void test_ends(void **state)
{
	struct idset s = IDSET_INIT;

	(void)state;
	assert_false(idset_remove(&s, UINT32_MAX));
	assert_true(idset_add(&s, UINT32_MAX));
	assert_true(idset_add(&s, 0));
	assert_true(idset_has(&s, UINT32_MAX));
	assert_false(idset_has(&s, UINT32_MAX - 1));
	assert_int_equal(idset_count(&s), 2);
	assert_true(idset_remove(&s, 0));
	assert_true(idset_remove(&s, UINT32_MAX));
	assert_true(idset_is_empty(&s));
	idset_finish(&s);
}

static void test_equal(void **state)
{
	struct idset a = IDSET_INIT, b = IDSET_INIT;

	(void)state;
	assert_true(idset_equal(&a, &b));
	(void)idset_add(&a, 70);
	assert_false(idset_equal(&a, &b));
	(void)idset_add(&b, 71);
	assert_false(idset_equal(&a, &b));
	(void)idset_add(&a, 71);
	(void)idset_add(&b, 70);
	assert_true(idset_equal(&a, &b));
	(void)idset_add(&a, 6);
	(void)idset_add(&b, 134);
	assert_false(idset_equal(&a, &b));
	idset_finish(&a);
	idset_finish(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_equal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
