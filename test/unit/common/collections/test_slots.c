#include "collections/slots.h"

#include "lib/unit.h"

static void test_ids_are_dense_and_used_again(void **state)
{
	struct SLOTS(int) slots = SLOTS_INIT;
	int a, b, c, d;

	(void)state;
	assert_int_equal(slots_add(&slots, &a), 0);
	assert_int_equal(slots_add(&slots, &b), 1);
	assert_int_equal(slots_add(&slots, &c), 2);
	slots_remove(&slots, 0);
	slots_remove(&slots, 1);
	assert_null(slots.v[0]);
	assert_int_equal(slots_count(&slots), 1);
	assert_int_equal(slots_add(&slots, &d), 1);
	assert_int_equal(slots_add(&slots, &b), 0);
	assert_int_equal(slots_add(&slots, &a), 3);
	assert_int_equal(slots.n, 4);
	assert_int_equal(slots_count(&slots), 4);
	assert_ptr_equal(slots.v[1], &d);
	assert_ptr_equal(slots.v[2], &c);
	slots_finish(&slots);
	assert_int_equal(slots.n, 0);
	assert_int_equal(slots_count(&slots), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids_are_dense_and_used_again),
	};

	return cmocka_run_group_tests_name("slots", tests, NULL, NULL);
}
