#include "api/core/kube_pod_group.h"

#include "lib/unit.h"

#include "lib/decode_fixture.h"

static void test_decode(void **state)
{
	struct api_kube_pod_group g;
	(void)state;

	decode_fixture(&kube_pod_group_fields,
		       "{'metadata':{'name':'g'},'spec':{'priority':7,'schedulingPolicy':{'gang':{"
		       "'minCount':3}}},'status':{'conditions':[{}]}}",
		       &g);
	assert_string_equal(g.meta.name, "g");
	assert_int_equal(g.spec.priority, 7);
	assert_int_equal(g.spec.policy.gang->min_count, 3);
	assert_false(g.spec.policy.basic);
	decode_fixture(&kube_pod_group_fields, "{'spec':{'schedulingPolicy':{'basic':{}}}}", &g);
	assert_null(g.spec.policy.gang);
	assert_true(g.spec.policy.basic);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode),
	};

	return cmocka_run_group_tests_name("kube_pod_group", tests, decode_fixture_open,
					   decode_fixture_close);
}
