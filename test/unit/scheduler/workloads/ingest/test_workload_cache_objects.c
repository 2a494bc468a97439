#include "scheduler/workloads/ingest/workload_cache.h"

#include "base/attrs.h"
#include "lib/unit.h"
#include "lib/workloads/workload_cache_fixture.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/pending/pending.h"

#define QUEUE(name, generation, cpu, more)                                                         \
	"{\"metadata\":{\"name\":\"" name "\",\"generation\":" generation                          \
	"},\"spec\":{\"namespaceSelector\":{},\"resourceGroups\":[{\"coveredResources\":["         \
	"\"cpu\"],\"flavors\":[{\"name\":\"default\",\"resources\":[{\"name\":\"cpu\","            \
	"\"nominalQuota\":\"" cpu "\"}]}]}]" more "}}"

static void begin(struct workload_cache_fixture *f)
{
	workload_cache_fixture_init(f);
	workload_cache_fixture_world(f);
	workload_cache_fixture_later(f, 2);
}

static uint32_t holds(const struct workload_cache_fixture *f, const char *name)
{
	return workload_cache_fixture_get(f, name)->holding.node;
}

/* We write statuses of queues ourselves, every second. */
static void only_a_new_spec_is_news(void **state)
{
	struct workload_cache_fixture f;
	uint64_t before;

	(void)state;
	begin(&f);
	workload_cache_fixture_see(&f, SCHED_CLUSTER_QUEUES, "team", QUEUE("team", "2", "3", ""));
	before = workload_cache_changes(f.cache);
	workload_cache_fixture_later(&f, 2);
	(void)workload_cache_take_dirty(f.cache);
	workload_cache_fixture_see(&f, SCHED_CLUSTER_QUEUES, "team", QUEUE("team", "2", "3", ""));
	workload_cache_fixture_later(&f, 2);
	assert_int_equal(workload_cache_changes(f.cache), before);
	assert_false(workload_cache_take_dirty(f.cache));
	workload_cache_fixture_see(&f, SCHED_CLUSTER_QUEUES, "team", QUEUE("team", "3", "4", ""));
	assert_true(workload_cache_changes(f.cache) > before);
	workload_cache_fixture_finish(&f);
}

static void more_quota_wakes_waiting_workloads(void **state)
{
	struct workload_cache_fixture f;

	(void)state;
	begin(&f);
	workload_cache_fixture_workload(&f, "big", 0, "5", "");
	workload_cache_fixture_cycle(&f);
	assert_int_equal(holds(&f, "big"), MODEL_NONE);
	workload_cache_fixture_see(&f, SCHED_CLUSTER_QUEUES, "team", QUEUE("team", "2", "5", ""));
	workload_cache_fixture_later(&f, 1);
	workload_cache_fixture_cycle(&f);
	assert_int_not_equal(holds(&f, "big"), MODEL_NONE);
	workload_cache_fixture_finish(&f);
}

/* Objects come in any order, and go. */
static void workloads_follow_their_queues(void **state)
{
	struct workload_cache_fixture f;

	(void)state;
	begin(&f);
	workload_cache_fixture_workload(&f, "one", 0, "1", WORKLOAD_CACHE_FIXTURE_ADMITTED("1"));
	workload_cache_fixture_workload(&f, "two", 0, "1", "");
	workload_cache_fixture_gone(&f, SCHED_CLUSTER_QUEUES, "team");
	(void)workload_cache_settle(f.cache, f.now);
	assert_int_equal(workload_cache_fixture_get(&f, "two")->pending.where, QUOTA_NOWHERE);
	workload_cache_fixture_workload(&f, "three", 0, "1", WORKLOAD_CACHE_FIXTURE_ADMITTED("1"));
	assert_int_equal(holds(&f, "three"), MODEL_NONE);
	workload_cache_fixture_see(&f, SCHED_CLUSTER_QUEUES, "team", QUEUE("team", "1", "3", ""));
	(void)workload_cache_settle(f.cache, f.now);
	assert_int_not_equal(holds(&f, "one"), MODEL_NONE);
	assert_int_equal(holds(&f, "three"), holds(&f, "one"));
	assert_int_equal(workload_cache_fixture_get(&f, "two")->pending.where, QUOTA_HEAP);
	workload_cache_fixture_gone(&f, SCHED_LOCAL_QUEUES, "ns/lq");
	(void)workload_cache_settle(f.cache, f.now);
	assert_int_equal(workload_cache_fixture_get(&f, "two")->pending.where, QUOTA_NOWHERE);
	assert_int_equal(holds(&f, "three"), holds(&f, "one"));
	workload_cache_fixture_finish(&f);
}

