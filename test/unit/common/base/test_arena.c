#include "base/arena.h"

#include "lib/unit.h"

#include <string.h>

static void test_alignment_and_separation(void **state)
{
	static const size_t sizes[] = { 0, 1, 15, 16, 17, 100, 4096, 8192, 8193, 100000, 3 };
	CLEANUP(arena_destroyp) struct arena *a = arena_create(0);
	unsigned char *p[ARRAY_LEN(sizes)];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		unit_row_number(i);
		p[i] = arena_alloc(a, sizes[i]);
		assert_int_equal((uintptr_t)p[i] % 16, 0);
		memset(p[i], (int)i + 1, sizes[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		unit_row_number(i);
		for (size_t k = 0; k < sizes[i]; k++) {
			assert_int_equal(p[i][k], i + 1);
		}
	}
}

static void test_zero_after_use(void **state)
{
	CLEANUP(arena_destroyp) struct arena *a = arena_create(256);
	unsigned char *p = arena_alloc(a, 200);

	(void)state;
	memset(p, 0xff, 200);
	arena_reset(a);
	p = arena_zero(a, 50, 4);
	for (int i = 0; i < 200; i++) {
		assert_int_equal(p[i], 0);
	}
}

static void test_large_keeps_current_chunk(void **state)
{
	CLEANUP(arena_destroyp) struct arena *a = arena_create(1024);
	char *first = arena_alloc(a, 16);
	char *second;

	(void)state;
	memset(arena_alloc(a, 5000), 1, 5000);
	second = arena_alloc(a, 16);
	assert_ptr_equal(second, first + 16);
}

static void test_reset_keeps_memory(void **state)
{
	CLEANUP(arena_destroyp) struct arena *a = arena_create(128);
	size_t held;

	(void)state;
	assert_int_equal(arena_held(a), 0);
	for (int i = 0; i < 100; i++) {
		memset(arena_alloc(a, 48), 0, 48);
	}
	assert_int_equal(arena_used(a), 4800);
	held = arena_held(a);
	assert_true(held >= 4800);
	arena_reset(a);
	assert_int_equal(arena_used(a), 0);
	assert_int_equal(arena_held(a), held);
	/* The same work again takes nothing more from the system. */
	for (int i = 0; i < 100; i++) {
		memset(arena_alloc(a, 48), 0, 48);
	}
	assert_int_equal(arena_held(a), held);
}

static void test_text(void **state)
{
	CLEANUP(arena_destroyp) struct arena *a = arena_create(32);
	struct str s;

	(void)state;
	assert_string_equal(arena_dup(a, "node"), "node");
	assert_null(arena_dup(a, NULL));
	assert_string_equal(arena_dup_n(a, "node-1", 4), "node");
	assert_string_equal(arena_printf(a, "%s/%d", "ns", 42), "ns/42");
	for (int n = 510; n < 514; n++) { /* about the length up to which it is formatted once */
		char *text = arena_printf(a, "%*d", n, 7);

		assert_int_equal(strlen(text), n);
		assert_int_equal(text[n - 1], '7');
	}
	assert_string_equal(arena_join(a, (const char *const[]){ "a", "", "bc" }, 3), "abc");
	assert_string_equal(arena_join(a, NULL, 0), "");
	s = arena_str(a, (struct str){ "queue-a", 5 });
	assert_int_equal(s.len, 5);
	assert_string_equal(s.p, "queue");
	s = arena_str(a, STR_LIT(""));
	assert_non_null(s.p);
	s = arena_str(a, (struct str){ NULL, 0 });
	assert_null(s.p);
}

static void test_destroy_null(void **state)
{
	struct arena *a = arena_create(0);

	(void)state;
	arena_destroy(NULL);
	arena_destroyp(&a);
	assert_null(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alignment_and_separation),
		cmocka_unit_test(test_zero_after_use),
		cmocka_unit_test(test_large_keeps_current_chunk),
		cmocka_unit_test(test_reset_keeps_memory),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_destroy_null),
	};

	return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
