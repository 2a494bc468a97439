#include "enc/json/patch.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/json_out.h"

static void test_operations(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	struct json_out o;
	(void)state;

	patch_begin(&o, &out);
	patch_test_str(&o, "/metadata/uid", NULL, STR_LIT("u"));
	patch_test_str(&o, "/webhooks/0", "name", STR_LIT("w"));
	patch_add_str(&o, "/metadata/annotations", "a.b/c~d", STR_LIT("v\""));
	patch_add(&o, "/spec", NULL);
	json_out_array(&o);
	json_out_int(&o, 7);
	json_out_array_end(&o);
	patch_add_end(&o);
	patch_remove(&o, "/x", NULL);
	patch_remove(&o, "/x/1", "~");
	patch_end(&o);
	assert_string_equal(
		out.p,
		"[{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":\"u\"},"
		"{\"op\":\"test\",\"path\":\"/webhooks/0/name\",\"value\":\"w\"},"
		"{\"op\":\"add\",\"path\":\"/metadata/annotations/a.b~1c~0d\",\"value\":\"v\\\"\"},"
		"{\"op\":\"add\",\"path\":\"/spec\",\"value\":[7]},"
		"{\"op\":\"remove\",\"path\":\"/x\"},{\"op\":\"remove\",\"path\":\"/x/1/~0\"}]");
}

static void test_empty(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	struct json_out o;
	(void)state;

	patch_begin(&o, &out);
	patch_end(&o);
	assert_string_equal(out.p, "[]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_operations),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests_name("patch", tests, NULL, NULL);
}
