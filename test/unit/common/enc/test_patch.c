#include "enc/patch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/jdoc.h"

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
		{ "{}", "[{\"op\":\"remove\",\"path\":\"\"}]", ERR_INVALID, "whole document" },
		{ "{\"a\":{}}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/b\"}]",
		  ERR_INVALID, "into itself" },
		{ "{}", "[{\"op\":\"copy\",\"path\":\"/a\"}]", ERR_INVALID, "\"from\" is missing" },
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

static int apply_many(int n)
{
	struct jdoc *d CLEANUP(jdoc_destroyp) = jdoc_new_object();
	struct jdoc *p CLEANUP(jdoc_destroyp) = patch_new();

	for (int i = 0; i < n; i++) {
		patch_add(p, "/a", jdoc_new_int(i));
	}
	return patch_apply_json(&d, p, NULL);
}

/* Each operation hangs one more level below the last one. */
static int apply_deep(int levels)
{
	struct jdoc *d CLEANUP(jdoc_destroyp) = jdoc_new_array();
	struct jdoc *p CLEANUP(jdoc_destroyp) = patch_new();
	struct strbuf path CLEANUP(strbuf_finish) = STRBUF_INIT;

	for (int i = 1; i < levels; i++) {
		strbuf_add_c(&path, "/0");
		patch_add(p, path.p, jdoc_new_array());
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

	assert_int_equal(apply_many(PATCH_MAX_OPS), 0);
	assert_int_equal(apply_many(PATCH_MAX_OPS + 1), -ERR_INVALID);
	assert_int_equal(apply_deep(JDOC_MAX_DEPTH), 0);
	assert_int_equal(apply_deep(JDOC_MAX_DEPTH + 1), -ERR_INVALID);
	assert_int_equal(apply_doubling(8, &err), 0);
	assert_int_equal(apply_doubling(40, &err), -ERR_INVALID);
	assert_non_null(strstr(err.text, "bytes copied"));
}

static void test_builder(void **state)
{
	struct jdoc *p CLEANUP(jdoc_destroyp) = patch_new();
	struct strbuf path CLEANUP(strbuf_finish) = STRBUF_INIT;
	(void)state;

	strbuf_add_c(&path, "/metadata/annotations");
	patch_pointer_add(&path, STR_LIT("a.b/c~d"));
	patch_test(p, "/metadata/uid", jdoc_new_str("u"));
	patch_add(p, path.p, jdoc_new_str("v"));
	patch_remove(p, "/x");
	assert_text(p,
		    "[{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":\"u\"},"
		    "{\"op\":\"add\",\"path\":\"/metadata/annotations/a.b~1c~0d\",\"value\":\"v\"},"
		    "{\"op\":\"remove\",\"path\":\"/x\"}]");
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

		patch_apply_merge(&d, p);
		assert_text(d, rows[i][2]);
	}
}

static void test_diff(void **state)
{
	static const char *const rows[][3] = {
		{ "{\"a\":1,\"b\":{\"c\":[1],\"d\":2}}", "{\"b\":{\"d\":3,\"c\":[1]},\"e\":{}}",
		  "{\"a\":null,\"b\":{\"d\":3},\"e\":{}}" },
		{ "{\"a\":[1,2]}", "{\"a\":[2]}", "{\"a\":[2]}" },
		{ "{\"a\":1}", "{\"a\":1}", "{}" },
		{ "{\"a\":{\"x\":1}}", "{\"a\":5}", "{\"a\":5}" },
		{ "{\"a\":5}", "{\"a\":{\"x\":1}}", "{\"a\":{\"x\":1}}" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct jdoc *a CLEANUP(jdoc_destroyp) = parse(rows[i][0]);
		struct jdoc *b CLEANUP(jdoc_destroyp) = parse(rows[i][1]);
		struct jdoc *diff CLEANUP(jdoc_destroyp) = patch_diff_merge(a, b);

		assert_text(diff, rows[i][2]);
		patch_apply_merge(&a, diff);
		assert_true(jdoc_equal(a, b));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_patch),  cmocka_unit_test(test_json_patch_refused),
		cmocka_unit_test(test_limits),      cmocka_unit_test(test_builder),
		cmocka_unit_test(test_merge_patch), cmocka_unit_test(test_diff),
	};

	return cmocka_run_group_tests_name("patch", tests, NULL, NULL);
}
