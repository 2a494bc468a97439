#include "scheduler/pods/session/plugin.h"

#include "base/attrs.h"
#include "base/err.h"
#include "lib/unit.h"

static const struct plugin_arg entries[] = {
	{ "binpack.weight", "2.5" }, { "binpack.cpu", "five" }, { "yes", "True" }, { "no", "0" },
	{ "perhaps", "yes" },        { "binpack.weight", "7" }, { "empty", "" },
};
static const struct plugin_args args = { .v = entries, .n = ARRAY_LEN(entries) };

static void test_the_first_entry_of_a_key_counts(void **state)
{
	(void)state;
	assert_string_equal(plugin_args_get(&args, "binpack.weight"), "2.5");
	assert_null(plugin_args_get(&args, "binpack"));
	assert_string_equal(plugin_args_get(&args, "empty"), "");
}

static void test_numbers(void **state)
{
	struct err err = ERR_INIT;
	double d = -1;

	(void)state;
	assert_int_equal(plugin_args_double(&args, "binpack.weight", 1, &d, &err), 0);
	assert_true(d == 2.5);
	assert_int_equal(plugin_args_double(&args, "absent", 1.25, &d, &err), 0);
	assert_true(d == 1.25);
	assert_int_equal(plugin_args_double(&args, "binpack.cpu", 1, &d, &err), -ERR_INVALID);
	assert_string_equal(err.text, "binpack.cpu: \"five\" is not a number");
	assert_true(d == 1.25);
	assert_int_equal(plugin_args_double(&args, "empty", 1, &d, &err), -ERR_INVALID);
}

static void test_booleans(void **state)
{
	struct err err = ERR_INIT;
	bool b = false;

	(void)state;
	assert_int_equal(plugin_args_bool(&args, "yes", false, &b, &err), 0);
	assert_true(b);
	assert_int_equal(plugin_args_bool(&args, "no", true, &b, &err), 0);
	assert_false(b);
	assert_int_equal(plugin_args_bool(&args, "absent", true, &b, &err), 0);
	assert_true(b);
	assert_int_equal(plugin_args_bool(&args, "perhaps", false, &b, &err), -ERR_INVALID);
	assert_string_equal(err.text, "perhaps: \"yes\" is not true or false");
	assert_true(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_entry_of_a_key_counts),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_booleans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
