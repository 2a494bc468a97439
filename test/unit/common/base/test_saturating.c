#include "base/saturating.h"

#include "base/attrs.h"
#include "lib/unit.h"

static void test_ends_of_the_range(void **state)
{
	static const struct {
		int64_t a, b, sum, difference;
	} rows[] = {
		{ 2, 3, 5, -1 },
		{ INT64_MAX, 0, INT64_MAX, INT64_MAX },
		{ INT64_MAX, 1, INT64_MAX, INT64_MAX - 1 },
		{ INT64_MAX, -1, INT64_MAX - 1, INT64_MAX },
		{ INT64_MIN, 1, INT64_MIN + 1, INT64_MIN },
		{ INT64_MIN, -1, INT64_MIN, INT64_MIN + 1 },
		{ INT64_MAX, INT64_MAX, INT64_MAX, 0 },
		{ INT64_MIN, INT64_MIN, INT64_MIN, 0 },
		{ INT64_MAX, INT64_MIN, -1, INT64_MAX },
		{ INT64_MIN, INT64_MAX, -1, INT64_MIN },
		{ 0, INT64_MIN, INT64_MIN, INT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_true(saturating_add(rows[i].a, rows[i].b) == rows[i].sum);
		assert_true(saturating_add(rows[i].b, rows[i].a) == rows[i].sum);
		assert_true(saturating_sub(rows[i].a, rows[i].b) == rows[i].difference);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends_of_the_range),
	};

	return cmocka_run_group_tests_name("saturating", tests, NULL, NULL);
}
