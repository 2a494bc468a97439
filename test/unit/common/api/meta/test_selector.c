#include "api/meta/selector.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/decode.h"

/* a=1, b="" are there. */
static const struct field_pair pairs[] = { { "a", "1" }, { "b", "" }, { "x/n", "7" } };
static const struct field_map labels = { pairs, ARRAY_LEN(pairs) };

static void test_label_text(void **state)
{
	static const struct {
		const char *text;
		bool matches;
	} rows[] = {
		{ "", true },
		{ "  ", true },
		{ "a=1", true },
		{ "a==1", true },
		{ " a = 1 ", true },
		{ "a=2", false },
		{ "a!=1", false },
		{ "a!=2", true },
		{ "z!=2", true },
		{ "a", true },
		{ "z", false },
		{ "!z", true },
		{ "!a", false },
		{ "! z", true },
		{ "b=", true },
		{ "a=", false },
		{ "z=", false },
		{ "a in (1,2)", true },
		{ "a in (2, 3)", false },
		{ "a notin (1)", false },
		{ "z notin (1)", true },
		{ "a notin(2)", true },
		{ "b in (,x)", true },
		{ "a=1,b,!z,x/n in (7)", true },
		{ "a=1,b,!z,x/n=8", false },
		{ "x/n>6", true },
		{ "x/n > 7", false },
		{ "x/n<8", true },
		{ "a>0,a<2", true },
		{ "b>0", false },
		{ "in=1", false },
		{ "notin", false },
		{ "a,a in (1)", true },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
		struct err err = ERR_INIT;
		struct selector s;

		unit_row(rows[i].text);
		if (selector_parse_labels(str_of(rows[i].text), arena, &s, &err) != 0) {
			fail_msg("%s: %s", rows[i].text, err.text);
		}
		if (selector_match(&s, &labels) != rows[i].matches) {
			fail_msg("%s", rows[i].text);
		}
	}
}

static void test_label_text_refused(void **state)
{
	static const char *const rows[] = {
		",",       "a,",       "a=1,,b", "=1", "a=1=2",      "a in", "a in 1", "a in (",
		"a in (1", "a in ()x", "a is 1", "!",  "!a=1",       "a b",  "a>x",    "-a=1",
		"a=-1",    "a/b/c=1",  "a=b/c",  "a<", "a in (b c)", "(a)",  "a=1;b=2"
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
		struct err err = ERR_INIT;
		struct selector s;

		unit_row(rows[i]);
		if (selector_parse_labels(str_of(rows[i]), arena, &s, &err) != -ERR_INVALID) {
			fail_msg("%s accepted", rows[i]);
		}
		assert_non_null(strstr(err.text, "selector: "));
	}
}

static const char *get_field(const void *ctx, const char *key)
{
	(void)ctx;
	if (strcmp(key, "metadata.name") == 0) {
		return "p,1";
	}
	return strcmp(key, "spec.nodeName") == 0 ? "" : NULL;
}

static void test_field_text(void **state)
{
	static const struct {
		const char *text;
		bool matches;
	} rows[] = {
		{ "", true },
		{ "metadata.name=p\\,1", true },
		{ "metadata.name==p\\,1", true },
		{ "metadata.name!=p\\,1", false },
		{ "metadata.name=x", false },
		{ "spec.nodeName=", true },
		{ "spec.nodeName!=", false },
		{ "spec.nodeName=,metadata.name=p\\,1,", true },
		{ "spec.nodeName!=n,metadata.name=q", false },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
		struct selector s;

		unit_row(rows[i].text);
		assert_int_equal(selector_parse_fields(str_of(rows[i].text), arena, &s, NULL), 0);
		if (selector_match_with(&s, get_field, NULL) != rows[i].matches) {
			fail_msg("%s", rows[i].text);
		}
	}
}

static void test_field_text_refused(void **state)
{
	static const char *const rows[] = { "a", "=b", "!=b", "a=b,c", "a=\\x", "a=b\\", "a\\=b" };
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
		struct selector s;

		unit_row(rows[i]);
		if (selector_parse_fields(str_of(rows[i]), arena, &s, NULL) != -ERR_INVALID) {
			fail_msg("%s accepted", rows[i]);
		}
	}
}

