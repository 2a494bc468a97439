#include "lib/pods/cache_fixture.h"
#include "lib/unit.h"

static void set_class(struct cache_fixture *f, const char *name, int value, bool global)
{
	cache_fixture_json(f, SCHED_PRIORITY_CLASSES,
			   "{\"metadata\":{\"name\":\"%s\"},\"value\":%d,\"globalDefault\":%s}",
			   name, value, global ? "true" : "false");
}

static void test_podgroups_follow_their_class_and_the_default(void **state)
{
	struct cache_fixture *f = *state;
	const struct podgroup *plain = cache_fixture_group(f, "plain", "q", 1);
	const struct podgroup *high;

	cache_fixture_json(f, SCHED_PODGROUPS,
			   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"high\"},\"spec\":{"
			   "\"queue\":\"q\",\"priorityClassName\":\"high\"}}");
	high = cluster_podgroup_find(f->c, STR_LIT("ns/high"));
	assert_int_equal(high->priority, 0);
	set_class(f, "high", 1000, false);
	assert_int_equal(high->priority, 1000);
	assert_int_equal(plain->priority, 0);
	set_class(f, "usual", -5, true);
	set_class(f, "usual-too", -7, true); /* of two defaults the higher one holds */
	assert_int_equal(plain->priority, -5);
	cache_fixture_delete(f, SCHED_PRIORITY_CLASSES, "high");
	assert_int_equal(high->priority, -5);
	cache_fixture_delete(f, SCHED_PRIORITY_CLASSES, "usual");
	cache_fixture_delete(f, SCHED_PRIORITY_CLASSES, "usual-too");
	assert_int_equal(plain->priority, 0);
	cache_fixture_delete(f, SCHED_PRIORITY_CLASSES, "absent");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CACHE_FIXTURE_TEST(test_podgroups_follow_their_class_and_the_default),
	};

	return cmocka_run_group_tests_name("pods/ingest/cache_priority", tests, NULL, NULL);
}
