#include "scheduler/pods/plugins/registry.h"

#include <string.h>

#include "base/attrs.h"
#include "lib/unit.h"

static void test_sorted_without_doubles(void **state)
{
	(void)state;
	for (size_t i = 1; i < plugin_registry_count; i++) {
		assert_true(strcmp(plugin_registry[i - 1].name, plugin_registry[i].name) < 0);
	}
}

static void test_rows_carry_their_own_name(void **state)
{
	size_t implemented = 0;

	(void)state;
	for (size_t i = 0; i < plugin_registry_count; i++) {
		if (plugin_registry[i].ops != NULL) {
			assert_string_equal(plugin_registry[i].ops->name, plugin_registry[i].name);
			implemented++;
		}
	}
	assert_int_equal(implemented, 12);
}

/* With one of them a configuration has limits of queues, and gates are removed. */
static void test_quota_plugins(void **state)
{
	(void)state;
	for (size_t i = 0; i < plugin_registry_count; i++) {
		const struct plugin_row *r = &plugin_registry[i];

		assert_int_equal(r->ops != NULL && r->ops->quota_limits != NULL,
				 strcmp(r->name, "capacity") == 0 ||
					 strcmp(r->name, "proportion") == 0);
	}
}

/* Every name that a configuration of Volcano may hold. */
static void test_all_of_volcano_is_known(void **state)
{
	static const char *const names[] = {
		"capacity",      "proportion",
		"priority",      "gang",
		"conformance",   "drf",
		"predicates",    "nodeorder",
		"binpack",       "overcommit",
		"deviceshare",   "resource-strategy-fit",
		"tdm",           "sla",
		"task-topology", "numa-aware",
		"cdp",           "rescheduling",
		"usage",         "pdb",
		"nodegroup",     "network-topology-aware",
		"extender",      "resourcequota",
	};

	(void)state;
	assert_int_equal(plugin_registry_count, ARRAY_LEN(names));
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		size_t found = 0;

		unit_row(names[i]);
		for (size_t k = 0; k < plugin_registry_count; k++) {
			found += strcmp(plugin_registry[k].name, names[i]) == 0;
		}
		assert_int_equal(found, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sorted_without_doubles),
		cmocka_unit_test(test_rows_carry_their_own_name),
		cmocka_unit_test(test_quota_plugins),
		cmocka_unit_test(test_all_of_volcano_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
