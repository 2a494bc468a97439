#include "lib/pods/hooks_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/session/hooks.h"

static void test_a_configuration_may_name_it(void **state)
{
	struct hooks_fixture f;

	(void)state;
	hooks_fixture_init(&f, "- plugins:\n  - name: conformance\n", plugin_registry,
			   plugin_registry_count);
	hooks_fixture_open(&f);
	assert_false(hooks_has_quota_plugin(f.hooks));
	hooks_fixture_finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_a_configuration_may_name_it) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
