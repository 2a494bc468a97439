#include "scheduler/pods/ledger/offers.h"

#include <stdio.h>

#include "base/strbuf.h"
#include "lib/pods/cache_fixture.h"
#include "lib/unit.h"

#define GPU "nvidia.com/gpu"

/* A pod that asks for n invented resources and one GPU, running on node "n" or on none. */
static struct task *inventive_pod(struct cache_fixture *f, const char *name, int n, bool running)
{
	CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT, key = STRBUF_INIT;

	strbuf_printf(&key, "ns/%s", name);
	strbuf_printf(&json,
		      "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"ns\",\"uid\":\"uid-%s\","
		      "\"annotations\":{\"scheduling.k8s.io/group-name\":\"g\"}},"
		      "\"status\":{\"phase\":\"%s\"},\"spec\":{\"schedulerName\":\"volcano\",%s"
		      "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{",
		      name, name, running ? "Running" : "Pending",
		      running ? "\"nodeName\":\"n\"," : "");
	for (int i = 0; i < n; i++) {
		strbuf_printf(&json, "\"example.com/x%d\":\"1\",", i);
	}
	strbuf_add_c(&json, "\"" GPU "\":\"2\"}}}]}}");
	cache_fixture_raw(f, SCHED_PODS, key.p, json.p);
	return cache_fixture_task(f, name);
}

static void gpu_node(struct cache_fixture *f)
{
	cache_fixture_json(
		f, SCHED_NODES,
		"{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"%lld\"},\"status\":{"
		"\"allocatable\":{\"cpu\":\"4\",\"pods\":\"9\",\"" GPU "\":\"8\"}}}",
		(long long)++f->version);
}

static void gpu_queue(struct cache_fixture *f)
{
	cache_fixture_json(f, SCHED_QUEUES,
			   "{\"metadata\":{\"name\":\"q\",\"resourceVersion\":\"%lld\"},\"spec\":{"
			   "\"capability\":{\"" GPU "\":\"3\"}},\"status\":{\"state\":\"Open\"}}",
			   (long long)++f->version);
}

static void test_invented_names_take_no_dimension(void **state)
{
	struct cache_fixture *f = *state;
	struct node *n;
	int dim;

	(void)cache_fixture_group(f, "g", "q", 1);
	assert_int_equal(inventive_pod(f, "p", 9000, false)->klass->unoffered.n, 9001);
	(void)inventive_pod(f, "stays", 9000, false);
	cache_fixture_delete(f, SCHED_PODS, "ns/p");
	assert_int_equal(res_names_count(f->c->res), RES_FIRST_NAMED);
	gpu_node(f);
	gpu_queue(f);
	assert_int_equal(f->bad, 0);
	assert_int_equal(res_names_count(f->c->res), RES_FIRST_NAMED + 1);
	dim = res_names_find(f->c->res, STR_LIT(GPU));
	n = cluster_node_find(f->c, STR_LIT("n"));
	assert_int_equal(n->allocatable.v[dim], 8);
	assert_int_equal(queue_find(f->c, STR_LIT("q"))->capability.v[dim], 3);
}

/* Pods that are there before the first node or Queue with the name count in full from then on. */
static void check_resolved(struct cache_fixture *f, void (*offer)(struct cache_fixture *f))
{
	struct task *waiting, *runs;
	int dim;

	(void)cache_fixture_group(f, "g", "q", 1);
	waiting = inventive_pod(f, "waiting", 2, false);
	runs = inventive_pod(f, "runs", 0, true);
	assert_int_equal(runs->klass->unoffered.n, 1);
	offer(f);
	dim = res_names_find(f->c->res, STR_LIT(GPU));
	assert_int_equal(waiting->klass->request.v[dim], 2);
	assert_int_equal(waiting->klass->unoffered.n, 2);
	assert_int_equal(runs->klass->unoffered.n, 0);
	assert_true((runs->klass->mask >> dim & 1) != 0);
	assert_int_equal(queue_find(f->c, STR_LIT("q"))->charged.v[dim], 2);
	assert_int_equal(f->c->nodes.v[runs->node]->used.v[dim], 2);
	cache_fixture_delete(f, SCHED_PODS, "ns/runs");
	assert_int_equal(queue_find(f->c, STR_LIT("q"))->charged.v[dim], 0);
	assert_int_equal(f->c->drift, 0);
}

static void test_earlier_pods_count_when_a_node_has_the_name(void **state)
{
	check_resolved(*state, gpu_node);
}

static void test_earlier_pods_count_when_a_queue_has_the_name(void **state)
{
	check_resolved(*state, gpu_queue);
}

