#include "scheduler/workloads/ingest/workload_cache.h"

#include "lib/unit.h"

#include <stdio.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "lib/workloads/workload_cache_fixture.h"
#include "scheduler/workloads/model/quota_store.h"

/* The requests of a Workload depend on LimitRanges: it is read after them. */
static void nothing_is_placed_before_everything_is_listed(void **state)
{
	struct workload_cache_fixture f;

	(void)state;
	workload_cache_fixture_init(&f);
	workload_cache_fixture_workload(&f, "one", 0, "1", "");
	workload_cache_fixture_workload(&f, "gone", 0, "1", "");
	workload_cache_fixture_gone(&f, SCHED_WORKLOADS, "ns/gone");
	assert_null(workload_cache_fixture_get(&f, "one"));
	assert_false(workload_cache_is_synced(f.cache));
	workload_cache_fixture_world(&f);
	assert_true(workload_cache_is_synced(f.cache));
	assert_non_null(workload_cache_fixture_get(&f, "one"));
	assert_null(workload_cache_fixture_get(&f, "gone"));
	assert_int_equal(workload_cache_fixture_get(&f, "one")->pending.where, QUOTA_HEAP);
	workload_cache_fixture_finish(&f);
}

static void flushes_are_gathered(void **state)
{
	struct workload_cache_fixture f;
	int64_t at;

	(void)state;
	workload_cache_fixture_init(&f);
	workload_cache_fixture_world(&f);
	workload_cache_fixture_later(&f, 1);
	workload_cache_fixture_workload(&f, "holder", 0, "2", WORKLOAD_CACHE_FIXTURE_ADMITTED("2"));
	workload_cache_fixture_workload(&f, "one", 0, "2", "");
	workload_cache_fixture_cycle(&f);
	assert_int_equal(workload_cache_fixture_get(&f, "one")->pending.where, QUOTA_INADMISSIBLE);
	workload_cache_fixture_gone(&f, SCHED_WORKLOADS, "ns/holder");
	at = workload_cache_settle(f.cache, f.now);
	assert_int_equal(at, f.now + WORKLOAD_CACHE_FLUSH_NS);
	assert_int_equal(workload_cache_fixture_get(&f, "one")->pending.where, QUOTA_INADMISSIBLE);
	(void)workload_cache_take_dirty(f.cache);
	workload_cache_fixture_later(&f, 1);
	assert_int_equal(workload_cache_fixture_get(&f, "one")->pending.where, QUOTA_HEAP);
	assert_true(workload_cache_take_dirty(f.cache));
	assert_false(workload_cache_take_dirty(f.cache));
	workload_cache_fixture_finish(&f);
}

/* The time at which an evicted Workload may try again is one for a cycle. */
static void a_backoff_that_ends_asks_for_a_cycle(void **state)
{
	struct workload_cache_fixture f;
	CLEANUP(strbuf_finish) struct strbuf status = STRBUF_INIT;
	char at[CLOCK_RFC3339_MAX];

	(void)state;
	workload_cache_fixture_init(&f);
	workload_cache_fixture_world(&f);
	workload_cache_fixture_later(&f, 1);
	clock_format_time(f.now + 5 * CLOCK_NS_PER_S, at);
	strbuf_printf(&status, "\"requeueState\":{\"count\":1,\"requeueAt\":\"%s\"}", at);
	workload_cache_fixture_workload(&f, "one", 0, "1", status.p);
	assert_int_equal(workload_cache_settle(f.cache, f.now), f.now + 5 * CLOCK_NS_PER_S);
	assert_int_equal(workload_cache_fixture_get(&f, "one")->pending.where, QUOTA_INADMISSIBLE);
	(void)workload_cache_take_dirty(f.cache);
	workload_cache_fixture_later(&f, 4);
	assert_false(workload_cache_take_dirty(f.cache));
	workload_cache_fixture_later(&f, 1);
	assert_true(workload_cache_take_dirty(f.cache));
	assert_int_equal(workload_cache_fixture_get(&f, "one")->pending.where, QUOTA_HEAP);
	workload_cache_fixture_later(&f, 1);
	assert_false(workload_cache_take_dirty(f.cache));
	workload_cache_fixture_finish(&f);
}

