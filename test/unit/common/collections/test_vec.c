#include "collections/vec.h"

#include "lib/unit.h"

static void test_push_pop(void **state)
{
	struct VEC(int) v = VEC_INIT;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		vec_push(&v, i * 3);
		assert_int_equal(v.n, i + 1);
		assert_true(v.cap >= v.n);
	}
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(v.v[i], i * 3);
	}
	assert_int_equal(vec_pop(&v), 2997);
	assert_int_equal(v.n, 999);
	vec_clear(&v);
	assert_int_equal(v.n, 0);
	assert_true(v.cap > 0);
	vec_finish(&v);
	assert_null(v.v);
	assert_int_equal(v.cap, 0);
}

static void test_reserve(void **state)
{
	struct VEC(uint64_t) v = VEC_INIT;
	const uint64_t *p;

	(void)state;
	vec_reserve(&v, 0);
	assert_null(v.v);
	vec_reserve(&v, 100);
	assert_true(v.cap >= 100);
	p = v.v;
	for (uint64_t i = 0; i < 100; i++) {
		vec_push(&v, i);
	}
	assert_ptr_equal(v.v, p);
	vec_finish(&v);
}

static void test_swap_remove(void **state)
{
	struct VEC(const char *) v = VEC_INIT;

	(void)state;
	vec_push(&v, "a");
	vec_push(&v, "b");
	vec_push(&v, "c");
	vec_swap_remove(&v, 0);
	assert_int_equal(v.n, 2);
	assert_string_equal(v.v[0], "c");
	assert_string_equal(v.v[1], "b");
	vec_swap_remove(&v, 1);
	assert_int_equal(v.n, 1);
	assert_string_equal(v.v[0], "c");
	vec_finish(&v);
}

static void test_struct_elements(void **state)
{
	struct pair {
		char tag;
		uint64_t n;
	};
	struct VEC(struct pair) v = VEC_INIT;

	(void)state;
	for (uint64_t i = 0; i < 50; i++) {
		vec_push(&v, ((struct pair){ (char)i, i }));
	}
	for (uint64_t i = 0; i < 50; i++) {
		assert_int_equal(v.v[i].tag, (char)i);
		assert_int_equal(v.v[i].n, i);
	}
	vec_finish(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_push_pop),
		cmocka_unit_test(test_reserve),
		cmocka_unit_test(test_swap_remove),
		cmocka_unit_test(test_struct_elements),
	};

	return cmocka_run_group_tests_name("vec", tests, NULL, NULL);
}
