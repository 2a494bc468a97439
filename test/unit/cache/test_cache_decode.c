#include "base/arena.h"
#include "core/ledger.h"
#include "lib/cache_fixture.h"
#include "lib/unit.h"

#define T(name) cmocka_unit_test_setup_teardown(name, cache_fixture_setup, cache_fixture_teardown)

static UNUSED int64_t charged(const struct cache_fixture *f, const char *queue)
{
	return cluster_queue_find(f->c, str_of(queue))->charged.v[RES_CPU];
}

static void test_decodes_every_resource(void **state)
{
	(void)state;
	for (int r = 0; r < SCHED_RESOURCE_COUNT_; r++) {
		struct sched_msg *m = cache_decode((enum sched_resource)r, STR_LIT("ns/x"),
						   STR_LIT("{\"metadata\":{\"name\":\"x\"}}"), 7);

		assert_int_equal(m->kind, SCHED_MSG_UPSERT);
		assert_int_equal(m->resource, r);
		assert_true(str_eq_c(m->key, "ns/x"));
		assert_int_equal(m->resource_version, 7);
		assert_non_null(m->object);
		message_free(m);
	}
}

static void test_names_the_path_of_a_fault(void **state)
{
	struct sched_msg *m = cache_decode(SCHED_PODS, STR_LIT("ns/x"),
					   STR_LIT("{\"spec\":{\"containers\":[{\"resources\":{"
						   "\"requests\":{\"cpu\":\"1x\"}}}]"
						   "}}"),
					   7);

	(void)state;
	assert_int_equal(m->kind, SCHED_MSG_BAD_OBJECT);
	assert_true(str_eq_c(m->key, "ns/x"));
	assert_non_null(strstr(m->text, "spec.containers[0].resources.requests.cpu"));
	message_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decodes_every_resource),
		cmocka_unit_test(test_names_the_path_of_a_fault),
	};

	return cmocka_run_group_tests_name("cache/cache_decode", tests, NULL, NULL);
}
