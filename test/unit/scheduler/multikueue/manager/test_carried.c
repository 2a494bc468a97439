#include "scheduler/multikueue/manager/carried.h"

#include "lib/unit.h"

#include "api/kueue/kueue_keys.h"
#include "api/meta/meta.h"
#include "base/attrs.h"

static void test_owners(void **state UNUSED)
{
	static const struct {
		const char *api_version, *kind;
		bool want;
	} rows[] = {
		{ "batch/v1", "Job", true },
		{ "batch/v1beta1", "Job", false },
		{ "batch/v1", "CronJob", false },
		{ "v1", "Pod", true },
		{ "v2", "Pod", false },
		{ "jobset.x-k8s.io/v1alpha2", "JobSet", false },
		{ NULL, NULL, false },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct api_owner o = { .api_version = rows[i].api_version,
					     .kind = rows[i].kind };

		unit_row_number(i);
		assert_int_equal(carried_of(&o) != NULL, rows[i].want);
	}
}

static void test_groups(void **state UNUSED)
{
	const struct field_pair mark = { KUEUE_IS_GROUP_WORKLOAD, "true" };
	struct api_meta m = { .annotations = { &mark, 1 } };

	assert_true(carried_is_group(&m, carried_row(CARRIED_PODS)));
	assert_false(carried_is_group(&m, carried_row(CARRIED_JOBS)));
	assert_false(carried_is_group(&m, NULL));
	m.annotations.n = 0;
	assert_false(carried_is_group(&m, carried_row(CARRIED_PODS)));
}

static void test_resources(void **state UNUSED)
{
	enum carried c;

	for (unsigned i = 0; i < CARRIED_COUNT_; i++) {
		assert_true(carried_find(carried_row((enum carried)i)->resource, &c));
		assert_int_equal(c, i);
	}
	assert_false(carried_find(SCHED_NODES, &c));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_owners),
					    cmocka_unit_test(test_groups),
					    cmocka_unit_test(test_resources) };

	return cmocka_run_group_tests_name("manager/carried", tests, NULL, NULL);
}
