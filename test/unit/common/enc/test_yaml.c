#include "enc/yaml.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"

static void test_parse(void **state)
{
	static const char *const rows[][2] = {
		{ "", "null" },
		{ "# only a comment\n", "null" },
		{ "a: 1\nb: [x, 'y', \"z\"]\n", "{\"a\":1,\"b\":[\"x\",\"y\",\"z\"]}" },
		{ "a: yes\nb: True\nc: ~\nd: \"true\"\ne: null\n",
		  "{\"a\":\"yes\",\"b\":true,\"c\":null,\"d\":\"true\",\"e\":null}" },
		{ "[0x1F, 0644, 0o17, -5, 1e3, .5, 1Gi, 100m, 1.2.3]",
		  "[31,420,15,-5,1000,0.5,\"1Gi\",\"100m\",\"1.2.3\"]" },
		{ "a: |\n  x\n  y\nb: >-\n  x\n  y\n", "{\"a\":\"x\\ny\\n\",\"b\":\"x y\"}" },
		{ "base: &b {x: 1, y: 2}\nd:\n  <<: *b\n  y: 3\n",
		  "{\"base\":{\"x\":1,\"y\":2},\"d\":{\"y\":3,\"x\":1}}" },
		{ "l: [&a {x: 1}, &c {x: 2, z: 3}]\nd: {<<: [*a, *c]}\n",
		  "{\"l\":[{\"x\":1},{\"x\":2,\"z\":3}],\"d\":{\"x\":1,\"z\":3}}" },
		{ "1: a\ntrue: b\n", "{\"1\":\"a\",\"true\":\"b\"}" },
		{ "{\"json\": {\"is\": [\"yaml\", 1.5, null]}}",
		  "{\"json\":{\"is\":[\"yaml\",1.5,null]}}" },
		{ "---\na: 1\n...\n", "{\"a\":1}" },
		{ "\"a\\0\": \"x\\0y\"\n", "{\"a\\u0000\":\"x\\u0000y\"}" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;
		struct jdoc *d CLEANUP(jdoc_destroyp) = NULL;
		struct err err = ERR_INIT;

		if (yaml_parse(str_of(rows[i][0]), &d, &err) != 0) {
			fail_msg("%s: %s", rows[i][0], err.text);
		}
		jdoc_format(d, &out);
		assert_string_equal(out.p, rows[i][1]);
	}
}

static void test_errors_name_the_place(void **state)
{
	static const char *const rows[][2] = {
		{ "a: 1\nb: : 2\n", "line 2 column 4" },
		{ "a: [1, 2\n", "line 2 column 1" },
		{ "a: 1\na: 2\n", "line 2 column 1: duplicate key" },
		{ "a: !!str 1\n", "line 1 column 4: tags are not supported" },
		{ "a: !!map {}\n", "tags are not supported" },
		{ "a: *nope\n", "unknown anchor" },
		{ "a: &a [*a]\n", "unknown anchor" },
		{ "? [x]\n: 1\n", "a key must be a scalar" },
		{ "a: {{ .Values.a }}\n",
		  "line 1 column 5: a key must be a scalar (a template with {{ }} has to be "
		  "rendered first)" },
		{ "a: &x {b: 1}\n*x : 1\n", "a key must be a scalar" },
		{ "a: .inf\n", "not representable" },
		{ "<<: 1\n", "\"<<\" needs a mapping" },
		{ "<<: [1]\n", "\"<<\" needs a mapping" },
		{ "a: &a {x: 1}\nb:\n  <<: *a\n  <<: *a\n", "duplicate key \"<<\"" },
		{ "a: 1\n---\nb: 2\n", "more than one document" },
		{ "a:\n\t- 1\n", "line 2" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;
		struct jdoc *d = NULL;

		assert_int_equal(yaml_parse(str_of(rows[i][0]), &d, &err), -ERR_INVALID);
		assert_null(d);
		if (strstr(err.text, rows[i][1]) == NULL) {
			fail_msg("%s: got '%s', want '%s'", rows[i][0], err.text, rows[i][1]);
		}
	}
}

static void test_many_documents(void **state)
{
	struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct jdoc *d CLEANUP(jdoc_destroyp) = NULL;
	(void)state;

	assert_int_equal(
		yaml_parse_all(STR_LIT("---\n---\na: 1\n---\n# empty\n---\n- 2\n"), &d, NULL), 0);
	jdoc_format(d, &out);
	assert_string_equal(out.p, "[null,{\"a\":1},null,[2]]");
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
	return yaml_parse(strbuf_str(&text), &d, NULL);
}

static int parse_docs(unsigned count)
{
	struct strbuf text CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct jdoc *d CLEANUP(jdoc_destroyp) = NULL;

	for (unsigned i = 0; i < count; i++) {
		strbuf_add_c(&text, "---\n1\n");
	}
	return yaml_parse_all(strbuf_str(&text), &d, NULL);
}

/* Each level doubles what the one before holds: 2^levels leaves out of a few hundred bytes. */
static int parse_bomb(unsigned levels, struct err *err)
{
	struct strbuf text CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct jdoc *d CLEANUP(jdoc_destroyp) = NULL;

	strbuf_add_c(&text, "a0: &a0 x\n");
	for (unsigned i = 1; i <= levels; i++) {
		strbuf_printf(&text, "a%u: &a%u [*a%u, *a%u]\n", i, i, i - 1, i - 1);
	}
	return yaml_parse(strbuf_str(&text), &d, err);
}

static void test_limits(void **state)
{
	struct strbuf text CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct jdoc *d CLEANUP(jdoc_destroyp) = NULL;
	struct err err = ERR_INIT;
	(void)state;

	assert_int_equal(parse_nested(JDOC_MAX_DEPTH), 0);
	assert_int_equal(parse_nested(JDOC_MAX_DEPTH + 1), -ERR_INVALID);
	assert_int_equal(parse_docs(YAML_MAX_DOCS), 0);
	assert_int_equal(parse_docs(YAML_MAX_DOCS + 1), -ERR_INVALID);
	assert_int_equal(parse_bomb(10, NULL), 0);
	assert_int_equal(parse_bomb(40, &err), -ERR_INVALID);
	assert_non_null(strstr(err.text, "too many nodes"));

	strbuf_add_c(&text, "1 #");
	while (text.len < YAML_MAX_BYTES) {
		strbuf_add_ch(&text, '#');
	}
	assert_int_equal(yaml_parse(strbuf_str(&text), &d, NULL), 0);
	strbuf_add_ch(&text, '#');
	jdoc_destroyp(&d);
	assert_int_equal(yaml_parse(strbuf_str(&text), &d, NULL), -ERR_INVALID);
}

/* Depth must hold for what aliases expand to, not only for what is written. */
static void test_depth_through_aliases(void **state)
{
	struct strbuf text CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct jdoc *d CLEANUP(jdoc_destroyp) = NULL;
	struct err err = ERR_INIT;
	(void)state;

	strbuf_add_c(&text, "a: &a [[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]\n");
	for (int i = 1; i < 12; i++) {
		strbuf_printf(&text, "a%d: &a%s [[[[[[[[[[[[[[[[[[[[*a%s]]]]]]]]]]]]]]]]]]]]\n", i,
			      i % 2 != 0 ? "x" : "", i % 2 != 0 ? "" : "x");
	}
	assert_int_equal(yaml_parse(strbuf_str(&text), &d, &err), -ERR_INVALID);
	assert_non_null(strstr(err.text, "nested too deeply"));
}

static void test_format(void **state)
{
	static const char *const rows[][2] = {
		{ "{\"a\":1,\"b\":[\"x\",{\"c\":null,\"d\":[]}],\"e\":{}}",
		  "a: 1\nb:\n- x\n- c: null\n  d: []\ne: {}\n" },
		{ "{\"t\":\"true\",\"y\":\"yes\",\"n\":\"12\",\"o\":\"0644\",\"v\":\"1Gi\",\"e\":"
		  "\"\","
		  "\"ip\":\"10.0.0.1\",\"d\":\"2026-01-02T03:04:05Z\"}",
		  "t: \"true\"\n\"y\": \"yes\"\n\"n\": \"12\"\no: \"0644\"\nv: 1Gi\ne: \"\"\n"
		  "ip: 10.0.0.1\nd: \"2026-01-02T03:04:05Z\"\n" },
		{ "{\"m\":\"x\\ny\\n\"}", "m: |\n  x\n  y\n" },
		{ "{\"a\\u0000\":\"x\\u0000\\ny\"}", "\"a\\0\": \"x\\0\\ny\"\n" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;
		struct jdoc *d CLEANUP(jdoc_destroyp) = NULL, *back CLEANUP(jdoc_destroyp) = NULL;

		unit_row(rows[i][0]);
		assert_int_equal(jdoc_parse(str_of(rows[i][0]), &d, NULL), 0);
		yaml_format(d, &out);
		assert_string_equal(out.p, rows[i][1]);
		assert_int_equal(yaml_parse(strbuf_str(&out), &back, NULL), 0);
		assert_true(jdoc_equal(d, back));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),          cmocka_unit_test(test_errors_name_the_place),
		cmocka_unit_test(test_many_documents), cmocka_unit_test(test_limits),
		cmocka_unit_test(test_format),         cmocka_unit_test(test_depth_through_aliases),
	};

	return cmocka_run_group_tests_name("yaml", tests, NULL, NULL);
}
