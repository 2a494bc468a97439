#include "enc/json/patch_apply.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"

static struct jdoc *parse(const char *text)
{
	struct jdoc *d = NULL;

	assert_int_equal(jdoc_parse(str_of(text), &d, NULL), 0);
	return d;
}

static void assert_text(const struct jdoc *d, const char *want)
{
	struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;

	jdoc_format(d, &out);
	assert_string_equal(out.p, want);
}

/* Among them the examples of RFC 6902, appendix A. */
static void test_json_patch(void **state)
{
	static const char *const rows[][3] = {
		{ "{\"foo\":\"bar\"}", "[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\"}]",
		  "{\"foo\":\"bar\",\"baz\":\"qux\"}" },
		{ "{\"foo\":[\"bar\",\"baz\"]}",
		  "[{\"op\":\"add\",\"path\":\"/foo/1\",\"value\":\"qux\"}]",
		  "{\"foo\":[\"bar\",\"qux\",\"baz\"]}" },
		{ "{\"foo\":[\"bar\"]}",
		  "[{\"op\":\"add\",\"path\":\"/foo/-\",\"value\":[\"abc\",\"def\"]}]",
		  "{\"foo\":[\"bar\",[\"abc\",\"def\"]]}" },
		{ "{\"baz\":\"qux\",\"foo\":\"bar\"}", "[{\"op\":\"remove\",\"path\":\"/baz\"}]",
		  "{\"foo\":\"bar\"}" },
		{ "{\"foo\":[1,2,3]}", "[{\"op\":\"remove\",\"path\":\"/foo/1\"}]",
		  "{\"foo\":[1,3]}" },
		{ "{\"baz\":\"qux\",\"foo\":\"bar\"}",
		  "[{\"op\":\"replace\",\"path\":\"/baz\",\"value\":\"boo\"}]",
		  "{\"baz\":\"boo\",\"foo\":\"bar\"}" },
		{ "{\"foo\":{\"bar\":\"baz\",\"waldo\":\"fred\"},\"qux\":{\"corge\":\"grault\"}}",
		  "[{\"op\":\"move\",\"from\":\"/foo/waldo\",\"path\":\"/qux/thud\"}]",
		  "{\"foo\":{\"bar\":\"baz\"},\"qux\":{\"corge\":\"grault\",\"thud\":\"fred\"}}" },
		{ "{\"foo\":[\"all\",\"grass\",\"cows\",\"eat\"]}",
		  "[{\"op\":\"move\",\"from\":\"/foo/1\",\"path\":\"/foo/3\"}]",
		  "{\"foo\":[\"all\",\"cows\",\"eat\",\"grass\"]}" },
		{ "{\"a\":{\"b\":1}}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/c\"}]",
		  "{\"a\":{\"b\":1,\"c\":{\"b\":1}}}" },
		{ "{\"a~b\":{\"c/d\":1}}",
		  "[{\"op\":\"test\",\"path\":\"/a~0b/c~1d\",\"value\":1.0},"
		  "{\"op\":\"replace\",\"path\":\"/a~0b/c~1d\",\"value\":null}]",
		  "{\"a~b\":{\"c/d\":null}}" },
		{ "{\"\":1}", "[{\"op\":\"remove\",\"path\":\"/\"}]", "{}" },
		{ "{\"a\":1}", "[{\"op\":\"add\",\"path\":\"\",\"value\":[1]}]", "[1]" },
		{ "{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"\",\"value\":2}]", "2" },
		{ "[1]", "[{\"op\":\"move\",\"from\":\"/0\",\"path\":\"/0\"}]", "[1]" },
		{ "{}", "[]", "{}" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct jdoc *d CLEANUP(jdoc_destroyp) = parse(rows[i][0]);
		struct jdoc *p CLEANUP(jdoc_destroyp) = parse(rows[i][1]);
		struct err err = ERR_INIT;

		if (patch_apply_json(&d, p, &err) != 0) {
			fail_msg("%s: %s", rows[i][1], err.text);
		}
		assert_text(d, rows[i][2]);
	}
}

static void test_json_patch_refused(void **state)
{
	static const struct {
		const char *doc, *patch;
		int code;
		const char *text;
	} rows[] = {
		{ "{}", "{}", ERR_INVALID, "array" },
		{ "{}", "[{}]", ERR_INVALID, "operation 0: \"op\" or \"path\"" },
		{ "{}", "[{\"op\":\"jump\",\"path\":\"/a\"}]", ERR_INVALID, "unknown operation" },
		{ "{}", "[{\"op\":\"add\",\"path\":\"/a\"}]", ERR_INVALID, "\"value\" is missing" },
		{ "{}", "[{\"op\":\"add\",\"path\":\"a\",\"value\":1}]", ERR_INVALID,
		  "begins with" },
		{ "{}", "[{\"op\":\"add\",\"path\":\"/a/b\",\"value\":1}]", ERR_INVALID,
		  "nothing at \"a\"" },
		{ "{\"a\":1}", "[{\"op\":\"add\",\"path\":\"/a/b\",\"value\":1}]", ERR_INVALID,
		  "nothing at \"b\"" },
		{ "[1]", "[{\"op\":\"add\",\"path\":\"/2\",\"value\":1}]", ERR_INVALID,
		  "out of bounds" },
		{ "[1]", "[{\"op\":\"add\",\"path\":\"/01\",\"value\":1}]", ERR_INVALID,
		  "not an index" },
		{ "[1]", "[{\"op\":\"remove\",\"path\":\"/-\"}]", ERR_INVALID, "nothing at" },
		{ "[1]", "[{\"op\":\"remove\",\"path\":\"/x\"}]", ERR_INVALID, "not an index" },
		{ "{}", "[{\"op\":\"remove\",\"path\":\"/a\"}]", ERR_INVALID, "nothing at" },
		{ "{}", "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":1}]", ERR_INVALID,
		  "nothing at" },
		{ "{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"/a/b\",\"value\":1}]", ERR_INVALID,
		  "nothing at \"b\"" },
		{ "{}", "[{\"op\":\"remove\",\"path\":\"\"}]", ERR_INVALID, "whole document" },
		{ "{\"a\":{}}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/b\"}]",
		  ERR_INVALID, "into itself" },
		{ "{}", "[{\"op\":\"copy\",\"path\":\"/a\"}]", ERR_INVALID, "\"from\" is missing" },
		{ "{}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"}]", ERR_INVALID,
		  "nothing at \"/a\"" },
		{ "{}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/b\"}]", ERR_INVALID,
		  "nothing at \"/a\"" },
		{ "{}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a\"}]", ERR_INVALID,
		  "nothing at \"/a\"" },
		{ "{\"a\":1}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/b/c\"}]", ERR_INVALID,
		  "nothing at \"b\"" },
		{ "{\"~\":1}", "[{\"op\":\"remove\",\"path\":\"/~\"}]", ERR_INVALID, "bad escape" },
		{ "{\"a\":1}",
		  "[{\"op\":\"remove\",\"path\":\"/a\"},{\"op\":\"test\",\"path\":\"/a\","
		  "\"value\":1}]",
		  ERR_CONFLICT, "operation 1: test failed" },
		{ "{\"a\":1}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":\"1\"}]", ERR_CONFLICT,
		  "test failed" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct jdoc *d CLEANUP(jdoc_destroyp) = parse(rows[i].doc);
		struct jdoc *p CLEANUP(jdoc_destroyp) = parse(rows[i].patch);
		struct err err = ERR_INIT;

		assert_int_equal(patch_apply_json(&d, p, &err), -rows[i].code);
		if (strstr(err.text, rows[i].text) == NULL) {
			fail_msg("%s: got '%s'", rows[i].patch, err.text);
		}
		/* All or nothing. */
		assert_text(d, rows[i].doc);
	}
}

