#include "api/core/disruption_budget.h"

#include "lib/unit.h"

#include "lib/decode_fixture.h"

static void test_decode(void **state)
{
	const char *text =
		"{'metadata':{'name':'web','generation':3},'spec':{'minAvailable':'50%','"
		"selector':{'matchLabels':{'app':'web'}}},'status':{'"
		"observedGeneration':3,'disruptionsAllowed':2}}";
	struct api_disruption_budget b;
	(void)state;

	decode_fixture(&disruption_budget_fields, text, &b);
	assert_true(field_map_is(&b.spec.selector->match_labels, "app", "web"));
	assert_int_equal(disruption_budget_allowed(&b), 2);
	decode_fixture(&disruption_budget_fields, "{'spec':{}}", &b);
	assert_null(b.spec.selector);
	assert_int_equal(disruption_budget_allowed(&b), 0);
}

static void test_nothing_is_allowed_by_an_old_status(void **state)
{
	struct api_disruption_budget b;
	(void)state;

	decode_fixture(&disruption_budget_fields,
		       "{'metadata':{'generation':4},'status':{'observedGeneration':3,'"
		       "disruptionsAllowed':2}}",
		       &b);
	assert_int_equal(disruption_budget_allowed(&b), 0);
	decode_fixture(&disruption_budget_fields, "{'status':{'disruptionsAllowed':-1}}", &b);
	assert_int_equal(disruption_budget_allowed(&b), 0);
	decode_fixture(&disruption_budget_fields, "{'status':{'disruptionsAllowed':2147483647}}",
		       &b);
	assert_int_equal(disruption_budget_allowed(&b), INT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode),
		cmocka_unit_test(test_nothing_is_allowed_by_an_old_status),
	};

	return cmocka_run_group_tests_name("disruption_budget", tests, decode_fixture_open,
					   decode_fixture_close);
}
