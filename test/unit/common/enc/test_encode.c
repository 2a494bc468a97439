#include "enc/encode.h"

#include "lib/unit.h"

#include "base/strbuf.h"
#include "enc/decode.h"
#include "enc/json/json_out.h"

struct inner {
	const char *s;
};
struct outer {
	struct inner embedded, other;
	struct inner *ptr;
	int32_t zero, opt;
	int64_t time, micro;
	int8_t tri;
	bool b;
	struct field_strs strs;
	struct field_map map;
	const struct quantity *qty;
};

static const struct field inner_rows[] = { F_STR(struct inner, s, "s") };
static const struct field_table inner_fields = FIELD_TABLE(struct inner, inner_rows);
static const struct field outer_rows[] = {
	F_OBJ(struct outer, embedded, "embedded", inner_fields),
	F_OBJ(struct outer, other, "other", inner_fields),
	F_OBJ_PTR(struct outer, ptr, "ptr", inner_fields),
	F_I32(struct outer, zero, "zero"),
	F_I32_OPT(struct outer, opt, "opt"),
	F_TIME(struct outer, time, "time"),
	F_MICRO_TIME(struct outer, micro, "micro"),
	F_TRI(struct outer, tri, "tri"),
	F_BOOL(struct outer, b, "b"),
	F_STRS(struct outer, strs, "strs"),
	F_MAP(struct outer, map, "map"),
	F_QTY(struct outer, qty, "qty"),
};
static const struct field_table outer_fields = FIELD_TABLE(struct outer, outer_rows);

static void assert_text(const struct outer *o, const char *want)
{
	struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;

	encode_text(&outer_fields, o, &out);
	assert_string_equal(out.p, want);
}

static void test_absent_is_left_out(void **state)
{
	struct outer o;
	(void)state;

	decode_init(&outer_fields, &o);
	assert_text(&o, "{}");
}

/* Zero, empty and false that are there are written; an embedded object only with members. */
static void test_present_is_written(void **state)
{
	static const struct quantity q = { 1500000000, QUANTITY_DECIMAL_SI };
	static const struct field_pair none[1];
	static const char *const texts[] = { "a", "b" };
	struct inner empty = { NULL };
	struct outer o;
	(void)state;

	decode_init(&outer_fields, &o);
	o.other.s = "x\"";
	o.ptr = &empty;
	o.opt = 0;
	o.tri = 0;
	o.time = 1999999999;
	o.micro = 1500000;
	o.strs = (struct field_strs){ texts, 2 };
	o.map = (struct field_map){ none, 0 };
	o.qty = &q;
	assert_text(&o,
		    "{\"other\":{\"s\":\"x\\\"\"},\"ptr\":{},\"opt\":0,"
		    "\"time\":\"1970-01-01T00:00:01Z\",\"micro\":\"1970-01-01T00:00:00.001500Z\","
		    "\"tri\":false,\"strs\":[\"a\",\"b\"],\"map\":{},"
		    "\"qty\":\"1500m\"}");
	o.zero = 7;
	o.b = true;
	o.tri = 1;
	assert_text(&o,
		    "{\"other\":{\"s\":\"x\\\"\"},\"ptr\":{},\"zero\":7,\"opt\":0,"
		    "\"time\":\"1970-01-01T00:00:01Z\",\"micro\":\"1970-01-01T00:00:00.001500Z\","
		    "\"tri\":true,\"b\":true,\"strs\":[\"a\",\"b\"],\"map\":{},"
		    "\"qty\":\"1500m\"}");
}

static void test_inside_a_document(void **state)
{
	struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct json_out o;
	struct outer obj;
	(void)state;

	decode_init(&outer_fields, &obj);
	json_out_init(&o, &out);
	json_out_array(&o);
	encode_object(&outer_fields, &obj, &o);
	obj.b = true;
	encode_object(&outer_fields, &obj, &o);
	json_out_array_end(&o);
	json_out_end(&o);
	assert_string_equal(out.p, "[{},{\"b\":true}]");
}

/* Only members that are absent and listed; an embedded object with nothing else is kept. */
static void test_merge_patch(void **state)
{
	struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct outer o;
	const void *const nulls[] = { &o.other.s, &o.opt, &o.strs, &o.b, &o.ptr, NULL };
	(void)state;

	decode_init(&outer_fields, &o);
	o.opt = 3;
	o.zero = 1;
	encode_merge(&outer_fields, &o, nulls, &out);
	assert_string_equal(out.p, "{\"other\":{\"s\":null},\"ptr\":null,\"zero\":1,\"opt\":3,"
				   "\"b\":null,\"strs\":null}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_absent_is_left_out),
		cmocka_unit_test(test_present_is_written),
		cmocka_unit_test(test_inside_a_document),
		cmocka_unit_test(test_merge_patch),
	};

	return cmocka_run_group_tests_name("encode", tests, NULL, NULL);
}
