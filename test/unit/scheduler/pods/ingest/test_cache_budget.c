#include "lib/pods/cache_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/cycle/cycle.h"
#include "scheduler/pods/model/budgets.h"
#include "scheduler/pods/session/decision.h"

static void budget(struct cache_fixture *f, const char *app, int generation, int allowed)
{
	cache_fixture_json(
		f, SCHED_BUDGETS,
		"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"b\",\"uid\":\"u\","
		"\"generation\":%d},\"spec\":{\"selector\":{\"matchLabels\":{\"app\":\"%s\"}}}"
		",\"status\":{\"observedGeneration\":%d,\"disruptionsAllowed\":%d}}",
		generation, app, generation, allowed);
}

static struct task *pod(struct cache_fixture *f, const char *scheduler, const char *app)
{
	cache_fixture_json(f, SCHED_PODS,
			   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\",\"uid\":\"uid-p\","
			   "\"labels\":{\"app\":\"%s\"},\"annotations\":{"
			   "\"scheduling.k8s.io/group-name\":\"g\"},\"resourceVersion\":\"%lld\"},"
			   "\"spec\":{\"schedulerName\":\"%s\",\"nodeName\":\"n\",\"containers\":[{"
			   "\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]},"
			   "\"status\":{\"phase\":\"Running\"}}",
			   app, (long long)++f->version, scheduler);
	return cache_fixture_task(f, "p");
}

static void set_up(struct cache_fixture *f)
{
	(void)cache_fixture_node(f, "n", "4");
	(void)cache_fixture_group(f, "g", "q", 1);
}

static void test_pods_and_budgets_in_any_order(void **state)
{
	struct cache_fixture *f = cache_fixture_create_with_budgets();
	struct task *t;

	(void)state;
	set_up(f);
	budget(f, "a", 1, 3);
	t = pod(f, "volcano", "a");
	assert_int_equal(budgets_of(f->c, t)->allowed, 3);
	(void)cache_take_dirty(f->cache);
	budget(f, "b", 2, 3);
	assert_true(cache_take_dirty(f->cache));
	assert_null(budgets_of(f->c, t));
	assert_ptr_equal(pod(f, "volcano", "b"), t);
	assert_non_null(budgets_of(f->c, t));
	cache_fixture_delete(f, SCHED_BUDGETS, "ns/b");
	assert_int_equal(t->budget, MODEL_NONE);
	cache_fixture_delete(f, SCHED_BUDGETS, "ns/b");
	/* Only its own scheduler evicts such a pod. */
	budget(f, "b", 1, 3);
	assert_int_equal(pod(f, "other", "b")->budget, MODEL_NONE);
	cache_fixture_delete(f, SCHED_PODS, "ns/p");
	cache_fixture_destroy(f);
}

static void update_ready(struct cache_fixture *f, const char *conditions)
{
	cache_fixture_json(f, SCHED_PODS,
			   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\",\"uid\":\"uid-p\","
			   "\"labels\":{\"app\":\"a\"},\"annotations\":{"
			   "\"scheduling.k8s.io/group-name\":\"g\"},\"resourceVersion\":\"%lld\"},"
			   "\"spec\":{\"schedulerName\":\"volcano\",\"nodeName\":\"n\","
			   "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{"
			   "\"cpu\":\"1\"}}}]},\"status\":{\"phase\":\"Running\","
			   "\"conditions\":[%s]}}",
			   (long long)++f->version, conditions);
}

/* By the condition Ready of the pod and the policy of the budget; a pod without the condition is
 * not ready. Pods that wait for a victim are looked at again when that changes. */
