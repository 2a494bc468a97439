#include "scheduler/pods/predicates/predicates_match.h"

#include <stdio.h>

#include "base/attrs.h"
#include "collections/intern.h"
#include "lib/compares.h"
#include "lib/unit.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/values/pod_class.h"

static struct intern *names;

static const char *in(const char *text)
{
	return intern_name(names, intern_id(names, str_of(text)));
}

static int setup(void **state)
{
	(void)state;
	names = intern_create();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	intern_destroy(names);
	return 0;
}

static char node_name[] = "node-1";

/* zone=a, cores=16 */
static struct node make_node(struct label labels[2])
{
	struct node n = { .name = node_name, .exists = true };

	labels[0] = (struct label){ in("cores"), in("16") };
	labels[1] = (struct label){ in("zone"), in("a") };
	n.labels.v = labels;
	n.labels.n = 2;
	return n;
}

static void test_expressions(void **state)
{
	static const struct {
		const char *key;
		enum match_op op;
		const char *values[2];
		bool field, expected;
	} rows[] = {
		{ "zone", MATCH_IN, { "b", "a" }, false, true },
		{ "zone", MATCH_IN, { "b" }, false, false },
		{ "zone", MATCH_IN, { NULL }, false, false },
		{ "rack", MATCH_IN, { "a" }, false, false },
		{ "zone", MATCH_NOT_IN, { "a" }, false, false },
		{ "zone", MATCH_NOT_IN, { "b" }, false, true },
		{ "rack", MATCH_NOT_IN, { "a" }, false, true },
		{ "zone", MATCH_EXISTS, { NULL }, false, true },
		{ "rack", MATCH_EXISTS, { NULL }, false, false },
		{ "zone", MATCH_NOT_EXISTS, { NULL }, false, false },
		{ "rack", MATCH_NOT_EXISTS, { NULL }, false, true },
		{ "cores", MATCH_GT, { "15" }, false, true },
		{ "cores", MATCH_GT, { "16" }, false, false },
		{ "cores", MATCH_LT, { "17" }, false, true },
		{ "cores", MATCH_LT, { "16" }, false, false },
		{ "cores", MATCH_GT, { "-1" }, false, true },
		{ "cores", MATCH_GT, { "1", "2" }, false, false },
		{ "cores", MATCH_GT, { "many" }, false, false },
		{ "zone", MATCH_GT, { "1" }, false, false },
		{ "rack", MATCH_LT, { "1" }, false, false },
		{ "metadata.name", MATCH_IN, { "node-1" }, true, true },
		{ "metadata.name", MATCH_IN, { "node-2" }, true, false },
		{ "metadata.name", MATCH_NOT_IN, { "node-1" }, true, false },
		{ "metadata.name", MATCH_NOT_IN, { "node-2" }, true, true },
		/* a label of that name is something else */
		{ "metadata.name", MATCH_IN, { "node-1" }, false, false },
	};
	struct label labels[2];
	struct node n = make_node(labels);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *values[2];
		struct match_expr e = { .key = in(rows[i].key),
					.op = rows[i].op,
					.values = values,
					.on_field = rows[i].field };
		struct match_term term = { .exprs = &e, .nexprs = 1 };
		struct pod_class k = { .required = &term, .nrequired = 1, .has_required = true };

		while (e.nvalues < 2 && rows[i].values[e.nvalues] != NULL) {
			values[e.nvalues] = in(rows[i].values[e.nvalues]);
			e.nvalues++;
		}
		print_message("row %zu\n", i);
		assert_int_equal(predicates_match_affinity(&k, &n), rows[i].expected);
	}
}

static void test_terms_are_alternatives_and_expressions_are_not(void **state)
{
	struct label labels[2];
	struct node n = make_node(labels);
	const char *a = in("a"), *b = in("b");
	struct match_expr yes = { in("zone"), MATCH_IN, &a, 1, false };
	struct match_expr no = { in("zone"), MATCH_IN, &b, 1, false };
	struct match_expr both[] = { yes, no };
	struct match_term terms[] = { { both, 2, 0 }, { &yes, 1, 0 } };
	struct pod_class k = { .required = terms, .nrequired = 2, .has_required = true };

	(void)state;
	assert_true(predicates_match_affinity(&k, &n));
	k.nrequired = 1;
	assert_false(predicates_match_affinity(&k, &n));
}

