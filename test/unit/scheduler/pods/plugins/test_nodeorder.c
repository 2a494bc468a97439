#include "base/attrs.h"
#include "base/err.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/pods/hooks_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/conf/conf_args.h"
#include "scheduler/pods/model/images.h"
#include "scheduler/pods/plugins/registry.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/statement.h"

static struct hooks_fixture f;

static void start(const char *tiers)
{
	hooks_fixture_init(&f, tiers, plugin_registry, plugin_registry_count);
}

/* All other scores are switched off. */
static void start_only(const char *score, int weight)
{
	static const char *const on[] = { "leastrequested", "balancedresource", "nodeaffinity",
					  "tainttoleration" };
	CLEANUP(strbuf_finish) struct strbuf tiers = STRBUF_INIT;

	strbuf_printf(&tiers,
		      "- plugins: [{name: predicates}, {name: nodeorder, arguments: {%s"
		      ".weight: %d",
		      score, weight);
	for (size_t i = 0; i < ARRAY_LEN(on); i++) {
		if (!str_streq(on[i], score)) {
			strbuf_printf(&tiers, ", %s.weight: 0", on[i]);
		}
	}
	strbuf_add_c(&tiers, "}}]\n");
	start(tiers.p);
}

static int teardown(void **state)
{
	(void)state;
	hooks_fixture_finish(&f);
	return 0;
}

static struct node *node(const char *name, int64_t cpu, int64_t memory)
{
	struct node *n = cluster_fixture_node(f.cluster, name, cpu);

	n->allocatable.v[RES_MEMORY] = memory;
	return n;
}

/* A node on which pods of these requests run. */
static struct node *used_node(const char *name, int64_t cpu, int64_t used_cpu, int64_t memory,
			      int64_t used_memory)
{
	struct node *n = node(name, cpu, memory);

	n->used.v[RES_CPU] = used_cpu;
	n->used.v[RES_MEMORY] = used_memory;
	return n;
}

static void taint(struct node *n, const char *key, enum taint_effect effect)
{
	struct taint t = { cluster_fixture_name(f.cluster, key),
			   cluster_fixture_name(f.cluster, ""), (uint8_t)effect };

	vec_push(&n->taints, t);
}

static const struct pod_class *make_class(const struct pod_class *shape)
{
	struct task *t = cluster_fixture_task(f.cluster, "pod", NULL, 0);
	struct pod_class *k = pod_class_copy(shape, "");

	pod_class_normalise(k);
	cluster_task_set_class(f.cluster, t, cluster_class_intern(f.cluster, k));
	pod_class_destroy(k);
	hooks_fixture_open(&f);
	return t->klass;
}

static const struct pod_class *request(int64_t cpu, int64_t memory)
{
	struct pod_class k = { .request = { .v = { 0 } } };

	k.request.v[RES_CPU] = cpu;
	k.request.v[RES_MEMORY] = memory;
	return make_class(&k);
}

static int64_t score(const struct pod_class *k, const struct node *n)
{
	return (int64_t)hooks_node_score(f.s, k, n);
}

static void test_requested(void **state)
{
	static const struct {
		int64_t cpu, used_cpu, memory, used_memory;
		int64_t least, most, balanced; /* with a pod of 1000 and 1000 */
	} rows[] = {
		{ 4000, 0, 4000, 0, 75, 25, 100 },
		{ 4000, 1000, 4000, 0, 62, 37, 87 },
		{ 4000, 3000, 4000, 1000, 25, 75, 75 },
		{ 3000, 0, 7000, 0, 75, 23, 90 },    /* 66 and 85, 33 and 14 */
		{ 4000, 4000, 4000, 0, 37, 62, 62 }, /* more than there is: nothing, and all */
		{ 4000, 0, 0, 0, 75, 25, 100 },      /* of cpu alone */
		{ 0, 0, 0, 0, 0, 0, 100 },
		{ INT64_MAX, 0, 4000, 0, 87, 12, 87 }, /* no overflow */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		static const char *const scores[] = { "leastrequested", "mostrequested",
						      "balancedresource" };
		const int64_t expected[] = { rows[i].least, rows[i].most, rows[i].balanced };

		for (size_t k = 0; k < ARRAY_LEN(scores); k++) {
			struct node *n;

			start_only(scores[k], 1);
			n = used_node("n", rows[i].cpu, rows[i].used_cpu, rows[i].memory,
				      rows[i].used_memory);
			assert_int_equal(score(request(1000, 1000), n), expected[k]);
			hooks_fixture_finish(&f);
		}
	}
	start("");
}