static void add_operation(struct jdoc *patch, const char *pointer, struct jdoc *value_take)
{
	struct jdoc *op = jdoc_append_take(patch, jdoc_new_object());

	jdoc_set_str(op, "op", "add");
	jdoc_set_str(op, "path", pointer);
	jdoc_set_take(op, "value", value_take);
}

static int apply_many(int n)
{
	struct jdoc *d CLEANUP(jdoc_destroyp) = jdoc_new_object();
	struct jdoc *p CLEANUP(jdoc_destroyp) = jdoc_new_array();

	for (int i = 0; i < n; i++) {
		add_operation(p, "/a", jdoc_new_int(i));
	}
	return patch_apply_json(&d, p, NULL);
}

/* Each operation hangs one more level below the last one. */
static int apply_deep(int levels)
{
	struct jdoc *d CLEANUP(jdoc_destroyp) = jdoc_new_array();
	struct jdoc *p CLEANUP(jdoc_destroyp) = jdoc_new_array();
	struct strbuf path CLEANUP(strbuf_finish) = STRBUF_INIT;

	for (int i = 1; i < levels; i++) {
		strbuf_add_c(&path, "/0");
		add_operation(p, path.p, jdoc_new_array());
	}
	return patch_apply_json(&d, p, NULL);
}

