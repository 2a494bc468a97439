#include "enc/decode.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "enc/json/jdoc.h"
#include "enc/json/reader.h"
#include "enc/json/scan.h"

struct inner {
	const char *name;
	struct field_resources requests;
	int32_t n;
	int8_t tri;
};
struct outer {
	const char *s;
	bool b, here;
	int32_t i32, i32_opt;
	int64_t i64, i64_opt, time;
	const struct quantity *qty;
	struct field_map map;
	struct field_int_map ints;
	struct field_strs strs;
	struct inner embedded;
	struct inner *ptr;
	struct FIELD_LIST(struct inner) list;
	struct str raw, slice;
};

static const struct field inner_rows[] = {
	F_STR(struct inner, name, "name"),
	F_RESOURCES(struct inner, requests, "requests"),
	F_I32(struct inner, n, "n"),
	F_TRI(struct inner, tri, "tri"),
};
static const struct field_table inner_fields = FIELD_TABLE(struct inner, inner_rows);

static const struct field outer_rows[] = {
	F_STR(struct outer, s, "s"),
	F_BOOL(struct outer, b, "b"),
	F_I32(struct outer, i32, "i32"),
	F_I32_OPT(struct outer, i32_opt, "i32Opt"),
	F_I64(struct outer, i64, "i64"),
	F_I64_OPT(struct outer, i64_opt, "i64Opt"),
	F_TIME(struct outer, time, "time"),
	F_QTY(struct outer, qty, "qty"),
	F_MAP_SKIP(struct outer, map, "map", "dropped"),
	F_INT_MAP(struct outer, ints, "ints"),
	F_STRS(struct outer, strs, "strs"),
	F_OBJ(struct outer, embedded, "embedded", inner_fields),
	F_OBJ_PTR(struct outer, ptr, "ptr", inner_fields),
	F_LIST(struct outer, list, "list", inner_fields),
	F_RAW(struct outer, raw, "raw"),
	F_RAW_SLICE(struct outer, slice, "slice"),
	F_PRESENT(struct outer, here, "here"),
};
static const struct field_table outer_fields = FIELD_TABLE(struct outer, outer_rows);

static int setup(void **state)
{
	*state = arena_create(0);
	return 0;
}

static int teardown(void **state)
{
	arena_destroy(*state);
	return 0;
}

static void test_values(void **state)
{
	const char *text = "{\"s\":\"x\\ny\",\"b\":true,\"i32\":-5,\"i64\":9007199254740993,"
			   "\"time\":\"1970-01-01T00:00:01Z\",\"qty\":\"1500m\",\"here\":{},"
			   "\"map\":{\"b\":\"2\",\"dropped\":\"z\",\"a\":\"1\",\"b\":\"3\"},"
			   "\"ints\":{\"w\":3},\"strs\":[\"p\",\"q\"],\"ptr\":{\"n\":1e2},"
			   "\"list\":[{\"name\":\"c\"},{\"requests\":{\"m\":1,\"cpu\":\"2\"}}],"
			   "\"raw\":[1, {}],\"slice\": {\"a\" : 1} ,"
			   "\"unknown\":{\"x\":[1]}}";
	struct outer o;

	assert_int_equal(decode_text(&outer_fields, str_of(text), &o, *state, NULL), 0);
	assert_string_equal(o.s, "x\ny");
	assert_true(o.b && o.here);
	assert_int_equal(o.i32, -5);
	assert_int_equal(o.i32_opt, FIELD_NO_I32);
	assert_true(o.i64 == INT64_C(9007199254740993));
	assert_true(o.i64_opt == FIELD_NO_I64);
	assert_true(o.time == INT64_C(1000000000));
	assert_true(quantity_milli(*o.qty) == 1500);
	assert_int_equal(o.map.n, 2);
	assert_string_equal(field_map_get(&o.map, "a"), "1");
	assert_string_equal(field_map_get(&o.map, "b"), "3");
	assert_null(field_map_get(&o.map, "dropped"));
	assert_true(field_map_is(&o.map, "b", "3"));
	assert_false(field_map_is(&o.map, "zz", "3"));
	assert_int_equal(o.ints.n, 1);
	assert_string_equal(o.ints.v[0].key, "w");
	assert_int_equal(o.ints.v[0].value, 3);
	assert_int_equal(o.strs.n, 2);
	assert_string_equal(o.strs.v[1], "q");
	assert_null(o.embedded.name);
	assert_int_equal(o.embedded.tri, FIELD_TRI_ABSENT);
	assert_int_equal(o.ptr->n, 100);
	assert_int_equal(o.list.n, 2);
	assert_string_equal(o.list.v[0].name, "c");
	assert_true(quantity_value(*field_resources_get(&o.list.v[1].requests, "cpu")) == 2);
	assert_true(quantity_value(*field_resources_get(&o.list.v[1].requests, "m")) == 1);
	assert_true(str_eq_c(o.raw, "[1, {}]"));
	assert_true(str_eq_c(o.slice, "{\"a\" : 1}"));
	assert_true(o.slice.p > text && o.slice.p < text + strlen(text));
	assert_false(o.raw.p > text && o.raw.p < text + strlen(text));
}

