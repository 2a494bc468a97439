#include "lib/pods/cache_fixture.h"
#include "lib/unit.h"

static void test_heartbeats_are_not_changes(void **state)
{
	struct cache_fixture *f = *state;
	struct node *n = cache_fixture_node(f, "n", "8");
	uint64_t gen = n->spec_gen;

	assert_true(cache_take_dirty(f->cache));
	assert_int_equal(n->allocatable.v[RES_CPU], 8000);
	(void)cache_fixture_node(f, "n", "8");
	assert_false(cache_take_dirty(f->cache));
	(void)cache_fixture_node(f, "n", "9");
	assert_true(cache_take_dirty(f->cache));
	assert_int_equal(n->spec_gen, gen);
	assert_int_equal(f->c->total.v[RES_CPU], 9000);
	cache_fixture_json(f, SCHED_NODES,
			   "{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"90\"},\"spec\":{"
			   "\"unschedulable\":true},\"status\":{\"allocatable\":{\"cpu\":\"9\"}}}");
	assert_true(n->spec_gen > gen);
	assert_true(n->unschedulable);
}

static void test_images_start_no_cycle(void **state)
{
	struct cache_fixture *f = *state;
	struct node *n = cache_fixture_node(f, "n", "8");

	(void)cache_take_dirty(f->cache);
	cache_fixture_json(f, SCHED_NODES,
			   "{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"90\"},\"status\":{"
			   "\"allocatable\":{\"cpu\":\"8\"},\"images\":[{\"names\":[\"a:1\"],"
			   "\"sizeBytes\":5}]}}");
	assert_int_equal(n->images.n, 1);
	cache_fixture_delete(f, SCHED_NODES, "n");
	assert_int_equal(slots_count(&f->c->images), 0);
}

static void test_removed_under_its_pods(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod p = { .name = "p", .node = "n", .phase = "Running" };
	struct node *n = cache_fixture_node(f, "n", "8");

	(void)cache_fixture_pod(f, &p);
	cache_fixture_delete(f, SCHED_NODES, "n");
	assert_false(n->exists);
	assert_int_equal(n->allocatable.v[RES_CPU], 0);
	assert_int_equal(n->labels.n, 0);
	assert_int_equal(f->c->total.v[RES_CPU], 0);
	cache_fixture_delete(f, SCHED_NODES, "n");
	cache_fixture_delete(f, SCHED_PODS, "ns/p");
	assert_null(cluster_node_find(f->c, STR_LIT("n")));
}

static void test_absurd_node_keeps_the_old_version(void **state)
{
	struct cache_fixture *f = *state;
	struct node *n = cache_fixture_node(f, "n", "8");

	cache_fixture_raw(f, SCHED_NODES, "n",
			  "{\"metadata\":{\"name\":\"n\"},\"status\":{\"allocatable\":{\"cpu\":"
			  "\"-1\"}}}");
	assert_int_equal(f->bad, 1);
	assert_string_equal(f->bad_text, "status.allocatable: cpu: negative");
	assert_int_equal(n->allocatable.v[RES_CPU], 8000);
	assert_int_equal(n->labels.n, 1);
}

/* The change may have been a taint or a cordon: nothing more is placed there. */
static void test_unreadable_node_gets_no_more_pods(void **state)
{
	struct cache_fixture *f = *state;
	struct node *n = cache_fixture_node(f, "n", "4");

	cache_fixture_raw(
		f, SCHED_NODES, "n",
		"{\"metadata\":{\"name\":\"n\"},\"status\":{\"allocatable\":{\"cpu\":\"x\"}}}");
	assert_int_equal(f->bad, 1);
	assert_true(n->unschedulable);
	assert_int_equal(n->allocatable.v[RES_CPU], 4000);
	cache_fixture_raw(f, SCHED_NODES, "m", "{\"metadata\":{\"name\":\"m\"},\"spec\":7}");
	assert_null(cluster_node_find(f->c, STR_LIT("m")));
	n = cache_fixture_node(f, "n", "4");
	assert_false(n->unschedulable);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CACHE_FIXTURE_TEST(test_unreadable_node_gets_no_more_pods),
		CACHE_FIXTURE_TEST(test_heartbeats_are_not_changes),
		CACHE_FIXTURE_TEST(test_images_start_no_cycle),
		CACHE_FIXTURE_TEST(test_removed_under_its_pods),
		CACHE_FIXTURE_TEST(test_absurd_node_keeps_the_old_version),
	};

	return cmocka_run_group_tests_name("pods/ingest/cache_node", tests, NULL, NULL);
}