/* Each operation doubles the document. */
static int apply_doubling(int times, struct err *err)
{
	struct jdoc *d CLEANUP(jdoc_destroyp) = parse("{\"a\":[\"0123456789abcdef\"]}");
	struct jdoc *p CLEANUP(jdoc_destroyp) = jdoc_new_array();

	for (int i = 0; i < times; i++) {
		struct jdoc *op = jdoc_append_take(p, jdoc_new_object());

		jdoc_set_str(op, "op", "copy");
		jdoc_set_str(op, "from", "/a");
		jdoc_set_str(op, "path", "/a/-");
	}
	return patch_apply_json(&d, p, err);
}

static void test_limits(void **state)
{
	struct err err = ERR_INIT;
	(void)state;

	assert_int_equal(apply_many(PATCH_APPLY_MAX_OPS), 0);
	assert_int_equal(apply_many(PATCH_APPLY_MAX_OPS + 1), -ERR_INVALID);
	assert_int_equal(apply_deep(JDOC_MAX_DEPTH), 0);
	assert_int_equal(apply_deep(JDOC_MAX_DEPTH + 1), -ERR_INVALID);
	assert_int_equal(apply_doubling(8, &err), 0);
	assert_int_equal(apply_doubling(40, &err), -ERR_INVALID);
	assert_non_null(strstr(err.text, "bytes copied"));
}

/* The examples of RFC 7386, appendix A. */
static void test_merge_patch(void **state)
{
	static const char *const rows[][3] = {
		{ "{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" },
		{ "{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}" },
		{ "{\"a\":\"b\"}", "{\"a\":null}", "{}" },
		{ "{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}" },
		{ "{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" },
		{ "{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}" },
		{ "{\"a\":{\"b\":\"c\"},\"z\":1}", "{\"a\":{\"b\":\"d\",\"c\":null}}",
		  "{\"a\":{\"b\":\"d\"},\"z\":1}" },
		{ "{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}" },
		{ "[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]" },
		{ "{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]" },
		{ "{\"a\":\"foo\"}", "null", "null" },
		{ "{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}" },
		{ "[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}" },
		{ "{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct jdoc *d CLEANUP(jdoc_destroyp) = parse(rows[i][0]);
		struct jdoc *p CLEANUP(jdoc_destroyp) = parse(rows[i][1]);

		unit_row(rows[i][0]);
		patch_apply_merge(&d, p);
		assert_text(d, rows[i][2]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_patch),
		cmocka_unit_test(test_json_patch_refused),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_merge_patch),
	};

	return cmocka_run_group_tests_name("patch_apply", tests, NULL, NULL);
}