static void test_pods_that_are_not_ready(void **state)
{
	struct cache_fixture *f = cache_fixture_create_with_budgets();
	uint64_t before;
	struct task *t;

	(void)state;
	set_up(f);
	budget(f, "a", 1, 0);
	t = pod(f, "volcano", "a");
	assert_true(budgets_guard(f->c, t));
	cache_fixture_json(f, SCHED_BUDGETS,
			   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"b\",\"uid\":\"u\","
			   "\"generation\":2},\"spec\":{\"unhealthyPodEvictionPolicy\":"
			   "\"AlwaysAllow\",\"selector\":{\"matchLabels\":{\"app\":\"a\"}}},"
			   "\"status\":{\"observedGeneration\":2}}");
	assert_false(budgets_guard(f->c, t));
	before = f->c->demand_gen;
	update_ready(f, "{\"type\":\"Ready\",\"status\":\"True\"}");
	assert_true(budgets_guard(f->c, t));
	assert_true(f->c->demand_gen > before);
	update_ready(f, "{\"type\":\"Ready\",\"status\":\"False\"}");
	assert_false(budgets_guard(f->c, t));
	cache_fixture_destroy(f);
}

static void test_a_refused_eviction_gives_back_what_it_took(void **state)
{
	static const enum sched_outcome outcomes[] = { SCHED_REJECTED, SCHED_CANCELLED };
	struct cache_fixture *f = cache_fixture_create_with_budgets();
	struct decision d = { .kind = DECISION_EVICT, .podgroup = MODEL_NONE };
	struct decisions list = { .v = &d, .n = 1 };
	struct task *t;

	(void)state;
	set_up(f);
	budget(f, "a", 1, 1);
	t = pod(f, "volcano", "a");
	d.task = d.by = t->id;
	for (size_t i = 0; i < ARRAY_LEN(outcomes); i++) {
		cycle_assume(f->c, &list, f->now);
		assert_int_equal(budgets_of(f->c, t)->granted, 1);
		cache_fixture_done(f, SCHED_REQ_EVICT, "ns/p", "uid-p", outcomes[i]);
		assert_int_equal(budgets_of(f->c, t)->granted, 0);
		assert_int_equal(t->status, TASK_RUNNING);
		assert_int_equal(t->write_failures, 1);
	}
	cycle_assume(f->c, &list, f->now);
	cache_fixture_done(f, SCHED_REQ_EVICT, "ns/p", "uid-p", SCHED_DONE);
	assert_int_equal(budgets_of(f->c, t)->granted, 1);
	budget(f, "a", 1, 0);
	assert_int_equal(budgets_of(f->c, t)->granted, 0);
	cache_fixture_destroy(f);
}

static void test_what_cannot_be_used_is_reported(void **state)
{
	struct cache_fixture *f = cache_fixture_create_with_budgets();

	(void)state;
	cache_fixture_raw(
		f, SCHED_BUDGETS, "ns/b",
		"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"b\"},\"spec\":{\"selector\":{"
		"\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Near\"}]}}}");
	assert_int_equal(f->bad, 1);
	assert_memory_equal(f->bad_text, "spec.selector: ", 15);
	cache_fixture_raw(f, SCHED_BUDGETS, "ns/b",
			  "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"b\"},\"status\":{"
			  "\"disruptionsAllowed\":2147483648}}");
	assert_int_equal(f->bad, 2);
	cache_fixture_destroy(f);
}

static void test_without_the_plugin_none_is_kept(void **state)
{
	struct cache_fixture *f = *state;

	set_up(f);
	budget(f, "a", 1, 0);
	assert_int_equal(pod(f, "volcano", "a")->budget, MODEL_NONE);
	assert_int_equal(f->c->budgets.n, 0);
	cache_fixture_delete(f, SCHED_BUDGETS, "ns/b");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pods_and_budgets_in_any_order),
		cmocka_unit_test(test_pods_that_are_not_ready),
		cmocka_unit_test(test_a_refused_eviction_gives_back_what_it_took),
		cmocka_unit_test(test_what_cannot_be_used_is_reported),
		CACHE_FIXTURE_TEST(test_without_the_plugin_none_is_kept),
	};

	return cmocka_run_group_tests_name("pods/ingest/cache_budget", tests, NULL, NULL);
}
