#include "scheduler/pods/conf/conf.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/attrs.h"
#include "lib/pods/conf_fixture.h"
#include "process/file.h"

static void
test_hole_26_the_built_in_text_has_a_quota_plugin_and_parses_without_warning(void **state)
{
	struct conf_fixture f;

	(void)state;
	conf_fixture_init(&f);
	assert_int_equal(conf_fixture_parse(&f, conf_default_text()), 0);
	assert_string_equal(f.warnings.p, "");
	assert_int_equal(f.conf->nactions, 3);
	assert_string_equal(f.conf->actions[0].name, "enqueue");
	assert_string_equal(f.conf->actions[1].name, "allocate");
	assert_string_equal(f.conf->actions[2].name, "backfill");
	assert_ptr_equal(conf_action(f.conf, "backfill"), &f.conf->actions[2]);
	assert_null(conf_action(f.conf, "preempt"));
	assert_int_equal(f.conf->ntiers, 2);
	assert_int_equal(f.conf->nplugins, 6);
	assert_string_equal(f.conf->plugins[4].name, "capacity");
	assert_true(f.conf->plugins[4].on[CONF_HIERARCHY]);
	assert_int_equal(f.conf->plugins[2].tier, 0);
	assert_int_equal(f.conf->plugins[3].tier, 1);
	conf_fixture_finish(&f);
}

static void test_options_of_flags_have_defaults(void **state)
{
	struct conf_fixture f;

	(void)state;
	conf_fixture_init(&f);
	assert_int_equal(conf_fixture_parse(&f, "actions: enqueue"), 0);
	assert_true(f.conf->gates_admission);
	assert_int_equal(f.conf->reservation_timeout_ns, INT64_C(1800000000000));
	assert_int_equal(f.conf->reservation_backoff_ns, INT64_C(60000000000));
	assert_string_equal(f.conf->default_queue, "default");
	assert_int_equal(f.conf->nplugins, 0);
	conf_fixture_finish(&f);
}

static void test_errors_name_file_line_and_key(void **state)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{ "", "s.conf: actions: missing" },
		{ "[]", "s.conf: must be an object, not a list" },
		{ "tiers: []", "s.conf: actions: missing" },
		{ "actions: [enqueue]", "s.conf:1: actions: must be a string, not a list" },
		{ "actions: \"\"", "s.conf:1: actions: an empty action name" },
		{ "\nactions: \"enqueue,, allocate\"", "s.conf:2: actions: an empty action name" },
		{ "actions: \"enqueue,\"", "s.conf:1: actions: an empty action name" },
		{ "actions: \"enqueue, alocate\"",
		  "s.conf:1: actions: unknown action \"alocate\"" },
		{ "actions: >\n  enqueue,\n  alocate,\n  backfill\n",
		  "s.conf:3: actions: unknown action \"alocate\"" },
		{ "actions: enqueue\ntiers: 3", "s.conf:2: tiers: must be a list, not a number" },
		{ "actions: enqueue\ntiers: [3]",
		  "s.conf:2: tiers[0]: must be an object, not a number" },
		{ "actions: enqueue\ntiers:\n- plugins: 4",
		  "s.conf:3: tiers[0].plugins: must be a list, not a number" },
		{ "actions: enqueue\ntiers:\n- plugins:\n  - name: gang\n- plugins:\n  - name: "
		  "gangs\n",
		  "s.conf:6: tiers[1].plugins[0].name: unknown plugin \"gangs\"" },
		{ "actions: enqueue\ntiers:\n- plugins:\n  - name: proportion\n  - name: drf\n    "
		  "enableHierarchy: true\n",
		  "s.conf:5: tiers[0]: proportion and drf with enableHierarchy exclude each "
		  "other" },
		{ "actions: enqueue\nconfigurations: 3",
		  "s.conf:2: configurations: must be a list, not a number" },
		{ "actions: enqueue\nconfigurations:\n- arguments: {}",
		  "s.conf:2: configurations[0].name: missing" },
		{ "actions: enqueue\nconfigurations:\n- name: enqueue\n  arguments: 3",
		  "s.conf:4: configurations[0].arguments: must be an object, not a number" },
	};
	struct conf_fixture f;

	(void)state;
	conf_fixture_init(&f);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].text);
		assert_int_equal(conf_fixture_parse(&f, rows[i].text), -ERR_INVALID);
		assert_string_equal(f.err.text, rows[i].error);
		assert_null(f.conf);
	}
	conf_fixture_finish(&f);
}