static int of_json(const char *json, struct arena *arena, struct selector *ret, struct err *err)
{
	struct api_label_selector ls;

	assert_int_equal(decode_text(&selector_fields, str_of(json), &ls, arena, NULL), 0);
	return selector_from_struct(&ls, arena, ret, err);
}

static void test_label_selector_objects(void **state)
{
	static const struct {
		const char *json;
		bool matches;
	} rows[] = {
		{ "{}", true },
		{ "{\"matchLabels\":{\"a\":\"1\",\"b\":\"\"}}", true },
		{ "{\"matchLabels\":{\"a\":\"1\",\"b\":\"x\"}}", false },
		{ "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"1\"]}]}",
		  true },
		{ "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"NotIn\",\"values\":[\"1\"]}"
		  "]"
		  "}",
		  false },
		{ "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\"},{\"key\":\"z\","
		  "\"operator\":\"DoesNotExist\"}]}",
		  true },
	};
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	struct selector s;
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].json);
		assert_int_equal(of_json(rows[i].json, arena, &s, NULL), 0);
		assert_int_equal(selector_match(&s, &labels), rows[i].matches);
	}
	assert_int_equal(selector_from_struct(NULL, arena, &s, NULL), 0);
	assert_false(selector_match(&s, &labels));
}

static void test_label_selector_objects_refused(void **state)
{
	static const char *const rows[][2] = {
		{ "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Is\"}]}",
		  "unknown operator" },
		{ "{\"matchExpressions\":[{\"operator\":\"Exists\"}]}", "invalid key" },
		{ "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\"}]}", "values needed" },
		{ "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\",\"values\":[\"x\"]"
		  "}]"
		  "}",
		  "no values allowed" },
		{ "{\"matchLabels\":{\"-a\":\"1\"}}", "invalid key" },
		{ "{\"matchLabels\":{\"a\":\"b c\"}}", "invalid value" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
		struct err err = ERR_INIT;
		struct selector s;

		unit_row(rows[i][0]);
		assert_int_equal(of_json(rows[i][0], arena, &s, &err), -ERR_INVALID);
		assert_non_null(strstr(err.text, rows[i][1]));
	}
}

static int parse_many(const char *open, const char *item, size_t n, const char *close)
{
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	struct strbuf text CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct selector s;

	strbuf_add_c(&text, open);
	for (size_t i = 0; i < n; i++) {
		strbuf_add_c(&text, i == 0 ? "" : ",");
		strbuf_add_c(&text, item);
	}
	strbuf_add_c(&text, close);
	return selector_parse_labels(strbuf_str(&text), arena, &s, NULL);
}

static void test_limits(void **state)
{
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	struct strbuf text CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct selector s;
	(void)state;

	assert_int_equal(selector_parse_labels((struct str){ NULL, 0 }, arena, &s, NULL), 0);
	assert_true(selector_match(&s, &labels));
	assert_int_equal(selector_parse_fields((struct str){ NULL, 0 }, arena, &s, NULL), 0);
	assert_int_equal(parse_many("", "a", SELECTOR_MAX_REQUIREMENTS, ""), 0);
	assert_int_equal(parse_many("", "a", SELECTOR_MAX_REQUIREMENTS + 1, ""), -ERR_INVALID);
	assert_int_equal(parse_many("a in (", "b", SELECTOR_MAX_VALUES, ")"), 0);
	assert_int_equal(parse_many("a in (", "b", SELECTOR_MAX_VALUES + 1, ")"), -ERR_INVALID);
	while (text.len < SELECTOR_MAX_BYTES) {
		strbuf_add_ch(&text, ' ');
	}
	assert_int_equal(selector_parse_labels(strbuf_str(&text), arena, &s, NULL), 0);
	strbuf_add_ch(&text, ' ');
	assert_int_equal(selector_parse_labels(strbuf_str(&text), arena, &s, NULL), -ERR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_label_text),
		cmocka_unit_test(test_label_text_refused),
		cmocka_unit_test(test_field_text),
		cmocka_unit_test(test_field_text_refused),
		cmocka_unit_test(test_label_selector_objects),
		cmocka_unit_test(test_label_selector_objects_refused),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests_name("selector", tests, NULL, NULL);
}