static void test_min_resources_are_kept_by_name_too(void **state)
{
	struct cache_fixture *f = *state;
	struct podgroup *g;
	int dim;

	cache_fixture_json(
		f, SCHED_PODGROUPS,
		"{\"metadata\":{\"name\":\"g\",\"namespace\":\"ns\",\"resourceVersion\":\"1\"}"
		",\"spec\":{\"minMember\":1,\"queue\":\"q\",\"minResources\":{\"cpu\":\"1\","
		"\"" GPU "\":\"4\",\"example.com/x\":\"1\"}}}");
	g = cluster_podgroup_find(f->c, STR_LIT("ns/g"));
	assert_int_equal(res_names_count(f->c->res), RES_FIRST_NAMED);
	assert_int_equal(g->min_unoffered.n, 2);
	gpu_node(f);
	dim = res_names_find(f->c->res, STR_LIT(GPU));
	assert_int_equal(g->min_resources.v[dim], 4);
	assert_int_equal(g->min_unoffered.n, 1);
	assert_string_equal(g->min_unoffered.v[0].name, "example.com/x");
}

/* More names on one node than have a place in struct res itself: each counts like any other. */
static void many_names(struct cache_fixture *f, const char *name)
{
	CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT;

	strbuf_printf(&json,
		      "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"unschedulable\":true},"
		      "\"status\":{\"allocatable\":{\"cpu\":\"4\"",
		      name);
	for (int i = 0; i < 60; i++) {
		strbuf_printf(&json, ",\"example.com/x%d\":\"%d\"", i, i + 1);
	}
	strbuf_add_c(&json, "}}}");
	cache_fixture_raw(f, SCHED_NODES, name, json.p);
}

static void test_any_number_of_names_counts(void **state)
{
	struct cache_fixture *f = *state;
	const struct node *n;
	unsigned gpu, last;

	many_names(f, "other");
	many_names(f, "other");
	assert_int_equal(f->bad, 0);
	assert_int_equal(res_names_count(f->c->res), RES_FIRST_NAMED + 60);
	last = (unsigned)res_names_find(f->c->res, STR_LIT("example.com/x59"));
	n = cluster_node_find(f->c, STR_LIT("other"));
	assert_true(n->exists && n->unschedulable);
	assert_int_equal(res_get(&n->allocatable, last), 60);
	assert_int_equal(res_get(&f->c->total, last), 60);
	gpu_node(f);
	gpu_queue(f);
	gpu = (unsigned)res_names_find(f->c->res, STR_LIT(GPU));
	assert_true(gpu >= RES_DENSE);
	assert_int_equal(res_get(&queue_find(f->c, STR_LIT("q"))->capability, gpu), 3);
	assert_int_equal(res_get(&queue_find(f->c, STR_LIT("q"))->capability, last), RES_UNLIMITED);
	cache_fixture_delete(f, SCHED_NODES, "other");
	assert_int_equal(res_get(&f->c->total, last), 0);
	assert_int_equal(res_get(&f->c->total, gpu), 8);
}

/* Pods come and go until the further dimensions have been swept several times: after each step the
 * fixture compares every account with the sum of its pods. */
static void test_accounts_of_further_dimensions_hold(void **state)
{
	struct cache_fixture *f = *state;
	const struct queue *q;
	unsigned gpu;

	many_names(f, "other");
	gpu_node(f);
	gpu_queue(f);
	(void)cache_fixture_group(f, "g", "q", 1);
	gpu = (unsigned)res_names_find(f->c->res, STR_LIT(GPU));
	q = queue_find(f->c, STR_LIT("q"));
	for (int i = 0; i < 400; i++) {
		char name[16], key[24];

		snprintf(name, sizeof(name), "p%d", i % 4);
		snprintf(key, sizeof(key), "ns/%s", name);
		cache_fixture_delete(f, SCHED_PODS, key);
		(void)inventive_pod(f, name, i % 50, i % 3 != 0);
		assert_int_equal(res_get(&q->charged, gpu),
				 res_get(&cluster_node_find(f->c, STR_LIT("n"))->used, gpu));
	}
	assert_true(f->c->res_swept > 1);
	assert_int_equal(f->c->drift, 0);
	for (int i = 0; i < 4; i++) {
		char key[24];

		snprintf(key, sizeof(key), "ns/p%d", i);
		cache_fixture_delete(f, SCHED_PODS, key);
	}
	assert_true(res_is_zero(&q->charged));
	assert_true(res_is_zero(&cluster_node_find(f->c, STR_LIT("n"))->used));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CACHE_FIXTURE_TEST(test_invented_names_take_no_dimension),
		CACHE_FIXTURE_TEST(test_earlier_pods_count_when_a_node_has_the_name),
		CACHE_FIXTURE_TEST(test_earlier_pods_count_when_a_queue_has_the_name),
		CACHE_FIXTURE_TEST(test_any_number_of_names_counts),
		CACHE_FIXTURE_TEST(test_accounts_of_further_dimensions_hold),
		CACHE_FIXTURE_TEST(test_min_resources_are_kept_by_name_too),
	};

	return cmocka_run_group_tests_name("pods/ledger/offers", tests, NULL, NULL);
}
