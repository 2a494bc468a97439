#include "api/core/disruption_budget.h"

#include "base/attrs.h"
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

static void test_whether_unready_pods_may_go(void **state)
{
	static const struct {
		const char *text;
		bool go;
	} rows[] = {
		{ "{'spec':{}}", false },
		{ "{'spec':{'unhealthyPodEvictionPolicy':'AlwaysAllow'}}", true },
		{ "{'status':{'currentHealthy':2,'desiredHealthy':2}}", true },
		{ "{'status':{'currentHealthy':1,'desiredHealthy':2}}", false },
		{ "{'status':{'currentHealthy':0,'desiredHealthy':0}}", false },
		{ "{'spec':{'unhealthyPodEvictionPolicy':'IfHealthyBudget'},'status':{'"
		  "currentHealthy':3,'desiredHealthy':2}}",
		  true },
		{ "{'spec':{'unhealthyPodEvictionPolicy':'Other'},'status':{'desiredHealthy':2}}",
		  false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct api_disruption_budget b;

		unit_row_number(i);
		decode_fixture(&disruption_budget_fields, rows[i].text, &b);
		assert_int_equal(disruption_budget_lets_unready_go(&b), rows[i].go);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode),
		cmocka_unit_test(test_nothing_is_allowed_by_an_old_status),
		cmocka_unit_test(test_whether_unready_pods_may_go),
	};

	return cmocka_run_group_tests_name("disruption_budget", tests, decode_fixture_open,
					   decode_fixture_close);
}
