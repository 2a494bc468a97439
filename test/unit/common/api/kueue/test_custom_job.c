#include "api/kueue/custom_job.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "lib/decode_fixture.h"

static void test_decode(void **state UNUSED)
{
	struct api_custom_job j;

	decode_fixture(&custom_job_fields,
		       "{'apiVersion':'example.com/v1','kind':'Foo','metadata':{'name':'f'},"
		       "'spec':{'managedBy':'kueue.x-k8s.io/multikueue','suspend':true},"
		       "'status':['anything']}",
		       &j);
	assert_string_equal(j.api_version, "example.com/v1");
	assert_string_equal(j.kind, "Foo");
	assert_string_equal(j.meta.name, "f");
	assert_string_equal(j.spec.managed_by, "kueue.x-k8s.io/multikueue");
	decode_fixture(&custom_job_fields, "{'metadata':{'name':'f'}}", &j);
	assert_null(j.spec.managed_by);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_decode) };

	return cmocka_run_group_tests_name("custom_job", tests, decode_fixture_open,
					   decode_fixture_close);
}