static void test_gpus_are_balanced_when_requested(void **state)
{
	struct pod_class k = { .request = { .v = { 0 } } };
	struct node *n;
	int gpu;

	(void)state;
	start_only("balancedresource", 1);
	gpu = res_names_add(f.cluster->res, STR_LIT("nvidia.com/gpu"));
	n = node("n", 4000, 4000);
	n->allocatable.v[gpu] = 4;
	assert_int_equal(score(request(1000, 1000), n), 100);
	k.request.v[RES_CPU] = k.request.v[RES_MEMORY] = 1000;
	k.request.v[gpu] = 4;
	cluster_task_remove(f.cluster, cluster_task_find(f.cluster, STR_LIT("ns/pod")));
	/* parts of 1/4, 1/4 and 1: a standard deviation of 0.3535 */
	assert_int_equal(score(make_class(&k), n), 64);
}

static void test_preferred_affinity(void **state)
{
	const char *values[] = { NULL };
	struct match_expr expr = { .op = MATCH_IN, .values = values, .nvalues = 1 };
	struct match_expr other = { .op = MATCH_EXISTS };
	struct match_term terms[] = { { &expr, 1, 10 }, { &other, 1, 30 } };
	struct pod_class shape = { .preferred = terms, .npreferred = 2 };
	struct node *none, *some, *all;
	const struct pod_class *k;

	(void)state;
	start_only("nodeaffinity", 2);
	values[0] = cluster_fixture_name(f.cluster, "a");
	expr.key = cluster_fixture_name(f.cluster, "zone");
	other.key = cluster_fixture_name(f.cluster, "disk");
	none = node("none", 1, 1);
	some = node("some", 1, 1);
	all = node("all", 1, 1);
	cluster_fixture_label(f.cluster, some, "zone", "a");
	cluster_fixture_label(f.cluster, all, "disk", "ssd");
	cluster_fixture_label(f.cluster, all, "zone", "a");
	k = make_class(&shape);
	assert_int_equal(score(k, none), 0);
	assert_int_equal(score(k, some), 2 * 25);
	assert_int_equal(score(k, all), 2 * 100);
	/* the best of those that the class may use */
	taint(all, "t", TAINT_NO_SCHEDULE);
	hooks_fixture_open(&f);
	assert_int_equal(score(k, some), 2 * 100);
}

static void test_soft_taints(void **state)
{
	struct toleration tolerations[] = { { .exists = true,
					      .effect = TAINT_PREFER_NO_SCHEDULE } };
	struct pod_class shape = { .tolerations = tolerations, .ntolerations = 1 };
	struct node *none, *one, *two;
	const struct pod_class *k;

	(void)state;
	start_only("tainttoleration", 3);
	none = node("none", 1, 1);
	one = node("one", 1, 1);
	two = node("two", 1, 1);
	k = request(1, 1);
	assert_int_equal(score(k, none), 300);
	taint(one, "a", TAINT_PREFER_NO_SCHEDULE);
	taint(two, "a", TAINT_PREFER_NO_SCHEDULE);
	taint(two, "b", TAINT_PREFER_NO_SCHEDULE);
	hooks_fixture_open(&f);
	assert_int_equal(score(k, none), 300);
	assert_int_equal(score(k, one), 150);
	assert_int_equal(score(k, two), 0);
	cluster_task_remove(f.cluster, cluster_task_find(f.cluster, STR_LIT("ns/pod")));
	tolerations[0].key = cluster_fixture_name(f.cluster, "b");
	tolerations[0].value = cluster_fixture_name(f.cluster, "");
	k = make_class(&shape);
	assert_int_equal(score(k, one), 0);
	assert_int_equal(score(k, two), 0);
	assert_int_equal(score(k, none), 300);
}