static void at_once_nothing_is_gathered(void **state)
{
	struct workload_cache_fixture f;

	(void)state;
	workload_cache_fixture_init(&f);
	workload_cache_fixture_world(&f);
	workload_cache_fixture_workload(&f, "holder", 0, "2", WORKLOAD_CACHE_FIXTURE_ADMITTED("2"));
	workload_cache_fixture_workload(&f, "one", 0, "2", "");
	workload_cache_fixture_cycle(&f);
	workload_cache_settle_at_once(f.cache, f.now);
	assert_int_equal(workload_cache_fixture_get(&f, "one")->pending.where, QUOTA_HEAP);
	workload_cache_fixture_cycle(&f);
	assert_int_equal(workload_cache_fixture_get(&f, "one")->pending.where, QUOTA_INADMISSIBLE);
	workload_cache_settle_at_once(f.cache, f.now);
	assert_int_equal(workload_cache_fixture_get(&f, "one")->pending.where, QUOTA_INADMISSIBLE);
	workload_cache_fixture_gone(&f, SCHED_WORKLOADS, "ns/holder");
	workload_cache_settle_at_once(f.cache, f.now);
	assert_int_equal(workload_cache_fixture_get(&f, "one")->pending.where, QUOTA_HEAP);
	workload_cache_fixture_finish(&f);
}

static void released_quota_wakes_others(void **state)
{
	struct workload_cache_fixture f;
	const struct workload *holder;

	(void)state;
	workload_cache_fixture_init(&f);
	workload_cache_fixture_world(&f);
	workload_cache_fixture_later(&f, 1);
	workload_cache_fixture_workload(&f, "holder", 0, "2", WORKLOAD_CACHE_FIXTURE_ADMITTED("2"));
	workload_cache_fixture_workload(&f, "one", 1, "2", "");
	workload_cache_fixture_cycle(&f);
	holder = workload_cache_fixture_get(&f, "holder");
	workload_cache_give_back(f.cache, holder, f.now);
	assert_int_equal(holder->holding.node, MODEL_NONE);
	assert_int_equal(holder->pending.where, QUOTA_HEAP);
	assert_null(workload_cache_queue(holder));
	workload_cache_settle_at_once(f.cache, f.now);
	workload_cache_fixture_cycle(&f);
	assert_int_not_equal(workload_cache_fixture_get(&f, "one")->holding.node, MODEL_NONE);
	workload_cache_fixture_finish(&f);
}

static void finished_statuses_are_kept_where_they_are_shown(void **state)
{
	static const char status[] =
		"\"conditions\":[{\"type\":\"Finished\",\"status\":\"True\",\"reason\":\"r\","
		"\"message\":\"m\"},{\"type\":\"Admitted\",\"status\":\"True\",\"reason\":\"r\"}]";

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct workload_cache_fixture f;
		const struct workload_status *s;

		workload_cache_fixture_init(&f);
		if (i == 1) {
			workload_cache_keep_finished(f.cache);
		}
		workload_cache_fixture_world(&f);
		workload_cache_fixture_workload(&f, "one", 0, "1", status);
		s = workload_cache_status(f.cache, workload_cache_fixture_get(&f, "one"));
		assert_true(workload_status_is_true(s, "Finished"));
		assert_int_equal(workload_status_is_true(s, "Admitted"), i == 1);
		workload_cache_fixture_finish(&f);
	}
}

