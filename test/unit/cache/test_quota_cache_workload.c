#include "cache/quota_cache.h"

#include "base/attrs.h"
#include "lib/quota_cache_fixture.h"
#include "lib/unit.h"
#include "model/quota_store.h"

static uint32_t team(const struct quota_cache_fixture *f)
{
	return quota_queue_find(quota_cache_world(f->cache), STR_LIT("team"))->id;
}

static void begin(struct quota_cache_fixture *f)
{
	quota_cache_fixture_init(f);
	quota_cache_fixture_world(f);
	quota_cache_fixture_later(f, 2);
}

static void quota_comes_from_the_status(void **state)
{
	struct quota_cache_fixture f;
	struct workload *w;

	(void)state;
	begin(&f);
	quota_cache_fixture_workload(&f, "one", 0, "2", QUOTA_CACHE_FIXTURE_ADMITTED("2"));
	w = quota_cache_fixture_get(&f, "one");
	assert_int_equal(w->holds, team(&f));
	assert_true(w->admitted);
	assert_string_equal(quota_cache_queue(f.cache, w), "team");
	/* Evicted and stopped: it waits again. */
	quota_cache_fixture_workload(&f, "one", 0, "2", "");
	assert_int_equal(w->holds, MODEL_NONE);
	assert_int_equal(w->where, QUOTA_HEAP);
	assert_null(quota_cache_queue(f.cache, w));
	quota_cache_fixture_finish(&f);
}

static void write_status(struct quota_cache_fixture *f, const char *name)
{
	quota_cache_fixture_done(f, name, quota_cache_fixture_write(f, name), SCHED_DONE, 0);
}

