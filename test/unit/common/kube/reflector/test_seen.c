#include "kube/reflector/seen.h"

#include <stdio.h>

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/rng.h"
#include "base/strbuf.h"

static void note(void *ctx, struct str key)
{
	strbuf_printf(ctx, STR_FMT ";", STR_ARG(key));
}

static void test_set_get_remove(void **state)
{
	struct seen *s = seen_create();
	int64_t v = -1;
	(void)state;

	assert_false(seen_get(s, STR_LIT("a"), &v));
	assert_int_equal(v, -1);
	seen_set(s, STR_LIT("a"), 5, 1);
	seen_set(s, STR_LIT("a"), 6, 1);
	assert_int_equal(seen_count(s), 1);
	assert_true(seen_get(s, STR_LIT("a"), &v));
	assert_int_equal(v, 6);
	assert_true(seen_remove(s, STR_LIT("a")));
	assert_false(seen_remove(s, STR_LIT("a")));
	assert_int_equal(seen_count(s), 0);
	seen_destroy(s);
	seen_destroy(NULL);
}

static void test_sweep_is_sorted(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf log = STRBUF_INIT;
	static const char *const keys[] = { "n/z", "b", "n/a", "keep", "a" };
	struct seen *s = seen_create();
	int64_t v;
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		seen_set(s, str_of(keys[i]), 1, i == 3 ? 2 : 1);
	}
	seen_sweep(s, 2, note, &log);
	assert_string_equal(log.p, "a;b;n/a;n/z;");
	assert_int_equal(seen_count(s), 1);
	assert_true(seen_get(s, STR_LIT("keep"), &v));
	strbuf_reset(&log);
	seen_sweep(s, 2, note, &log);
	assert_string_equal(log.p, "");
	seen_destroy(s);
}

#define KEYS 500

/* Random sets and removals against a plain array: holes never hide a key. */
static void test_against_model(void **state)
{
	struct seen *s = seen_create();
	int64_t model[KEYS] = { 0 };
	struct rng rng;
	size_t n = 0;
	(void)state;

	rng_init(&rng, 7);
	for (unsigned step = 1; step < 20000; step++) {
		unsigned k = (unsigned)rng_below(&rng, KEYS);
		char key[16];

		snprintf(key, sizeof(key), "key-%u", k);
		if (rng_below(&rng, 2) == 0) {
			n += model[k] == 0 ? 1 : 0;
			model[k] = step;
			seen_set(s, str_of(key), step, 0);
		} else {
			assert_int_equal(seen_remove(s, str_of(key)), model[k] != 0);
			n -= model[k] != 0 ? 1 : 0;
			model[k] = 0;
		}
		assert_int_equal(seen_count(s), n);
	}
	for (unsigned k = 0; k < KEYS; k++) {
		char key[16];
		int64_t v = 0;

		snprintf(key, sizeof(key), "key-%u", k);
		assert_int_equal(seen_get(s, str_of(key), &v), model[k] != 0);
		assert_int_equal(v, model[k]);
	}
	seen_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set_get_remove),
		cmocka_unit_test(test_sweep_is_sorted),
		cmocka_unit_test(test_against_model),
	};

	return cmocka_run_group_tests_name("seen", tests, NULL, NULL);
}
