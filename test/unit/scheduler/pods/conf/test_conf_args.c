#include "scheduler/pods/conf/conf_args.h"

#include "base/attrs.h"
#include "base/err.h"
#include "lib/unit.h"

struct values {
	double weight, share;
	bool yes, no, absent;
	const char *text, *nothing;
};
static const struct conf_args_row rows[] = {
	{ "weight", CONF_ARGS_AT(struct values, NUMBER, weight), .def = 1 },
	{ "share", CONF_ARGS_AT(struct values, NUMBER, share), .def = 1.25 },
	{ "yes", CONF_ARGS_AT(struct values, SWITCH, yes) },
	{ "no", CONF_ARGS_AT(struct values, SWITCH, no), .def = 1 },
	{ "absent", CONF_ARGS_AT(struct values, SWITCH, absent), .def = 1 },
	{ "text", CONF_ARGS_AT(struct values, TEXT, text) },
	{ "nothing", CONF_ARGS_AT(struct values, TEXT, nothing) },
	{ "of.", .kind = CONF_ARGS_PREFIX },
	{ "theirs", .kind = CONF_ARGS_NO_EFFECT },
	{ .name = NULL },
};

static void test_values_and_defaults(void **state)
{
	static const struct conf_arg args[] = {
		{ "weight", "2.5" }, { "yes", "True" }, { "no", "0" },       { "text", "a, b" },
		{ "weight", "7" },   { "of.x", "3" },   { "theirs", "yes" }, { "share ", "9" },
	};
	struct err err = ERR_INIT;
	struct values v;
	double d = -1;

	(void)state;
	assert_int_equal(conf_args_read(rows, args, ARRAY_LEN(args), &v, &err), 0);
	assert_true(v.weight == 2.5);
	assert_true(v.share == 1.25);
	assert_true(v.yes);
	assert_false(v.no);
	assert_true(v.absent);
	assert_string_equal(v.text, "a, b");
	assert_null(v.nothing);
	assert_int_equal(conf_args_number(args, ARRAY_LEN(args), "of.x", 1, &d, &err), 0);
	assert_true(d == 3);
	assert_int_equal(conf_args_number(args, ARRAY_LEN(args), "of.y", 1, &d, &err), 0);
	assert_true(d == 1);
}

static void test_values_that_are_not_what_the_row_says(void **state)
{
	static const struct {
		struct conf_arg arg;
		const char *error;
	} bad[] = {
		{ { "weight", "five" }, "weight: \"five\" is not a number" },
		{ { "share", "" }, "share: \"\" is not a number" },
		{ { "yes", "yes" }, "yes: \"yes\" is not true or false" },
		{ { "no", "" }, "no: \"\" is not true or false" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err err = ERR_INIT;
		struct values v;

		unit_row(bad[i].error);
		assert_int_equal(conf_args_read(rows, &bad[i].arg, 1, &v, &err), -ERR_INVALID);
		assert_string_equal(err.text, bad[i].error);
	}
}

static void test_the_texts_of_switches(void **state)
{
	static const char *const yes[] = { "1", "t", "T", "true", "TRUE", "True" };
	static const char *const no[] = { "0", "f", "F", "false", "FALSE", "False" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
		const struct conf_arg args[] = { { "yes", yes[i] }, { "no", no[i] } };
		struct values v;

		unit_row(yes[i]);
		assert_int_equal(conf_args_read(rows, args, 2, &v, NULL), 0);
		assert_true(v.yes);
		assert_false(v.no);
	}
}

static void test_rows_are_found_by_name_or_prefix(void **state)
{
	(void)state;
	assert_ptr_equal(conf_args_find(rows, "share"), &rows[1]);
	assert_int_equal(conf_args_find(rows, "of.a.b")->kind, CONF_ARGS_PREFIX);
	assert_int_equal(conf_args_find(rows, "theirs")->kind, CONF_ARGS_NO_EFFECT);
	assert_null(conf_args_find(rows, "Share"));
	assert_null(conf_args_find(rows, "sharex"));
	assert_null(conf_args_find(rows, "of"));
	assert_null(conf_args_find(NULL, "share"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_and_defaults),
		cmocka_unit_test(test_values_that_are_not_what_the_row_says),
		cmocka_unit_test(test_the_texts_of_switches),
		cmocka_unit_test(test_rows_are_found_by_name_or_prefix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
