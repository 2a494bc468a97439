#include "scheduler/pods/cycle/known_names.h"

#include <string.h>

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "lib/pods/conf_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/conf/conf_args.h"
#include "scheduler/pods/session/hooks.h"

static void run_nothing(struct session *s)
{
	(void)s;
}

static void test_absent_are_rows_without_functions(void **state)
{
	static const struct conf_args_row arguments[] = { { .name = NULL } };
	static const struct plugin_ops ops = { .name = "gang", .arguments = arguments };
	static const struct plugin_row plugins[] = { { "gang", &ops }, { "drf", NULL } };
	static const struct action_row actions[] = {
		{ .name = "enqueue", .run = run_nothing, .arguments = arguments },
		{ .name = "reclaim" },
		{ .name = "shuffle", .absent = "why" }
	};
	const struct known_names_source from = { plugins, 2, actions, 3 };
	struct known_names n;
	struct conf_names known;

	(void)state;
	known_names_init(&n, &from);
	known = known_names_conf(&n);
	assert_string_equal(known.plugins[0].name, "gang");
	assert_ptr_equal(known.plugins[0].arguments, arguments);
	assert_false(known.plugins[0].absent);
	assert_string_equal(known.plugins[1].name, "drf");
	assert_true(known.plugins[1].absent);
	assert_null(known.plugins[2].name);
	assert_string_equal(known.actions[0].name, "enqueue");
	assert_ptr_equal(known.actions[0].arguments, arguments);
	assert_false(known.actions[0].absent);
	assert_string_equal(known.actions[1].name, "reclaim");
	assert_true(known.actions[1].absent);
	assert_null(known.actions[1].why);
	assert_string_equal(known.actions[2].why, "why");
	assert_null(known.actions[3].name);
	known_names_finish(&n);
	assert_null(n.plugins);
}

static void test_empty_registries(void **state)
{
	const struct known_names_source from = { .plugins = NULL };
	struct known_names n;

	(void)state;
	known_names_init(&n, &from);
	assert_null(n.plugins[0].name);
	assert_null(n.actions[0].name);
	known_names_finish(&n);
}

#define UNKNOWN "unknown argument of "
#define NO_EFFECT "this argument of Volcano's "
#define BESIDE "ignored: this switch belongs beside the arguments of a plugin"

/* The warning about one argument of the registered plugins and actions; NULL: there is none. */
static const struct {
	const char *of, *argument, *warning;
} arguments[] = {
	{ "plugin binpack", "binpack.weight", NULL },
	{ "plugin binpack", "binpack.cpu", NULL },
	{ "plugin binpack", "binpack.memory", NULL },
	{ "plugin binpack", "binpack.resources", NULL },
	{ "plugin binpack", "binpack.resources.nvidia.com/gpu", NULL },
	{ "plugin binpack", "bimpack.cpu", UNKNOWN },
	{ "plugin capacity", "ancestorReclaimLevel", NULL },
	{ "plugin capacity", "capacity.DynamicResourceAllocationEnable", NO_EFFECT },
	{ "plugin capacity", "capacity.DRAConsumableCapacityEnable", NO_EFFECT },
	{ "plugin capacity", "enableHierarchy", BESIDE },
	{ "plugin nodeorder", "leastrequested.weight", NULL },
	{ "plugin nodeorder", "mostrequested.weight", NULL },
	{ "plugin nodeorder", "balancedresource.weight", NULL },
	{ "plugin nodeorder", "nodeaffinity.weight", NULL },
	{ "plugin nodeorder", "tainttoleration.weight", NULL },
	{ "plugin nodeorder", "imagelocality.weight", NULL },
	{ "plugin nodeorder", "podaffinity.weight", NULL },
	{ "plugin nodeorder", "podtopologyspread.weight", NULL },
	{ "plugin nodeorder", "nodeafinity.weight", UNKNOWN },
	{ "plugin overcommit", "overcommit-factor", NULL },
	{ "plugin overcommit", "overcommitfactor", UNKNOWN },
	{ "plugin predicates", "predicate.NodeAffinityEnable", NULL },
	{ "plugin predicates", "predicate.NodePortsEnable", NULL },
	{ "plugin predicates", "predicate.TaintTolerationEnable", NULL },
	{ "plugin predicates", "predicate.PodAffinityEnable", NULL },
	{ "plugin predicates", "predicate.PodTopologySpreadEnable", NULL },
	{ "plugin predicates", "predicate.NodeVolumeLimitsEnable", NO_EFFECT },
	{ "plugin predicates", "predicate.VolumeZoneEnable", NO_EFFECT },
	{ "plugin predicates", "predicate.VolumeBindingEnable", NO_EFFECT },
	{ "plugin predicates", "predicate.DynamicResourceAllocationEnable", NO_EFFECT },
	{ "plugin predicates", "predicate.CacheEnable", NO_EFFECT },
	{ "plugin predicates", "volumebinding.bindTimeoutSeconds", NO_EFFECT },
	{ "plugin predicates", "volumebinding.shape", NO_EFFECT },
	{ "plugin predicates", "volumebinding.weight", NO_EFFECT },
	{ "plugin predicates", "dynamicresources.filterTimeoutSeconds", NO_EFFECT },
	{ "plugin proportion", "ancestorReclaimLevel", UNKNOWN },
	{ "plugin gang", "a", UNKNOWN },
	{ "action allocate", "predicateErrorCacheEnable", NO_EFFECT },
	{ "action backfill", "predicateErrorCacheEnable", NO_EFFECT },
	{ "action reclaim", "predicateErrorCacheEnable", NO_EFFECT },
	{ "action preempt", "predicateErrorCacheEnable", NO_EFFECT },
	{ "action preempt", "enableTopologyAwarePreemption", NO_EFFECT },
	{ "action preempt", "topologyAwarePreemptWorkerNum", NO_EFFECT },
	{ "action preempt", "minCandidateNodesPercentage", NO_EFFECT },
	{ "action preempt", "minCandidateNodesAbsolute", NO_EFFECT },
	{ "action preempt", "maxCandidateNodesAbsolute", NO_EFFECT },
	{ "action preempt", "allowWholeBundle", UNKNOWN },
	{ "action gangpreempt", "allowWholeBundle", NULL },
	{ "action gangreclaim", "allowWholeBundle", NULL },
	{ "action gangpreempt", "maxDomains", NO_EFFECT },
	{ "action gangreclaim", "maxDomains", NO_EFFECT },
	{ "action enqueue", "maxDomains", UNKNOWN },
};

