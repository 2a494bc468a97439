#include "scheduler/pods/plugins/podgroup_sums.h"

#include "lib/pods/hooks_fixture.h"
#include "lib/pods/random_changes.h"
#include "lib/pods/res_fixture.h"
#include "lib/unit.h"
#include "scheduler/base/tree.h"
#include "scheduler/pods/plugins/registry.h"
#include "scheduler/pods/values/pod_class.h"

static struct hooks_fixture f;
static struct podgroup_sums sums;
static struct tree *tree;

static int setup(void **state)
{
	(void)state;
	hooks_fixture_init(&f, "- plugins: [{name: gang}]\n", plugin_registry,
			   plugin_registry_count);
	cluster_fixture_queue(f.cluster, "p", NULL, -1);
	cluster_fixture_queue(f.cluster, "left", "p", -1);
	cluster_fixture_queue(f.cluster, "right", "p", -1);
	sums = (struct podgroup_sums){ .v = NULL };
	tree = NULL;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	podgroup_sums_finish(&sums);
	assert_null(sums.v);
	tree_destroy(tree);
	hooks_fixture_finish(&f);
	return 0;
}

/* minResources of Inqueue PodGroups, less what their running pods request. */
static void amount(const struct session *s, const struct podgroup *g, struct res *ret)
{
	if (session_podgroup_phase(s, g) == PODGROUP_INQUEUE) {
		*ret = g->min_resources;
	}
	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = session_task(s, g->tasks.v[i]);

		if (session_task_status(s, t) == TASK_RUNNING) {
			res_sub(ret, &t->klass->request);
		}
	}
}

static void open_with_tree(void)
{
	uint32_t above[8];

	hooks_fixture_open(&f);
	assert_true(f.cluster->queues.n <= 8);
	for (size_t i = 0; i < f.cluster->queues.n; i++) {
		const struct queue *q = f.cluster->queues.v[i];

		above[i] = q == NULL ? MODEL_NONE : q->parent;
	}
	tree_destroy(tree);
	tree = tree_create(above, f.cluster->queues.n);
	podgroup_sums_open(&sums, f.s, tree, amount);
}

static void open_flat(void)
{
	hooks_fixture_open(&f);
	podgroup_sums_open(&sums, f.s, NULL, amount);
}

static struct podgroup *inqueue(const char *name, const char *queue, int64_t cpu)
{
	struct podgroup *g = cluster_fixture_podgroup(f.cluster, name, queue, 1);

	g->min_resources.v[RES_CPU] = cpu;
	cluster_podgroup_set_phase(f.cluster, g, PODGROUP_INQUEUE);
	return g;
}

/* NULL: of all queues. */
static int64_t sum_of(const struct podgroup_sums *p, const char *queue)
{
	struct res r;

	podgroup_sums_get(p, f.s, queue == NULL ? NULL : queue_find(f.cluster, str_of(queue)), &r);
	return r.v[RES_CPU];
}

static void test_sums_of_queues_and_of_all(void **state)
{
	(void)state;
	inqueue("a", "left", 10);
	inqueue("b", "right", 5);
	inqueue("above", "p", 2);
	inqueue("lost", "nowhere", 100);
	inqueue("gone", "left", 100)->exists = false;
	open_with_tree();
	assert_int_equal(sum_of(&sums, "left"), 10);
	assert_int_equal(sum_of(&sums, "right"), 5);
	assert_int_equal(sum_of(&sums, "p"), 17);
	assert_int_equal(sum_of(&sums, "root"), 17);
	assert_int_equal(sum_of(&sums, NULL), 17);
}

static void test_without_tree_a_queue_counts_alone(void **state)
{
	(void)state;
	inqueue("a", "left", 10);
	inqueue("above", "p", 2);
	open_flat();
	assert_int_equal(sum_of(&sums, "left"), 10);
	assert_int_equal(sum_of(&sums, "p"), 2);
	assert_int_equal(sum_of(&sums, "root"), 0);
	assert_int_equal(sum_of(&sums, NULL), 12);
}

