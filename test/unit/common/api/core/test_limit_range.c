#include "api/core/limit_range.h"

#include "lib/unit.h"

#include "lib/decode_fixture.h"

static int64_t milli(const struct field_resources *r)
{
	return quantity_milli(*field_resources_get(r, "cpu"));
}

static void test_decode(void **state)
{
	const char *text = "{'spec':{'limits':[{'type':'Container','max':{'cpu':'4'},'min':{'cpu':'"
			   "100m'},'default':{'cpu':'2'},'defaultRequest':{'cpu':'1'},'"
			   "maxLimitRequestRatio':{'cpu':'3'}},{'type':'Pod'}]}}";
	const struct api_limit_range_item *item;
	struct api_limit_range r;
	(void)state;

	decode_fixture(&limit_range_fields, text, &r);
	item = &r.spec.limits.v[0];
	assert_string_equal(item->type, "Container");
	assert_int_equal(milli(&item->max), 4000);
	assert_int_equal(milli(&item->min), 100);
	assert_int_equal(milli(&item->default_), 2000);
	assert_int_equal(milli(&item->default_request), 1000);
	assert_int_equal(milli(&item->max_limit_request_ratio), 3000);
	assert_null(r.spec.limits.v[1].max.v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode),
	};

	return cmocka_run_group_tests_name("limit_range", tests, decode_fixture_open,
					   decode_fixture_close);
}
