#include "collections/intern.h"

#include "lib/unit.h"

#include <stdio.h>

static void test_ids(void **state)
{
	struct intern *t = intern_create();
	char name[] = "gpu";

	(void)state;
	assert_int_equal(intern_find(t, STR_LIT("cpu")), INTERN_NONE);
	assert_int_equal(intern_id(t, STR_LIT("cpu")), 0);
	assert_int_equal(intern_id(t, str_of(name)), 1);
	name[0] = 'x'; /* the name was copied */
	assert_int_equal(intern_id(t, STR_LIT("cpu")), 0);
	assert_int_equal(intern_find(t, STR_LIT("gpu")), 1);
	assert_int_equal(intern_count(t), 2);
	assert_string_equal(intern_name(t, 1), "gpu");
	assert_true(str_eq_c(intern_str(t, 0), "cpu"));
	assert_int_equal(intern_id(t, STR_LIT("")), 2);
	assert_int_equal(intern_find(t, str_of(NULL)), 2);
	intern_destroy(t);
	intern_destroy(NULL);
}

static void test_many(void **state)
{
	struct intern *t = intern_create();
	const char *first = NULL;
	char name[32];

	(void)state;
	for (uint32_t i = 0; i < 50000; i++) {
		snprintf(name, sizeof(name), "node-%u", i);
		assert_int_equal(intern_id(t, str_of(name)), i);
		first = i == 0 ? intern_name(t, 0) : first;
	}
	for (uint32_t i = 0; i < 50000; i++) {
		snprintf(name, sizeof(name), "node-%u", i);
		assert_int_equal(intern_find(t, str_of(name)), i);
		assert_string_equal(intern_name(t, i), name);
	}
	assert_ptr_equal(intern_name(t, 0), first); /* names never move */
	intern_destroy(t);
}

static void test_limit(void **state)
{
	struct intern *t = intern_create_max(3);

	(void)state;
	assert_int_equal(intern_id(t, STR_LIT("a")), 0);
	assert_int_equal(intern_id(t, STR_LIT("b")), 1);
	assert_int_equal(intern_id(t, STR_LIT("c")), 2);
	assert_int_equal(intern_id(t, STR_LIT("d")), INTERN_NONE);
	assert_int_equal(intern_count(t), 3);
	assert_int_equal(intern_id(t, STR_LIT("b")), 1);
	assert_int_equal(intern_find(t, STR_LIT("d")), INTERN_NONE);
	intern_destroy(t);
}

static void test_unmarked_strings_are_swept(void **state)
{
	struct intern *t = intern_create_max(4);
	const char *b;

	(void)state;
	assert_int_equal(intern_id(t, STR_LIT("a")), 0);
	assert_int_equal(intern_id(t, STR_LIT("b")), 1);
	assert_int_equal(intern_id(t, STR_LIT("c")), 2);
	assert_int_equal(intern_id(t, STR_LIT("d")), 3);
	b = intern_name(t, 1);
	intern_mark_name(t, b);
	intern_mark_name(t, NULL);
	intern_mark(t, 3);
	intern_mark(t, INTERN_NONE);
	intern_sweep(t);
	assert_int_equal(intern_live(t), 2);
	assert_int_equal(intern_count(t), 4);
	assert_ptr_equal(intern_name(t, 1), b);
	assert_int_equal(intern_find(t, STR_LIT("a")), INTERN_NONE);
	assert_int_equal(intern_find(t, STR_LIT("d")), 3);
	assert_null(intern_str(t, 0).p);
	/* Ids are used again, the lowest first. */
	assert_int_equal(intern_id(t, STR_LIT("e")), 0);
	assert_int_equal(intern_id(t, STR_LIT("f")), 2);
	assert_int_equal(intern_id(t, STR_LIT("g")), INTERN_NONE);
	intern_keep(t, 1);
	intern_sweep(t); /* marks do not last */
	intern_sweep(t);
	assert_int_equal(intern_live(t), 1);
	assert_ptr_equal(intern_name(t, 1), b);
	intern_destroy(t);
}

static void test_a_sweep_is_wanted_when_it_pays(void **state)
{
	struct intern *t = intern_create();
	char name[16];
	int n = 0;

	(void)state;
	while (!intern_wants_sweep(t)) {
		snprintf(name, sizeof(name), "name-%d", n++);
		intern_id(t, str_of(name));
	}
	assert_in_range(n, 10000, 40000); /* 1 MiB */
	for (int i = 0; i < n; i++) {
		intern_mark(t, (uint32_t)i);
	}
	intern_sweep(t);
	assert_int_equal(intern_live(t), n);
	assert_false(intern_wants_sweep(t));
	while (!intern_wants_sweep(t)) {
		snprintf(name, sizeof(name), "name-%d", n++);
		intern_id(t, str_of(name));
	}
	assert_in_range(n, 30000, 120000); /* twice that and 1 MiB */
	intern_destroy(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_unmarked_strings_are_swept),
		cmocka_unit_test(test_a_sweep_is_wanted_when_it_pays),
	};

	return cmocka_run_group_tests_name("intern", tests, NULL, NULL);
}