static void test_what_was_added_lasts_until_the_next_count(void **state)
{
	const struct res more = { .v = { [RES_CPU] = 3, [RES_MEMORY] = 7 } };
	struct podgroup *g = inqueue("a", "left", 10);
	struct res r;

	(void)state;
	open_with_tree();
	podgroup_sums_add(&sums, f.s, g, &more);
	assert_int_equal(sum_of(&sums, "left"), 13);
	assert_int_equal(sum_of(&sums, NULL), 13);
	podgroup_sums_get(&sums, f.s, NULL, &r);
	assert_int_equal(r.v[RES_MEMORY], 7);
	podgroup_sums_count(&sums, f.s, g->id);
	assert_int_equal(sum_of(&sums, "left"), 10);
	podgroup_sums_get(&sums, f.s, NULL, &r);
	assert_int_equal(r.v[RES_MEMORY], 0);
}

/* Another PodGroup takes over its id, in another queue. */
static void test_a_podgroup_that_is_removed(void **state)
{
	struct podgroup *g = inqueue("a", "left", 10);
	uint32_t id = g->id;

	(void)state;
	open_with_tree();
	g->exists = false;
	cluster_podgroup_set_queue(f.cluster, g, str_of(NULL));
	cluster_podgroup_prune(f.cluster, g);
	open_with_tree();
	assert_int_equal(sum_of(&sums, NULL), 0);
	assert_int_equal(inqueue("b", "right", 5)->id, id);
	open_with_tree();
	assert_int_equal(sum_of(&sums, "left"), 0);
	assert_int_equal(sum_of(&sums, "right"), 5);
}

static void test_names_that_come_later(void **state)
{
	struct podgroup *g = inqueue("a", "left", 10);
	struct res r;
	int dim = 0;

	(void)state;
	open_flat();
	for (char name[] = "example.com/a"; dim < RES_DENSE; name[12]++) {
		dim = res_names_add(f.cluster->res, str_of(name));
	}
	res_fixture_set(f.cluster->res, &g->min_resources, (unsigned)dim, 4);
	cluster_podgroup_changed(f.cluster, g);
	open_flat();
	podgroup_sums_get(&sums, f.s, NULL, &r);
	assert_int_equal(res_get(&r, (unsigned)dim), 4);
	assert_int_equal(r.v[RES_CPU], 10);
}

/* Two PodGroups ask for all that can be asked for; when they go, nothing is left of them. */
static void test_the_largest_amounts_leave_nothing_behind(void **state)
{
	struct podgroup *a = inqueue("a", "left", INT64_MAX - 1);
	struct podgroup *b = inqueue("b", "left", INT64_MAX - 1);

	(void)state;
	open_with_tree();
	assert_true(sum_of(&sums, "left") == INT64_MAX);
	cluster_podgroup_set_phase(f.cluster, a, PODGROUP_PENDING);
	cluster_podgroup_set_phase(f.cluster, b, PODGROUP_PENDING);
	open_with_tree();
	assert_int_equal(sum_of(&sums, "left"), 0);
	assert_int_equal(sum_of(&sums, NULL), 0);
}

static int64_t recount(const struct queue *q)
{
	int64_t sum = 0;

	for (size_t i = 0; i < q->podgroups.n; i++) {
		struct res r = { .v = { 0 } };

		amount(f.s, f.cluster->podgroups.v[q->podgroups.v[i]], &r);
		sum += r.v[RES_CPU];
	}
	for (size_t i = 0; i < q->children.n; i++) {
		sum += recount(f.cluster->queues.v[q->children.v[i]]);
	}
	return sum;
}

/* Kept from session to session, the sums are those of a plain recount. */
static void test_sums_are_kept_through_changes(void **state)
{
	struct random_changes r;

	(void)state;
	random_changes_init(&r, f.cluster, 4711);
	for (int step = 0; step < 1000; step++) {
		random_changes_step(&r);
		open_with_tree();
		for (size_t i = 0; i < f.cluster->queues.n; i++) {
			const struct queue *q = f.cluster->queues.v[i];

			if (q != NULL && q->exists) {
				assert_int_equal(sum_of(&sums, q->name), recount(q));
			}
		}
		assert_int_equal(sum_of(&sums, NULL), sum_of(&sums, "root"));
		random_changes_scan(&r);
	}
	random_changes_finish(&r);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_sums_of_queues_and_of_all),
		TEST(test_without_tree_a_queue_counts_alone),
		TEST(test_what_was_added_lasts_until_the_next_count),
		TEST(test_a_podgroup_that_is_removed),
		TEST(test_names_that_come_later),
		TEST(test_the_largest_amounts_leave_nothing_behind),
		TEST(test_sums_are_kept_through_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
