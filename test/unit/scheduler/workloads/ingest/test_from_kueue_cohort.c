#include "api/kueue/kueue.h"
#include "base/attrs.h"
#include "base/err.h"
#include "lib/decode_fixture.h"
#include "lib/unit.h"
#include "scheduler/workloads/ingest/from_kueue.h"

static void test_cohort(void **state)
{
	struct quota_model *q = quota_create();
	struct api_cohort c;
	const struct quota_node *n;

	(void)state;
	decode_fixture(
		&kueue_cohort_fields,
		"{'metadata':{'name':'team'},'spec':{'parentName':'root','fairSharing':{'weight'"
		":'2'},'resourceGroups':[{'coveredResources':['cpu'],'flavors':[{'name':'f','"
		"resources':[{'name':'cpu','nominalQuota':'5','lendingLimit':'7'}]}]}]}}",
		&c);
	assert_int_equal(from_kueue_cohort(q, &c, NULL), 0);
	quota_nodes_changed(q);
	n = quota_cohort_find(q, STR_LIT("team"));
	assert_true(n->exists);
	assert_true(n->weight == 2);
	assert_int_equal(n->parent_id, quota_cohort_find(q, STR_LIT("root"))->id);
	assert_int_equal(n->cells.n, 1);
	assert_int_equal(n->cells.v[0].nominal, 5000);
	assert_int_equal(n->cells.v[0].lending, 7000);
	assert_int_equal(n->cells.v[0].borrowing, QUOTA_NO_LIMIT);
	decode_fixture(&kueue_cohort_fields, "{'metadata':{'name':'team'}}", &c);
	assert_int_equal(from_kueue_cohort(q, &c, NULL), 0);
	quota_nodes_changed(q);
	assert_null(quota_cohort_find(q, STR_LIT("root")));
	assert_int_equal(n->cells.n, 0);
	assert_true(n->weight == 1);
	quota_destroy(q);
}

static void test_a_bad_cohort_changes_nothing(void **state)
{
	struct quota_model *q = quota_create();
	struct api_cohort c;
	struct err err = ERR_INIT;

	(void)state;
	decode_fixture(&kueue_cohort_fields,
		       "{'metadata':{'name':'team'},'spec':{'fairSharing':{'weight':'-1'}}}", &c);
	assert_int_equal(from_kueue_cohort(q, &c, &err), -ERR_INVALID);
	assert_string_equal(err.text, "Cohort team: spec.fairSharing.weight: negative");
	assert_null(quota_cohort_find(q, STR_LIT("team")));
	quota_destroy(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cohort),
		cmocka_unit_test(test_a_bad_cohort_changes_nothing),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
