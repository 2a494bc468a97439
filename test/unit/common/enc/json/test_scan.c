#include "enc/json/scan.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/utf8.h"

static const char *scan(const char *text, unsigned depth, struct scan_error *e)
{
	return scan_value(text, text + strlen(text), depth, e);
}

static void test_value_ends_where_it_ends(void **state)
{
	static const struct {
		const char *text;
		size_t len;
	} rows[] = {
		{ "1 2", 1 },   { " \n-1.5e+3,", 9 }, { "\"a\\\"b\" x", 6 },
		{ "{}}", 2 },   { "[ ] ]", 3 },       { "{\"a\":[1,{}]},", 12 },
		{ "true}", 4 }, { "null", 4 },        { "[[],[[]]]", 9 },
	};
	struct scan_error e;
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *p = scan(rows[i].text, 10, &e);

		unit_row(rows[i].text);
		assert_non_null(p);
		assert_int_equal(p - rows[i].text, rows[i].len);
	}
}

static void test_depth(void **state)
{
	struct scan_error e;
	(void)state;

	assert_non_null(scan("1", 0, &e));
	assert_null(scan("[]", 0, &e));
	assert_non_null(scan("[[],{\"a\":1}]", 2, &e));
	assert_null(scan("[{\"a\":[]}]", 2, &e));
	assert_string_equal(e.what, "nested too deeply");
}

/* Every length around the width of the vector loop, with the quote and a bad byte at each place. */
static void test_strings_of_all_lengths(void **state)
{
	char text[80];
	(void)state;

	for (size_t n = 0; n < 70; n++) {
		struct scan_error e;
		bool escaped;

		memset(text, 'x', sizeof(text));
		text[n] = '"';
		assert_ptr_equal(scan_string(text, text + n + 1, &escaped, &e), text + n);
		assert_false(escaped);
		assert_null(scan_string(text, text + n, &escaped, &e));
		assert_string_equal(e.what, "unterminated string");
		for (size_t i = 0; i < n; i++) {
			text[i] = '\x1f';
			assert_null(scan_string(text, text + n + 1, &escaped, &e));
			assert_ptr_equal(e.at, text + i);
			text[i] = '\xff';
			assert_null(scan_string(text, text + n + 1, &escaped, &e));
			assert_ptr_equal(e.at, text + i);
			text[i] = '\x7f';
			assert_non_null(scan_string(text, text + n + 1, &escaped, &e));
			text[i] = 'x';
		}
	}
}

static void test_number_limits(void **state)
{
	char text[SCAN_NUMBER_MAX + 1];
	struct scan_error e;
	(void)state;

	memset(text, '7', sizeof(text));
	assert_non_null(scan_number(text, text + SCAN_NUMBER_MAX, &e));
	assert_null(scan_number(text, text + SCAN_NUMBER_MAX + 1, &e));
	assert_string_equal(e.what, "number is too long");
	assert_non_null(scan("1e308", 0, &e));
	assert_null(scan("1e309", 0, &e));
	assert_non_null(scan("1e-999", 0, &e));
	assert_true(scan_double(STR_LIT("-2.5e1")) == -25);
}