static void who_waits_is_looked_at_again_when_another_one_goes(void **state)
{
	static const struct {
		const char *status; /* of one that waits from then on; NULL: it is deleted */
		enum quota_where other;
	} rows[] = {
		{ NULL, QUOTA_HEAP },
		{ QUOTA_CACHE_FIXTURE_CONDITION("Finished"), QUOTA_HEAP },
		{ "", QUOTA_INADMISSIBLE },
		{ QUOTA_CACHE_FIXTURE_CONDITION("PodsReady"), QUOTA_INADMISSIBLE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct quota_cache_fixture f;

		begin(&f);
		quota_cache_fixture_workload(&f, "big", 1, "4", "");
		quota_cache_fixture_workload(&f, "large", 0, "5", "");
		quota_cache_fixture_cycle(&f);
		write_status(&f, "big");
		quota_cache_fixture_cycle(&f);
		write_status(&f, "large");
		quota_cache_fixture_later(&f, 2);
		assert_int_equal(quota_cache_fixture_get(&f, "big")->where, QUOTA_INADMISSIBLE);
		assert_int_equal(quota_cache_fixture_get(&f, "large")->where, QUOTA_INADMISSIBLE);
		if (rows[i].status == NULL) {
			quota_cache_fixture_gone(&f, SCHED_WORKLOADS, "ns/big");
		} else {
			quota_cache_fixture_workload(&f, "big", 1, "4", rows[i].status);
		}
		quota_cache_fixture_later(&f, 2);
		assert_int_equal(quota_cache_fixture_get(&f, "large")->where, rows[i].other);
		quota_cache_fixture_finish(&f);
	}
}

static void a_status_may_change_while_the_first_lists_come_in(void **state)
{
	struct quota_cache_fixture f;

	(void)state;
	quota_cache_fixture_init(&f);
	quota_cache_fixture_see(&f, SCHED_CLUSTER_QUEUES, "team",
				"{\"metadata\":{\"name\":\"team\",\"generation\":1}}");
	quota_cache_fixture_workload(&f, "one", 0, "2", "");
	quota_cache_fixture_workload(&f, "one", 0, "2", QUOTA_CACHE_FIXTURE_ADMITTED("2"));
	quota_cache_fixture_sync_all(&f);
	assert_int_equal(f.changed, 1);
	quota_cache_fixture_finish(&f);
}

/* Whatever else happens between the moment when the queue appears and the next look at all. */
static void quota_in_a_queue_that_appears_is_held(void **state)
{
	struct quota_cache_fixture f;

	(void)state;
	begin(&f);
	quota_cache_fixture_workload(&f, "two", 0, "1", QUOTA_CACHE_FIXTURE_ADMITTED("1"));
	quota_cache_fixture_workload(&f, "one", 0, "2",
				     QUOTA_CACHE_FIXTURE_ADMITTED_BY("other", "2"));
	quota_cache_fixture_later(&f, 2);
	assert_int_equal(quota_cache_fixture_get(&f, "one")->holds, MODEL_NONE);
	quota_cache_fixture_see(&f, SCHED_CLUSTER_QUEUES, "other",
				"{\"metadata\":{\"name\":\"other\",\"generation\":1}}");
	quota_cache_fixture_workload(&f, "two", 0, "1", "");
	quota_cache_fixture_later(&f, 2);
	assert_int_not_equal(quota_cache_fixture_get(&f, "one")->holds, MODEL_NONE);
	quota_cache_fixture_finish(&f);
}

static void updates_of_before_a_write_are_not_read(void **state)
{
	struct quota_cache_fixture f;
	struct workload *w;
	uint64_t write;

	(void)state;
	begin(&f);
	quota_cache_fixture_workload_at(&f, "one", "u-one", "2", "", 100);
	quota_cache_fixture_cycle(&f);
	w = quota_cache_fixture_get(&f, "one");
	assert_int_equal(w->holds, team(&f));
	write = quota_cache_fixture_write(&f, "one");
	/* While the write is under way, and after it. */
	quota_cache_fixture_workload_at(&f, "one", "u-one", "2", "", 110);
	assert_int_equal(w->holds, team(&f));
	quota_cache_fixture_done(&f, "one", write, SCHED_DONE, 120);
	assert_int_equal(w->holds, team(&f));
	assert_string_equal(quota_cache_queue(f.cache, w), "team");
	quota_cache_fixture_workload_at(&f, "one", "u-one", "2", "", 119);
	assert_int_equal(w->holds, team(&f));
	quota_cache_fixture_workload_at(&f, "one", "u-one", "2", QUOTA_CACHE_FIXTURE_ADMITTED("2"),
					120);
	assert_int_equal(w->holds, team(&f));
	/* Newer than ours: somebody took it away. */
	quota_cache_fixture_workload_at(&f, "one", "u-one", "2", "", 121);
	assert_int_equal(w->holds, MODEL_NONE);
	quota_cache_fixture_finish(&f);
}

static void an_update_that_came_meanwhile_counts_when_it_is_newer(void **state)
{
	struct quota_cache_fixture f;
	struct workload *w;
	uint64_t write;

	(void)state;
	begin(&f);
	quota_cache_fixture_workload_at(&f, "one", "u-one", "2", "", 100);
	quota_cache_fixture_cycle(&f);
	w = quota_cache_fixture_get(&f, "one");
	write = quota_cache_fixture_write(&f, "one");
	quota_cache_fixture_workload_at(&f, "one", "u-one", "2", "", 130);
	assert_int_equal(w->holds, team(&f));
	quota_cache_fixture_done(&f, "one", write, SCHED_DONE, 120);
	assert_int_equal(w->holds, MODEL_NONE);
	quota_cache_fixture_finish(&f);
}

static void a_failed_admission_is_taken_back(void **state)
{
	struct quota_cache_fixture f;
	struct workload *w;
	uint64_t write;

	(void)state;
	begin(&f);
	quota_cache_fixture_workload(&f, "one", 0, "2", "");
	quota_cache_fixture_cycle(&f);
	w = quota_cache_fixture_get(&f, "one");
	write = quota_cache_fixture_write(&f, "one");
	quota_cache_fixture_done(&f, "one", write, SCHED_REJECTED, 0);
	assert_int_equal(f.failed, 1);
	assert_int_equal(w->holds, MODEL_NONE);
	assert_string_equal(quota_cache_fixture_reason(&f, "one", "QuotaReserved"), "");
	assert_int_equal(w->where, QUOTA_INADMISSIBLE);
	/* Later each time. */
	quota_cache_fixture_later(&f, 2);
	assert_int_equal(w->where, QUOTA_HEAP);
	quota_cache_fixture_cycle(&f);
	assert_int_equal(w->holds, team(&f));
	write = quota_cache_fixture_write(&f, "one");
	quota_cache_fixture_done(&f, "one", write, SCHED_REJECTED, 0);
	quota_cache_fixture_later(&f, 1);
	assert_int_equal(w->where, QUOTA_INADMISSIBLE);
	quota_cache_fixture_later(&f, 1);
	assert_int_equal(w->where, QUOTA_HEAP);
	quota_cache_fixture_finish(&f);
}

static void a_failed_preemption_is_taken_back(void **state)
{
	struct quota_cache_fixture f;
	struct workload *low;
	uint64_t write;

	(void)state;
	begin(&f);
	quota_cache_fixture_workload(&f, "low", 0, "2", QUOTA_CACHE_FIXTURE_ADMITTED("2"));
	quota_cache_fixture_workload(&f, "high", 9, "3", "");
	quota_cache_fixture_cycle(&f);
	low = quota_cache_fixture_get(&f, "low");
	assert_true(low->evicted);
	assert_int_equal(low->holds, team(&f));
	(void)quota_cache_fixture_write(&f, "high");
	write = quota_cache_fixture_write(&f, "low");
	/* Evicted already: nothing is said twice. */
	quota_cache_fixture_cycle(&f);
	quota_cache_fixture_no_write(&f);
	quota_cache_fixture_done(&f, "low", write, SCHED_REJECTED, 0);
	assert_false(low->evicted);
	assert_int_equal(low->holds, team(&f));
	assert_string_equal(quota_cache_fixture_reason(&f, "low", "Evicted"), "");
	quota_cache_fixture_finish(&f);
}

/* Others like it need not be looked at, but it must be told why it waits. */
static void a_reason_that_was_not_written_is_found_again(void **state)
{
	struct quota_cache_fixture f;
	uint64_t write;

	(void)state;
	begin(&f);
	quota_cache_fixture_workload(&f, "big", 0, "9", "");
	quota_cache_fixture_cycle(&f);
	assert_int_equal(quota_cache_fixture_get(&f, "big")->where, QUOTA_INADMISSIBLE);
	write = quota_cache_fixture_write(&f, "big");
	quota_cache_fixture_done(&f, "big", write, SCHED_STALE, 0);
	assert_int_equal(quota_cache_fixture_get(&f, "big")->where, QUOTA_HEAP);
	quota_cache_fixture_cycle(&f);
	assert_string_equal(quota_cache_fixture_reason(&f, "big", "QuotaReserved"),
			    "ExceedsMaxQuota");
	(void)quota_cache_fixture_write(&f, "big");
	quota_cache_fixture_finish(&f);
}

/* Decided between two cycles: the second one must know. */
static void an_eviction_counts_as_soon_as_it_is_decided(void **state)
{
	struct condition evicted = { "Evicted", "True", "PodsReadyTimeout", "m", 5, 1 };
	struct quota_cache_fixture f;
	const struct workload *low;

	(void)state;
	begin(&f);
	quota_cache_fixture_workload(&f, "low", 0, "2", QUOTA_CACHE_FIXTURE_ADMITTED("2"));
	low = quota_cache_fixture_get(&f, "low");
	(void)conditions_set(quota_cache_edit(f.cache, low), &evicted);
	assert_true(quota_cache_commit(f.cache, low));
	assert_true(low->evicted);
	assert_true(low->evicted_by_timeout);
	quota_cache_fixture_workload(&f, "high", 9, "3", "");
	quota_cache_fixture_cycle(&f);
	assert_string_equal(quota_cache_fixture_reason(&f, "low", "Evicted"), "PodsReadyTimeout");
	quota_cache_fixture_finish(&f);
}

static void writes_of_a_workload_go_one_by_one(void **state)
{
	struct quota_cache_fixture f;
	struct workload *w;
	uint64_t first, second;

	(void)state;
	begin(&f);
	quota_cache_fixture_workload(&f, "low", 0, "2", "");
	quota_cache_fixture_cycle(&f);
	first = quota_cache_fixture_write(&f, "low");
	quota_cache_fixture_workload(&f, "high", 9, "3", "");
	quota_cache_fixture_cycle(&f);
	(void)quota_cache_fixture_write(&f, "high");
	quota_cache_fixture_no_write(&f);
	quota_cache_fixture_done(&f, "low", first, SCHED_DONE, 400);
	w = quota_cache_fixture_get(&f, "low");
	assert_int_equal(w->holds, team(&f));
	assert_int_equal(f.written, 0);
	second = quota_cache_fixture_write(&f, "low");
	assert_true(second > first);
	quota_cache_fixture_done(&f, "low", first, SCHED_REJECTED, 0);
	assert_int_equal(f.failed, 0);
	quota_cache_fixture_done(&f, "low", second, SCHED_DONE, 500);
	assert_int_equal(w->holds, team(&f));
	assert_true(w->evicted);
	assert_int_equal(f.written, 1);
	quota_cache_fixture_finish(&f);
}

static bool is_evicted(struct quota_cache_fixture *f, const char *name)
{
	(void)quota_cache_settle(f->cache, f->now);
	quota_cache_fixture_cycle(f);
	return quota_cache_fixture_get(f, name)->evicted;
}

/* It is no victim for a while, longer each time, and at once when it is read anew. */
static void an_eviction_that_is_refused_is_put_off(void **state)
{
	static const int64_t waits[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600 };
	static const char holds[] = "\"conditions\":[{\"type\":\"QuotaReserved\",\"status\":"
				    "\"True\",\"reason\":\"r\"}],"
				    "\"admission\":{\"clusterQueue\":\"team\","
				    "\"podSetAssignments\":[{\"name\":\"main\","
				    "\"flavors\":{\"cpu\":\"default\"},\"resourceUsage\":{\"cpu\":"
				    "\"3\"},\"count\":1}]}";
	struct quota_cache_fixture f;
	struct quota_cache_write write;

	(void)state;
	begin(&f);
	quota_cache_fixture_workload(&f, "low", 0, "3", holds);
	quota_cache_fixture_workload(&f, "high", 9, "3", "");
	for (size_t i = 0; i < ARRAY_LEN(waits); i++) {
		assert_true(is_evicted(&f, "low"));
		do {
			assert_true(quota_cache_next_write(f.cache, &write));
		} while (write.workload != quota_cache_fixture_get(&f, "low"));
		f.status = 422;
		quota_cache_fixture_done(&f, "low", write.version, SCHED_REJECTED, 0);
		assert_int_equal(quota_cache_retry_at(f.cache, write.workload),
				 f.now + waits[i] * 1000000000);
		assert_false(is_evicted(&f, "low"));
		quota_cache_fixture_later(&f, waits[i]);
		quota_cache_fixture_later(&f, 1); /* those who wait are woken */
	}
	assert_true(is_evicted(&f, "low"));
	assert_true(quota_cache_next_write(f.cache, &write));
	quota_cache_fixture_done(&f, "low", write.version, SCHED_REJECTED, 0);
	quota_cache_fixture_workload(&f, "low", 0, "3", holds);
	assert_int_equal(quota_cache_retry_at(f.cache, quota_cache_fixture_get(&f, "low")),
			 MODEL_TIME_NONE);
	quota_cache_fixture_workload(&f, "higher", 10, "3", "");
	assert_true(is_evicted(&f, "low"));
	quota_cache_fixture_finish(&f);
}

/* The first write is done: only what came after it is taken back. */
static void what_was_written_stays_when_the_next_write_fails(void **state)
{
	struct quota_cache_fixture f;
	struct workload *w;

	(void)state;
	begin(&f);
	quota_cache_fixture_workload(&f, "low", 0, "2", "");
	quota_cache_fixture_cycle(&f);
	(void)quota_cache_fixture_write(&f, "low");
	quota_cache_fixture_workload(&f, "high", 9, "3", "");
	quota_cache_fixture_cycle(&f);
	(void)quota_cache_fixture_write(&f, "high");
	quota_cache_fixture_done(&f, "low", 1, SCHED_DONE, 400);
	quota_cache_fixture_done(&f, "low", quota_cache_fixture_write(&f, "low"), SCHED_REJECTED,
				 0);
	w = quota_cache_fixture_get(&f, "low");
	assert_int_equal(w->holds, team(&f));
	assert_false(w->evicted);
	assert_string_equal(quota_cache_fixture_reason(&f, "low", "QuotaReserved"),
			    "QuotaReserved");
	quota_cache_fixture_finish(&f);
}

/* A check that became Ready between our reading and our writing stays so. */
static void what_others_write_is_not_overwritten(void **state)
{
	static const char pending[] =
		"\"admissionChecks\":[{\"name\":\"c\",\"state\":\"Pending\"}]";
	struct quota_cache_fixture f;
	struct quota_cache_write write;
	struct workload *w;

	(void)state;
	begin(&f);
	quota_cache_fixture_workload_at(&f, "one", "u-one", "2", pending, 100);
	quota_cache_fixture_cycle(&f);
	assert_true(quota_cache_next_write(f.cache, &write));
	assert_int_equal(write.resource_version, 100);
	quota_cache_fixture_done(&f, "one", write.version, SCHED_STALE, 0);
	w = quota_cache_fixture_get(&f, "one");
	assert_int_equal(w->holds, team(&f)); /* until it is read */
	assert_string_equal(quota_cache_fixture_reason(&f, "one", "QuotaReserved"), "");
	quota_cache_fixture_workload_at(
		&f, "one", "u-one", "2",
		"\"admissionChecks\":[{\"name\":\"c\",\"state\":\"Ready\"}]", 101);
	assert_int_equal(w->holds, MODEL_NONE);
	assert_int_equal(w->where, QUOTA_HEAP);
	quota_cache_fixture_cycle(&f);
	assert_true(quota_cache_next_write(f.cache, &write));
	assert_int_equal(write.resource_version, 101);
	assert_int_equal(write.status->checks.v[0].state, QUOTA_CHECK_READY);
	quota_cache_fixture_finish(&f);
}

/* Its pods have ended, and somebody said so, between our reading and our writing. */
static void who_has_finished_meanwhile_is_not_evicted(void **state)
{
	static const char ended[] = "\"conditions\":[{\"type\":\"Finished\",\"status\":\"True\"}]";
	struct quota_cache_fixture f;
	struct quota_cache_write write;

	(void)state;
	begin(&f);
	quota_cache_fixture_workload(&f, "low", 0, "3", "");
	quota_cache_fixture_cycle(&f);
	quota_cache_fixture_done(&f, "low", quota_cache_fixture_write(&f, "low"), SCHED_DONE, 400);
	quota_cache_fixture_workload(&f, "high", 9, "3", "");
	quota_cache_fixture_cycle(&f);
	do {
		assert_true(quota_cache_next_write(f.cache, &write));
	} while (write.workload != quota_cache_fixture_get(&f, "low"));
	assert_true(conditions_is_true(write.status, "Evicted"));
	assert_int_equal(write.resource_version, 400);
	quota_cache_fixture_workload_at(&f, "low", "u-low", "3", ended, 401);
	quota_cache_fixture_done(&f, "low", write.version, SCHED_STALE, 0);
	assert_string_equal(quota_cache_fixture_reason(&f, "low", "Evicted"), "");
	assert_int_equal(quota_cache_fixture_get(&f, "low")->holds, MODEL_NONE);
	quota_cache_fixture_cycle(&f);
	assert_int_equal(quota_cache_fixture_get(&f, "high")->holds, team(&f));
	quota_cache_fixture_finish(&f);
}

static void a_namesake_starts_anew(void **state)
{
	struct quota_cache_fixture f;
	struct workload *w;
	uint64_t write;

	(void)state;
	begin(&f);
	quota_cache_fixture_workload_at(&f, "one", "u-one", "2", "", 100);
	quota_cache_fixture_cycle(&f);
	write = quota_cache_fixture_write(&f, "one");
	quota_cache_fixture_workload_at(&f, "one", "u-two", "3", "", 200);
	w = quota_cache_fixture_get(&f, "one");
	assert_string_equal(w->uid, "u-two");
	assert_int_equal(w->holds, MODEL_NONE);
	/* What is known of the first one does not matter to it. */
	quota_cache_fixture_done(&f, "one", write, SCHED_DONE, 150);
	quota_cache_fixture_cycle(&f);
	assert_int_equal(w->holds, team(&f));
	assert_true(quota_cache_fixture_write(&f, "one") > write);
	quota_cache_fixture_finish(&f);
}

static void a_deletion_frees_its_quota_at_once(void **state)
{
	struct quota_cache_fixture f;

	(void)state;
	begin(&f);
	quota_cache_fixture_workload(&f, "one", 0, "3", "");
	quota_cache_fixture_cycle(&f);
	quota_cache_fixture_gone(&f, SCHED_WORKLOADS, "ns/one");
	assert_int_equal(f.untold, 1);
	quota_cache_fixture_no_write(&f);
	quota_cache_fixture_workload(&f, "two", 0, "3", "");
	quota_cache_fixture_cycle(&f);
	assert_int_equal(quota_cache_fixture_get(&f, "two")->holds, team(&f));
	quota_cache_fixture_finish(&f);
}

static int64_t cpu_of(const struct quota_cache_fixture *f, const char *name)
{
	uint32_t cpu = quota_resource(quota_cache_world(f->cache), STR_LIT("cpu"));

	return quota_amounts_get(&quota_cache_fixture_get(f, name)->podsets[0].request, cpu);
}

/* The answer of a GET may come after what the watch told of the time since. */
static void what_was_read_apart_is_no_newer_than_the_watch(void **state)
{
	struct quota_cache_fixture f;

	(void)state;
	begin(&f);
	quota_cache_fixture_workload_at(&f, "one", "u-one", "2", "", 100);
	quota_cache_fixture_read_again(&f, "one", "u-one", "1", "", 100);
	assert_int_equal(cpu_of(&f, "one"), 1000);
	quota_cache_fixture_workload_at(&f, "one", "u-one", "2", "", 110);
	quota_cache_fixture_read_again(&f, "one", "u-one", "1", "", 100);
	assert_int_equal(cpu_of(&f, "one"), 2000);
	quota_cache_fixture_workload_at(&f, "one", "u-two", "3", "", 130);
	quota_cache_fixture_read_again(&f, "one", "u-one", "1", "", 120);
	assert_string_equal(quota_cache_fixture_get(&f, "one")->uid, "u-two");
	quota_cache_fixture_gone(&f, SCHED_WORKLOADS, "ns/one");
	quota_cache_fixture_read_again(&f, "one", "u-two", "3", "", 130);
	assert_null(quota_cache_fixture_get(&f, "one"));
	quota_cache_fixture_finish(&f);
}

static void nor_newer_than_what_waits_for_a_write(void **state)
{
	struct quota_cache_fixture f;
	uint64_t write;

	(void)state;
	begin(&f);
	quota_cache_fixture_workload_at(&f, "one", "u-one", "2", "", 100);
	quota_cache_fixture_cycle(&f);
	write = quota_cache_fixture_write(&f, "one");
	quota_cache_fixture_workload_at(&f, "one", "u-one", "2", "", 120);
	quota_cache_fixture_read_again(&f, "one", "u-one", "1", "", 110);
	quota_cache_fixture_done(&f, "one", write, SCHED_STALE, 0);
	assert_int_equal(cpu_of(&f, "one"), 2000);
	quota_cache_fixture_finish(&f);
}

static void finished_and_bad_ones(void **state)
{
	struct quota_cache_fixture f;

	(void)state;
	begin(&f);
	quota_cache_fixture_workload(
		&f, "done", 0, "2", "\"conditions\":[{\"type\":\"Finished\",\"status\":\"True\"}]");
	assert_int_equal(quota_cache_fixture_get(&f, "done")->where, QUOTA_NOWHERE);
	assert_int_equal(f.nbad, 0);
	quota_cache_fixture_see(&f, SCHED_WORKLOADS, "ns/bad",
				"{\"metadata\":{\"name\":\"bad\",\"namespace\":\"ns\"},\"spec\":{"
				"\"podSets\":[{\"count\":-1}]}}");
	assert_int_equal(f.nbad, 1);
	assert_null(quota_cache_fixture_get(&f, "bad"));
	quota_cache_fixture_finish(&f);
}

/* Most of its status is not kept: a write would take the rest off. */
static void of_a_finished_one_nothing_is_written(void **state)
{
	struct condition evicted = { "Evicted", "True", "PodsReadyTimeout", "m", 5, 1 };
	struct quota_cache_fixture f;
	const struct conditions *status;
	const struct workload *w;

	(void)state;
	begin(&f);
	quota_cache_fixture_workload(&f, "done", 0, "2", QUOTA_CACHE_FIXTURE_ADMITTED("2"));
	w = quota_cache_fixture_get(&f, "done");
	assert_int_equal(w->npodsets, 1);
	quota_cache_fixture_workload(&f, "done", 0, "2", QUOTA_CACHE_FIXTURE_CONDITION("Finished"));
	status = quota_cache_status(f.cache, w);
	assert_true(conditions_is_true(status, "Finished"));
	assert_string_equal(conditions_find(status, "Finished")->message, "");
	assert_int_equal(w->npodsets, 0);
	(void)conditions_set(quota_cache_edit(f.cache, w), &evicted);
	assert_false(quota_cache_commit(f.cache, w));
	quota_cache_fixture_no_write(&f);
	/* Somebody had it back. */
	quota_cache_fixture_workload(&f, "done", 0, "2", "");
	assert_int_equal(w->npodsets, 1);
	assert_int_equal(w->where, QUOTA_HEAP);
	quota_cache_fixture_finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quota_comes_from_the_status),
		cmocka_unit_test(who_waits_is_looked_at_again_when_another_one_goes),
		cmocka_unit_test(a_status_may_change_while_the_first_lists_come_in),
		cmocka_unit_test(quota_in_a_queue_that_appears_is_held),
		cmocka_unit_test(updates_of_before_a_write_are_not_read),
		cmocka_unit_test(an_update_that_came_meanwhile_counts_when_it_is_newer),
		cmocka_unit_test(a_failed_admission_is_taken_back),
		cmocka_unit_test(a_failed_preemption_is_taken_back),
		cmocka_unit_test(a_reason_that_was_not_written_is_found_again),
		cmocka_unit_test(an_eviction_counts_as_soon_as_it_is_decided),
		cmocka_unit_test(writes_of_a_workload_go_one_by_one),
		cmocka_unit_test(an_eviction_that_is_refused_is_put_off),
		cmocka_unit_test(what_was_written_stays_when_the_next_write_fails),
		cmocka_unit_test(what_others_write_is_not_overwritten),
		cmocka_unit_test(who_has_finished_meanwhile_is_not_evicted),
		cmocka_unit_test(a_namesake_starts_anew),
		cmocka_unit_test(a_deletion_frees_its_quota_at_once),
		cmocka_unit_test(what_was_read_apart_is_no_newer_than_the_watch),
		cmocka_unit_test(nor_newer_than_what_waits_for_a_write),
		cmocka_unit_test(finished_and_bad_ones),
		cmocka_unit_test(of_a_finished_one_nothing_is_written),
	};

	return cmocka_run_group_tests_name("cache/quota_cache_workload", tests, NULL, NULL);
}
