#include "enc/field.h"

#include "lib/unit.h"

static void test_lookups(void **state)
{
	static const struct field_pair pairs[] = { { "a", "1" }, { "b", "" }, { "cc", "3" } };
	static const struct field_resource amounts[] = {
		{ "cpu", { 1000000000, QUANTITY_DECIMAL_SI } },
		{ "memory", { 0, QUANTITY_BINARY_SI } },
	};
	const struct field_map map = { pairs, ARRAY_LEN(pairs) }, none = { NULL, 0 };
	const struct field_resources resources = { amounts, ARRAY_LEN(amounts) };
	(void)state;

	assert_string_equal(field_map_get(&map, "a"), "1");
	assert_string_equal(field_map_get(&map, "b"), "");
	assert_string_equal(field_map_get(&map, "cc"), "3");
	assert_null(field_map_get(&map, "c"));
	assert_null(field_map_get(&map, ""));
	assert_null(field_map_get(&map, "d"));
	assert_null(field_map_get(&none, "a"));
	assert_true(field_map_is(&map, "a", "1"));
	assert_false(field_map_is(&map, "a", "2"));
	assert_false(field_map_is(&map, "z", ""));
	assert_true(quantity_value(*field_resources_get(&resources, "cpu")) == 1);
	assert_null(field_resources_get(&resources, "gpu"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lookups),
	};

	return cmocka_run_group_tests_name("field", tests, NULL, NULL);
}
