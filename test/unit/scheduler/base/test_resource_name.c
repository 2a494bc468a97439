#include "scheduler/base/resource_name.h"

#include "lib/unit.h"

#include "base/attrs.h"
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

static void test_paths(void **state)
{
	static const struct {
		enum sched_resource resource;
		const char *path;
	} rows[] = {
		{ SCHED_PODS, "/api/v1/pods" },
		{ SCHED_PODGROUPS, "/apis/scheduling.volcano.sh/v1beta1/podgroups" },
		{ SCHED_WORKLOADS, "/apis/kueue.x-k8s.io/v1beta2/workloads" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_string_equal(resource_name(rows[i].resource)->path, rows[i].path);
		assert_true(resource_name(rows[i].resource)->namespaced);
	}
	assert_false(resource_name(SCHED_NODES)->namespaced);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_are_named),
		cmocka_unit_test(test_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