static void test_arguments_that_nothing_reads_are_named(void **state)
{
	const struct known_names_source from = { plugin_registry, plugin_registry_count,
						 action_registry, action_registry_count };
	struct known_names names;
	struct conf_fixture f;

	(void)state;
	conf_fixture_init(&f);
	known_names_init(&names, &from);
	f.opt.known = known_names_conf(&names);
	for (size_t i = 0; i < ARRAY_LEN(arguments); i++) {
		bool action = str_has_prefix(str_of(arguments[i].of), "action ");
		const char *warning = arguments[i].warning, *name = arguments[i].of + 7;
		const char *list = action ? "configurations:\n- " : "- plugins:\n  - ";
		CLEANUP(xmalloc_freep)
		char *text =
			xmalloc_printf("actions: preempt\ntiers:\n- plugins: [{name: capacity}]\n"
				       "%s{name: %s, arguments: {%s: 1}}",
				       list, name, arguments[i].argument);

		unit_row(arguments[i].argument);
		assert_int_equal(conf_fixture_parse(&f, text), 0);
		if (warning == NULL) {
			assert_int_equal(f.warnings.len, 0);
		} else {
			assert_non_null(strstr(f.warnings.p, arguments[i].argument));
			assert_non_null(strstr(f.warnings.p, warning));
			assert_true(str_eq(str_of(warning), STR_LIT(BESIDE)) ||
				    strstr(f.warnings.p, arguments[i].of) != NULL);
		}
	}
	known_names_finish(&names);
	conf_fixture_finish(&f);
}

#define UNLIMITED                                                                                  \
	"Queues have no limits: ungated pods are bound beyond them and in closed Queues, and no "  \
	"gate is removed\n"

/* The warning is there exactly when the plugins, as they are compiled, have no limits. */
static void test_a_configuration_without_limits_is_warned_about(void **state)
{
	static const struct {
		const char *tiers, *warning;
	} rows[] = {
		{ "", "s.conf: tiers: without capacity or proportion " UNLIMITED },
		{ "tiers: []", "s.conf:2: tiers: without capacity or proportion " UNLIMITED },
		{ "tiers: [{plugins: [{name: gang}]}]",
		  "s.conf:2: tiers: without capacity or proportion " UNLIMITED },
		{ "tiers:\n- plugins: [{name: gang}, {name: priority}]\n- plugins:\n"
		  "  - name: binpack\n  - name: capacity\n    enabledAllocatable: false\n",
		  "s.conf:7: tiers[1].plugins[1].enabledAllocatable: with false " UNLIMITED },
		{ "tiers: [{plugins: [{name: capacity, enabledAllocatable: false}, "
		  "{name: proportion}]}]",
		  "" },
		{ "tiers: [{plugins: [{name: capacity, enabledAllocatable: false}]}, "
		  "{plugins: [{name: proportion, enabledAllocatable: false}]}]",
		  "s.conf:2: tiers[1].plugins[0].enabledAllocatable: with false " UNLIMITED },
		{ "tiers: [{plugins: [{name: capacity}]}]", "" },
		{ "tiers: [{plugins: [{name: gang}]}, {plugins: [{name: proportion}]}]", "" },
	};
	const struct known_names_source from = { plugin_registry, plugin_registry_count,
						 action_registry, action_registry_count };
	struct known_names names;
	struct conf_fixture f;

	(void)state;
	conf_fixture_init(&f);
	known_names_init(&names, &from);
	f.opt.known = known_names_conf(&names);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(xmalloc_freep)
		char *text = xmalloc_printf("actions: allocate\n%s", rows[i].tiers);
		struct hooks *hooks = NULL;

		unit_row(rows[i].tiers);
		assert_int_equal(conf_fixture_parse(&f, text), 0);
		assert_string_equal(f.warnings.p, rows[i].warning);
		assert_int_equal(
			hooks_create(f.conf, plugin_registry, plugin_registry_count, &hooks, NULL),
			0);
		assert_int_equal(hooks_has_quota_plugin(hooks), f.warnings.len == 0);
		hooks_destroy(hooks);
	}
	known_names_finish(&names);
	conf_fixture_finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_absent_are_rows_without_functions),
		cmocka_unit_test(test_empty_registries),
		cmocka_unit_test(test_arguments_that_nothing_reads_are_named),
		cmocka_unit_test(test_a_configuration_without_limits_is_warned_about),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