static void where_many_come_back_it_is_longer(void **state)
{
	enum { N = WORKLOAD_CACHE_FLUSH_NS / WORKLOAD_CACHE_FLUSH_EACH_NS + 500 };
	struct workload_cache_fixture f;

	(void)state;
	workload_cache_fixture_init(&f);
	workload_cache_fixture_world(&f);
	workload_cache_fixture_workload(&f, "holder", 0, "2", WORKLOAD_CACHE_FIXTURE_ADMITTED("2"));
	for (unsigned i = 0; i < N; i++) {
		char name[16];

		snprintf(name, sizeof(name), "w%u", i);
		workload_cache_fixture_workload(&f, name, 0, "2", "");
	}
	workload_cache_fixture_cycle(&f);
	workload_cache_fixture_gone(&f, SCHED_WORKLOADS, "ns/holder");
	assert_int_equal(workload_cache_settle(f.cache, f.now), f.now + WORKLOAD_CACHE_FLUSH_NS);
	workload_cache_fixture_later(&f, 1);
	workload_cache_fixture_gone(&f, SCHED_WORKLOADS, "ns/w1");
	assert_int_equal(workload_cache_settle(f.cache, f.now),
			 f.now + N * WORKLOAD_CACHE_FLUSH_EACH_NS);
	workload_cache_fixture_finish(&f);
}

static void a_commit_that_says_nothing_new_is_not_written(void **state)
{
	struct workload_cache_fixture f;
	const struct workload *w;
	uint64_t first;

	(void)state;
	workload_cache_fixture_init(&f);
	workload_cache_fixture_world(&f);
	workload_cache_fixture_workload(&f, "big", 0, "5", "");
	workload_cache_fixture_cycle(&f);
	first = workload_cache_fixture_write(&f, "big");
	workload_cache_fixture_no_write(&f);
	workload_cache_fixture_done(&f, "big", first, SCHED_DONE, 500);
	assert_int_equal(f.written, 1);
	w = workload_cache_fixture_get(&f, "big");
	(void)workload_cache_edit(f.cache, w);
	assert_false(workload_cache_commit(f.cache, w));
	/* The same decision again, one that came after a flush. */
	workload_cache_fixture_gone(&f, SCHED_FLAVORS, "x");
	workload_cache_fixture_later(&f, 2);
	workload_cache_fixture_cycle(&f);
	workload_cache_fixture_no_write(&f);
	workload_cache_fixture_finish(&f);
}

static void objects_of_other_kinds_have_no_effect(void **state)
{
	struct workload_cache_fixture f;
	uint64_t before;

	(void)state;
	workload_cache_fixture_init(&f);
	workload_cache_fixture_world(&f);
	before = workload_cache_changes(f.cache);
	workload_cache_fixture_see(&f, SCHED_NODES, "n", "{\"metadata\":{\"name\":\"n\"}}");
	workload_cache_fixture_gone(&f, SCHED_PODS, "ns/p");
	workload_cache_fixture_done(&f, "absent", 1, SCHED_DONE, 1);
	assert_int_equal(workload_cache_changes(f.cache), before);
	workload_cache_fixture_finish(&f);
}

static enum quota_inactive why_inactive(const struct workload_cache_fixture *f)
{
	return quota_queue_find(workload_cache_model(f->cache), STR_LIT("team"))->queue->inactive;
}

/* Never read before: its quota is charged, whether it comes before or after its queue. */
static void unreadable_workloads_hold_their_quota(void **state)
{
	for (int late = 0; late < 2; late++) {
		struct workload_cache_fixture f;
		const struct workload *w;

		(void)state;
		workload_cache_fixture_init(&f);
		if (late == 1) {
			workload_cache_fixture_world(&f);
		}
		workload_cache_fixture_workload(&f, "odd", 0, "2x",
						WORKLOAD_CACHE_FIXTURE_ADMITTED("2"));
		workload_cache_fixture_workload(&f, "waits", 0, "2x", "");
		if (late == 0) {
			workload_cache_fixture_world(&f);
		}
		workload_cache_fixture_workload(&f, "two", 0, "2", "");
		workload_cache_fixture_workload(&f, "one", 0, "1", "");
		workload_cache_fixture_cycle(&f);
		workload_cache_fixture_cycle(&f);
		w = workload_cache_fixture_get(&f, "odd");
		assert_true(w->holding.node != MODEL_NONE && w->object.unreadable &&
			    !w->object.usage_unknown);
		assert_int_equal(w->holding.usage.v[0].value, 2000);
		assert_null(workload_cache_fixture_get(&f, "waits"));
		assert_true(workload_cache_fixture_get(&f, "two")->holding.node == MODEL_NONE);
		assert_true(workload_cache_fixture_get(&f, "one")->holding.node != MODEL_NONE);
		assert_int_equal(why_inactive(&f), QUOTA_ACTIVE);
		workload_cache_fixture_finish(&f);
	}
}