static void test_unescape(void **state)
{
	static const char *const rows[][2] = {
		{ "plain", "plain" },
		{ "a\\n\\t\\r\\b\\f\\/\\\\\\\"", "a\n\t\r\b\f/\\\"" },
		{ "\\u0041\\u00e9\\u20AC\\ud83d\\ude00", "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
		/* the first and the last of each length */
		{ "\\u007f\\u0080\\u07ff\\u0800", "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80" },
		{ "\\uffff\\ud800\\udc00\\udbff\\udfff",
		  "\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char out[64];
		size_t n;

		unit_row(rows[i][0]);
		assert_true(scan_unescape(str_of(rows[i][0]), out, &n));
		assert_int_equal(n, strlen(rows[i][1]));
		assert_memory_equal(out, rows[i][1], n);
	}
}

/* A NUL stays apart from all other text, and a lookalike in raw bytes is refused. */
static void test_nul(void **state)
{
	static const char text[] = "\"a\\u0000b\"", raw[] = "\"a\xc0\x80\"";
	struct scan_error e;
	char out[16];
	size_t n;
	(void)state;

	assert_non_null(scan(text, 0, &e));
	assert_true(scan_unescape((struct str){ text + 1, sizeof(text) - 3 }, out, &n));
	assert_int_equal(n, 4);
	assert_memory_equal(out, "a" UTF8_NUL "b", 4);
	assert_null(scan(raw, 0, &e));
}

/* As Go decodes them: sigs.k8s.io/json, the API server's decoder, gives the same texts. */
static void test_half_pairs(void **state)
{
	static const char *const rows[][2] = {
		{ "\\ud800", UTF8_REPLACEMENT },
		{ "\\udc00\\ud800", UTF8_REPLACEMENT UTF8_REPLACEMENT },
		{ "\\ud83dx", UTF8_REPLACEMENT "x" },
		{ "\\ud83d\\u0041", UTF8_REPLACEMENT "A" },
		{ "\\ud83d\\n", UTF8_REPLACEMENT "\n" },
		{ "\\ud83d\\ud83d\\ude00", UTF8_REPLACEMENT "\xf0\x9f\x98\x80" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char text[64], out[64];
		struct scan_error e;
		bool escaped;
		size_t n, len = strlen(rows[i][0]);

		unit_row(rows[i][0]);
		memcpy(text, rows[i][0], len);
		text[len] = '"';
		assert_ptr_equal(scan_string(text, text + len + 1, &escaped, &e), text + len);
		assert_true(escaped);
		assert_true(scan_unescape((struct str){ text, len }, out, &n));
		assert_int_equal(n, strlen(rows[i][1]));
		assert_memory_equal(out, rows[i][1], n);
	}
}

static void test_broken_escapes(void **state)
{
	static const char *const rows[] = { "\\", "a\\q", "\\u12", "\\u12g4", "\\ud800\\u12" };
	char out[16];
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t n;

		unit_row(rows[i]);
		assert_false(scan_unescape(str_of(rows[i]), out, &n));
	}
}

/* The end alone: bytes that scan_string refuses are passed over, escaped quotes, too. */
static void test_string_end(void **state)
{
	static const struct {
		const char *text;
		int end; /* -1: none */
	} rows[] = {
		{ "\"", 0 },       { "ab\"c\"", 2 },       { "a\\\"b\" ", 4 },
		{ "\\\\\"\"", 2 }, { "\x01\xff\\q\"", 4 }, { "0123456789abcdef0\\\"x\"", 20 },
		{ "", -1 },        { "abc", -1 },          { "a\\\"", -1 },
		{ "a\\", -1 },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *text = rows[i].text;
		const char *end = scan_string_end(text, text + strlen(text));

		unit_row(rows[i].text);
		assert_int_equal(end == NULL ? -1 : end - text, rows[i].end);
	}
}

static void test_deep(void **state)
{
	char text[2 * SCAN_MAX_DEPTH + 1];
	struct scan_error e;
	(void)state;

	memset(text, '[', SCAN_MAX_DEPTH);
	memset(text + SCAN_MAX_DEPTH, ']', SCAN_MAX_DEPTH);
	text[2 * SCAN_MAX_DEPTH] = '\0';
	assert_non_null(scan(text, SCAN_MAX_DEPTH, &e));
	assert_null(scan(text, SCAN_MAX_DEPTH - 1, &e));
	assert_string_equal(e.what, "nested too deeply");
	assert_null(scan("[1,]", SCAN_MAX_DEPTH, &e));
	assert_string_equal(e.what, "value expected");
}

static void test_position(void **state)
{
	const char *text = "a\nbc\n\nd";
	size_t line, column;
	(void)state;

	scan_position(text, text, &line, &column);
	assert_int_equal(line, 1);
	assert_int_equal(column, 1);
	scan_position(text, text + 3, &line, &column);
	assert_int_equal(line, 2);
	assert_int_equal(column, 2);
	scan_position(text, text + 6, &line, &column);
	assert_int_equal(line, 4);
	assert_int_equal(column, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_value_ends_where_it_ends),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_strings_of_all_lengths),
		cmocka_unit_test(test_number_limits),
		cmocka_unit_test(test_unescape),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_broken_escapes),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_position),
		cmocka_unit_test(test_half_pairs),
		cmocka_unit_test(test_string_end),
	};

	return cmocka_run_group_tests_name("scan", tests, NULL, NULL);
}
