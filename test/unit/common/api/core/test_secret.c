#include "api/core/secret.h"

#include "lib/unit.h"

#include "lib/decode_fixture.h"

static void test_decode(void **state)
{
	struct api_secret s;
	(void)state;

	decode_fixture(&secret_fields,
		       "{'metadata':{'name':'east','namespace':'headgate'},'type':'Opaque','data':{"
		       "'kubeconfig':'YXBp','other':''}}",
		       &s);
	assert_string_equal(s.meta.name, "east");
	assert_string_equal(field_map_get(&s.data, "kubeconfig"), "YXBp");
	assert_int_equal(s.data.n, 2);
	decode_fixture(&secret_fields, "{}", &s);
	assert_int_equal(s.data.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode),
	};

	return cmocka_run_group_tests_name("secret", tests, decode_fixture_open,
					   decode_fixture_close);
}
