#include "app/resource_name.h"

#include "lib/unit.h"

#include "base/str.h"

/* Every kind has its names, and no two share one. */
static void test_all_are_named(void **state)
{
	(void)state;

	for (int r = 0; r < SCHED_RESOURCE_COUNT_; r++) {
		const struct resource_name *n = resource_name((enum sched_resource)r);

		assert_non_null(n->api_version);
		assert_non_null(n->kind);
		assert_non_null(n->plural);
		for (int other = 0; other < r; other++) {
			assert_false(str_streq(n->plural,
					       resource_name((enum sched_resource)other)->plural));
		}
	}
	assert_string_equal(resource_name(SCHED_PODS)->plural, "pods");
	assert_string_equal(resource_name(SCHED_JOBS)->api_version, "batch/v1");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_all_are_named) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