static void test_empty_terms_and_empty_lists_match_nothing(void **state)
{
	struct label labels[2];
	struct node n = make_node(labels);
	struct match_term term = { .nexprs = 0 };
	struct pod_class k = { .required = &term, .nrequired = 1, .has_required = true };

	(void)state;
	assert_false(predicates_match_affinity(&k, &n));
	k.nrequired = 0;
	assert_false(predicates_match_affinity(&k, &n));
	k.has_required = false;
	assert_true(predicates_match_affinity(&k, &n));
}

static void test_selector_and_affinity_must_both_hold(void **state)
{
	struct label labels[2], want[2] = { { in("zone"), in("a") }, { in("cores"), in("16") } };
	struct node n = make_node(labels);
	const char *b = in("b");
	struct match_expr no = { in("zone"), MATCH_IN, &b, 1, false };
	struct match_term term = { &no, 1, 0 };
	struct pod_class k = { .selector = want, .nselector = 2 };

	(void)state;
	assert_true(predicates_match_affinity(&k, &n));
	want[1].value = in("32");
	assert_false(predicates_match_affinity(&k, &n));
	k.nselector = 1;
	k.required = &term;
	k.nrequired = 1;
	k.has_required = true;
	assert_false(predicates_match_affinity(&k, &n));
}

