#include "lib/pods/cache_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"

static void test_one_bad_queue_closes_only_its_own_subtree(void **state)
{
	struct cache_fixture *f = *state;
	struct queue *q = queue_find(f->c, STR_LIT("q"));
	struct queue *child = cache_fixture_queue(f, "child", "lost", "1");

	assert_non_null(child->broken);
	assert_null(q->broken);
	(void)cache_fixture_queue(f, "a", "b", NULL);
	(void)cache_fixture_queue(f, "b", "a", NULL);
	assert_non_null(queue_find(f->c, STR_LIT("a"))->broken);
	assert_null(q->broken);
	(void)cache_fixture_queue(f, "lost", NULL, NULL);
	assert_null(child->broken);
}

static void test_a_status_alone_changes_nothing(void **state)
{
	struct cache_fixture *f = *state;
	struct queue *q = queue_find(f->c, STR_LIT("q"));
	uint64_t gen = f->c->queues_gen;

	(void)cache_take_dirty(f->cache);
	cache_fixture_json(f, SCHED_QUEUES,
			   "{\"metadata\":{\"name\":\"q\",\"resourceVersion\":\"77\"},\"spec\":{"
			   "\"capability\":{\"cpu\":\"4\"}},\"status\":{\"state\":\"Open\","
			   "\"allocated\":{\"cpu\":\"1500m\"}}}");
	assert_int_equal(f->c->queues_gen, gen);
	assert_false(cache_take_dirty(f->cache));
	cache_fixture_json(f, SCHED_QUEUES,
			   "{\"metadata\":{\"name\":\"q\",\"resourceVersion\":\"78\"},\"spec\":{"
			   "\"capability\":{\"cpu\":\"4\"}},\"status\":{\"state\":\"Closed\"}}");
	assert_int_equal(q->state, QUEUE_CLOSED);
	assert_true(f->c->queues_gen > gen);
	assert_true(cache_take_dirty(f->cache));
	cache_fixture_json(f, SCHED_QUEUES,
			   "{\"metadata\":{\"name\":\"q\",\"resourceVersion\":\"5\"}}");
	assert_int_equal(q->state, QUEUE_CLOSED); /* older */
}

static void test_running_pods_are_charged_when_their_queue_appears(void **state)
{
	struct cache_fixture *f = *state;

	(void)cache_fixture_group(f, "g", "late", 1);
	(void)cache_fixture_pod(f, &cache_fixture_running);
	assert_int_equal(cache_fixture_charged(f, "late"), 1000);
	assert_int_equal(cache_fixture_charged(f, "root"), 1000);
	(void)cache_fixture_queue(f, "late", "q", "9");
	assert_int_equal(cache_fixture_charged(f, "late"), 1000);
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
	assert_null(queue_find(f->c, STR_LIT("late"))->broken);
}

static void test_deleted_queue_keeps_what_runs(void **state)
{
	struct cache_fixture *f = *state;
	struct queue *child = cache_fixture_queue(f, "child", "q", "9");
	struct task *r;

	(void)cache_fixture_group(f, "g", "child", 1);
	(void)cache_fixture_pod(f, &cache_fixture_running);
	r = cache_fixture_pod(f, &cache_fixture_pending);
	ledger_charge(f->c, r, child, CHARGE_UNGATED);
	assert_int_equal(cache_fixture_charged(f, "q"), 2000);
	cache_fixture_delete(f, SCHED_QUEUES, "child");
	assert_int_equal(r->charge, CHARGE_NONE); /* a reservation needs a queue */
	assert_int_equal(cache_fixture_charged(f, "q"),
			 1000); /* the ancestors still count what runs */
	assert_non_null(child->broken);
	assert_int_equal(f->c->podgroups.v[r->podgroup]->queue, MODEL_NONE);
	cache_fixture_delete(f, SCHED_PODS, "ns/p");
	cache_fixture_delete(f, SCHED_PODS, "ns/r");
	cache_fixture_delete(f, SCHED_PODGROUPS, "ns/g");
	assert_null(queue_find(f->c, STR_LIT("child")));
	assert_int_equal(cache_fixture_charged(f, "q"), 0);
	cache_fixture_delete(f, SCHED_QUEUES, "child");
}

static void test_new_parent_takes_the_charges_along(void **state)
{
	struct cache_fixture *f = *state;

	(void)cache_fixture_queue(f, "a", NULL, NULL);
	(void)cache_fixture_queue(f, "child", "a", "9");
	(void)cache_fixture_group(f, "g", "child", 1);
	(void)cache_fixture_pod(f, &cache_fixture_running);
	assert_int_equal(cache_fixture_charged(f, "a"), 1000);
	(void)cache_fixture_queue(f, "child", "q", "9");
	assert_int_equal(cache_fixture_charged(f, "a"), 0);
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
	assert_int_equal(cache_fixture_charged(f, "root"), 1000);
}

static void test_root_and_default_are_never_forgotten(void **state)
{
	struct cache_fixture *f = *state;

	cache_fixture_delete(f, SCHED_QUEUES, "default");
	cache_fixture_delete(f, SCHED_QUEUES, "root");
	assert_ptr_equal(queue_find(f->c, STR_LIT("default")), f->c->queues.v[f->c->default_queue]);
	(void)cache_fixture_queue(f, "root", NULL, "10");
	cache_fixture_delete(f, SCHED_QUEUES, "root");
	assert_null(queue_find(f->c, STR_LIT("q"))->broken);
	assert_true(f->c->queues.v[f->c->root_queue]->capability.v[RES_CPU] == RES_UNLIMITED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CACHE_FIXTURE_TEST(test_one_bad_queue_closes_only_its_own_subtree),
		CACHE_FIXTURE_TEST(test_a_status_alone_changes_nothing),
		CACHE_FIXTURE_TEST(test_running_pods_are_charged_when_their_queue_appears),
		CACHE_FIXTURE_TEST(test_deleted_queue_keeps_what_runs),
		CACHE_FIXTURE_TEST(test_new_parent_takes_the_charges_along),
		CACHE_FIXTURE_TEST(test_root_and_default_are_never_forgotten),
	};

	return cmocka_run_group_tests_name("pods/ingest/cache_queue", tests, NULL, NULL);
}
