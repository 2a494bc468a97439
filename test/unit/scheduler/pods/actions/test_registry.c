#include "scheduler/pods/actions/registry.h"

#include <string.h>

#include "base/attrs.h"
#include "lib/pods/conf_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/cycle/cycle.h"
#include "scheduler/pods/cycle/known_names.h"
#include "scheduler/pods/session/action.h"
#include "scheduler/pods/session/plugin.h"

/* Every action that Volcano has is a row; those that we have can run. */
static void all_names_of_volcano_are_known(void **state)
{
	static const struct {
		const char *name;
		void (*run)(struct session *s);
	} rows[] = {
		{ "allocate", allocate_run },       { "backfill", backfill_run },
		{ "enqueue", enqueue_run },         { "gangpreempt", gangpreempt_run },
		{ "gangreclaim", gangreclaim_run }, { "preempt", preempt_run },
		{ "reclaim", reclaim_run },         { "shuffle", NULL },
	};

	(void)state;
	assert_int_equal(action_registry_count, ARRAY_LEN(rows));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row_number(i);
		assert_string_equal(action_registry[i].name, rows[i].name);
		assert_true(action_registry[i].run == rows[i].run);
	}
}

/* A configuration that asks for them gets a warning that there is none. */
static void missing_actions_are_left_out_with_a_warning(void **state)
{
	static const char conf[] = "actions: \"enqueue, allocate, shuffle, backfill\"\n"
				   "tiers:\n- plugins:\n  - name: capacity\n";
	const struct known_names_source from = { plugin_registry, plugin_registry_count,
						 action_registry, action_registry_count };
	struct known_names names;
	struct conf_fixture f;
	struct cycle *cycle = NULL;

	(void)state;
	conf_fixture_init(&f);
	known_names_init(&names, &from);
	f.opt.known = known_names_conf(&names);
	assert_int_equal(conf_fixture_parse(&f, conf), 0);
	assert_string_equal(
		f.warnings.p,
		"s.conf:1: action \"shuffle\" evicts pods that plugins offer, and no plugin offers "
		"any here: it is left out\n");
	assert_int_equal(cycle_create(f.conf, &cycle, NULL), 0);
	cycle_destroy(cycle);
	known_names_finish(&names);
	conf_fixture_finish(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_names_of_volcano_are_known),
		cmocka_unit_test(missing_actions_are_left_out_with_a_warning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
