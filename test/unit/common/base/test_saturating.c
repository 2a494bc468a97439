#include "base/saturating.h"

#include "base/attrs.h"
#include "lib/unit.h"

static void test_ends_of_the_range(void **state)
{
	static const struct {
		const char *name;
		int64_t a, b, sum, difference;
	} rows[] = {
		{ "small", 2, 3, 5, -1 },
		{ "the largest and zero", INT64_MAX, 0, INT64_MAX, INT64_MAX },
		{ "beyond the largest", INT64_MAX, 1, INT64_MAX, INT64_MAX - 1 },
		{ "the largest and a negative number", INT64_MAX, -1, INT64_MAX - 1, INT64_MAX },
		{ "below the least", INT64_MIN, 1, INT64_MIN + 1, INT64_MIN },
		{ "the least and a negative number", INT64_MIN, -1, INT64_MIN, INT64_MIN + 1 },
		{ "the largest twice", INT64_MAX, INT64_MAX, INT64_MAX, 0 },
		{ "the least twice", INT64_MIN, INT64_MIN, INT64_MIN, 0 },
		{ "the largest and the least", INT64_MAX, INT64_MIN, -1, INT64_MAX },
		{ "the least and the largest", INT64_MIN, INT64_MAX, -1, INT64_MIN },
		{ "zero and the least", 0, INT64_MIN, INT64_MIN, INT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].name);
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
