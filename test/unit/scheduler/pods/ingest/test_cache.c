#include "lib/unit.h"
#include "scheduler/base/message_decode.h"

#include <stdlib.h>

#include "base/strbuf.h"
#include "lib/pods/cache_fixture.h"
#include "obs/exposition.h"
#include "obs/metric.h"

static void count_bad_object(void *ctx, enum sched_resource r, struct str key, const char *text)
{
	int *n = ctx;

	assert_int_equal(r, SCHED_QUEUES);
	assert_true(str_eq_c(key, "q"));
	assert_non_null(text);
	++*n;
}

static void test_bad_objects_are_reported(void **state)
{
	static const char *const names[] = { "volcano", NULL };
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct metric_registry *counters = metric_registry_create();
	int reported = 0;
	struct cache_options opt = { .scheduler_names = names,
				     .default_queue = "default",
				     .counters = counters,
				     .listener = { .on_bad_object = count_bad_object,
						   .ctx = &reported } };
	struct cache *c = cache_create(&opt);
	struct sched_msg *m = message_decode(SCHED_QUEUES, STR_LIT("q"), STR_LIT("[]"), 1);

	(void)state;
	cache_apply(c, m, (struct cache_time){ 0, 0 });
	cache_apply(c, m, (struct cache_time){ 0, 0 });
	(void)cache_take_dirty(c);
	exposition_render(counters, &text);
	assert_int_equal(reported, 2);
	assert_non_null(strstr(text.p, "headgate_cache_accounting_drift 0"));
	assert_non_null(strstr(text.p, "headgate_resource_names 0"));
	message_free(m);
	cache_destroy(c);
	cache_destroy(NULL);
	metric_registry_destroy(counters);
}

/* An object that does not decode, or makes no sense, changes nothing of the known one. */
static void test_bad_object_keeps_the_stored_version(void **state)
{
	static const struct {
		enum sched_resource r;
		const char *json, *text;
	} rows[] = {
		{ SCHED_PODS, "{", "" },
		{ SCHED_PODS, "{\"metadata\":{\"namespace\":\"ns\"}}", "metadata.name: missing" },
		{ SCHED_PODS,
		  "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\",\"uid\":\"uid-p\"},\"spec\":{"
		  "\"schedulerName\":\"volcano\",\"containers\":[{\"resources\":{\"requests\":{"
		  "\"cpu\":\"-1\"}}}]}}",
		  "cpu: negative" },
		{ SCHED_PODS,
		  "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\",\"uid\":\"uid-p\"},\"spec\":{"
		  "\"schedulerName\":\"volcano\",\"containers\":[{\"resources\":{\"requests\":{"
		  "\"memory\":\"2Ei\"}}}]}}",
		  "memory: 2Ei is more than can be counted" },
		{ SCHED_QUEUES,
		  "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"capability\":{\"cpu\":\"-4\"}}}",
		  "spec.capability: cpu: negative" },
	};
	struct cache_fixture *f = *state;
	struct cache_fixture_pod p = { .name = "p", .group = "g", .node = "n", .phase = "Running" };

	(void)cache_fixture_group(f, "g", "q", 1);
	(void)cache_fixture_pod(f, &p);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cache_fixture_raw(f, rows[i].r, "key", rows[i].json);
		assert_int_equal(f->bad, i + 1);
		assert_non_null(strstr(f->bad_text, rows[i].text));
	}
	assert_int_equal(cache_fixture_task(f, "p")->status, TASK_RUNNING);
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
	assert_int_equal(queue_find(f->c, STR_LIT("q"))->capability.v[RES_CPU], 4000);
}

static void test_dirty_once_per_change(void **state)
{
	struct cache_fixture *f = *state;

	(void)cache_take_dirty(f->cache);
	assert_false(cache_take_dirty(f->cache));
	(void)cache_fixture_group(f, "g", "q", 1);
	assert_true(cache_take_dirty(f->cache));
	assert_false(cache_take_dirty(f->cache));
	cache_fixture_json(f, SCHED_NAMESPACES, "{\"metadata\":{\"name\":\"ns\"}}");
	assert_false(cache_take_dirty(f->cache));
}

/* The order in which the first LISTs end does not matter. */
static void test_pods_before_groups_before_queues(void **state)
{
	static const char *const names[] = { "volcano", NULL };
	struct cache_options opt = { .scheduler_names = names, .default_queue = "default" };
	struct cache_fixture f = { .cache = cache_create(&opt) };
	struct cache_fixture_pod p = { .name = "p", .group = "g", .node = "n", .phase = "Running" };

	(void)state;
	cache_fixture_check(&f);
	(void)cache_fixture_pod(&f, &p);
	(void)cache_fixture_group(&f, "g", "child", 1);
	(void)cache_fixture_queue(&f, "child", "parent", NULL);
	(void)cache_fixture_queue(&f, "parent", NULL, NULL);
	assert_int_equal(cache_fixture_charged(&f, "parent"), 1000);
	assert_int_equal(cache_fixture_charged(&f, "root"), 1000);
	assert_false(cache_is_synced(f.cache));
	cache_destroy(f.cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_objects_are_reported),
		CACHE_FIXTURE_TEST(test_bad_object_keeps_the_stored_version),
		CACHE_FIXTURE_TEST(test_dirty_once_per_change),
		cmocka_unit_test(test_pods_before_groups_before_queues),
	};

	return cmocka_run_group_tests_name("pods/ingest/cache", tests, NULL, NULL);
}