static void test_yaml_errors_keep_their_line(void **state)
{
	struct conf_fixture f;

	(void)state;
	conf_fixture_init(&f);
	assert_int_equal(conf_fixture_parse(&f, "actions: enqueue\ntiers: [\n"), -ERR_INVALID);
	assert_non_null(strstr(f.err.text, "s.conf: "));
	assert_non_null(strstr(f.err.text, "line 3"));
	assert_int_equal(conf_fixture_parse(&f, "actions: enqueue\n---\nactions: allocate\n"),
			 -ERR_INVALID);
	conf_fixture_finish(&f);
}

static void test_drf_and_proportion_may_be_in_different_tiers(void **state)
{
	struct conf_fixture f;

	(void)state;
	conf_fixture_init(&f);
	assert_int_equal(conf_fixture_parse(&f, "actions: enqueue\ntiers:\n"
						"- plugins:\n  - name: proportion\n"
						"- plugins:\n  - name: drf\n"
						"    enableHierarchy: true\n"),
			 0);
	assert_int_equal(conf_fixture_parse(&f, "actions: enqueue\ntiers:\n"
						"- plugins:\n  - name: proportion\n"
						"  - name: drf\n"),
			 0);
	conf_fixture_finish(&f);
}

static void test_a_name_without_implementation_is_warned_about_once(void **state)
{
	struct conf_fixture f;

	(void)state;
	conf_fixture_init(&f);
	assert_int_equal(conf_fixture_parse(&f, "actions: \"enqueue, reclaim, reclaim\"\n"
						"tiers:\n"
						"- plugins:\n  - name: drf\n  - name: gang\n"
						"- plugins:\n  - name: drf\n"),
			 0);
	assert_string_equal(
		f.warnings.p,
		"s.conf:1: action \"reclaim\" has no implementation here and is left "
		"out\n"
		"s.conf:4: plugin \"drf\" has no implementation here and is left out\n");
	assert_int_equal(f.conf->nactions, 3);
	assert_int_equal(f.conf->nplugins, 3);
	conf_fixture_finish(&f);
}

static void test_unknown_keys_are_warned_about_and_ignored(void **state)
{
	struct conf_fixture f;

	(void)state;
	conf_fixture_init(&f);
	assert_int_equal(conf_fixture_parse(&f, "action: x\nactions: enqueue\nmetrics: {a: b}\n"
						"tiers:\n- plugin: []\n"
						"configurations:\n- name: enqueue\n  args: {}\n"
						"- name: enquue\n"),
			 0);
	assert_string_equal(
		f.warnings.p,
		"s.conf:1: action: unknown key, ignored\n"
		"s.conf:5: tiers[0].plugin: unknown key, ignored\n"
		"s.conf:8: configurations[0].args: unknown key, ignored\n"
		"s.conf:9: configurations[1].name: unknown action \"enquue\", ignored\n");
	f.opt.warn = NULL;
	assert_int_equal(conf_fixture_parse(&f, "action: x\nactions: enqueue"), 0);
	conf_fixture_finish(&f);
}