static void a_cohort_lends(void **state)
{
	struct workload_cache_fixture f;

	(void)state;
	begin(&f);
	workload_cache_fixture_see(&f, SCHED_CLUSTER_QUEUES, "team",
				   QUEUE("team", "2", "3", ",\"cohortName\":\"all\""));
	workload_cache_fixture_see(&f, SCHED_COHORTS, "all", QUEUE("all", "1", "2", ""));
	workload_cache_fixture_workload(&f, "big", 0, "5", "");
	workload_cache_fixture_cycle(&f);
	assert_int_not_equal(holds(&f, "big"), MODEL_NONE);
	workload_cache_fixture_gone(&f, SCHED_COHORTS, "all");
	(void)workload_cache_settle(f.cache, f.now);
	assert_int_not_equal(holds(&f, "big"), MODEL_NONE);
	/* Its quota is gone with it. */
	workload_cache_fixture_gone(&f, SCHED_WORKLOADS, "ns/big");
	workload_cache_fixture_workload(&f, "again", 0, "5", "");
	workload_cache_fixture_workload(&f, "fits", 0, "3", "");
	workload_cache_fixture_later(&f, 2);
	workload_cache_fixture_cycle(&f);
	workload_cache_fixture_later(&f, 2);
	workload_cache_fixture_cycle(&f);
	assert_int_equal(holds(&f, "again"), MODEL_NONE);
	assert_int_not_equal(holds(&f, "fits"), MODEL_NONE);
	workload_cache_fixture_finish(&f);
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
		struct workload_cache_fixture f;

		unit_row_number(i);
		begin(&f);
		workload_cache_fixture_gone(&f, rows[i].r, rows[i].key);
		workload_cache_fixture_workload(&f, "one", 0, "1", "");
		workload_cache_fixture_cycle(&f);
		assert_int_equal(holds(&f, "one"), MODEL_NONE);
		workload_cache_fixture_see(&f, rows[i].r, rows[i].key, rows[i].json);
		workload_cache_fixture_later(&f, 2);
		workload_cache_fixture_cycle(&f);
		assert_int_not_equal(holds(&f, "one"), MODEL_NONE);
		workload_cache_fixture_finish(&f);
	}
}

static void expect_unread(struct workload_cache_fixture *f, const char *name)
{
	const struct workload *w = NULL;

	if (name != NULL) {
		assert_true(workload_cache_next_unread(f->cache, &w));
		assert_ptr_equal(w, workload_cache_fixture_get(f, name));
	}
	assert_false(workload_cache_next_unread(f->cache, &w));
}

