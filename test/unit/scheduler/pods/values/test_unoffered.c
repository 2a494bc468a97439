#include "scheduler/pods/values/unoffered.h"

#include <string.h>

#include "lib/unit.h"

static void test_copies_are_deep(void **state)
{
	char name[] = "example.com/a";
	struct unoffered_amount v[] = { { name, 3 }, { "example.com/b", 1 } };
	struct unoffered u = { v, 2 }, copy = unoffered_copy(&u), none;

	(void)state;
	name[0] = 'E';
	v[1].amount = 2;
	assert_int_equal(copy.n, 2);
	assert_string_equal(copy.v[0].name, "example.com/a");
	assert_int_equal(copy.v[0].amount, 3);
	assert_string_equal(copy.v[1].name, "example.com/b");
	assert_int_equal(copy.v[1].amount, 1);
	unoffered_finish(&copy);
	assert_int_equal(copy.n, 0);
	none = unoffered_copy(&copy);
	assert_null(none.v);
	unoffered_finish(&none);
}

static void test_equal_lists(void **state)
{
	struct unoffered_amount v[] = { { "a", 1 }, { "b", 2 } }, w[] = { { "a", 1 }, { "b", 2 } };
	struct unoffered a = { v, 2 }, b = { w, 2 };

	(void)state;
	assert_true(unoffered_eq(&a, &b));
	w[1].amount = 3;
	assert_false(unoffered_eq(&a, &b));
	w[1] = (struct unoffered_amount){ "c", 2 };
	assert_false(unoffered_eq(&a, &b));
	a.n = b.n = 1;
	assert_true(unoffered_eq(&a, &b));
	b.n = 0;
	assert_false(unoffered_eq(&a, &b));
}

static void test_names_that_are_offered_leave_the_list(void **state)
{
	struct unoffered_amount v[] = { { "a", 1 }, { "b", 2 }, { "c", 3 } };
	struct unoffered u = { v, 3 };
	struct res_names *names = res_names_create();
	struct res r = { .v = { [RES_CPU] = 7 } };
	int dim;

	(void)state;
	assert_int_equal(unoffered_resolve(&u, names, &r), 0);
	dim = res_names_add(names, STR_LIT("b"));
	assert_int_equal(unoffered_resolve(&u, names, &r), 1);
	assert_int_equal(r.v[dim], 2);
	assert_int_equal(r.v[RES_CPU], 7);
	assert_int_equal(u.n, 2);
	assert_string_equal(u.v[0].name, "a");
	assert_string_equal(u.v[1].name, "c");
	res_names_destroy(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copies_are_deep),
		cmocka_unit_test(test_equal_lists),
		cmocka_unit_test(test_names_that_are_offered_leave_the_list),
	};

	return cmocka_run_group_tests_name("pods/values/unoffered", tests, NULL, NULL);
}