/* Its amounts are not known: the queue admits nothing more until they are. */
static void unknown_amounts_close_the_queue(void **state)
{
	for (int late = 0; late < 2; late++) {
		struct workload_cache_fixture f;

		(void)state;
		workload_cache_fixture_init(&f);
		if (late == 1) {
			workload_cache_fixture_world(&f);
		}
		workload_cache_fixture_workload(&f, "odd", 0, "1",
						WORKLOAD_CACHE_FIXTURE_ADMITTED("?"));
		if (late == 0) {
			workload_cache_fixture_world(&f);
		}
		workload_cache_fixture_workload(&f, "one", 0, "1", "");
		workload_cache_fixture_cycle(&f);
		assert_int_equal(why_inactive(&f), QUOTA_UNREADABLE_WORKLOAD);
		assert_string_equal(quota_queue_find(workload_cache_model(f.cache), STR_LIT("team"))
					    ->queue->inactive_what,
				    "ns/odd");
		assert_true(workload_cache_fixture_get(&f, "one")->holding.node == MODEL_NONE);
		if (late == 0) {
			workload_cache_fixture_workload(&f, "odd", 0, "1",
							WORKLOAD_CACHE_FIXTURE_ADMITTED("1"));
		} else {
			workload_cache_fixture_gone(&f, SCHED_WORKLOADS, "ns/odd");
		}
		workload_cache_fixture_cycle(&f);
		assert_int_equal(why_inactive(&f), QUOTA_ACTIVE);
		workload_cache_fixture_later(&f, 2);
		workload_cache_fixture_cycle(&f);
		assert_true(workload_cache_fixture_get(&f, "one")->holding.node != MODEL_NONE);
		workload_cache_fixture_finish(&f);
	}
}

/* A known one stays as it was, except that it has finished. */
static void known_workloads_stay_as_they_were(void **state)
{
	struct workload_cache_fixture f;

	(void)state;
	workload_cache_fixture_init(&f);
	workload_cache_fixture_world(&f);
	workload_cache_fixture_workload(&f, "one", 0, "2", WORKLOAD_CACHE_FIXTURE_ADMITTED("2"));
	workload_cache_fixture_workload(&f, "one", 0, "2x", WORKLOAD_CACHE_FIXTURE_ADMITTED("?"));
	assert_int_equal(workload_cache_fixture_get(&f, "one")->holding.usage.v[0].value, 2000);
	assert_false(workload_cache_fixture_get(&f, "one")->object.unreadable);
	assert_int_equal(why_inactive(&f), QUOTA_ACTIVE);
	workload_cache_fixture_workload(&f, "one", 0, "2x",
					WORKLOAD_CACHE_FIXTURE_CONDITION("Finished"));
	assert_true(workload_cache_fixture_get(&f, "one")->holding.node == MODEL_NONE);
	assert_true(workload_cache_fixture_get(&f, "one")->flags.finished);
	workload_cache_fixture_finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unreadable_workloads_hold_their_quota),
		cmocka_unit_test(unknown_amounts_close_the_queue),
		cmocka_unit_test(known_workloads_stay_as_they_were),
		cmocka_unit_test(nothing_is_placed_before_everything_is_listed),
		cmocka_unit_test(flushes_are_gathered),
		cmocka_unit_test(a_backoff_that_ends_asks_for_a_cycle),
		cmocka_unit_test(at_once_nothing_is_gathered),
		cmocka_unit_test(released_quota_wakes_others),
		cmocka_unit_test(finished_statuses_are_kept_where_they_are_shown),
		cmocka_unit_test(where_many_come_back_it_is_longer),
		cmocka_unit_test(a_commit_that_says_nothing_new_is_not_written),
		cmocka_unit_test(objects_of_other_kinds_have_no_effect),
	};

	return cmocka_run_group_tests_name("workloads/ingest/workload_cache", tests, NULL, NULL);
}