static void test_arguments_of_actions(void **state)
{
	struct conf_fixture f;

	(void)state;
	conf_fixture_init(&f);
	assert_int_equal(conf_fixture_parse(&f, "actions: \"allocate, backfill, allocate\"\n"
						"configurations:\n"
						"- name: allocate\n"
						"  arguments: {a: 1, b: x}\n"
						"- name: allocate\n"
						"  arguments: {a: 2}\n"
						"- name: backfill\n"),
			 0);
	for (size_t i = 0; i < 3; i += 2) {
		assert_int_equal(f.conf->actions[i].nargs, 3);
		assert_string_equal(f.conf->actions[i].args[0].key, "a");
		assert_string_equal(f.conf->actions[i].args[0].value, "1");
		assert_string_equal(f.conf->actions[i].args[1].value, "x");
	}
	assert_int_equal(f.conf->actions[1].nargs, 0);
	conf_fixture_finish(&f);
}

static void add_repeated(struct strbuf *b, const char *text, size_t times)
{
	for (size_t i = 0; i < times; i++) {
		strbuf_add_c(b, text);
	}
}

static void check_limit(const char *head, const char *item, size_t at_limit, const char *error)
{
	struct strbuf b = STRBUF_INIT;
	struct conf_fixture f;

	conf_fixture_init(&f);
	strbuf_add_c(&b, head);
	add_repeated(&b, item, at_limit);
	assert_int_equal(conf_fixture_parse(&f, b.p), 0);
	strbuf_add_c(&b, item);
	assert_int_equal(conf_fixture_parse(&f, b.p), -ERR_INVALID);
	assert_non_null(strstr(f.err.text, error));
	conf_fixture_finish(&f);
	strbuf_finish(&b);
}

static void test_limits_of_counts(void **state)
{
	(void)state;
	check_limit("actions: enqueue\ntiers:\n", "- plugins: []\n", CONF_MAX_TIERS,
		    "tiers: more than 16");
	check_limit("actions: enqueue\ntiers:\n- plugins:\n", "  - name: gang\n", CONF_MAX_PLUGINS,
		    "tiers[0].plugins: more than 64 items");
	check_limit("actions: enqueue", ",enqueue", CONF_MAX_ACTIONS - 1, "actions: more than 64");
	check_limit("actions: enqueue\nconfigurations:\n", "- name: allocate\n", CONF_MAX_ACTIONS,
		    "configurations: more than 64");
}

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

		unit_row(keys[i]);
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
		unit_row(rows[i].members);
		assert_int_equal(parse_plugin(&f, rows[i].members), 0);
		assert_string_equal(f.warnings.p, rows[i].warning);
		assert_true(f.conf->plugins[0].on[CONF_JOB_ORDER]);
		assert_true(f.conf->plugins[0].on[CONF_OVERUSED]);
	}
	conf_fixture_finish(&f);
}

