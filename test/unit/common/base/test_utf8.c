#include "base/utf8.h"

#include <string.h>

#include "lib/unit.h"

#include "base/attrs.h"

static void test_len(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} rows[] = {
		{ "a", 1 },
		{ "\x7f", 1 },
		{ "\xc2\x80", 2 },
		{ "\xdf\xbf", 2 },
		{ "\xe0\xa0\x80", 3 },
		{ "\xed\x9f\xbf", 3 },
		{ "\xee\x80\x80", 3 },
		{ "\xf0\x90\x80\x80", 4 },
		{ "\xf4\x8f\xbf\xbf", 4 },
		{ "", 0 },
		{ "\x80", 0 },
		{ "\xc1\xbf", 0 },
		{ UTF8_NUL, 0 },
		{ "\xe0\x9f\xbf", 0 },
		{ "\xed\xa0\x80", 0 },
		{ "\xf0\x8f\xbf\xbf", 0 },
		{ "\xf4\x90\x80\x80", 0 },
		{ "\xf5\x80\x80\x80", 0 },
		{ "\xc2", 0 },
		{ "\xe2\x82", 0 },
		{ "\xe2\x28\xa1", 0 },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *p = rows[i].bytes;

		unit_row(rows[i].bytes);
		assert_int_equal(utf8_len(p, p + strlen(p)), rows[i].len);
	}
}

/* Each character but surrogates and U+0000 is well-formed at its own length. */
static void test_put(void **state)
{
	char out[UTF8_MAX];
	(void)state;

	for (uint32_t c = 1; c <= 0x10ffff; c++) {
		size_t n = utf8_put(c, out);

		assert_int_equal(utf8_len(out, out + n), c >= 0xd800 && c <= 0xdfff ? 0 : n);
	}
	assert_int_equal(utf8_put(0x20ac, out), 3);
	assert_memory_equal(out, "\xe2\x82\xac", 3);
	assert_int_equal(utf8_put(0x1f600, out), 4);
	assert_memory_equal(out, "\xf0\x9f\x98\x80", 4);
	assert_int_equal(utf8_put(UTF8_REPLACEMENT_CHARACTER, out), strlen(UTF8_REPLACEMENT));
	assert_memory_equal(out, UTF8_REPLACEMENT, strlen(UTF8_REPLACEMENT));
}

static void test_count(void **state)
{
	static const char text[] = "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80" UTF8_NUL;
	(void)state;

	assert_int_equal(utf8_count(text, text + sizeof(text) - 1), 5);
	assert_int_equal(utf8_count(text, text), 0);
}

static void test_nul(void **state)
{
	char out[UTF8_MAX];
	(void)state;

	assert_int_equal(utf8_put(0, out), 2);
	assert_true(utf8_is_nul(out, out + 2));
	assert_false(utf8_is_nul(out, out + 1));
	assert_false(utf8_is_nul("\xc0\x81", out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_len),
		cmocka_unit_test(test_put),
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_nul),
	};

	return cmocka_run_group_tests_name("utf8", tests, NULL, NULL);
}
