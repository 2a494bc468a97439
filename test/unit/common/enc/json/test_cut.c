#include "enc/json/cut.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/utf8.h"

static void test_values(void **state)
{
	static const struct {
		const char *text, *value, *rest;
	} rows[] = {
		{ "{}", "{}", "" },
		{ " {\"a\":[1,{\"b\":\"}\"}]} ,x", "{\"a\":[1,{\"b\":\"}\"}]}", " ,x" },
		{ "\"a\\\"b\",", "\"a\\\"b\"", "," },
		{ "\"a\\\\\",", "\"a\\\\\"", "," },
		{ "\"\xff\n\"1", "\"\xff\n\"", "1" },
		{ "\"\\\\\\\"x\"", "\"\\\\\\\"x\"", "" },
		{ "12.5e3]", "12.5e3", "]" },
		{ "true}", "true", "}" },
		{ "{\"a\":1", NULL, NULL },
		{ "\"abc", NULL, NULL },
		{ "\"abc\\\"", NULL, NULL },
		{ "[[1]", NULL, NULL },
		{ "", NULL, NULL },
		{ "  ", NULL, NULL },
		{ ",", NULL, NULL },
		{ "{\"a\":\"x}", NULL, NULL },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cut c;
		struct str value;
		bool ok;

		unit_row(rows[i].text);
		cut_init(&c, str_of(rows[i].text));
		ok = cut_value(&c, &value);
		assert_int_equal(ok, rows[i].value != NULL);
		assert_int_equal(c.failed, !ok);
		if (ok) {
			assert_true(str_eq_c(value, rows[i].value));
			assert_true(str_eq_c((struct str){ c.pos, (size_t)(c.end - c.pos) },
					     rows[i].rest));
		} else {
			/* The error stays. */
			assert_false(cut_value(&c, &value));
			assert_false(cut_at_end(&c));
		}
	}
}

static void test_members_and_items(void **state)
{
	struct cut c;
	struct str key, value;
	(void)state;

	cut_init(&c, STR_LIT(" { \"a\" : 1 , \"b c\":[true,\"x\"] } "));
	assert_false(cut_open(&c, '['));
	assert_true(cut_open(&c, '{'));
	assert_true(cut_member(&c, &key, &value));
	assert_true(str_eq_c(key, "a") && str_eq_c(value, "1"));
	assert_true(cut_member(&c, &key, &value));
	assert_true(str_eq_c(key, "b c") && str_eq_c(value, "[true,\"x\"]"));
	assert_false(cut_member(&c, &key, &value));
	assert_false(c.failed);
	assert_true(cut_at_end(&c));

	cut_init(&c, value);
	assert_true(cut_open(&c, '['));
	assert_true(cut_item(&c, &value) && str_eq_c(value, "true"));
	assert_true(cut_item(&c, &value) && str_eq_c(value, "\"x\""));
	assert_false(cut_item(&c, &value));
	assert_false(c.failed);

	cut_init(&c, STR_LIT("[]"));
	assert_true(cut_open(&c, '['));
	assert_false(cut_item(&c, &value));
	assert_false(c.failed);
}

static void test_broken_members(void **state)
{
	static const char *const rows[] = {
		"{\"a\" 1}", "{a:1}", "{\"a\":1 \"b\":2}", "{\"a\":}", "{\"a\":1", "{,}", "{\"a\"",
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cut c;
		struct str key, value;

		unit_row(rows[i]);
		cut_init(&c, str_of(rows[i]));
		assert_true(cut_open(&c, '{'));
		while (cut_member(&c, &key, &value)) {
		}
		assert_true(c.failed);
	}
}

static void nest(struct strbuf *b, unsigned depth)
{
	strbuf_reset(b);
	for (unsigned i = 0; i < depth; i++) {
		strbuf_add_ch(b, '[');
	}
	for (unsigned i = 0; i < depth; i++) {
		strbuf_add_ch(b, ']');
	}
}

