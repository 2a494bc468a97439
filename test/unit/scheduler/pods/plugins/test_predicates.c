#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "base/err.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/pods/hooks_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/conf/conf_args.h"
#include "scheduler/pods/plugins/registry.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/statement.h"

static struct hooks_fixture f;
static struct node *node;

static void start(const char *arguments)
{
	char tiers[160];

	snprintf(tiers, sizeof(tiers), "- plugins:\n  - {name: predicates, arguments: {%s}}\n",
		 arguments);
	hooks_fixture_init(&f, tiers, plugin_registry, plugin_registry_count);
	node = cluster_fixture_node(f.cluster, "n", 1000);
}

static void add_taint(const char *key, const char *value)
{
	struct taint t = { cluster_fixture_name(f.cluster, key),
			   cluster_fixture_name(f.cluster, value), TAINT_NO_SCHEDULE };

	vec_push(&node->taints, t);
}

static struct reason why;

static const char *refused(const struct pod_class *k)
{
	why = (struct reason){ .code = NULL };
	return hooks_class_predicate(f.s, k, node, &why) ? NULL : why.code;
}

static const char *refused_now(const struct task *t)
{
	why = (struct reason){ .code = NULL };
	return hooks_predicate(f.s, t, node, &why) ? NULL : why.code;
}

static void test_labels_taints_and_state_of_the_node(void **state)
{
	struct label want = { "", "" };
	struct pod_class k = { .selector = &want };

	(void)state;
	start("");
	want = (struct label){ cluster_fixture_name(f.cluster, "zone"),
			       cluster_fixture_name(f.cluster, "a") };
	hooks_fixture_open(&f);
	assert_null(refused(&k));
	k.nselector = 1;
	assert_string_equal(refused(&k), "node(s) didn't match Pod's node affinity/selector");
	assert_true(why.unresolvable);
	k.nselector = 0;
	node->unschedulable = true;
	assert_string_equal(refused(&k), "node(s) were unschedulable");
	assert_true(why.unresolvable);
	node->unschedulable = false;
	add_taint("gpu", "yes");
	assert_string_equal(refused(&k), "node(s) had untolerated taint");
	assert_string_equal(why.detail, "{gpu: yes}");
	assert_true(why.unresolvable);
	assert_false(hooks_class_predicate(f.s, &k, node, NULL));
	vec_clear(&node->taints);
	node->exists = false;
	assert_string_equal(refused(&k), "node(s) do not exist");
	node->exists = true;
	k.unsupported = "pod affinity is not supported";
	assert_string_equal(refused(&k), "pod affinity is not supported");
	hooks_fixture_finish(&f);
}

static void test_arguments_switch_parts_off(void **state)
{
	struct label want = { "no", "label" };
	struct pod_class k = { .selector = &want, .nselector = 1 };

	(void)state;
	start("predicate.NodeAffinityEnable: false");
	hooks_fixture_open(&f);
	assert_null(refused(&k));
	add_taint("gpu", "yes");
	assert_non_null(refused(&k));
	hooks_fixture_finish(&f);
	start("predicate.TaintTolerationEnable: false, predicate.CacheEnable: true");
	hooks_fixture_open(&f);
	add_taint("gpu", "yes");
	k.nselector = 0;
	assert_null(refused(&k));
	k.nselector = 1;
	assert_non_null(refused(&k));
	hooks_fixture_finish(&f);
}

static void test_arguments_that_are_no_booleans(void **state)
{
	static const char *const keys[] = { "predicate.NodeAffinityEnable",
					    "predicate.NodePortsEnable",
					    "predicate.TaintTolerationEnable",
					    "predicate.PodAffinityEnable",
					    "predicate.PodTopologySpreadEnable" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		const struct conf_arg v = { keys[i], "maybe" };
		const struct plugin_args args = { .v = &v, .n = 1 };
		struct err err = ERR_INIT;
		void *s = NULL;

		unit_row(keys[i]);
		assert_int_equal(predicates_ops.create(&args, &s, &err), -ERR_INVALID);
		assert_null(s);
		assert_non_null(strstr(err.text, keys[i]));
	}
}

