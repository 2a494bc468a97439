#include "api/core/node.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "enc/decode.h"

static void test_decode(void **state)
{
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	const char *text =
		"{\"kind\":\"Node\",\"metadata\":{\"name\":\"n\",\"labels\":{\"zone\":\"a\"}},"
		"\"spec\":{\"unschedulable\":true,\"taints\":[{\"key\":\"k\",\"effect\":"
		"\"NoSchedule\"}]},\"status\":{\"allocatable\":{\"cpu\":\"3920m\",\"pods\":\"110\"}"
		","
		"\"capacity\":{\"cpu\":\"4\"},\"conditions\":[{\"type\":\"Ready\",\"status\":"
		"\"True\"}],\"images\":[{\"names\":[\"a\"]}]}}";
	struct api_node n;
	(void)state;

	assert_int_equal(decode_text(&node_fields, str_of(text), &n, arena, NULL), 0);
	assert_string_equal(n.meta.name, "n");
	assert_true(n.spec.unschedulable);
	assert_string_equal(n.spec.taints.v[0].effect, "NoSchedule");
	assert_null(n.spec.taints.v[0].value);
	assert_true(quantity_milli(*field_resources_get(&n.status.allocatable, "cpu")) == 3920);
	assert_true(quantity_value(*field_resources_get(&n.status.capacity, "cpu")) == 4);
	assert_string_equal(meta_condition(&n.status.conditions, "Ready")->status, "True");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode),
	};

	return cmocka_run_group_tests_name("node", tests, NULL, NULL);
}
