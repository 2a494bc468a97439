#include "cache/quota_cache.h"

#include "base/attrs.h"
#include "lib/quota_cache_fixture.h"
#include "lib/unit.h"
#include "model/quota_store.h"

#define QUEUE(name, generation, cpu, more)                                                         \
	"{\"metadata\":{\"name\":\"" name "\",\"generation\":" generation                          \
	"},\"spec\":{\"namespaceSelector\":{},\"resourceGroups\":[{\"coveredResources\":["         \
	"\"cpu\"],\"flavors\":[{\"name\":\"default\",\"resources\":[{\"name\":\"cpu\","            \
	"\"nominalQuota\":\"" cpu "\"}]}]}]" more "}}"

static void begin(struct quota_cache_fixture *f)
{
	quota_cache_fixture_init(f);
	quota_cache_fixture_world(f);
	quota_cache_fixture_later(f, 2);
}

static uint32_t holds(const struct quota_cache_fixture *f, const char *name)
{
	return quota_cache_fixture_get(f, name)->holds;
}

/* We write statuses of queues ourselves, every second. */
static void only_a_new_spec_is_news(void **state)
{
	struct quota_cache_fixture f;
	uint64_t before;

	(void)state;
	begin(&f);
	quota_cache_fixture_see(&f, SCHED_CLUSTER_QUEUES, "team", QUEUE("team", "2", "3", ""));
	before = quota_cache_changes(f.cache);
	quota_cache_fixture_later(&f, 2);
	(void)quota_cache_take_dirty(f.cache);
	quota_cache_fixture_see(&f, SCHED_CLUSTER_QUEUES, "team", QUEUE("team", "2", "3", ""));
	quota_cache_fixture_later(&f, 2);
	assert_int_equal(quota_cache_changes(f.cache), before);
	assert_false(quota_cache_take_dirty(f.cache));
	quota_cache_fixture_see(&f, SCHED_CLUSTER_QUEUES, "team", QUEUE("team", "3", "4", ""));
	assert_true(quota_cache_changes(f.cache) > before);
	quota_cache_fixture_finish(&f);
}

static void more_quota_wakes_those_who_wait(void **state)
{
	struct quota_cache_fixture f;

	(void)state;
	begin(&f);
	quota_cache_fixture_workload(&f, "big", 0, "5", "");
	quota_cache_fixture_cycle(&f);
	assert_int_equal(holds(&f, "big"), MODEL_NONE);
	quota_cache_fixture_see(&f, SCHED_CLUSTER_QUEUES, "team", QUEUE("team", "2", "5", ""));
	quota_cache_fixture_later(&f, 1);
	quota_cache_fixture_cycle(&f);
	assert_int_not_equal(holds(&f, "big"), MODEL_NONE);
	quota_cache_fixture_finish(&f);
}

/* Objects come in any order, and go. */
static void workloads_follow_their_queues(void **state)
{
	struct quota_cache_fixture f;

	(void)state;
	begin(&f);
	quota_cache_fixture_workload(&f, "one", 0, "1", QUOTA_CACHE_FIXTURE_ADMITTED("1"));
	quota_cache_fixture_workload(&f, "two", 0, "1", "");
	quota_cache_fixture_gone(&f, SCHED_CLUSTER_QUEUES, "team");
	(void)quota_cache_settle(f.cache, f.now);
	assert_int_equal(quota_cache_fixture_get(&f, "two")->where, QUOTA_NOWHERE);
	quota_cache_fixture_workload(&f, "three", 0, "1", QUOTA_CACHE_FIXTURE_ADMITTED("1"));
	assert_int_equal(holds(&f, "three"), MODEL_NONE);
	quota_cache_fixture_see(&f, SCHED_CLUSTER_QUEUES, "team", QUEUE("team", "1", "3", ""));
	(void)quota_cache_settle(f.cache, f.now);
	assert_int_not_equal(holds(&f, "one"), MODEL_NONE);
	assert_int_equal(holds(&f, "three"), holds(&f, "one"));
	assert_int_equal(quota_cache_fixture_get(&f, "two")->where, QUOTA_HEAP);
	quota_cache_fixture_gone(&f, SCHED_LOCAL_QUEUES, "ns/lq");
	(void)quota_cache_settle(f.cache, f.now);
	assert_int_equal(quota_cache_fixture_get(&f, "two")->where, QUOTA_NOWHERE);
	assert_int_equal(holds(&f, "three"), holds(&f, "one"));
	quota_cache_fixture_finish(&f);
}

static void a_cohort_lends(void **state)
{
	struct quota_cache_fixture f;

	(void)state;
	begin(&f);
	quota_cache_fixture_see(&f, SCHED_CLUSTER_QUEUES, "team",
				QUEUE("team", "2", "3", ",\"cohortName\":\"all\""));
	quota_cache_fixture_see(&f, SCHED_COHORTS, "all", QUEUE("all", "1", "2", ""));
	quota_cache_fixture_workload(&f, "big", 0, "5", "");
	quota_cache_fixture_cycle(&f);
	assert_int_not_equal(holds(&f, "big"), MODEL_NONE);
	quota_cache_fixture_gone(&f, SCHED_COHORTS, "all");
	(void)quota_cache_settle(f.cache, f.now);
	assert_int_not_equal(holds(&f, "big"), MODEL_NONE);
	quota_cache_fixture_finish(&f);
}

