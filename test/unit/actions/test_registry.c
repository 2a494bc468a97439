#include "actions/registry.h"

#include <string.h>

#include "base/attrs.h"
#include "core/action.h"
#include "lib/unit.h"

/* Every action that Volcano has is a row; those that we have can run. */
static void all_names_of_volcano_are_known(void **state)
{
	static const struct {
		const char *name;
		void (*run)(struct session *s);
	} rows[] = {
		{ "allocate", allocate_run }, { "backfill", backfill_run },
		{ "enqueue", enqueue_run },   { "gangpreempt", NULL },
		{ "gangreclaim", NULL },      { "preempt", NULL },
		{ "reclaim", NULL },          { "shuffle", NULL },
	};

	(void)state;
	assert_int_equal(action_registry_count, ARRAY_LEN(rows));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_string_equal(action_registry[i].name, rows[i].name);
		assert_true(action_registry[i].run == rows[i].run);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_names_of_volcano_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