static void test_depth_limit(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;
	struct cut c;
	struct str value;
	(void)state;

	nest(&b, CUT_MAX_DEPTH);
	cut_init(&c, strbuf_str(&b));
	assert_true(cut_value(&c, &value));
	nest(&b, CUT_MAX_DEPTH + 1);
	cut_init(&c, strbuf_str(&b));
	assert_false(cut_value(&c, &value));
}

static void test_meta(void **state)
{
	static const struct {
		const char *text, *namespace_, *name, *version;
		bool ok;
	} rows[] = {
		{ "{\"kind\":\"Pod\",\"metadata\":{\"labels\":{\"name\":\"no\"},\"name\":\"a\","
		  "\"namespace\":\"n\",\"resourceVersion\":\"7\"},\"spec\":{}}",
		  "n", "a", "7", true },
		{ "{\"spec\":{\"metadata\":{\"name\":\"no\"}},\"metadata\":{\"name\":\"b\"}}", "",
		  "b", "", true },
		{ "{\"metadata\":{\"resourceVersion\":12}}", "", "", "", true },
		{ "{\"spec\":{}}", NULL, NULL, NULL, false },
		{ "{\"metadata\":[]}", NULL, NULL, NULL, false },
		{ "[]", NULL, NULL, NULL, false },
		{ "{\"metadata\":{\"name\" \"b\"}}", NULL, NULL, NULL, false },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cut_meta m;

		unit_row(rows[i].text);
		assert_int_equal(cut_meta(str_of(rows[i].text), &m), rows[i].ok);
		if (rows[i].ok) {
			assert_true(str_eq_c(m.namespace_, rows[i].namespace_));
			assert_true(str_eq_c(m.name, rows[i].name));
			assert_true(str_eq_c(m.resource_version, rows[i].version));
		}
	}
}

static void test_absent_text(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;
	const struct str none = { NULL, 0 };
	struct cut_meta meta;
	struct cut c;
	(void)state;

	cut_init(&c, none);
	assert_false(cut_open(&c, '{'));
	assert_false(cut_at_end(&c));
	assert_false(cut_meta(none, &meta));
	assert_true(cut_unescape(none, &b));
	assert_int_equal(b.len, 0);
}

static void test_scalars(void **state)
{
	int64_t n = 5;
	(void)state;

	assert_true(str_eq_c(cut_string(STR_LIT("\"x\"")), "x"));
	assert_null(cut_string(STR_LIT("12")).p);
	assert_null(cut_string(STR_LIT("\"")).p);
	assert_true(cut_int(STR_LIT("-3"), &n) && n == -3);
	assert_false(cut_int(STR_LIT("1.5"), &n));
	assert_false(cut_int((struct str){ NULL, 0 }, &n));
	assert_int_equal(n, -3);
}

static void test_unescape(void **state)
{
	static const struct {
		const char *raw, *text; /* text NULL: broken */
	} rows[] = {
		{ "abc", "abc" },
		{ "a\\\"\\\\\\/\\b\\f\\n\\r\\t", "a\"\\/\b\f\n\r\t" },
		{ "\\u0041\\u00e4\\u20AC", "A\xc3\xa4\xe2\x82\xac" },
		{ "\\ud83d\\ude00", "\xf0\x9f\x98\x80" },
		{ "\\ud83dx", UTF8_REPLACEMENT "x" },
		{ "a\\u0000b", "a" UTF8_NUL "b" },
		{ "\\", NULL },
		{ "\\q", NULL },
		{ "\\u12", NULL },
		{ "\\u12g4", NULL },
	};
	CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].raw);
		strbuf_reset(&b);
		assert_int_equal(cut_unescape(str_of(rows[i].raw), &b), rows[i].text != NULL);
		if (rows[i].text != NULL) {
			assert_string_equal(b.p, rows[i].text);
		} else {
			assert_int_equal(b.len, 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),         cmocka_unit_test(test_members_and_items),
		cmocka_unit_test(test_broken_members), cmocka_unit_test(test_depth_limit),
		cmocka_unit_test(test_meta),           cmocka_unit_test(test_scalars),
		cmocka_unit_test(test_unescape),       cmocka_unit_test(test_absent_text),
	};

	return cmocka_run_group_tests_name("cut", tests, NULL, NULL);
}
