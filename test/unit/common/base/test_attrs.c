#include "base/attrs.h"

#include "lib/unit.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/xmalloc.h"

struct box {
	int tag;
	int value;
};

static int cleaned;

static void on_cleanup(int **p)
{
	cleaned += *p != NULL;
	free(*p);
}

static int *hand_out(bool keep)
{
	CLEANUP(on_cleanup) int *p = xmalloc_zero(1, sizeof(int));

	return keep ? take_ptr(&p) : NULL;
}

static void test_cleanup_and_take(void **state)
{
	int *p;

	(void)state;
	cleaned = 0;
	assert_null(hand_out(false));
	assert_int_equal(cleaned, 1);
	p = hand_out(true);
	assert_non_null(p);
	assert_int_equal(cleaned, 1);
	free(p);
}

static void test_container_of(void **state)
{
	struct box b = { 1, 2 };

	(void)state;
	assert_ptr_equal(CONTAINER_OF(&b.value, struct box, value), &b);
}

static void test_array_len(void **state)
{
	int a[7];

	(void)state;
	(void)a;
	assert_int_equal(ARRAY_LEN(a), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cleanup_and_take),
		cmocka_unit_test(test_container_of),
		cmocka_unit_test(test_array_len),
	};

	return cmocka_run_group_tests_name("attrs", tests, NULL, NULL);
}