/* Of one of two nodes, with the size for 100 there: half of it counts. */
static void test_images(void **state)
{
	static const struct {
		int weight;
		int64_t want;
	} rows[] = { { 0, 0 }, { 1, 48 }, { 5, 240 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct images_entry e = { "a:1", INT64_C(1000) << 20 };
		struct pod_image image = { .name = "a:1", .times = 1 };
		struct pod_class shape = { .images = &image, .nimages = 1, .image_sources = 1 };
		struct node *with, *without;
		const struct pod_class *k;

		start_only("imagelocality", rows[i].weight);
		with = node("with", 1, 1);
		without = node("without", 1, 1);
		(void)cluster_node_get(f.cluster, STR_LIT("absent"));
		images_set_node(f.cluster, with, &e, 1);
		k = make_class(&shape);
		assert_int_equal(score(k, with), rows[i].want);
		assert_int_equal(score(k, without), 0);
		hooks_fixture_finish(&f);
	}
	start("");
}

static void test_default_weights(void **state)
{
	struct node *n;

	(void)state;
	start("- plugins: [{name: nodeorder}]\n");
	n = node("n", 4000, 4000);
	/* least 75, balanced 100, taints 3 * 100 */
	assert_int_equal(score(request(1000, 1000), n), 75 + 100 + 300);
}

static void test_placements_of_the_session_count(void **state)
{
	const struct pod_class *k;
	struct task *t;
	struct node *n;

	(void)state;
	start_only("leastrequested", 1);
	n = node("n", 4000, 4000);
	t = cluster_fixture_task(f.cluster, "other",
				 cluster_fixture_podgroup(f.cluster, "g", NULL, 1), 2000);
	k = request(1000, 1000);
	assert_int_equal(score(k, n), 75);
	statement_allocate(f.s, t, n);
	assert_int_equal(score(k, n), 50);
	/* Those that wait for room there as well, as in Volcano. */
	t = cluster_fixture_task(f.cluster, "waits",
				 cluster_fixture_podgroup(f.cluster, "h", NULL, 1), 1000);
	statement_pipeline(f.s, t, n);
	assert_int_equal(score(k, n), 37);
}

static void test_arguments(void **state)
{
	static const char *const keys[] = {
		"leastrequested.weight", "mostrequested.weight",     "balancedresource.weight",
		"nodeaffinity.weight",   "podaffinity.weight",       "tainttoleration.weight",
		"imagelocality.weight",  "podtopologyspread.weight",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		const struct conf_arg bad = { keys[i], "much" }, good = { keys[i], "7" };
		struct plugin_args args = { .v = &bad, .n = 1 };
		struct err err = ERR_INIT;
		void *p = NULL;

		unit_row(keys[i]);
		assert_int_equal(nodeorder_ops.create(&args, &p, &err), -ERR_INVALID);
		assert_null(p);
		assert_non_null(strstr(err.text, keys[i]));
		args.v = &good;
		assert_int_equal(nodeorder_ops.create(&args, &p, &err), 0);
		nodeorder_ops.destroy(p);
	}
	start("");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_requested, teardown),
		cmocka_unit_test_teardown(test_gpus_are_balanced_when_requested, teardown),
		cmocka_unit_test_teardown(test_preferred_affinity, teardown),
		cmocka_unit_test_teardown(test_soft_taints, teardown),
		cmocka_unit_test_teardown(test_images, teardown),
		cmocka_unit_test_teardown(test_default_weights, teardown),
		cmocka_unit_test_teardown(test_placements_of_the_session_count, teardown),
		cmocka_unit_test_teardown(test_arguments, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
