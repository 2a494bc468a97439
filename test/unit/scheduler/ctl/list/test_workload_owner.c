#include "scheduler/ctl/list/workload_owner.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "enc/json/jdoc.h"

static void test_owner_controller(void **state)
{
	static const struct {
		const char *type, *name;
		bool is;
	} rows[] = {
		{ "job", "x", true },       { "jobs", "x", true },       { "Job", "x", true },
		{ "job.batch", "x", true }, { "jobs.batch", "x", true }, { "job", "y", false },
		{ "pod", "x", false },      { "jo", "x", false },        { "", "x", false },
		{ "jobx", "x", false },
	};
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;

	(void)state;
	assert_int_equal(
		jdoc_parse(STR_LIT("{\"metadata\": {\"ownerReferences\": [{\"apiVersion\": "
				   "\"batch/v1\", \"kind\": \"Job\", \"name\": \"x\"}]}}"),
			   &d, NULL),
		0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row_number(i);
		assert_int_equal(workload_owner_is(d, rows[i].type, rows[i].name), rows[i].is);
	}
}

/* Kinds that we do not know go by their own name. */
static void test_other_kinds(void **state)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;

	(void)state;
	assert_int_equal(
		jdoc_parse(STR_LIT("{\"metadata\": {\"ownerReferences\": [{\"apiVersion\": "
				   "\"ray.io/v1\", \"kind\": \"RayJob\", \"name\": \"x\"}]}}"),
			   &d, NULL),
		0);
	assert_true(workload_owner_is(d, "rayjob", "x"));
	assert_true(workload_owner_is(d, "RayJob.ray.io", "x"));
	assert_false(workload_owner_is(d, "job", "x"));
}

static void test_no_owner(void **state)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = jdoc_new_object();

	(void)state;
	assert_null(workload_owner_of(d));
	assert_false(workload_owner_is(d, "job", "x"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_owner_controller),
		cmocka_unit_test(test_other_kinds),
		cmocka_unit_test(test_no_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