/* Only quantities are kept: waiting Workloads are read once more. */
static void requests_follow_limit_ranges(void **state)
{
	static const char limits[] = "{\"metadata\":{\"name\":\"l\",\"namespace\":\"ns\"},\"spec\":"
				     "{\"limits\":[{\"type\":\"Container\",\"defaultRequest\":"
				     "{\"cpu\":\"1\"}}]}}";
	struct workload_cache_fixture f;

	(void)state;
	begin(&f);
	workload_cache_fixture_workload(&f, "holder", 0, "2", WORKLOAD_CACHE_FIXTURE_ADMITTED("2"));
	workload_cache_fixture_workload(&f, "waits", 0, "2", "");
	workload_cache_fixture_workload(
		&f, "done", 0, "2", "\"conditions\":[{\"type\":\"Finished\",\"status\":\"True\"}]");
	expect_unread(&f, NULL);
	workload_cache_fixture_see(&f, SCHED_LIMIT_RANGES, "ns/l", limits);
	expect_unread(&f, "waits");
	workload_cache_fixture_see(&f, SCHED_LIMIT_RANGES, "elsewhere/l", limits);
	expect_unread(&f, NULL);
	workload_cache_fixture_gone(&f, SCHED_LIMIT_RANGES, "ns/l");
	expect_unread(&f, "waits");
	workload_cache_fixture_see(&f, SCHED_RUNTIME_CLASSES, "kata",
				   "{\"metadata\":{\"name\":\"kata\"},\"handler\":\"kata\"}");
	expect_unread(&f, "waits");
	workload_cache_fixture_gone(&f, SCHED_RUNTIME_CLASSES, "kata");
	expect_unread(&f, "waits");
	workload_cache_fixture_finish(&f);
}

static void a_check_that_becomes_active_opens_the_queue(void **state)
{
	static const char check[] =
		"{\"metadata\":{\"name\":\"c\"},\"status\":{\"conditions\":[{\"type\":\"Active\","
		"\"status\":\"True\"}]}}";
	struct workload_cache_fixture f;

	(void)state;
	begin(&f);
	workload_cache_fixture_see(
		&f, SCHED_CLUSTER_QUEUES, "team",
		QUEUE("team", "2", "3",
		      ",\"admissionChecksStrategy\":{\"admissionChecks\":[{\"name\":\"c\"}]}"));
	workload_cache_fixture_workload(&f, "one", 0, "1", "");
	workload_cache_fixture_cycle(&f);
	assert_int_equal(holds(&f, "one"), MODEL_NONE);
	workload_cache_fixture_see(&f, SCHED_ADMISSION_CHECKS, "c", check);
	workload_cache_fixture_later(&f, 1);
	workload_cache_fixture_cycle(&f);
	assert_int_not_equal(holds(&f, "one"), MODEL_NONE);
	assert_string_equal(workload_cache_fixture_reason(&f, "one", "Admitted"),
			    "UnsatisfiedAdmissionChecks");
	workload_cache_fixture_gone(&f, SCHED_ADMISSION_CHECKS, "c");
	workload_cache_fixture_workload(&f, "two", 0, "1", "");
	workload_cache_fixture_cycle(&f);
	assert_int_equal(holds(&f, "two"), MODEL_NONE);
	workload_cache_fixture_finish(&f);
}

/* Its status is the same, but the ClusterQueue has two checks of MultiKueue now. */
static void a_check_changes_its_controller(void **state)
{
	static const char *const checks[] = {
		"{\"metadata\":{\"name\":\"c\"},\"spec\":{\"controllerName\":"
		"\"kueue.x-k8s.io/multikueue\"},\"status\":{\"conditions\":[{\"type\":\"Active\","
		"\"status\":\"True\"}]}}",
		"{\"metadata\":{\"name\":\"d\"},\"status\":{\"conditions\":[{\"type\":\"Active\","
		"\"status\":\"True\"}]}}",
		"{\"metadata\":{\"name\":\"d\"},\"spec\":{\"controllerName\":"
		"\"kueue.x-k8s.io/multikueue\"},\"status\":{\"conditions\":[{\"type\":\"Active\","
		"\"status\":\"True\"}]}}",
	};
	struct workload_cache_fixture f;

	(void)state;
	begin(&f);
	workload_cache_fixture_see(
		&f, SCHED_CLUSTER_QUEUES, "team",
		QUEUE("team", "2", "3",
		      ",\"admissionChecksStrategy\":{\"admissionChecks\":[{\"name\":\"c\"},"
		      "{\"name\":\"d\"}]}"));
	workload_cache_fixture_see(&f, SCHED_ADMISSION_CHECKS, "c", checks[0]);
	workload_cache_fixture_see(&f, SCHED_ADMISSION_CHECKS, "d", checks[1]);
	workload_cache_fixture_workload(&f, "one", 0, "1", "");
	workload_cache_fixture_cycle(&f);
	assert_int_not_equal(holds(&f, "one"), MODEL_NONE);
	workload_cache_fixture_see(&f, SCHED_ADMISSION_CHECKS, "d", checks[2]);
	workload_cache_fixture_workload(&f, "two", 0, "1", "");
	workload_cache_fixture_cycle(&f);
	assert_int_equal(holds(&f, "two"), MODEL_NONE);
	workload_cache_fixture_finish(&f);
}

