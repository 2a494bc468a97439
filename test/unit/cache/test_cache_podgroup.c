#include "base/arena.h"
#include "core/ledger.h"
#include "lib/cache_fixture.h"
#include "lib/unit.h"

#define T(name) cmocka_unit_test_setup_teardown(name, cache_fixture_setup, cache_fixture_teardown)

static UNUSED int64_t charged(const struct cache_fixture *f, const char *queue)
{
	return cluster_queue_find(f->c, str_of(queue))->charged.v[RES_CPU];
}

static const struct cache_fixture_pod running = {
	.name = "p", .group = "g", .node = "n", .phase = "Running"
};
static const struct cache_fixture_pod pending = { .name = "r", .group = "g", .opted_in = true };

static void test_moved_to_another_queue_with_its_charges(void **state)
{
	struct cache_fixture *f = *state;
	struct task *r;

	(void)cache_fixture_queue(f, "other", NULL, NULL);
	(void)cache_fixture_group(f, "g", "q", 1);
	(void)cache_fixture_pod(f, &running);
	r = cache_fixture_pod(f, &pending);
	ledger_charge(f->c, r, cluster_queue_find(f->c, STR_LIT("q")), CHARGE_PATCHING);
	(void)cache_fixture_group(f, "g", "other", 1);
	assert_int_equal(charged(f, "q"), 0);
	assert_int_equal(charged(f, "other"), 2000);
	assert_int_equal(charged(f, "root"), 2000);
	(void)cache_fixture_group(f, "g", "nowhere", 1);
	assert_int_equal(charged(f, "other"), 0);
	assert_int_equal(r->charge, CHARGE_NONE);
	assert_int_equal(charged(f, "nowhere"), 1000);
	assert_int_equal(charged(f, "root"), 1000);
}

static void test_spec_is_taken_over(void **state)
{
	struct cache_fixture *f = *state;
	const struct job *j;

	cache_fixture_json(f, SCHED_PODGROUPS,
			   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\",\"uid\":\"1\","
			   "\"resourceVersion\":\"9\"},\"spec\":{\"minMember\":3,\"minTaskMember\":"
			   "{\"w\":2,\"a\":1},\"minResources\":{\"cpu\":\"1100u\",\"count/pods\":"
			   "\"3\",\"example.com/gpu\":\"2\"}},\"status\":{\"phase\":\"Inqueue\","
			   "\"running\":4}}");
	j = cluster_job_find(f->c, STR_LIT("ns/g"));
	assert_int_equal(j->queue, f->c->default_queue);
	assert_int_equal(j->min_member, 3);
	assert_int_equal(j->role_min.n, 2);
	assert_true(j->has_min_resources);
	assert_int_equal(j->min_resources.v[RES_CPU], 2); /* rounded up */
	assert_int_equal(j->min_resources.v[RES_FIRST_NAMED], 2);
	assert_int_equal(res_names_count(f->c->res), RES_FIRST_NAMED + 1);
	assert_int_equal(j->phase, JOB_INQUEUE);
	assert_int_equal(j->status_running, 4);
}

static void test_deletion_leaves_the_pods(void **state)
{
	struct cache_fixture *f = *state;
	struct job *j = cache_fixture_group(f, "g", "q", 2);
	struct task *r;

	(void)cache_fixture_pod(f, &running);
	r = cache_fixture_pod(f, &pending);
	ledger_charge(f->c, r, cluster_queue_find(f->c, STR_LIT("q")), CHARGE_UNGATED);
	cache_fixture_delete(f, SCHED_PODGROUPS, "ns/g");
	assert_ptr_equal(cluster_job_find(f->c, STR_LIT("ns/g")), j);
	assert_false(j->has_group);
	assert_int_equal(j->min_member, 0);
	assert_int_equal(j->queue, MODEL_NONE);
	assert_int_equal(r->charge, CHARGE_NONE);
	assert_int_equal(charged(f, "q"), 1000); /* what runs stays where it was charged */
	cache_fixture_delete(f, SCHED_PODS, "ns/p");
	cache_fixture_delete(f, SCHED_PODS, "ns/r");
	assert_null(cluster_job_find(f->c, STR_LIT("ns/g")));
	cache_fixture_delete(f, SCHED_PODGROUPS, "ns/g");
}

static void test_older_and_bad_ones_are_refused(void **state)
{
	struct cache_fixture *f = *state;
	struct job *j = cache_fixture_group(f, "g", "q", 2);

	cache_fixture_json(f, SCHED_PODGROUPS,
			   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\",\"resourceVersion\":"
			   "\"1\"},\"spec\":{\"minMember\":7}}");
	assert_int_equal(j->min_member, 2);
	cache_fixture_raw(f, SCHED_PODGROUPS, "ns/g",
			  "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\"},\"spec\":{"
			  "\"minMember\":-1}}");
	cache_fixture_raw(f, SCHED_PODGROUPS, "ns/g",
			  "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\"},\"spec\":{"
			  "\"minTaskMember\":{\"w\":-1}}}");
	assert_int_equal(f->bad, 2);
	assert_string_equal(f->bad_text, "spec.minTaskMember.w: negative");
	assert_int_equal(j->min_member, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_moved_to_another_queue_with_its_charges),
		T(test_spec_is_taken_over),
		T(test_deletion_leaves_the_pods),
		T(test_older_and_bad_ones_are_refused),
	};

	return cmocka_run_group_tests_name("cache/cache_podgroup", tests, NULL, NULL);
}