static void test_errors_in_plugins(void **state)
{
	static const struct {
		const char *members, *error;
	} rows[] = {
		{ "{}", "s.conf:3: tiers[0].plugins[0].name: missing" },
		{ "{name: \"\"}", "s.conf:4: tiers[0].plugins[0].name: missing" },
		{ "{name: 3}",
		  "s.conf:4: tiers[0].plugins[0].name: must be a string, not a number" },
		{ "gang", "s.conf:3: tiers[0].plugins[0]: must be an object, not a string" },
		{ "{name: gang, enableJobOrder: \"false\"}",
		  "s.conf:4: tiers[0].plugins[0].enableJobOrder: must be a boolean, not a string" },
		{ "{name: gang, enableJobOrder: 0}",
		  "s.conf:4: tiers[0].plugins[0].enableJobOrder: must be a boolean, not a number" },
		{ "{name: gang, arguments: [1]}",
		  "s.conf:4: tiers[0].plugins[0].arguments: must be an object, not a list" },
	};
	struct conf_fixture f;

	(void)state;
	conf_fixture_init(&f);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row_number(i);
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

static void test_arguments_become_text(void **state)
{
	static const char *const expected[] = {
		"10", "0.5", "-3", "true", "plain", "7", "{\"a\":[1,\"b\"]}"
	};
	const struct conf_plugin *p;
	struct conf_fixture f;

	(void)state;
	conf_fixture_init(&f);
	assert_int_equal(parse_plugin(&f, "{name: gang, arguments: {a: 10, b: 0.5, c: -3, d: true, "
					  "e: plain, f: '7', gone: null, g: {a: [1, b]}}}"),
			 0);
	p = &f.conf->plugins[0];
	assert_int_equal(p->nargs, 7);
	for (size_t i = 0; i < 7; i++) {
		assert_string_equal(p->args[i].value, expected[i]);
	}
	assert_string_equal(p->args[6].key, "g");
	conf_fixture_finish(&f);
}

/* In one map, and over all maps of an action. */
/* Arguments of a plugin that is left out are left out with it. */
static void test_arguments_that_nothing_reads_are_named(void **state)
{
	struct conf_fixture f;

	(void)state;
	conf_fixture_init(&f);
	assert_int_equal(conf_fixture_parse(&f, "actions: allocate\n"
						"tiers:\n"
						"- plugins:\n"
						"  - name: binpack\n"
						"    arguments:\n"
						"      binpack.weighd: 1\n"
						"      binpack.cpu: 1\n"
						"      binpack.mode: x\n"
						"      binpack.of.gpu: 2\n"
						"      enableHierarchy: true\n"
						"  - {name: gang, arguments: {a: 1}}\n"
						"  - {name: drf, arguments: {a: 1}}\n"
						"configurations:\n"
						"- name: allocate\n"
						"  arguments: {binpack.mode: 1, far: 1, name: 1}\n"
						"- {name: reclaim, arguments: {a: 1}}\n"),
			 0);
	assert_string_equal(
		f.warnings.p,
		"s.conf:6: tiers[0].plugins[0].arguments.binpack.weighd: unknown argument of "
		"plugin binpack, ignored; did you mean binpack.weight?\n"
		"s.conf:8: tiers[0].plugins[0].arguments.binpack.mode: this argument of Volcano's "
		"plugin binpack has no effect here\n"
		"s.conf:10: tiers[0].plugins[0].arguments.enableHierarchy: ignored: this "
		"switch belongs beside the arguments of a plugin\n"
		"s.conf:11: tiers[0].plugins[1].arguments.a: unknown argument of plugin gang, "
		"ignored\n"
		"s.conf:12: plugin \"drf\" has no implementation here and is left out\n"
		"s.conf:15: configurations[0].arguments.binpack.mode: this argument of Volcano's "
		"action allocate has no effect here\n"
		"s.conf:15: configurations[0].arguments.far: unknown argument of action allocate, "
		"ignored\n"
		"s.conf:15: configurations[0].arguments.name: unknown argument of action allocate, "
		"ignored\n");
	conf_fixture_finish(&f);
}

static void test_limit_of_arguments(void **state)
{
	struct strbuf b = STRBUF_INIT;
	struct conf_fixture f;

	(void)state;
	conf_fixture_init(&f);
	strbuf_add_c(&b, "actions: enqueue\nconfigurations:\n- name: enqueue\n  arguments:\n");
	for (int i = 0; i < CONF_MAX_ARGS; i++) {
		strbuf_printf(&b, "    k%d: 1\n", i);
	}
	assert_int_equal(conf_fixture_parse(&f, b.p), 0);
	assert_int_equal(f.conf->actions[0].nargs, CONF_MAX_ARGS);
	strbuf_add_c(&b, "- name: enqueue\n  arguments: {more: 1}\n");
	assert_int_equal(conf_fixture_parse(&f, b.p), -ERR_INVALID);
	assert_non_null(strstr(f.err.text, "configurations[1].arguments: more than 256 items"));
	strbuf_truncate(&b, b.len - strlen("- name: enqueue\n  arguments: {more: 1}\n"));
	strbuf_add_c(&b, "    more: 1\n");
	assert_int_equal(conf_fixture_parse(&f, b.p), -ERR_INVALID);
	assert_non_null(strstr(f.err.text, "configurations[0].arguments: more than 256 items"));
	conf_fixture_finish(&f);
	strbuf_finish(&b);
}

static void test_limit_of_plugins_is_for_all_tiers(void **state)
{
	struct strbuf b = STRBUF_INIT;
	struct conf_fixture f;

	(void)state;
	conf_fixture_init(&f);
	strbuf_add_c(&b, "actions: enqueue\ntiers:\n- plugins:\n  - name: gang\n- plugins:\n");
	add_repeated(&b, "  - name: gang\n", CONF_MAX_PLUGINS - 1);
	assert_int_equal(conf_fixture_parse(&f, b.p), 0);
	strbuf_add_c(&b, "  - name: gang\n");
	assert_int_equal(conf_fixture_parse(&f, b.p), -ERR_INVALID);
	assert_non_null(strstr(f.err.text, "tiers[1].plugins[63]: more than 64 plugins"));
	conf_fixture_finish(&f);
	strbuf_finish(&b);
}

static void test_limit_of_bytes(void **state)
{
	struct strbuf b = STRBUF_INIT;
	struct conf_fixture f;

	(void)state;
	conf_fixture_init(&f);
	strbuf_add_c(&b, "actions: enqueue\n#");
	while (b.len < CONF_MAX_BYTES) {
		strbuf_add_ch(&b, '#');
	}
	assert_int_equal(conf_fixture_parse(&f, b.p), 0);
	strbuf_add_ch(&b, '#');
	assert_int_equal(conf_fixture_parse(&f, b.p), -ERR_INVALID);
	assert_string_equal(f.err.text, "s.conf: more than 1048576 bytes");
	conf_fixture_finish(&f);
	strbuf_finish(&b);
}

static void test_files(void **state)
{
	char path[] = "/tmp/headgate-conf-XXXXXX";
	int fd = mkstemp(path);
	struct conf_fixture f;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	conf_fixture_init(&f);
	assert_int_equal(file_write_atomic(path, STR_LIT("actions: enqueue, x\n"), 0600, NULL), 0);
	assert_int_equal(conf_load_file(path, &f.opt, &f.conf, &f.err), -ERR_INVALID);
	assert_non_null(strstr(f.err.text, path));
	assert_non_null(strstr(f.err.text, ":1: actions: unknown action \"x\""));
	assert_int_equal(file_write_atomic(path, STR_LIT("actions: enqueue\n"), 0600, NULL), 0);
	assert_int_equal(conf_load_file(path, &f.opt, &f.conf, &f.err), 0);
	assert_int_equal(f.conf->nactions, 1);
	unlink(path);
	conf_destroyp(&f.conf);
	assert_true(conf_load_file(path, &f.opt, &f.conf, &f.err) < 0);
	assert_non_null(strstr(f.err.text, path));
	assert_null(f.conf);
	conf_fixture_finish(&f);
	conf_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_hole_26_the_built_in_text_has_a_quota_plugin_and_parses_without_warning),
		cmocka_unit_test(test_options_of_flags_have_defaults),
		cmocka_unit_test(test_errors_name_file_line_and_key),
		cmocka_unit_test(test_yaml_errors_keep_their_line),
		cmocka_unit_test(test_drf_and_proportion_may_be_in_different_tiers),
		cmocka_unit_test(test_a_name_without_implementation_is_warned_about_once),
		cmocka_unit_test(test_unknown_keys_are_warned_about_and_ignored),
		cmocka_unit_test(test_arguments_of_actions),
		cmocka_unit_test(test_limits_of_counts),
		cmocka_unit_test(test_every_switch_is_on_by_default_except_two),
		cmocka_unit_test(test_spelling_of_every_switch),
		cmocka_unit_test(test_mistyped_switches_are_pointed_out),
		cmocka_unit_test(test_errors_in_plugins),
		cmocka_unit_test(test_null_is_as_if_it_were_not_written),
		cmocka_unit_test(test_arguments_become_text),
		cmocka_unit_test(test_arguments_that_nothing_reads_are_named),
		cmocka_unit_test(test_limit_of_arguments),
		cmocka_unit_test(test_limit_of_plugins_is_for_all_tiers),
		cmocka_unit_test(test_limit_of_bytes),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
