#include "scheduler/pods/predicates/predicates_spread.h"

#include <stdio.h>

#include "base/attrs.h"
#include "collections/intern.h"
#include "lib/pods/core_fixture.h"
#include "lib/pods/term_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/session/domains.h"

#define SKEW "node(s) didn't match pod topology spread constraints"
#define MISSING SKEW " (missing required label)"

static struct core_fixture sf;
static struct node *nodes[4];

/* Two nodes in zone a, one in b, one in none. Pods app=x run on nodes 0 and 1. */
static int setup(void **state)
{
	static const char *const labels[] = { "disk=ssd,zone=a", "disk=ssd,zone=a", "zone=b", "" };
	char name[16];

	(void)state;
	core_fixture_init(&sf, NULL);
	for (size_t i = 0; i < ARRAY_LEN(nodes); i++) {
		snprintf(name, sizeof(name), "n%zu", i);
		nodes[i] = cluster_fixture_node(sf.f.cluster, name, 10000);
		term_fixture_node_labels(sf.f.cluster, nodes[i], labels[i]);
		if (i < 2) {
			cluster_task_set_status(
				sf.f.cluster,
				term_fixture_task(sf.f.cluster, name, NULL, "app=x", ""),
				TASK_RUNNING, nodes[i]);
		}
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	core_fixture_finish(&sf);
	return 0;
}

static bool later;

static const char *refusal(const struct task *t, const struct node *n, bool *unresolvable)
{
	return predicates_spread_refusal(sf.s, domains_view(sf.s, t), t->klass, n, later,
					 unresolvable);
}

static struct task *add(const char *name, const char *labels, const char *terms)
{
	return term_fixture_task(sf.f.cluster, name, NULL, labels, terms);
}

static void assert_refused(const struct task *t, size_t node, const char *text)
{
	bool unresolvable = false;
	const char *got = refusal(t, nodes[node], &unresolvable);

	assert_string_equal(got == NULL ? "" : got, text == NULL ? "" : text);
	assert_int_equal(unresolvable, str_streq(text, MISSING));
}

static void test_skew(void **state)
{
	struct task *one, *two, *three, *stranger;

	(void)state;
	one = add("one", "app=x", "spread zone app=x");
	two = add("two", "app=x", "spread zone app=x skew=2");
	three = add("three", "app=x", "spread zone app=x skew=3");
	/* It does not count itself. */
	stranger = add("stranger", "", "spread zone app=x skew=2");
	core_fixture_open(&sf);
	assert_refused(one, 0, SKEW);
	assert_refused(one, 2, NULL);
	assert_refused(one, 3, MISSING);
	assert_refused(two, 1, SKEW);
	assert_refused(three, 1, NULL);
	assert_refused(stranger, 1, NULL);
	statement_allocate(sf.s, one, nodes[2]);
	assert_refused(two, 0, NULL);
}

/* A pod that waits for releases in zone b does not let more into zone a before it has come. */
static void test_pipelined_pods_make_no_room_elsewhere(void **state)
{
	struct task *waits, *t;

	(void)state;
	waits = add("waits", "app=x", "");
	t = add("t", "app=x", "spread zone app=x skew=2");
	core_fixture_open(&sf);
	statement_pipeline(sf.s, waits, nodes[2]);
	assert_refused(t, 0, SKEW);
	later = true;
	assert_refused(t, 0, NULL);
	later = false;
	assert_refused(t, 2, NULL);
}

static void test_min_domains(void **state)
{
	struct task *enough, *few;

	(void)state;
	cluster_task_set_status(sf.f.cluster, add("b", "app=x", ""), TASK_RUNNING, nodes[2]);
	enough = add("enough", "app=x", "spread zone app=x skew=1 min=2");
	few = add("few", "app=x", "spread zone app=x skew=1 min=3");
	core_fixture_open(&sf);
	assert_refused(enough, 2, NULL);
	assert_refused(few, 2, SKEW);
}

/* Zone b has no disk, and a taint: by default the one matters and the other does not. */
static void test_policies(void **state)
{
	struct intern *names = sf.f.cluster->names;
	struct taint taint = { intern_name(names, intern_id(names, STR_LIT("gpu"))), "",
			       TAINT_NO_SCHEDULE };
	struct label disk = { intern_name(names, intern_id(names, STR_LIT("disk"))),
			      intern_name(names, intern_id(names, STR_LIT("ssd"))) };
	struct task *plain, *honors, *selects, *ignores;
	struct pod_class k;

	(void)state;
	vec_push(&nodes[2]->taints, taint);
	plain = add("plain", "app=x", "spread zone app=x");
	honors = add("honors", "app=x", "spread zone app=x honor");
	selects = add("selects", "app=x", "spread zone app=x");
	k = *selects->klass;
	k.selector = &disk;
	k.nselector = 1;
	cluster_task_set_class(sf.f.cluster, selects, cluster_class_intern(sf.f.cluster, &k));
	ignores = add("ignores", "app=x", "");
	cluster_task_set_class(sf.f.cluster, ignores,
			       cluster_class_ref(sf.f.cluster, selects->klass));
	term_fixture_terms(sf.f.cluster, ignores, "spread zone app=x ignore");
	core_fixture_open(&sf);
	assert_refused(plain, 0, SKEW);
	assert_refused(honors, 0, NULL);
	assert_refused(selects, 0, NULL);
	assert_refused(ignores, 0, SKEW);
}

/* Nodes without the topology key of one constraint count for none. */
static void test_several_constraints(void **state)
{
	struct task *t;

	(void)state;
	term_fixture_node_labels(sf.f.cluster, nodes[1], "rack=r,zone=a");
	term_fixture_node_labels(sf.f.cluster, nodes[2], "rack=s,zone=b");
	t = add("t", "app=x", "spread zone app=x; spread rack app=x");
	core_fixture_open(&sf);
	assert_refused(t, 0, SKEW);
	assert_refused(t, 1, SKEW);
	assert_refused(t, 2, NULL);
	/* The pod on node 0 does not count: one in each zone. */
	statement_allocate(sf.s, t, nodes[2]);
	assert_refused(t, 1, NULL);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_skew),
		T(test_pipelined_pods_make_no_room_elsewhere),
		T(test_min_domains),
		T(test_policies),
		T(test_several_constraints),
	};

	return cmocka_run_group_tests_name("pods/predicates/predicates_spread", tests, NULL, NULL);
}
