#include "enc/json/jdoc.h"

#include "lib/unit.h"

#include <stdio.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "lib/compares.h"

static struct jdoc *parse(const char *text)
{
	struct err err = ERR_INIT;
	struct jdoc *d = NULL;

	if (jdoc_parse(str_of(text), &d, &err) != 0) {
		print_error("%s: %s\n", text, err.text);
	}
	assert_non_null(d);
	return d;
}

static void assert_text(const struct jdoc *d, const char *want)
{
	struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;

	jdoc_format(d, &out);
	assert_string_equal(out.p, want);
}

static void test_round_trip(void **state)
{
	static const char *const rows[][2] = {
		{ "null", "null" },
		{ " true ", "true" },
		{ "[1,2.5,-3e2,1e21]", "[1,2.5,-300,1e+21]" },
		{ "9007199254740993", "9007199254740992" },
		{ "9223372036854775807", "9223372036854775807" },
		{ "0.1", "0.1" },
		{ "{\"a\":{\"b\":[{},[]]}}", "{\"a\":{\"b\":[{},[]]}}" },
		{ "\"\\u00e9\\ud83d\\ude00\\n\\u0001/\\/\"",
		  "\"\xc3\xa9\xf0\x9f\x98\x80\\n\\u0001//\"" },
		{ "{\"a\":1,\"b\":2,\"a\":3}", "{\"b\":2,\"a\":3}" },
		{ "{\"a\":1,\"A\":2}", "{\"a\":1,\"A\":2}" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct jdoc *d CLEANUP(jdoc_destroyp) = parse(rows[i][0]);

		unit_row(rows[i][0]);
		assert_text(d, rows[i][1]);
	}
}

static void test_errors_name_the_place(void **state)
{
	static const char *const rows[][2] = {
		{ "", "line 1 column 1: unexpected end" },
		{ "{\"a\":1,\n \"b\" 2}", "line 2 column 6: ':' expected" },
		{ "{\"a\":1,}", "member name expected" },
		{ "[1,]", "value expected" },
		{ "[1 2]", "',' or ']' expected" },
		{ "{\"a\":1]", "',' or '}' expected" },
		{ "[", "unexpected end" },
		{ "{\"a\":", "unexpected end" },
		{ "01", "leading zero" },
		{ "1.", "digit expected" },
		{ "-", "digit expected" },
		{ "+1", "value expected" },
		{ "1e", "digit expected" },
		{ "1e999", "out of range" },
		{ "nul", "value expected" },
		{ "1 2", "unexpected text" },
		{ "'a'", "value expected" },
		{ "\"a", "unterminated" },
		{ "\"a\\", "unterminated" },
		{ "\"\\u12", "bad \\u escape" },
		{ "\"\\u1234", "unterminated" },
		{ "\"\\x\"", "unknown escape" },
		{ "\"\\u12g4\"", "bad \\u escape" },
		{ "\"a\tb\"", "control character" },
		{ "\"\xff\"", "invalid UTF-8" },
		{ "\"\xc0\x80\"", "invalid UTF-8" },
		{ "\"\xed\xa0\x80\"", "invalid UTF-8" },
		{ "\"\xf4\x90\x80\x80\"", "invalid UTF-8" },
		{ "\"\xe2\x82\"", "invalid UTF-8" },
		{ "\v1", "value expected" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;
		struct jdoc *d = NULL;

		assert_int_equal(jdoc_parse(str_of(rows[i][0]), &d, &err), -ERR_INVALID);
		assert_null(d);
		if (strstr(err.text, rows[i][1]) == NULL) {
			fail_msg("%s: got '%s', want '%s'", rows[i][0], err.text, rows[i][1]);
		}
	}
}

/* Nothing of a string behind a NUL is lost, and nothing equals the part before it. */
static void test_nul(void **state)
{
	static const char text[] = "{\"a\\u0000\":\"x\\u0000y\",\"a\":\"x\",\"b\":\"\\\\u0000\"}";
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	(void)state;

	assert_int_equal(jdoc_parse(str_of(text), &d, NULL), 0);
	assert_int_equal(jdoc_count(d), 3);
	assert_string_equal(jdoc_str(jdoc_get(d, "a")), "x");
	assert_string_equal(jdoc_str(jdoc_get(d, "a" UTF8_NUL)), "x" UTF8_NUL "y");
	assert_string_equal(jdoc_str(jdoc_get(d, "b")), "\\u0000");
	jdoc_format(d, &out);
	assert_string_equal(out.p, text);
}

/* Half of a surrogate pair, which cJSON refuses, as the API server reads it. */
static void test_half_pairs(void **state)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	(void)state;

	assert_int_equal(jdoc_parse(STR_LIT("{\"\\udc00\":\"a\\ud800\\n\"}"), &d, NULL), 0);
	assert_string_equal(jdoc_str(jdoc_get(d, UTF8_REPLACEMENT)), "a" UTF8_REPLACEMENT "\n");
}

static int parse_nested(unsigned levels)
{
	struct strbuf text CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct jdoc *d CLEANUP(jdoc_destroyp) = NULL;

	for (unsigned i = 0; i < levels; i++) {
		strbuf_add_ch(&text, '[');
	}
	for (unsigned i = 0; i < levels; i++) {
		strbuf_add_ch(&text, ']');
	}
	return jdoc_parse(strbuf_str(&text), &d, NULL);
}

static void test_limits(void **state)
{
	struct strbuf text CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct jdoc *d = NULL;
	(void)state;

	assert_int_equal(jdoc_parse((struct str){ NULL, 0 }, &d, NULL), -ERR_INVALID);
	assert_int_equal(parse_nested(JDOC_MAX_DEPTH), 0);
	assert_int_equal(parse_nested(JDOC_MAX_DEPTH + 1), -ERR_INVALID);

	strbuf_add_c(&text, "1");
	while (text.len < JDOC_MAX_BYTES) {
		size_t left = JDOC_MAX_BYTES - text.len;

		strbuf_add(&text, "                                                        ",
			   left < 56 ? left : 56);
	}
	assert_int_equal(jdoc_parse(strbuf_str(&text), &d, NULL), 0);
	jdoc_destroyp(&d);
	strbuf_add_ch(&text, ' ');
	assert_int_equal(jdoc_parse(strbuf_str(&text), &d, NULL), -ERR_INVALID);
}

static void test_duplicates_in_big_object(void **state)
{
	struct strbuf text CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct jdoc *d CLEANUP(jdoc_destroyp) = NULL;
	(void)state;

	strbuf_add_ch(&text, '{');
	for (int i = 0; i < 50000; i++) {
		strbuf_printf(&text, "%s\"k%d\":%d", i == 0 ? "" : ",", i % 30000, i);
	}
	strbuf_add_ch(&text, '}');
	assert_int_equal(jdoc_parse(strbuf_str(&text), &d, NULL), 0);
	assert_int_equal(jdoc_count(d), 30000);
	assert_int_equal(jdoc_int(jdoc_get(d, "k0"), -1), 30000);
	assert_int_equal(jdoc_int(jdoc_get(d, "k25000"), -1), 25000);
}

static void test_reading_tolerates_wrong_kinds(void **state)
{
	struct jdoc *d CLEANUP(jdoc_destroyp) =
		parse("{\"s\":\"x\",\"n\":3,\"f\":1.5,\"big\":1e19,\"b\":true,\"o\":{\"p\":{\"q\":"
		      "\"deep\"}},\"l\":[7,8]}");
	(void)state;

	assert_int_equal(jdoc_kind(NULL), JDOC_NULL);
	assert_null(jdoc_str(NULL));
	assert_null(jdoc_get(NULL, "a"));
	assert_null(jdoc_first(NULL));
	assert_int_equal(jdoc_count(NULL), 0);
	assert_string_equal(jdoc_str(jdoc_get(d, "s")), "x");
	assert_string_equal(jdoc_str_or(jdoc_get(d, "n"), "def"), "def");
	assert_true(jdoc_is_str(jdoc_get(d, "s"), "x"));
	assert_false(jdoc_is_str(jdoc_get(d, "n"), "3"));
	assert_int_equal(jdoc_int(jdoc_get(d, "n"), 9), 3);
	assert_int_equal(jdoc_int(jdoc_get(d, "f"), 9), 9);
	assert_int_equal(jdoc_int(jdoc_get(d, "big"), 9), 9);
	assert_int_equal(jdoc_int(jdoc_get(d, "s"), 9), 9);
	assert_true(jdoc_bool(jdoc_get(d, "b"), false));
	assert_true(jdoc_bool(jdoc_get(d, "s"), true));
	assert_string_equal(jdoc_path_str(d, "o.p.q"), "deep");
	assert_null(jdoc_path(d, "o.x.q"));
	assert_null(jdoc_path(d, "s.x"));
	assert_int_equal(jdoc_int(jdoc_at(jdoc_get(d, "l"), 1), 0), 8);
	assert_null(jdoc_at(jdoc_get(d, "l"), 2));
	assert_null(jdoc_at(d, 0));
	assert_string_equal(jdoc_key(jdoc_first(d)), "s");
	assert_null(jdoc_key(d));
	assert_int_equal(jdoc_depth(d), 3);
	assert_int_equal(jdoc_depth(jdoc_get(d, "s")), 0);
}

static void test_changing(void **state)
{
	struct jdoc *d CLEANUP(jdoc_destroyp) = jdoc_new_object();
	struct jdoc *arr, *out CLEANUP(jdoc_destroyp) = NULL;
	(void)state;

	jdoc_set_str(d, "a", "1");
	jdoc_set_int(d, "b", 2);
	jdoc_set_bool(d, "c", true);
	jdoc_set_str(d, "a", "replaced");
	assert_text(d, "{\"a\":\"replaced\",\"b\":2,\"c\":true}");
	arr = jdoc_ensure_array(d, "l");
	jdoc_append_take(arr, jdoc_new_int(2));
	jdoc_insert_take(arr, 0, jdoc_new_int(1));
	jdoc_insert_take(arr, 2, jdoc_new_int(4));
	jdoc_insert_take(arr, 2, jdoc_new_int(3));
	assert_ptr_equal(jdoc_ensure_array(d, "l"), arr);
	assert_null(jdoc_ensure_object(d, "l"));
	assert_text(arr, "[1,2,3,4]");
	jdoc_replace_take(arr, jdoc_at_mut(arr, 3), jdoc_new_null());
	assert_true(jdoc_remove_at(arr, 0));
	assert_false(jdoc_remove_at(arr, 3));
	assert_text(arr, "[2,3,null]");
	jdoc_append_take(arr, jdoc_new_bool(false));
	assert_text(arr, "[2,3,null,false]");
	assert_true(jdoc_remove(d, "b"));
	assert_false(jdoc_remove(d, "b"));
	out = jdoc_detach(d, arr);
	assert_null(jdoc_key(out));
	assert_text(d, "{\"a\":\"replaced\",\"c\":true}");
	jdoc_set_take(d, "n", jdoc_new_null());
	assert_non_null(jdoc_ensure_object(d, "n"));
	assert_text(d, "{\"a\":\"replaced\",\"c\":true,\"n\":{}}");
}

static void test_equal_and_copy(void **state)
{
	static const struct {
		const char *a, *b;
		bool equal;
	} rows[] = {
		{ "{\"a\":1,\"b\":[1,{}]}", "{\"b\":[1,{}],\"a\":1}", true },
		{ "{\"a\":1}", "{\"a\":1,\"b\":1}", false },
		{ "{\"a\":1}", "{\"b\":1}", false },
		{ "[1,2]", "[2,1]", false },
		{ "[1]", "[1,2]", false },
		{ "null", "false", false },
		{ "1", "1.0", true },
		{ "\"a\"", "\"b\"", false },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct jdoc *a CLEANUP(jdoc_destroyp) = parse(rows[i].a);
		struct jdoc *b CLEANUP(jdoc_destroyp) = parse(rows[i].b);
		struct jdoc *copy CLEANUP(jdoc_destroyp) = jdoc_copy(a);

		unit_row(rows[i].a);
		assert_int_equal(jdoc_equal(a, b), rows[i].equal);
		assert_int_equal(jdoc_equal(b, a), rows[i].equal);
		assert_true(jdoc_equal(a, copy));
	}
	assert_true(jdoc_equal(NULL, NULL));
}

enum { MEMBERS = 4000 };

static struct jdoc *many(bool backwards)
{
	struct jdoc *d = jdoc_new_object();
	char key[16];

	for (int i = 0; i < MEMBERS; i++) {
		snprintf(key, sizeof(key), "k%d", backwards ? MEMBERS - 1 - i : i);
		(void)jdoc_add_take(d, key, jdoc_new_int(backwards ? MEMBERS - 1 - i : i));
	}
	return d;
}

/* Searched for one by one it would be eight million comparisons. */
static void test_equal_in_another_order(void **state)
{
	struct jdoc *a CLEANUP(jdoc_destroyp) = many(false);
	struct jdoc *b CLEANUP(jdoc_destroyp) = many(true);

	(void)state;
	compares_made = 0;
	assert_true(jdoc_equal(a, b));
	assert_in_range(compares_made, 1, 60 * MEMBERS);
	jdoc_set_int(b, "k17", 18);
	assert_false(jdoc_equal(a, b));
	jdoc_set_int(b, "k17", 17);
	assert_true(jdoc_equal(a, b));
	(void)jdoc_remove(b, "k17");
	(void)jdoc_add_take(b, "other", jdoc_new_int(17));
	assert_false(jdoc_equal(a, b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_errors_name_the_place),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_half_pairs),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_duplicates_in_big_object),
		cmocka_unit_test(test_reading_tolerates_wrong_kinds),
		cmocka_unit_test(test_changing),
		cmocka_unit_test(test_equal_and_copy),
		cmocka_unit_test(test_equal_in_another_order),
	};

	return cmocka_run_group_tests_name("jdoc", tests, NULL, NULL);
}
