#include "enc/json/json_out.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"

static void test_nesting_and_commas(void **state)
{
	struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct jdoc *d CLEANUP(jdoc_destroyp) = jdoc_new_array();
	struct json_out o;
	(void)state;

	jdoc_append_take(d, jdoc_new_int(5));
	json_out_init(&o, &out);
	json_out_object(&o);
	json_out_kv(&o, "a", "x\"y");
	json_out_kv(&o, "none", NULL);
	json_out_kv_int(&o, "i", INT64_MIN);
	json_out_kv_bool(&o, "b", true);
	json_out_key(&o, "l");
	json_out_array(&o);
	json_out_array(&o);
	json_out_array_end(&o);
	json_out_object(&o);
	json_out_object_end(&o);
	json_out_null(&o);
	json_out_array_end(&o);
	json_out_key(&o, "key");
	json_out_raw(&o, STR_LIT("{\"r\":1}"));
	json_out_key(&o, "d");
	json_out_doc(&o, d);
	json_out_object_end(&o);
	json_out_end(&o);
	assert_string_equal(out.p, "{\"a\":\"x\\\"y\",\"none\":null,\"i\":-9223372036854775808,"
				   "\"b\":true,\"l\":[[],{},null],\"key\":{\"r\":1},"
				   "\"d\":[5]}");
}

static void test_depth_limit(void **state)
{
	struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct json_out o;
	(void)state;

	json_out_init(&o, &out);
	for (int i = 0; i < JSON_OUT_MAX_DEPTH - 1; i++) {
		json_out_array(&o);
	}
	for (int i = 0; i < JSON_OUT_MAX_DEPTH - 1; i++) {
		json_out_array_end(&o);
	}
	json_out_end(&o);
	assert_int_equal(out.len, 2 * (JSON_OUT_MAX_DEPTH - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nesting_and_commas),
		cmocka_unit_test(test_depth_limit),
	};

	return cmocka_run_group_tests_name("json_out", tests, NULL, NULL);
}