static void flavors_checks_and_namespaces(void **state)
{
	static const struct {
		enum sched_resource r;
		const char *key, *json;
	} rows[] = {
		{ SCHED_FLAVORS, "default", "{\"metadata\":{\"name\":\"default\"}}" },
		{ SCHED_NAMESPACES, "ns", "{\"metadata\":{\"name\":\"ns\"}}" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct quota_cache_fixture f;

		begin(&f);
		quota_cache_fixture_gone(&f, rows[i].r, rows[i].key);
		quota_cache_fixture_workload(&f, "one", 0, "1", "");
		quota_cache_fixture_cycle(&f);
		assert_int_equal(holds(&f, "one"), MODEL_NONE);
		quota_cache_fixture_see(&f, rows[i].r, rows[i].key, rows[i].json);
		quota_cache_fixture_later(&f, 2);
		quota_cache_fixture_cycle(&f);
		assert_int_not_equal(holds(&f, "one"), MODEL_NONE);
		quota_cache_fixture_finish(&f);
	}
}

static void expect_unread(struct quota_cache_fixture *f, const char *name)
{
	const struct workload *w = NULL;

	if (name != NULL) {
		assert_true(quota_cache_next_unread(f->cache, &w));
		assert_ptr_equal(w, quota_cache_fixture_get(f, name));
	}
	assert_false(quota_cache_next_unread(f->cache, &w));
}

/* Only quantities are kept: who waits is read once more. */
static void what_a_workload_asks_for_may_change(void **state)
{
	static const char limits[] = "{\"metadata\":{\"name\":\"l\",\"namespace\":\"ns\"},\"spec\":"
				     "{\"limits\":[{\"type\":\"Container\",\"defaultRequest\":"
				     "{\"cpu\":\"1\"}}]}}";
	struct quota_cache_fixture f;

	(void)state;
	begin(&f);
	quota_cache_fixture_workload(&f, "holder", 0, "2", QUOTA_CACHE_FIXTURE_ADMITTED("2"));
	quota_cache_fixture_workload(&f, "waits", 0, "2", "");
	quota_cache_fixture_workload(
		&f, "done", 0, "2", "\"conditions\":[{\"type\":\"Finished\",\"status\":\"True\"}]");
	expect_unread(&f, NULL);
	quota_cache_fixture_see(&f, SCHED_LIMIT_RANGES, "ns/l", limits);
	expect_unread(&f, "waits");
	quota_cache_fixture_see(&f, SCHED_LIMIT_RANGES, "elsewhere/l", limits);
	expect_unread(&f, NULL);
	quota_cache_fixture_gone(&f, SCHED_LIMIT_RANGES, "ns/l");
	expect_unread(&f, "waits");
	quota_cache_fixture_see(&f, SCHED_RUNTIME_CLASSES, "kata",
				"{\"metadata\":{\"name\":\"kata\"},\"handler\":\"kata\"}");
	expect_unread(&f, "waits");
	quota_cache_fixture_gone(&f, SCHED_RUNTIME_CLASSES, "kata");
	expect_unread(&f, "waits");
	quota_cache_fixture_finish(&f);
}

static void a_check_that_becomes_active_opens_the_queue(void **state)
{
	static const char check[] =
		"{\"metadata\":{\"name\":\"c\"},\"status\":{\"conditions\":[{\"type\":\"Active\","
		"\"status\":\"True\"}]}}";
	struct quota_cache_fixture f;

	(void)state;
	begin(&f);
	quota_cache_fixture_see(
		&f, SCHED_CLUSTER_QUEUES, "team",
		QUEUE("team", "2", "3",
		      ",\"admissionChecksStrategy\":{\"admissionChecks\":[{\"name\":\"c\"}]}"));
	quota_cache_fixture_workload(&f, "one", 0, "1", "");
	quota_cache_fixture_cycle(&f);
	assert_int_equal(holds(&f, "one"), MODEL_NONE);
	quota_cache_fixture_see(&f, SCHED_ADMISSION_CHECKS, "c", check);
	quota_cache_fixture_later(&f, 1);
	quota_cache_fixture_cycle(&f);
	assert_int_not_equal(holds(&f, "one"), MODEL_NONE);
	assert_string_equal(quota_cache_fixture_reason(&f, "one", "Admitted"),
			    "UnsatisfiedAdmissionChecks");
	quota_cache_fixture_gone(&f, SCHED_ADMISSION_CHECKS, "c");
	quota_cache_fixture_workload(&f, "two", 0, "1", "");
	quota_cache_fixture_cycle(&f);
	assert_int_equal(holds(&f, "two"), MODEL_NONE);
	quota_cache_fixture_finish(&f);
}

static void bad_ones_change_nothing(void **state)
{
	struct quota_cache_fixture f;

	(void)state;
	begin(&f);
	quota_cache_fixture_see(&f, SCHED_CLUSTER_QUEUES, "team", QUEUE("team", "2", "-1", ""));
	assert_int_equal(f.nbad, 1);
	quota_cache_fixture_workload(&f, "one", 0, "3", "");
	quota_cache_fixture_cycle(&f);
	assert_int_not_equal(holds(&f, "one"), MODEL_NONE);
	/* Said again each time that it comes. */
	quota_cache_fixture_see(&f, SCHED_CLUSTER_QUEUES, "team", QUEUE("team", "2", "-1", ""));
	assert_int_equal(f.nbad, 2);
	quota_cache_fixture_finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_a_new_spec_is_news),
		cmocka_unit_test(more_quota_wakes_those_who_wait),
		cmocka_unit_test(workloads_follow_their_queues),
		cmocka_unit_test(a_cohort_lends),
		cmocka_unit_test(flavors_checks_and_namespaces),
		cmocka_unit_test(what_a_workload_asks_for_may_change),
		cmocka_unit_test(a_check_that_becomes_active_opens_the_queue),
		cmocka_unit_test(bad_ones_change_nothing),
	};

	return cmocka_run_group_tests_name("cache/quota_cache_objects", tests, NULL, NULL);
}