static void test_absent_null_and_empty(void **state)
{
	struct outer o;

	assert_int_equal(decode_text(&outer_fields,
				     STR_LIT("{\"s\":\"\",\"map\":{\"k\":null},\"ints\":null,"
					     "\"list\":[],\"ptr\":null,\"time\":null,\"here\":null,"
					     "\"time\":\"\"}"),
				     &o, *state, NULL),
			 0);
	assert_null(o.s);
	assert_non_null(o.map.v);
	assert_int_equal(o.map.n, 0);
	assert_null(o.ints.v);
	assert_non_null(o.list.v);
	assert_int_equal(o.list.n, 0);
	assert_null(o.ptr);
	assert_true(o.time == FIELD_NO_TIME);
	assert_false(o.here);
	assert_null(o.strs.v);
	assert_null(o.raw.p);
}

/* The last of two members of one name wins, whole. */
static void test_duplicate_members(void **state)
{
	struct outer o;

	assert_int_equal(
		decode_text(&outer_fields,
			    STR_LIT("{\"embedded\":{\"name\":\"a\",\"n\":1},\"i64Opt\":4,"
				    "\"list\":[{}],\"ptr\":{\"n\":1},\"embedded\":{\"n\":2},"
				    "\"i64Opt\":null,\"list\":null,\"ptr\":{}}"),
			    &o, *state, NULL),
		0);
	assert_null(o.embedded.name);
	assert_int_equal(o.embedded.n, 2);
	assert_int_equal(o.embedded.tri, FIELD_TRI_ABSENT);
	assert_true(o.i64_opt == FIELD_NO_I64);
	assert_null(o.list.v);
	assert_int_equal(o.list.n, 0);
	assert_int_equal(o.ptr->n, 0);
}