static void test_tolerations(void **state)
{
	enum { NS = TAINT_NO_SCHEDULE, NE = TAINT_NO_EXECUTE, PS = TAINT_PREFER_NO_SCHEDULE };
	static const struct {
		const char *what;
		const char *key, *value;
		bool exists, any_effect;
		int effect;
		int taint_effect;
		bool tolerated;
	} rows[] = {
		{ "equal", "gpu", "yes", false, false, NS, NS, true },
		{ "other value", "gpu", "no", false, false, NS, NS, false },
		{ "no value", "gpu", "", false, false, NS, NS, false },
		{ "other key", "cpu", "yes", false, false, NS, NS, false },
		{ "exists", "gpu", "", true, false, NS, NS, true },
		{ "every key", NULL, "", true, true, NS, NS, true },
		{ "every key, one effect", NULL, "", true, false, NE, NS, false },
		{ "no key and Equal", NULL, "yes", false, true, NS, NS, false },
		{ "other effect", "gpu", "yes", false, false, NE, NS, false },
		{ "any effect", "gpu", "yes", false, true, NS, NE, true },
		{ "NoExecute keeps out too", "gpu", "no", false, true, NS, NE, false },
		{ "PreferNoSchedule does not", "gpu", "no", false, true, NS, PS, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct taint taint = { in("gpu"), in("yes"), (uint8_t)rows[i].taint_effect };
		struct toleration t = { .key = rows[i].key == NULL ? NULL : in(rows[i].key),
					.value = in(rows[i].value),
					.exists = rows[i].exists,
					.any_effect = rows[i].any_effect,
					.effect = (uint8_t)rows[i].effect };
		struct pod_class k = { .tolerations = &t, .ntolerations = 1 };
		struct node n = { .exists = true };

		n.taints.v = &taint;
		n.taints.n = 1;
		print_message("%s\n", rows[i].what);
		assert_ptr_equal(predicates_match_taint(&k, &n), rows[i].tolerated ? NULL : &taint);
	}
}

static void test_the_first_untolerated_taint_is_named(void **state)
{
	struct taint taints[] = { { in("a"), in(""), TAINT_NO_SCHEDULE },
				  { in("b"), NULL, TAINT_NO_SCHEDULE } };
	struct toleration t = { .key = in("a"), .value = in(""), .effect = TAINT_NO_SCHEDULE };
	struct pod_class k = { .tolerations = &t, .ntolerations = 1 };
	struct node n = { .exists = true };

	(void)state;
	n.taints.v = taints;
	n.taints.n = 2;
	assert_ptr_equal(predicates_match_taint(&k, &n), &taints[1]);
	t.key = in("b"); /* an absent value equals an empty one */
	assert_ptr_equal(predicates_match_taint(&k, &n), &taints[0]);
	n.taints.n = 0;
	assert_null(predicates_match_taint(&k, &n));
}

static void test_cordoned_nodes_need_a_toleration(void **state)
{
	const char *key = in("node.kubernetes.io/unschedulable");
	struct toleration t = { .key = key, .exists = true, .effect = TAINT_NO_SCHEDULE };
	struct pod_class k = { .tolerations = &t };

	(void)state;
	assert_false(predicates_match_cordoned(&k));
	k.ntolerations = 1;
	assert_true(predicates_match_cordoned(&k));
	t.effect = TAINT_NO_EXECUTE;
	assert_false(predicates_match_cordoned(&k));
	t.any_effect = true;
	assert_true(predicates_match_cordoned(&k));
	t.exists = false;
	t.value = in("");
	assert_true(predicates_match_cordoned(&k));
	t.value = in("true");
	assert_false(predicates_match_cordoned(&k));
	t.key = NULL;
	assert_false(predicates_match_cordoned(&k));
	t.exists = true;
	assert_true(predicates_match_cordoned(&k));
	t.key = in("gpu");
	assert_false(predicates_match_cordoned(&k));
}

static void test_ports(void **state)
{
	static const struct {
		const char *ip_a, *ip_b;
		uint8_t protocol_b;
		uint16_t port_b;
		bool conflict;
	} rows[] = {
		{ "0.0.0.0", "0.0.0.0", 0, 80, true },   { "0.0.0.0", "0.0.0.0", 0, 81, false },
		{ "0.0.0.0", "0.0.0.0", 1, 80, false },  { "10.0.0.1", "0.0.0.0", 0, 80, true },
		{ "0.0.0.0", "10.0.0.1", 0, 80, true },  { "10.0.0.1", "10.0.0.2", 0, 80, false },
		{ "10.0.0.1", "10.0.0.1", 0, 80, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct host_port pa = { in(rows[i].ip_a), 0, 80 };
		struct host_port pb = { in(rows[i].ip_b), rows[i].protocol_b, rows[i].port_b };
		struct pod_class a = { .ports = &pa, .nports = 1 };
		struct pod_class b = { .ports = &pb, .nports = 1 };

		unit_row(rows[i].ip_a);
		assert_int_equal(predicates_match_ports(&a, &b), rows[i].conflict);
		b.nports = 0;
		assert_false(predicates_match_ports(&a, &b));
	}
}

/* Those of `all` with a bit in the set, in order. */
static size_t choose(const struct host_port *all, unsigned set, struct host_port *ret)
{
	size_t n = 0;

	for (unsigned i = 0; i < 6; i++) {
		if ((set & 1u << i) != 0) {
			ret[n++] = all[i];
		}
	}
	return n;
}

/* All pairs of sets of six ports: there is a conflict when a port is in both. */
static void test_sets_of_ports(void **state)
{
	struct host_port all[6], pa[6], pb[6];

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		all[i] = (struct host_port){ in("10.0.0.1"), (uint8_t)(i % 2),
					     (uint16_t)(80 + i / 2) };
	}
	for (unsigned x = 0; x < 64; x++) {
		for (unsigned y = 0; y < 64; y++) {
			struct pod_class a = { .ports = pa, .nports = choose(all, x, pa) };
			struct pod_class b = { .ports = pb, .nports = choose(all, y, pb) };

			assert_int_equal(predicates_match_ports(&a, &b), (x & y) != 0);
		}
	}
}

enum { ADDRESSES = 4000 };

/* Pair by pair it would be 16 million. */
static void test_many_addresses_of_one_number(void **state)
{
	static struct host_port pa[ADDRESSES], pb[ADDRESSES];
	struct pod_class a = { .ports = pa, .nports = ADDRESSES };
	struct pod_class b = { .ports = pb, .nports = ADDRESSES };
	char text[32];

	(void)state;
	for (unsigned i = 0; i < ADDRESSES; i++) {
		snprintf(text, sizeof(text), "10.0.%04u.a", i);
		pa[i] = (struct host_port){ in(text), 0, 80 };
		snprintf(text, sizeof(text), "10.0.%04u.b", i);
		pb[i] = (struct host_port){ in(text), 0, 80 };
	}
	compares_made = 0;
	assert_false(predicates_match_ports(&a, &b));
	assert_in_range(compares_made, 1, 8 * ADDRESSES);
	pb[ADDRESSES - 1].ip = pa[ADDRESSES - 1].ip;
	assert_true(predicates_match_ports(&a, &b));
	b.nports = 1;
	assert_false(predicates_match_ports(&a, &b));
	pb[0].ip = in("0.0.0.0");
	assert_true(predicates_match_ports(&a, &b));
	pb[0].protocol = 1;
	assert_false(predicates_match_ports(&a, &b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_terms_are_alternatives_and_expressions_are_not),
		cmocka_unit_test(test_empty_terms_and_empty_lists_match_nothing),
		cmocka_unit_test(test_selector_and_affinity_must_both_hold),
		cmocka_unit_test(test_tolerations),
		cmocka_unit_test(test_the_first_untolerated_taint_is_named),
		cmocka_unit_test(test_cordoned_nodes_need_a_toleration),
		cmocka_unit_test(test_ports),
		cmocka_unit_test(test_sets_of_ports),
		cmocka_unit_test(test_many_addresses_of_one_number),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
