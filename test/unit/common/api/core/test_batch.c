#include "api/core/batch.h"

#include "lib/unit.h"

#include "lib/decode_fixture.h"

static void test_job(void **state)
{
	const char *text =
		"{'metadata':{'name':'j','labels':{'kueue.x-k8s.io/"
		"queue-name':'q'}},'spec':{'parallelism':3,'completions':2,'suspend':true,'"
		"completionMode':'Indexed','managedBy':'m','template':{'spec':{'containers':[{'"
		"name':'c','resources':{'requests':{'cpu':'1'}}}]}}},'status':{'active':1,'ready':"
		"1,'succeeded':2,'failed':3,'terminating':4,'startTime':'2026-01-02T03:04:05Z','"
		"completedIndexes':'0,2-3','uncountedTerminatedPods':{'succeeded':['u']},'"
		"conditions':[{'type':'Suspended','status':'True'},{'type':'Failed','status':'True'"
		",'message':'m'}]}}";
	struct api_job j;
	(void)state;

	decode_fixture(&batch_job_fields, text, &j);
	assert_int_equal(batch_parallelism(&j), 3);
	assert_int_equal(batch_pod_count(&j), 2);
	assert_true(batch_is_suspended(&j));
	assert_string_equal(j.spec.completion_mode, "Indexed");
	assert_string_equal(j.spec.managed_by, "m");
	assert_string_equal(j.spec.template_.spec.containers.v[0].name, "c");
	assert_int_equal(j.status.terminating, 4);
	assert_int_equal(j.status.start_time, INT64_C(1767323045) * 1000000000);
	assert_string_equal(j.status.completed_indexes, "0,2-3");
	assert_string_equal(j.status.uncounted.succeeded.v[0], "u");
	assert_string_equal(batch_finished(&j)->message, "m");
}

static void test_absence(void **state)
{
	struct api_job j;
	(void)state;

	decode_fixture(&batch_job_fields, "{}", &j);
	assert_int_equal(batch_parallelism(&j), 1);
	assert_int_equal(batch_pod_count(&j), 1);
	assert_false(batch_is_suspended(&j));
	assert_null(batch_finished(&j));
	assert_int_equal(j.status.start_time, FIELD_NO_TIME);
	decode_fixture(&batch_job_fields,
		       "{'spec':{'parallelism':0,'completions':5},'status':{'conditions':[{'type':'"
		       "Complete','status':'False'}]}}",
		       &j);
	assert_int_equal(batch_pod_count(&j), 0);
	assert_null(batch_finished(&j));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_job),
		cmocka_unit_test(test_absence),
	};

	return cmocka_run_group_tests_name("batch", tests, decode_fixture_open,
					   decode_fixture_close);
}