static void test_errors_name_the_path(void **state)
{
	static const char *const rows[][2] = {
		{ "[]", "expected object, got array" },
		{ "{\"s\":1}", "s: expected string, got number" },
		{ "{\"b\":\"true\"}", "b: expected boolean, got string" },
		{ "{\"i32\":2147483648}",
		  "i32: not an integer between -2147483648 and 2147483647" },
		{ "{\"i32Opt\":-2147483648}",
		  "i32Opt: not an integer between -2147483647 and 2147483647" },
		{ "{\"i32\":1.5}", "i32: not an integer between -2147483648 and 2147483647" },
		{ "{\"i64\":\"1\"}", "i64: expected integer, got string" },
		{ "{\"i64Opt\":-9223372036854775808}",
		  "i64Opt: not an integer between -9223372036854775807 and 9223372036854775807" },
		{ "{\"time\":\"noon\"}", "time: invalid time \"noon\"" },
		{ "{\"time\":1}", "time: expected time, got number" },
		{ "{\"qty\":\"1x\"}", "qty: invalid quantity \"1x\"" },
		{ "{\"qty\":true}", "qty: expected quantity, got boolean" },
		{ "{\"map\":{\"k\":1}}", "map.k: expected string, got number" },
		{ "{\"map\":[]}", "map: expected object, got array" },
		{ "{\"ints\":{\"k\":\"1\"}}", "ints.k: expected integer, got string" },
		{ "{\"strs\":[\"a\",null]}", "strs[1]: expected string, got null" },
		{ "{\"strs\":\"a\"}", "strs: expected array, got string" },
		{ "{\"embedded\":{\"tri\":0}}", "embedded.tri: expected boolean, got number" },
		{ "{\"ptr\":[]}", "ptr: expected object, got array" },
		{ "{\"list\":[{},{\"requests\":{\"cpu\":\"1x\"}}]}",
		  "list[1].requests.cpu: invalid quantity \"1x\"" },
		{ "{\"list\":[null]}", "list[0]: expected object, got null" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct jdoc *d CLEANUP(jdoc_destroyp) = NULL;
		struct err err = ERR_INIT;
		struct outer o;

		unit_row(rows[i][0]);
		assert_int_equal(decode_text(&outer_fields, str_of(rows[i][0]), &o, *state, &err),
				 -ERR_INVALID);
		assert_string_equal(err.text, rows[i][1]);
		assert_int_equal(decode_text(&outer_fields, str_of(rows[i][0]), &o, *state, NULL),
				 -ERR_INVALID);
		assert_int_equal(jdoc_parse(str_of(rows[i][0]), &d, NULL), 0);
		assert_int_equal(decode_jdoc(&outer_fields, d, &o, *state, &err), -ERR_INVALID);
		assert_string_equal(err.text, rows[i][1]);
	}
}

static void test_syntax_errors(void **state)
{
	static const char *const rows[][2] = {
		{ "", "line 1 column 1: unexpected end" },
		{ "{\"s\":\"x\"} 1", "column 11: unexpected text" },
		{ "{\"s\":\"x", "unterminated string" },
		{ "{\"unknown\":[1,}", "value expected" },
		{ "{\"s\":nope}", "value expected" },
		{ "{\"s\":x}", "column 6: value expected" },
		{ "{\"b\":x}", "column 6: value expected" },
		{ "{\"i32\":x}", "column 8: value expected" },
		{ "{\"ptr\":x}", "column 8: value expected" },
		{ "{\"map\":{\"k\":x}}", "column 13: value expected" },
		{ "{\"list\":[x]}", "column 10: value expected" },
		{ "{\"qty\":x}", "column 8: value expected" },
		{ "x", "column 1: value expected" },
		{ "{\"raw\":[1 2]}", "',' or ']' expected" },
		{ "{\"list\":[{\"name\":\"a\"", "unexpected end" },
		{ "{\"map\":{\"a\":\"b\",}}", "member name expected" },
		{ "{\"i64\":01}", "leading zero" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;
		struct outer o;

		assert_int_equal(decode_text(&outer_fields, str_of(rows[i][0]), &o, *state, &err),
				 -ERR_INVALID);
		if (strstr(err.text, rows[i][1]) == NULL) {
			fail_msg("%s: got '%s', want '%s'", rows[i][0], err.text, rows[i][1]);
		}
	}
}

/* A key or value with a NUL is another one than the same up to it. */
static void test_nul(void **state)
{
	const char *text = "{\"s\":\"x\\u0000y\",\"map\":{\"k\":\"1\",\"k\\u0000\":\"2\"}}";
	struct outer o;

	assert_int_equal(decode_text(&outer_fields, str_of(text), &o, *state, NULL), 0);
	assert_string_equal(o.s, "x" UTF8_NUL "y");
	assert_int_equal(o.map.n, 2);
	assert_string_equal(field_map_get(&o.map, "k"), "1");
	assert_string_equal(field_map_get(&o.map, "k" UTF8_NUL), "2");
}

/* The API server takes the years 0 to 9999. */
static void test_far_times(void **state)
{
	struct outer o;

	assert_int_equal(decode_text(&outer_fields, STR_LIT("{\"time\":\"9999-01-01T00:00:00Z\"}"),
				     &o, *state, NULL),
			 0);
	assert_true(o.time == DECODE_MAX_TIME);
	assert_int_equal(decode_text(&outer_fields, STR_LIT("{\"time\":\"0001-01-01T00:00:00Z\"}"),
				     &o, *state, NULL),
			 0);
	assert_true(o.time == -DECODE_MAX_TIME);
}

/* Members that are in no table may be as deep as the API server allows. */
static void test_deep_unknown(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct outer o;

	strbuf_add_c(&text, "{\"unknown\":");
	for (int i = 0; i < SCAN_MAX_DEPTH - 1; i++) {
		strbuf_add_ch(&text, '[');
	}
	for (int i = 0; i < SCAN_MAX_DEPTH - 1; i++) {
		strbuf_add_ch(&text, ']');
	}
	strbuf_add_c(&text, ",\"s\":\"x\"}");
	assert_int_equal(decode_text(&outer_fields, strbuf_str(&text), &o, *state, NULL), 0);
	assert_string_equal(o.s, "x");
}

/* Parts that can be read are read, in order; the error names the first part that cannot. */
static void test_partial(void **state)
{
	const char *text =
		"{\"s\":\"x\",\"i32\":\"wrong\",\"map\":{\"a\":\"1\",\"b\":2,\"c\":\"3\"},"
		"\"list\":[{\"name\":\"p\",\"requests\":{\"cpu\":\"1x\",\"m\":\"2\"}},7,"
		"{\"name\":\"q\",\"n\":[{}]}],\"strs\":[\"u\",{\"deep\":[1,{}]},\"v\"],"
		"\"ptr\":5,\"embedded\":{\"tri\":\"no\",\"name\":\"e\"},\"time\":\"never\","
		"\"here\":{}}";
	const struct field_resources *requests;
	struct err err = ERR_INIT;
	struct outer o;

	assert_int_equal(decode_partial(&outer_fields, str_of(text), &o, *state, &err),
			 -ERR_INVALID);
	assert_string_equal(err.text, "i32: expected integer, got string");
	assert_string_equal(o.s, "x");
	assert_int_equal(o.i32, 0);
	assert_int_equal(o.map.n, 2);
	assert_string_equal(field_map_get(&o.map, "c"), "3");
	assert_int_equal(o.list.n, 2);
	requests = &o.list.v[0].requests;
	assert_true(quantity_value(*field_resources_get(requests, "cpu")) == INT64_MAX);
	assert_true(quantity_value(*field_resources_get(requests, "m")) == 2);
	assert_string_equal(o.list.v[1].name, "q");
	assert_int_equal(o.strs.n, 2);
	assert_string_equal(o.strs.v[1], "v");
	assert_null(o.ptr);
	assert_string_equal(o.embedded.name, "e");
	assert_int_equal(o.embedded.tri, FIELD_TRI_ABSENT);
	assert_true(o.time == FIELD_NO_TIME);
	assert_true(o.here);
}

static void test_partial_errors(void **state)
{
	static const char *const rows[][2] = {
		{ "{\"list\":[{},{\"requests\":{\"m\":\"1\",\"cpu\":\"1x\"}}],\"i32\":\"\"}",
		  "list[1].requests.cpu: invalid quantity \"1x\"" },
		{ "{\"embedded\":{\"n\":\"\",\"tri\":1},\"b\":1}",
		  "embedded.n: expected integer, got string" },
		{ "{\"strs\":[\"a\",1,2]}", "strs[1]: expected string, got number" },
		{ "[]", "expected object, got array" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;
		struct outer o;

		unit_row(rows[i][0]);
		assert_int_equal(
			decode_partial(&outer_fields, str_of(rows[i][0]), &o, *state, &err),
			-ERR_INVALID);
		assert_string_equal(err.text, rows[i][1]);
	}
}

/* A whole object has no error; of a broken one there is the part before the break. */
static void test_partial_whole_and_broken(void **state)
{
	struct err err = ERR_INIT;
	struct outer o;

	assert_int_equal(decode_partial(&outer_fields, STR_LIT("{\"s\":\"x\"}"), &o, *state, &err),
			 0);
	assert_string_equal(err.text, "");
	assert_int_equal(decode_partial(&outer_fields,
					STR_LIT("{\"s\":\"y\",\"i32\":\"\",\"b\":tru}"), &o, *state,
					&err),
			 -ERR_INVALID);
	assert_non_null(strstr(err.text, "line 1 column"));
	assert_string_equal(o.s, "y");
	assert_int_equal(
		decode_partial(&outer_fields, STR_LIT("{\"s\":\"z\"} x"), &o, *state, &err),
		-ERR_INVALID);
	assert_string_equal(o.s, "z");
}

static int decode_many(struct arena *arena, const char *open, const char *item, unsigned n,
		       const char *close)
{
	struct strbuf text CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct outer o;

	strbuf_add_c(&text, open);
	for (unsigned i = 0; i < n; i++) {
		strbuf_add_c(&text, i == 0 ? "" : ",");
		if (item[0] == ':') {
			strbuf_printf(&text, "\"k%u\"", i);
		}
		strbuf_add_c(&text, item);
	}
	strbuf_add_c(&text, close);
	return decode_text(&outer_fields, strbuf_str(&text), &o, arena, NULL);
}

static void test_item_limits(void **state)
{
	static const char *const rows[][3] = {
		{ "{\"strs\":[", "\"a\"", "]}" },
		{ "{\"map\":{", ":\"a\"", "}}" },
		{ "{\"ints\":{", ":1", "}}" },
	};
	static const char *const large[] = { "{\"list\":[", "{}", "]}" };
	const unsigned fits = DECODE_MAX_BYTES / (4 * sizeof(struct inner));

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i][0]);
		assert_int_equal(
			decode_many(*state, rows[i][0], rows[i][1], DECODE_MAX_ITEMS, rows[i][2]),
			0);
		assert_int_equal(decode_many(*state, rows[i][0], rows[i][1], DECODE_MAX_ITEMS + 1,
					     rows[i][2]),
				 -ERR_INVALID);
	}
	assert_int_equal(decode_many(*state, large[0], large[1], fits, large[2]), 0);
	assert_int_equal(decode_many(*state, large[0], large[1], 4 * fits, large[2]), -ERR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_values, setup, teardown),
		cmocka_unit_test_setup_teardown(test_absent_null_and_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(test_duplicate_members, setup, teardown),
		cmocka_unit_test_setup_teardown(test_errors_name_the_path, setup, teardown),
		cmocka_unit_test_setup_teardown(test_syntax_errors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nul, setup, teardown),
		cmocka_unit_test_setup_teardown(test_deep_unknown, setup, teardown),
		cmocka_unit_test_setup_teardown(test_far_times, setup, teardown),
		cmocka_unit_test_setup_teardown(test_partial, setup, teardown),
		cmocka_unit_test_setup_teardown(test_partial_errors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_partial_whole_and_broken, setup, teardown),
		cmocka_unit_test_setup_teardown(test_item_limits, setup, teardown),
	};

	return cmocka_run_group_tests_name("decode", tests, NULL, NULL);
}