/* Only headgatectl reads them. */
static void a_topology_opens_the_queues_of_its_flavors(void **state)
{
	static const char flavor[] = "{\"metadata\":{\"name\":\"default\",\"generation\":2},"
				     "\"spec\":{\"topologyName\":\"racks\"}}";
	struct workload_cache_fixture f;
	const struct quota_node *team;

	(void)state;
	begin(&f);
	workload_cache_fixture_see(&f, SCHED_FLAVORS, "default", flavor);
	workload_cache_settle_at_once(f.cache, f.now);
	team = quota_queue_find(workload_cache_model(f.cache), STR_LIT("team"));
	assert_false(pending_is_active(workload_cache_forest(f.cache), team));
	workload_cache_fixture_see(&f, SCHED_TOPOLOGIES, "racks",
				   "{\"metadata\":{\"name\":\"racks\"}}");
	workload_cache_settle_at_once(f.cache, f.now);
	assert_true(pending_is_active(workload_cache_forest(f.cache), team));
	workload_cache_fixture_gone(&f, SCHED_TOPOLOGIES, "racks");
	workload_cache_settle_at_once(f.cache, f.now);
	assert_false(pending_is_active(workload_cache_forest(f.cache), team));
	workload_cache_fixture_finish(&f);
}

static void bad_ones_change_nothing(void **state)
{
	struct workload_cache_fixture f;

	(void)state;
	begin(&f);
	workload_cache_fixture_see(&f, SCHED_CLUSTER_QUEUES, "team", QUEUE("team", "2", "-1", ""));
	assert_int_equal(f.nbad, 1);
	workload_cache_fixture_workload(&f, "one", 0, "3", "");
	workload_cache_fixture_cycle(&f);
	assert_int_not_equal(holds(&f, "one"), MODEL_NONE);
	/* Reported again with each update. */
	workload_cache_fixture_see(&f, SCHED_CLUSTER_QUEUES, "team", QUEUE("team", "2", "-1", ""));
	assert_int_equal(f.nbad, 2);
	workload_cache_fixture_finish(&f);
}

static void kinds_that_change_nothing_in_the_model(void **state)
{
	(void)state;
	for (int r = 0; r < SCHED_RESOURCE_COUNT_; r++) {
		enum sched_resource kind = (enum sched_resource)r;
		bool is_of_workloads = (sched_kinds_get(kind)->wings & SCHED_WING_WORKLOADS) != 0;

		assert_int_equal(workload_cache_reads(kind),
				 is_of_workloads && kind != SCHED_JOBS &&
					 kind != SCHED_WORKLOAD_PRIORITY_CLASSES);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_a_new_spec_is_news),
		cmocka_unit_test(more_quota_wakes_waiting_workloads),
		cmocka_unit_test(workloads_follow_their_queues),
		cmocka_unit_test(kinds_that_change_nothing_in_the_model),
		cmocka_unit_test(a_cohort_lends),
		cmocka_unit_test(flavors_checks_and_namespaces),
		cmocka_unit_test(requests_follow_limit_ranges),
		cmocka_unit_test(a_check_that_becomes_active_opens_the_queue),
		cmocka_unit_test(a_check_changes_its_controller),
		cmocka_unit_test(a_topology_opens_the_queues_of_its_flavors),
		cmocka_unit_test(bad_ones_change_nothing),
	};

	return cmocka_run_group_tests_name("workloads/ingest/workload_cache_objects", tests, NULL,
					   NULL);
}
