#include "api/core/runtime_class.h"

#include "lib/unit.h"

#include "lib/decode_fixture.h"

static void test_decode(void **state)
{
	const char *text =
		"{'metadata':{'name':'gvisor'},'handler':'runsc','overhead':{'podFixed':{'cpu':'"
		"250m'}},'scheduling':{'nodeSelector':{'a':'b'},'tolerations':[{'key':'t'}]}}";
	struct api_runtime_class r;
	(void)state;

	decode_fixture(&runtime_class_fields, text, &r);
	assert_string_equal(r.handler, "runsc");
	assert_int_equal(quantity_milli(*field_resources_get(&r.overhead->pod_fixed, "cpu")), 250);
	assert_true(field_map_is(&r.scheduling->node_selector, "a", "b"));
	assert_string_equal(r.scheduling->tolerations.v[0].key, "t");
	decode_fixture(&runtime_class_fields, "{}", &r);
	assert_null(r.overhead);
	assert_null(r.scheduling);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode),
	};

	return cmocka_run_group_tests_name("runtime_class", tests, decode_fixture_open,
					   decode_fixture_close);
}
