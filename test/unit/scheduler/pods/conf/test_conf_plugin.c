#include "scheduler/pods/conf/conf_plugin.h"

#include <stdio.h>

#include "base/attrs.h"
#include "lib/conf_fixture.h"

static int parse_plugin(struct conf_fixture *f, const char *members)
{
	struct strbuf b = STRBUF_INIT;
	int r;

	strbuf_printf(&b, "actions: enqueue\ntiers:\n- plugins:\n  - %s\n", members);
	r = conf_fixture_parse(f, b.p);
	strbuf_finish(&b);
	return r;
}

static void test_every_switch_is_on_by_default_except_two(void **state)
{
	struct conf_fixture f;

	(void)state;
	conf_fixture_init(&f);
	assert_int_equal(parse_plugin(&f, "name: gang"), 0);
	for (int i = 0; i < CONF_SWITCH_COUNT_; i++) {
		assert_int_equal(f.conf->plugins[0].on[i],
				 i != CONF_HIERARCHY && i != CONF_CLUSTER_ORDER);
	}
	conf_fixture_finish(&f);
}

/* The prefixes are not consistent in Volcano; its files must work unchanged. */
static void test_spelling_of_every_switch(void **state)
{
	static const char *const keys[] = {
		"enableJobOrder",           "enableHierarchy",        "enableJobReady",
		"enableJobPipelined",       "enableTaskOrder",        "enablePreemptable",
		"enableReclaimable",        "enablePreemptive",       "enableQueueOrder",
		"enablePredicate",          "enableBestNode",         "enableNodeOrder",
		"enableTargetJob",          "enableReservedNodes",    "enableJobEnqueued",
		"enableJobStarving",        "enabledClusterOrder",    "enabledVictim",
		"enabledOverused",          "enabledAllocatable",     "enabledHyperNodeOrder",
		"enabledSubJobReady",       "enabledSubJobPipelined", "enabledSubJobOrder",
		"enabledHyperNodeGradient",
	};
	struct conf_fixture f;

	(void)state;
	assert_int_equal(ARRAY_LEN(keys), CONF_SWITCH_COUNT_);
	conf_fixture_init(&f);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		bool to = i == CONF_HIERARCHY || i == CONF_CLUSTER_ORDER;
		char members[64];

		snprintf(members, sizeof(members), "{name: gang, %s: %s}", keys[i],
			 to ? "true" : "false");
		assert_int_equal(parse_plugin(&f, members), 0);
		assert_string_equal(f.warnings.p, "");
		for (size_t k = 0; k < CONF_SWITCH_COUNT_; k++) {
			bool def = k != CONF_HIERARCHY && k != CONF_CLUSTER_ORDER;

			assert_int_equal(f.conf->plugins[0].on[k], k == i ? to : def);
		}
	}
	conf_fixture_finish(&f);
}

static void test_mistyped_switches_are_pointed_out(void **state)
{
	static const struct {
		const char *members, *warning;
	} rows[] = {
		{ "{name: gang, enabledJobOrder: false}",
		  "s.conf:4: tiers[0].plugins[0].enabledJobOrder: unknown key, ignored (did you "
		  "mean enableJobOrder?)\n" },
		{ "{name: gang, enableOverused: false}",
		  "s.conf:4: tiers[0].plugins[0].enableOverused: unknown key, ignored (did you "
		  "mean enabledOverused?)\n" },
		{ "{name: gang, EnableJobready: false}",
		  "s.conf:4: tiers[0].plugins[0].EnableJobready: unknown key, ignored (did you "
		  "mean enableJobReady?)\n" },
		{ "{name: gang, enableJobOder: false}",
		  "s.conf:4: tiers[0].plugins[0].enableJobOder: unknown key, ignored\n" },
		{ "{name: gang, argument: {}}",
		  "s.conf:4: tiers[0].plugins[0].argument: unknown key, ignored\n" },
	};
	struct conf_fixture f;

	(void)state;
	conf_fixture_init(&f);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(parse_plugin(&f, rows[i].members), 0);
		assert_string_equal(f.warnings.p, rows[i].warning);
		assert_true(f.conf->plugins[0].on[CONF_JOB_ORDER]);
		assert_true(f.conf->plugins[0].on[CONF_OVERUSED]);
	}
	conf_fixture_finish(&f);
}

static void test_errors(void **state)
{
	static const struct {
		const char *members, *error;
	} rows[] = {
		{ "{}", "s.conf:3: tiers[0].plugins[0].name: missing" },
		{ "{name: \"\"}", "s.conf:3: tiers[0].plugins[0].name: missing" },
		{ "{name: 3}", "s.conf:3: tiers[0].plugins[0].name: missing" },
		{ "gang", "s.conf:3: tiers[0].plugins[0].name: missing" },
		{ "{name: gang, enableJobOrder: \"false\"}",
		  "s.conf:4: tiers[0].plugins[0].enableJobOrder: expected true or false" },
		{ "{name: gang, enableJobOrder: 0}",
		  "s.conf:4: tiers[0].plugins[0].enableJobOrder: expected true or false" },
		{ "{name: gang, arguments: [1]}",
		  "s.conf:4: tiers[0].plugins[0].arguments: expected a map" },
	};
	struct conf_fixture f;

	(void)state;
	conf_fixture_init(&f);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(parse_plugin(&f, rows[i].members), -ERR_INVALID);
		assert_string_equal(f.err.text, rows[i].error);
	}
	conf_fixture_finish(&f);
}

static void test_null_is_as_if_it_were_not_written(void **state)
{
	struct conf_fixture f;

	(void)state;
	conf_fixture_init(&f);
	assert_int_equal(parse_plugin(&f, "{name: gang, enableJobOrder: null, arguments: null}"),
			 0);
	assert_true(f.conf->plugins[0].on[CONF_JOB_ORDER]);
	assert_int_equal(f.conf->plugins[0].nargs, 0);
	assert_string_equal(f.warnings.p, "");
	conf_fixture_finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_switch_is_on_by_default_except_two),
		cmocka_unit_test(test_spelling_of_every_switch),
		cmocka_unit_test(test_mistyped_switches_are_pointed_out),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_null_is_as_if_it_were_not_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
