#include "base/err.h"

#include "lib/unit.h"

#include <string.h>

static void test_set_and_wrap(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(err_set(&err, ERR_INVALID, "invalid quantity \"%s\"", "1x"), -ERR_INVALID);
	assert_int_equal(err_wrap(&err, "%s", "cpu"), -ERR_INVALID);
	assert_string_equal(err.text, "cpu: invalid quantity \"1x\"");
	assert_int_equal(err_path(&err, "containers[%d].", 2), -ERR_INVALID);
	assert_int_equal(err_path(&err, "spec."), -ERR_INVALID);
	assert_int_equal(err_wrap(&err, "pod %s", "a/b"), -ERR_INVALID);
	assert_string_equal(err.text, "pod a/b: spec.containers[2].cpu: invalid quantity \"1x\"");
	assert_int_equal(err.code, ERR_INVALID);
}

static void test_null(void **state)
{
	(void)state;
	assert_int_equal(err_set(NULL, ERR_GONE, "x"), -ERR_GONE);
	assert_int_equal(err_wrap(NULL, "x"), -ERR_INTERNAL);
	assert_int_equal(err_path(NULL, "x"), -ERR_INTERNAL);
}

static void test_wrapping_nothing_is_a_failure(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(err_wrap(&err, "x"), -ERR_INTERNAL);
	assert_int_equal(err.code, ERR_INTERNAL);
}

static void test_arguments_may_be_the_old_text(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	err_set(&err, ERR_IO, "disk");
	err_set(&err, ERR_IO, "bad %s", err.text);
	assert_string_equal(err.text, "bad disk");
	err_wrap(&err, "<%s>", err.text);
	assert_string_equal(err.text, "<bad disk>: bad disk");
}

/* Texts of every length around the limit stay inside it. */
static void test_truncation(void **state)
{
	char text[ERR_TEXT_MAX + 8];

	(void)state;
	for (int n = ERR_TEXT_MAX - 8; n < ERR_TEXT_MAX + 7; n++) {
		struct err err = ERR_INIT;
		size_t want = n < ERR_TEXT_MAX ? (size_t)n : ERR_TEXT_MAX - 1;

		memset(text, 'x', (size_t)n);
		text[n] = '\0';
		err_set(&err, ERR_IO, "%s", text);
		assert_int_equal(strlen(err.text), want);
		err_set(&err, ERR_IO, "end");
		err_wrap(&err, "%s", text);
		want = n + 5 < ERR_TEXT_MAX ? (size_t)n + 5 : ERR_TEXT_MAX - 1;
		assert_int_equal(strlen(err.text), want);
		assert_int_equal(err.text[0], 'x');
	}
}

static void test_names(void **state)
{
	(void)state;
	for (int i = 0; i < ERR_COUNT_; i++) {
		assert_non_null(err_name((enum err_code)i));
		assert_true(strlen(err_name((enum err_code)i)) > 0);
	}
	assert_string_equal(err_name(ERR_NOT_FOUND), "NotFound");
	assert_string_equal(err_name(ERR_COUNT_), "Unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set_and_wrap),
		cmocka_unit_test(test_null),
		cmocka_unit_test(test_wrapping_nothing_is_a_failure),
		cmocka_unit_test(test_arguments_may_be_the_old_text),
		cmocka_unit_test(test_truncation),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests_name("err", tests, NULL, NULL);
}