static struct task *task_with_port(const char *name, uint16_t port)
{
	struct host_port p = { cluster_fixture_name(f.cluster, "0.0.0.0"), 0, port };
	struct pod_class k = { .request = { .v = { [RES_CPU] = 1 } }, .ports = &p, .nports = 1 };
	struct task *t = cluster_fixture_task(f.cluster, name, NULL, 1);

	pod_class_normalise(&k);
	cluster_task_set_class(f.cluster, t, cluster_class_intern(f.cluster, &k));
	return t;
}

static void test_host_ports(void **state)
{
	struct task *bound, *same, *other;

	(void)state;
	start("");
	bound = task_with_port("bound", 80);
	same = task_with_port("same", 80);
	other = task_with_port("other", 81);
	cluster_task_set_status(f.cluster, bound, TASK_BOUND, node);
	hooks_fixture_open(&f);
	assert_string_equal(refused_now(same),
			    "node(s) didn't have free ports for the requested pod ports");
	assert_false(why.unresolvable);
	assert_null(refused_now(other));
	/* a terminating pod still has its port */
	cluster_task_set_status(f.cluster, bound, TASK_RELEASING, node);
	hooks_fixture_open(&f);
	assert_non_null(refused_now(same));
	cluster_task_set_status(f.cluster, bound, TASK_SUCCEEDED, NULL);
	hooks_fixture_open(&f);
	assert_null(refused_now(same));
	hooks_fixture_finish(&f);
}

static void test_host_ports_of_pods_placed_in_this_session(void **state)
{
	struct task *first, *second;
	struct statement st;

	(void)state;
	start("");
	first = task_with_port("first", 80);
	second = task_with_port("second", 80);
	hooks_fixture_open(&f);
	st = statement_begin(f.s);
	statement_allocate(f.s, first, node);
	assert_non_null(refused_now(second));
	statement_discard(f.s, st);
	assert_null(refused_now(second));
	hooks_fixture_finish(&f);
	start("predicate.NodePortsEnable: false");
	first = task_with_port("first", 80);
	second = task_with_port("second", 80);
	cluster_task_set_status(f.cluster, first, TASK_BOUND, node);
	hooks_fixture_open(&f);
	assert_null(refused_now(second));
	hooks_fixture_finish(&f);
}

static void test_number_of_pods(void **state)
{
	struct task *t;
	struct statement st;

	(void)state;
	start("");
	node->allocatable.v[RES_PODS] = 2;
	for (int i = 0; i < 2; i++) {
		t = cluster_fixture_task(f.cluster, i == 0 ? "a" : "b", NULL, 1);
		hooks_fixture_open(&f);
		assert_null(refused_now(t));
		if (i == 0) {
			cluster_task_set_status(f.cluster, t, TASK_BOUND, node);
		}
	}
	t = cluster_fixture_task(f.cluster, "c", NULL, 1);
	hooks_fixture_open(&f);
	st = statement_begin(f.s);
	statement_pipeline(f.s, cluster_task_find(f.cluster, STR_LIT("ns/b")), node);
	assert_string_equal(refused_now(t), "Too many pods");
	assert_false(why.unresolvable);
	assert_false(hooks_predicate(f.s, t, node, NULL));
	statement_discard(f.s, st);
	assert_null(refused_now(t));
	hooks_fixture_finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_labels_taints_and_state_of_the_node),
		cmocka_unit_test(test_arguments_switch_parts_off),
		cmocka_unit_test(test_arguments_that_are_no_booleans),
		cmocka_unit_test(test_host_ports),
		cmocka_unit_test(test_host_ports_of_pods_placed_in_this_session),
		cmocka_unit_test(test_number_of_pods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
