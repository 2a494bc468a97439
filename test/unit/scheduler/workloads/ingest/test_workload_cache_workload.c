#include "scheduler/workloads/ingest/workload_cache.h"

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "lib/unit.h"

#include "lib/workloads/workload_cache_fixture.h"
#include "scheduler/workloads/model/quota_store.h"
#include <stdio.h>

static uint32_t team(const struct workload_cache_fixture *f)
{
	return quota_queue_find(workload_cache_model(f->cache), STR_LIT("team"))->id;
}

static void begin(struct workload_cache_fixture *f)
{
	workload_cache_fixture_init(f);
	workload_cache_fixture_world(f);
	workload_cache_fixture_later(f, 2);
}

static void quota_comes_from_the_status(void **state)
{
	struct workload_cache_fixture f;
	struct workload *w;

	(void)state;
	begin(&f);
	workload_cache_fixture_workload(&f, "one", 0, "2", WORKLOAD_CACHE_FIXTURE_ADMITTED("2"));
	w = workload_cache_fixture_get(&f, "one");
	assert_int_equal(w->holding.node, team(&f));
	assert_true(w->flags.admitted);
	assert_string_equal(workload_cache_queue(w), "team");
	/* Evicted and stopped: it waits again. */
	workload_cache_fixture_workload(&f, "one", 0, "2", "");
	assert_int_equal(w->holding.node, MODEL_NONE);
	assert_int_equal(w->pending.where, QUOTA_HEAP);
	assert_null(workload_cache_queue(w));
	workload_cache_fixture_finish(&f);
}

/* The model follows the status at once: also when the checks were Ready before quota was
 * reserved. */
static void ready_checks_admit_with_the_reservation(void **state)
{
	static const struct {
		const char *state;
		bool admitted;
	} rows[] = { { "Ready", true }, { "Pending", false } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(xmalloc_freep)
		char *status = xmalloc_printf(
			"\"admissionChecks\":[{\"name\":\"c\",\"state\":\"%s\"}]", rows[i].state);
		struct workload_cache_fixture f;
		const struct workload *w;

		unit_row(rows[i].state);
		begin(&f);
		workload_cache_fixture_see(
			&f, SCHED_ADMISSION_CHECKS, "c",
			"{\"metadata\":{\"name\":\"c\"},\"status\":{\"conditions\":[{\"type\":"
			"\"Active\",\"status\":\"True\"}]}}");
		workload_cache_fixture_see(
			&f, SCHED_CLUSTER_QUEUES, "team",
			"{\"metadata\":{\"name\":\"team\",\"generation\":2},\"spec\":{"
			"\"namespaceSelector\":{},\"admissionChecksStrategy\":{\"admissionChecks\":"
			"[{\"name\":\"c\"}]},\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],"
			"\"flavors\":[{\"name\":\"default\",\"resources\":[{\"name\":\"cpu\","
			"\"nominalQuota\":\"3\"}]}]}]}}");
		workload_cache_fixture_workload(&f, "one", 0, "2", status);
		workload_cache_fixture_later(&f, 2);
		workload_cache_fixture_cycle(&f);
		w = workload_cache_fixture_get(&f, "one");
		assert_int_equal(w->holding.node, team(&f));
		assert_int_equal(
			workload_status_is_true(workload_cache_status(f.cache, w), "Admitted"),
			rows[i].admitted);
		assert_int_equal(w->flags.admitted, rows[i].admitted);
		workload_cache_fixture_finish(&f);
	}
}

static void write_status(struct workload_cache_fixture *f, const char *name)
{
	workload_cache_fixture_done(f, name, workload_cache_fixture_write(f, name), SCHED_DONE, 0);
}

static void a_removal_wakes_waiting_workloads(void **state)
{
	static const struct {
		const char *status; /* of one that waits from then on; NULL: it is deleted */
		enum quota_where other;
	} rows[] = {
		{ NULL, QUOTA_HEAP },
		{ WORKLOAD_CACHE_FIXTURE_CONDITION("Finished"), QUOTA_HEAP },
		{ "", QUOTA_INADMISSIBLE },
		{ WORKLOAD_CACHE_FIXTURE_CONDITION("PodsReady"), QUOTA_INADMISSIBLE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct workload_cache_fixture f;

		unit_row(rows[i].status);
		begin(&f);
		workload_cache_fixture_workload(&f, "big", 1, "4", "");
		workload_cache_fixture_workload(&f, "large", 0, "5", "");
		workload_cache_fixture_cycle(&f);
		write_status(&f, "big");
		workload_cache_fixture_cycle(&f);
		write_status(&f, "large");
		workload_cache_fixture_later(&f, 2);
		assert_int_equal(workload_cache_fixture_get(&f, "big")->pending.where,
				 QUOTA_INADMISSIBLE);
		assert_int_equal(workload_cache_fixture_get(&f, "large")->pending.where,
				 QUOTA_INADMISSIBLE);
		if (rows[i].status == NULL) {
			workload_cache_fixture_gone(&f, SCHED_WORKLOADS, "ns/big");
		} else {
			workload_cache_fixture_workload(&f, "big", 1, "4", rows[i].status);
		}
		workload_cache_fixture_later(&f, 2);
		assert_int_equal(workload_cache_fixture_get(&f, "large")->pending.where,
				 rows[i].other);
		workload_cache_fixture_finish(&f);
	}
}

static void a_status_may_change_while_the_first_lists_come_in(void **state)
{
	struct workload_cache_fixture f;

	(void)state;
	workload_cache_fixture_init(&f);
	workload_cache_fixture_see(&f, SCHED_CLUSTER_QUEUES, "team",
				   "{\"metadata\":{\"name\":\"team\",\"generation\":1}}");
	workload_cache_fixture_workload(&f, "one", 0, "2", "");
	workload_cache_fixture_workload(&f, "one", 0, "2", WORKLOAD_CACHE_FIXTURE_ADMITTED("2"));
	workload_cache_fixture_sync_all(&f);
	assert_int_equal(f.changed, 1);
	workload_cache_fixture_finish(&f);
}

/* Other events between the creation of the queue and the next flush do not matter. */
static void quota_in_a_queue_that_appears_is_held(void **state)
{
	static const char *const names[] = { "first", "one", "last" };
	struct workload_cache_fixture f;

	(void)state;
	begin(&f);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		workload_cache_fixture_workload(&f, names[i], 0, "1",
						WORKLOAD_CACHE_FIXTURE_ADMITTED_BY("other", "1"));
		workload_cache_fixture_workload(&f, "two", 0, "1",
						WORKLOAD_CACHE_FIXTURE_ADMITTED("1"));
	}
	workload_cache_fixture_later(&f, 2);
	assert_int_equal(workload_cache_fixture_get(&f, "one")->holding.node, MODEL_NONE);
	workload_cache_fixture_see(&f, SCHED_CLUSTER_QUEUES, "other",
				   "{\"metadata\":{\"name\":\"other\",\"generation\":1}}");
	workload_cache_fixture_workload(&f, "two", 0, "1", "");
	workload_cache_fixture_later(&f, 2);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		unit_row_number(i);
		assert_int_not_equal(workload_cache_fixture_get(&f, names[i])->holding.node,
				     MODEL_NONE);
	}
	workload_cache_fixture_finish(&f);
}

static void updates_of_before_a_write_are_not_read(void **state)
{
	struct workload_cache_fixture f;
	struct workload *w;
	uint64_t write;

	(void)state;
	begin(&f);
	workload_cache_fixture_workload_at(&f, "one", "u-one", "2", "", 100);
	workload_cache_fixture_cycle(&f);
	w = workload_cache_fixture_get(&f, "one");
	assert_int_equal(w->holding.node, team(&f));
	write = workload_cache_fixture_write(&f, "one");
	/* While the write is under way, and after it. */
	workload_cache_fixture_workload_at(&f, "one", "u-one", "2", "", 110);
	assert_int_equal(w->holding.node, team(&f));
	workload_cache_fixture_done(&f, "one", write, SCHED_DONE, 120);
	assert_int_equal(w->holding.node, team(&f));
	assert_string_equal(workload_cache_queue(w), "team");
	workload_cache_fixture_workload_at(&f, "one", "u-one", "2", "", 119);
	assert_int_equal(w->holding.node, team(&f));
	workload_cache_fixture_workload_at(&f, "one", "u-one", "2",
					   WORKLOAD_CACHE_FIXTURE_ADMITTED("2"), 120);
	assert_int_equal(w->holding.node, team(&f));
	/* Newer than our write: another client removed the admission. */
	workload_cache_fixture_workload_at(&f, "one", "u-one", "2", "", 121);
	assert_int_equal(w->holding.node, MODEL_NONE);
	workload_cache_fixture_finish(&f);
}

static void an_update_that_came_meanwhile_counts_when_it_is_newer(void **state)
{
	struct workload_cache_fixture f;
	struct workload *w;
	uint64_t write;

	(void)state;
	begin(&f);
	workload_cache_fixture_workload_at(&f, "one", "u-one", "2", "", 100);
	workload_cache_fixture_cycle(&f);
	w = workload_cache_fixture_get(&f, "one");
	write = workload_cache_fixture_write(&f, "one");
	workload_cache_fixture_workload_at(&f, "one", "u-one", "2", "", 130);
	assert_int_equal(w->holding.node, team(&f));
	workload_cache_fixture_done(&f, "one", write, SCHED_DONE, 120);
	assert_int_equal(w->holding.node, MODEL_NONE);
	workload_cache_fixture_finish(&f);
}

static void a_failed_admission_is_taken_back(void **state)
{
	struct workload_cache_fixture f;
	struct workload *w;
	uint64_t write;

	(void)state;
	begin(&f);
	workload_cache_fixture_workload(&f, "one", 0, "2", "");
	workload_cache_fixture_cycle(&f);
	w = workload_cache_fixture_get(&f, "one");
	write = workload_cache_fixture_write(&f, "one");
	workload_cache_fixture_done(&f, "one", write, SCHED_REJECTED, 0);
	assert_int_equal(f.failed, 1);
	assert_int_equal(w->holding.node, MODEL_NONE);
	assert_string_equal(workload_cache_fixture_reason(&f, "one", "QuotaReserved"), "");
	assert_int_equal(w->pending.where, QUOTA_INADMISSIBLE);
	/* Later each time. */
	workload_cache_fixture_later(&f, 2);
	assert_int_equal(w->pending.where, QUOTA_HEAP);
	workload_cache_fixture_cycle(&f);
	assert_int_equal(w->holding.node, team(&f));
	write = workload_cache_fixture_write(&f, "one");
	workload_cache_fixture_done(&f, "one", write, SCHED_REJECTED, 0);
	workload_cache_fixture_later(&f, 1);
	assert_int_equal(w->pending.where, QUOTA_INADMISSIBLE);
	workload_cache_fixture_later(&f, 1);
	assert_int_equal(w->pending.where, QUOTA_HEAP);
	workload_cache_fixture_finish(&f);
}

static void a_failed_preemption_is_taken_back(void **state)
{
	struct workload_cache_fixture f;
	struct workload *low;
	uint64_t write;

	(void)state;
	begin(&f);
	workload_cache_fixture_workload(&f, "low", 0, "2", WORKLOAD_CACHE_FIXTURE_ADMITTED("2"));
	workload_cache_fixture_workload(&f, "high", 9, "3", "");
	workload_cache_fixture_cycle(&f);
	low = workload_cache_fixture_get(&f, "low");
	assert_true(low->flags.evicted);
	assert_int_equal(low->holding.node, team(&f));
	(void)workload_cache_fixture_write(&f, "high");
	write = workload_cache_fixture_write(&f, "low");
	/* Evicted already: no second event. */
	workload_cache_fixture_cycle(&f);
	workload_cache_fixture_no_write(&f);
	workload_cache_fixture_done(&f, "low", write, SCHED_REJECTED, 0);
	assert_false(low->flags.evicted);
	assert_int_equal(low->holding.node, team(&f));
	assert_string_equal(workload_cache_fixture_reason(&f, "low", "Evicted"), "");
	workload_cache_fixture_finish(&f);
}

/* Equal Workloads are not tried, but the reason of this one must be written. */
static void a_reason_that_was_not_written_is_found_again(void **state)
{
	struct workload_cache_fixture f;
	uint64_t write;

	(void)state;
	begin(&f);
	workload_cache_fixture_workload(&f, "big", 0, "9", "");
	workload_cache_fixture_cycle(&f);
	assert_int_equal(workload_cache_fixture_get(&f, "big")->pending.where, QUOTA_INADMISSIBLE);
	write = workload_cache_fixture_write(&f, "big");
	workload_cache_fixture_done(&f, "big", write, SCHED_STALE, 0);
	assert_int_equal(workload_cache_fixture_get(&f, "big")->pending.where, QUOTA_HEAP);
	workload_cache_fixture_cycle(&f);
	assert_string_equal(workload_cache_fixture_reason(&f, "big", "QuotaReserved"),
			    "ExceedsMaxQuota");
	(void)workload_cache_fixture_write(&f, "big");
	workload_cache_fixture_finish(&f);
}

/* Evicted between two cycles: the second one must take it into account. */
static void an_eviction_counts_as_soon_as_it_is_decided(void **state)
{
	struct condition evicted = { "Evicted", "True", "PodsReadyTimeout", "m", 5, 1 };
	struct workload_cache_fixture f;
	const struct workload *low;

	(void)state;
	begin(&f);
	workload_cache_fixture_workload(&f, "low", 0, "2", WORKLOAD_CACHE_FIXTURE_ADMITTED("2"));
	low = workload_cache_fixture_get(&f, "low");
	(void)workload_status_set_condition(workload_cache_edit(f.cache, low), &evicted);
	assert_true(workload_cache_commit(f.cache, low));
	assert_true(low->flags.evicted);
	assert_true(low->flags.evicted_by_timeout);
	workload_cache_fixture_workload(&f, "high", 9, "3", "");
	workload_cache_fixture_cycle(&f);
	assert_string_equal(workload_cache_fixture_reason(&f, "low", "Evicted"),
			    "PodsReadyTimeout");
	workload_cache_fixture_finish(&f);
}

/* Its job may end while it waits: it is not admitted before that is written, and waits again when
 * it cannot be written. */
static void one_that_is_decided_to_be_finished_does_not_wait(void **state)
{
	struct condition finished = { "Finished", "True", "Succeeded", "m", 5, 1 };
	struct workload_cache_fixture f;
	const struct workload *w;
	uint64_t write;

	(void)state;
	begin(&f);
	workload_cache_fixture_workload(&f, "low", 0, "2",
					WORKLOAD_CACHE_FIXTURE_CONDITION("Evicted"));
	w = workload_cache_fixture_get(&f, "low");
	assert_int_equal(w->pending.where, QUOTA_HEAP);
	(void)workload_status_set_condition(workload_cache_edit(f.cache, w), &finished);
	assert_true(workload_cache_commit(f.cache, w));
	workload_cache_fixture_cycle(&f);
	assert_int_equal(w->holding.node, MODEL_NONE);
	write = workload_cache_fixture_write(&f, "low");
	workload_cache_fixture_done(&f, "low", write, SCHED_STALE, 0);
	assert_int_equal(w->pending.where, QUOTA_HEAP);
	workload_cache_fixture_finish(&f);
}

static void writes_of_a_workload_go_one_by_one(void **state)
{
	struct workload_cache_fixture f;
	struct workload *w;
	uint64_t first, second;

	(void)state;
	begin(&f);
	workload_cache_fixture_workload(&f, "low", 0, "2", "");
	workload_cache_fixture_cycle(&f);
	first = workload_cache_fixture_write(&f, "low");
	workload_cache_fixture_workload(&f, "high", 9, "3", "");
	workload_cache_fixture_cycle(&f);
	(void)workload_cache_fixture_write(&f, "high");
	workload_cache_fixture_no_write(&f);
	workload_cache_fixture_done(&f, "low", first, SCHED_DONE, 400);
	w = workload_cache_fixture_get(&f, "low");
	assert_int_equal(w->holding.node, team(&f));
	assert_int_equal(f.written, 0);
	second = workload_cache_fixture_write(&f, "low");
	assert_true(second > first);
	workload_cache_fixture_done(&f, "low", first, SCHED_REJECTED, 0);
	assert_int_equal(f.failed, 0);
	workload_cache_fixture_done(&f, "low", second, SCHED_DONE, 500);
	assert_int_equal(w->holding.node, team(&f));
	assert_true(w->flags.evicted);
	assert_int_equal(f.written, 1);
	workload_cache_fixture_finish(&f);
}

static bool is_evicted(struct workload_cache_fixture *f, const char *name)
{
	(void)workload_cache_settle(f->cache, f->now);
	workload_cache_fixture_cycle(f);
	return workload_cache_fixture_get(f, name)->flags.evicted;
}

/* It is no victim for a while, longer each time, but again at once when it is read again. */
static void an_eviction_that_is_refused_is_put_off(void **state)
{
	static const int64_t waits[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600 };
	static const char holds[] = "\"conditions\":[{\"type\":\"QuotaReserved\",\"status\":"
				    "\"True\",\"reason\":\"r\"}],"
				    "\"admission\":{\"clusterQueue\":\"team\","
				    "\"podSetAssignments\":[{\"name\":\"main\","
				    "\"flavors\":{\"cpu\":\"default\"},\"resourceUsage\":{\"cpu\":"
				    "\"3\"},\"count\":1}]}";
	struct workload_cache_fixture f;
	struct workload_cache_write write;

	(void)state;
	begin(&f);
	workload_cache_fixture_workload(&f, "low", 0, "3", holds);
	workload_cache_fixture_workload(&f, "high", 9, "3", "");
	for (size_t i = 0; i < ARRAY_LEN(waits); i++) {
		unit_row_number(i);
		assert_true(is_evicted(&f, "low"));
		do {
			assert_true(workload_cache_next_write(f.cache, &write));
		} while (write.workload != workload_cache_fixture_get(&f, "low"));
		f.status = 422;
		workload_cache_fixture_done(&f, "low", write.version, SCHED_REJECTED, 0);
		assert_int_equal(workload_cache_retry_at(write.workload),
				 f.now + waits[i] * 1000000000);
		assert_false(is_evicted(&f, "low"));
		workload_cache_fixture_later(&f, waits[i]);
		workload_cache_fixture_later(&f, 1); /* waiting Workloads are woken */
	}
	assert_true(is_evicted(&f, "low"));
	assert_true(workload_cache_next_write(f.cache, &write));
	workload_cache_fixture_done(&f, "low", write.version, SCHED_REJECTED, 0);
	workload_cache_fixture_workload(&f, "low", 0, "3", holds);
	assert_int_equal(workload_cache_retry_at(workload_cache_fixture_get(&f, "low")),
			 MODEL_TIME_NONE);
	workload_cache_fixture_workload(&f, "higher", 10, "3", "");
	assert_true(is_evicted(&f, "low"));
	/* Refused once more and deleted while it waits. */
	do {
		assert_true(workload_cache_next_write(f.cache, &write));
	} while (write.workload != workload_cache_fixture_get(&f, "low"));
	workload_cache_fixture_done(&f, "low", write.version, SCHED_REJECTED, 0);
	workload_cache_fixture_gone(&f, SCHED_WORKLOADS, "ns/low");
	workload_cache_fixture_later(&f, 600);
	assert_null(workload_cache_fixture_get(&f, "low"));
	workload_cache_fixture_finish(&f);
}

/* The first write is done: only what came after it is taken back. */
static void a_failed_write_does_not_undo_the_one_before(void **state)
{
	struct workload_cache_fixture f;
	struct workload *w;

	(void)state;
	begin(&f);
	workload_cache_fixture_workload(&f, "low", 0, "2", "");
	workload_cache_fixture_cycle(&f);
	(void)workload_cache_fixture_write(&f, "low");
	workload_cache_fixture_workload(&f, "high", 9, "3", "");
	workload_cache_fixture_cycle(&f);
	(void)workload_cache_fixture_write(&f, "high");
	workload_cache_fixture_done(&f, "low", 1, SCHED_DONE, 400);
	workload_cache_fixture_done(&f, "low", workload_cache_fixture_write(&f, "low"),
				    SCHED_REJECTED, 0);
	w = workload_cache_fixture_get(&f, "low");
	assert_int_equal(w->holding.node, team(&f));
	assert_false(w->flags.evicted);
	assert_string_equal(workload_cache_fixture_reason(&f, "low", "QuotaReserved"),
			    "QuotaReserved");
	workload_cache_fixture_finish(&f);
}

/* A check that became Ready between our reading and our writing stays so. */
static void writes_of_others_are_not_overwritten(void **state)
{
	static const char pending[] =
		"\"admissionChecks\":[{\"name\":\"c\",\"state\":\"Pending\"}]";
	struct workload_cache_fixture f;
	struct workload_cache_write write;
	struct workload *w;

	(void)state;
	begin(&f);
	workload_cache_fixture_workload_at(&f, "one", "u-one", "2", pending, 100);
	workload_cache_fixture_cycle(&f);
	assert_true(workload_cache_next_write(f.cache, &write));
	assert_int_equal(write.resource_version, 100);
	workload_cache_fixture_done(&f, "one", write.version, SCHED_STALE, 0);
	w = workload_cache_fixture_get(&f, "one");
	assert_int_equal(w->holding.node, team(&f)); /* until it is read */
	assert_string_equal(workload_cache_fixture_reason(&f, "one", "QuotaReserved"), "");
	workload_cache_fixture_workload_at(
		&f, "one", "u-one", "2",
		"\"admissionChecks\":[{\"name\":\"c\",\"state\":\"Ready\"}]", 101);
	assert_int_equal(w->holding.node, MODEL_NONE);
	assert_int_equal(w->pending.where, QUOTA_HEAP);
	workload_cache_fixture_cycle(&f);
	assert_true(workload_cache_next_write(f.cache, &write));
	assert_int_equal(write.resource_version, 101);
	assert_int_equal(write.status->checks.v[0].state, QUOTA_CHECK_READY);
	workload_cache_fixture_finish(&f);
}

/* Another controller sets Finished between our read and our write. */
static void a_workload_that_has_finished_meanwhile_is_not_evicted(void **state)
{
	static const char ended[] = "\"conditions\":[{\"type\":\"Finished\",\"status\":\"True\"}]";
	struct workload_cache_fixture f;
	struct workload_cache_write write;

	(void)state;
	begin(&f);
	workload_cache_fixture_workload(&f, "low", 0, "3", "");
	workload_cache_fixture_cycle(&f);
	workload_cache_fixture_done(&f, "low", workload_cache_fixture_write(&f, "low"), SCHED_DONE,
				    400);
	workload_cache_fixture_workload(&f, "high", 9, "3", "");
	workload_cache_fixture_cycle(&f);
	do {
		assert_true(workload_cache_next_write(f.cache, &write));
	} while (write.workload != workload_cache_fixture_get(&f, "low"));
	assert_true(workload_status_is_true(write.status, "Evicted"));
	assert_int_equal(write.resource_version, 400);
	workload_cache_fixture_workload_at(&f, "low", "u-low", "3", ended, 401);
	workload_cache_fixture_done(&f, "low", write.version, SCHED_STALE, 0);
	assert_string_equal(workload_cache_fixture_reason(&f, "low", "Evicted"), "");
	assert_int_equal(workload_cache_fixture_get(&f, "low")->holding.node, MODEL_NONE);
	workload_cache_fixture_cycle(&f);
	assert_int_equal(workload_cache_fixture_get(&f, "high")->holding.node, team(&f));
	workload_cache_fixture_finish(&f);
}

static void a_namesake_starts_anew(void **state)
{
	struct workload_cache_fixture f;
	struct workload *w;
	uint64_t write;

	(void)state;
	begin(&f);
	workload_cache_fixture_workload_at(&f, "one", "u-one", "2", "", 100);
	workload_cache_fixture_cycle(&f);
	write = workload_cache_fixture_write(&f, "one");
	workload_cache_fixture_workload_at(&f, "one", "u-two", "3", "", 200);
	w = workload_cache_fixture_get(&f, "one");
	assert_string_equal(w->object.uid, "u-two");
	assert_int_equal(w->holding.node, MODEL_NONE);
	/* The outcome for the first one does not affect it. */
	workload_cache_fixture_done(&f, "one", write, SCHED_DONE, 150);
	workload_cache_fixture_cycle(&f);
	assert_int_equal(w->holding.node, team(&f));
	assert_true(workload_cache_fixture_write(&f, "one") > write);
	workload_cache_fixture_finish(&f);
}

static void a_deletion_frees_its_quota_at_once(void **state)
{
	struct workload_cache_fixture f;

	(void)state;
	begin(&f);
	workload_cache_fixture_workload(&f, "one", 0, "3", "");
	workload_cache_fixture_cycle(&f);
	workload_cache_fixture_gone(&f, SCHED_WORKLOADS, "ns/one");
	assert_int_equal(f.gone, 1);
	workload_cache_fixture_no_write(&f);
	workload_cache_fixture_workload(&f, "two", 0, "3", "");
	workload_cache_fixture_cycle(&f);
	assert_int_equal(workload_cache_fixture_get(&f, "two")->holding.node, team(&f));
	workload_cache_fixture_finish(&f);
}

static int64_t cpu_of(const struct workload_cache_fixture *f, const char *name)
{
	uint32_t cpu = quota_resource(workload_cache_model(f->cache), STR_LIT("cpu"));

	return quota_amounts_get(&workload_cache_fixture_get(f, name)->object.podsets[0].request,
				 cpu);
}

/* The answer of a GET may come after newer events of the watch. */
static void an_object_that_was_read_is_no_newer_than_the_watch(void **state)
{
	struct workload_cache_fixture f;

	(void)state;
	begin(&f);
	workload_cache_fixture_workload_at(&f, "one", "u-one", "2", "", 100);
	workload_cache_fixture_read_again(&f, "one", "u-one", "1", "", 100);
	assert_int_equal(cpu_of(&f, "one"), 1000);
	workload_cache_fixture_workload_at(&f, "one", "u-one", "2", "", 110);
	workload_cache_fixture_read_again(&f, "one", "u-one", "1", "", 100);
	assert_int_equal(cpu_of(&f, "one"), 2000);
	workload_cache_fixture_workload_at(&f, "one", "u-two", "3", "", 130);
	workload_cache_fixture_read_again(&f, "one", "u-one", "1", "", 120);
	assert_string_equal(workload_cache_fixture_get(&f, "one")->object.uid, "u-two");
	workload_cache_fixture_gone(&f, SCHED_WORKLOADS, "ns/one");
	workload_cache_fixture_read_again(&f, "one", "u-two", "3", "", 130);
	assert_null(workload_cache_fixture_get(&f, "one"));
	workload_cache_fixture_finish(&f);
}

static void an_old_answer_does_not_replace_a_waiting_object(void **state)
{
	struct workload_cache_fixture f;
	uint64_t write;

	(void)state;
	begin(&f);
	workload_cache_fixture_workload_at(&f, "one", "u-one", "2", "", 100);
	workload_cache_fixture_cycle(&f);
	write = workload_cache_fixture_write(&f, "one");
	workload_cache_fixture_workload_at(&f, "one", "u-one", "2", "", 120);
	workload_cache_fixture_read_again(&f, "one", "u-one", "1", "", 110);
	workload_cache_fixture_done(&f, "one", write, SCHED_STALE, 0);
	assert_int_equal(cpu_of(&f, "one"), 2000);
	workload_cache_fixture_finish(&f);
}

/* The answer of a GET may as well come before older events of a watch that is behind. */
static void a_watch_that_is_behind_does_not_undo_what_was_read(void **state)
{
	struct workload_cache_fixture f;
	uint64_t write;

	(void)state;
	begin(&f);
	workload_cache_fixture_workload_at(&f, "one", "u-one", "2", "", 100);
	workload_cache_fixture_read_again(&f, "one", "u-one", "1", "", 120);
	workload_cache_fixture_workload_at(&f, "one", "u-one", "2", "", 110);
	assert_int_equal(cpu_of(&f, "one"), 1000);
	workload_cache_fixture_workload_at(&f, "one", "u-new", "3", "", 115);
	assert_int_equal(cpu_of(&f, "one"), 3000);
	workload_cache_fixture_gone(&f, SCHED_WORKLOADS, "ns/one");

	workload_cache_fixture_workload_at(&f, "two", "u-two", "2", "", 100);
	workload_cache_fixture_cycle(&f);
	write = workload_cache_fixture_write(&f, "two");
	workload_cache_fixture_read_again(&f, "two", "u-two", "1", "", 120);
	workload_cache_fixture_workload_at(&f, "two", "u-two", "2", "", 110);
	workload_cache_fixture_done(&f, "two", write, SCHED_STALE, 0);
	assert_int_equal(cpu_of(&f, "two"), 1000);
	workload_cache_fixture_finish(&f);
}

/* A write replaces what was read, not what has not been looked at. */
static void a_write_names_the_version_that_was_read(void **state)
{
	struct workload_cache_fixture f;
	struct workload_cache_write w;

	(void)state;
	begin(&f);
	workload_cache_fixture_workload_at(&f, "one", "u-one", "2", "", 100);
	workload_cache_fixture_cycle(&f);
	workload_cache_fixture_read_again(&f, "one", "u-one", "1", "", 120);
	assert_true(workload_cache_next_write(f.cache, &w));
	assert_int_equal(w.resource_version, 100);
	workload_cache_fixture_finish(&f);
}

/* A gate that we wrote as closed in one field is opened by another client in the other, or in the
 * same one; a client that finds it open closes it. */
static void a_gate_is_opened_and_closed_in_either_field(void **state)
{
	static const struct {
		const char *entry;
		bool gated;
	} steps[] = {
		{ "\"position\":\"Closed\"", true },
		{ "\"position\":\"Closed\",\"state\":\"Open\"", false },
		{ "\"position\":\"Open\",\"state\":\"Open\"", false },
		{ "\"position\":\"Open\",\"state\":\"Closed\"", true },
		{ "\"position\":\"Closed\",\"state\":\"Closed\"", true },
		{ "\"position\":\"Open\",\"state\":\"Closed\"", false },
	};
	struct workload_cache_fixture f;

	(void)state;
	begin(&f);
	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		char status[256];

		snprintf(status, sizeof(status), "\"preemptionGates\":[{\"name\":\"g\",%s}]",
			 steps[i].entry);
		workload_cache_fixture_gated(&f, "one", status);
		if (workload_cache_fixture_get(&f, "one")->flags.preemption_gated !=
		    steps[i].gated) {
			fail_msg("step %zu", i);
		}
	}
	/* One of which nothing is known stays closed. */
	workload_cache_fixture_gated(&f, "two",
				     "\"preemptionGates\":[{\"name\":\"g\",\"position\":\"Open\","
				     "\"state\":\"Closed\"}]");
	assert_true(workload_cache_fixture_get(&f, "two")->flags.preemption_gated);
	workload_cache_fixture_finish(&f);
}

static void finished_and_bad_ones(void **state)
{
	struct workload_cache_fixture f;

	(void)state;
	begin(&f);
	workload_cache_fixture_workload(
		&f, "done", 0, "2", "\"conditions\":[{\"type\":\"Finished\",\"status\":\"True\"}]");
	assert_int_equal(workload_cache_fixture_get(&f, "done")->pending.where, QUOTA_NOWHERE);
	assert_int_equal(f.nbad, 0);
	workload_cache_fixture_see(
		&f, SCHED_WORKLOADS, "ns/bad",
		"{\"metadata\":{\"name\":\"bad\",\"namespace\":\"ns\"},\"spec\":{"
		"\"podSets\":[{\"count\":-1}]}}");
	assert_int_equal(f.nbad, 1);
	assert_null(workload_cache_fixture_get(&f, "bad"));
	workload_cache_fixture_finish(&f);
}

/* Most of its status is not kept: a write would remove the rest. */
static void of_a_finished_one_nothing_is_written(void **state)
{
	struct condition evicted = { "Evicted", "True", "PodsReadyTimeout", "m", 5, 1 };
	struct workload_cache_fixture f;
	const struct workload_status *status;
	const struct workload *w;

	(void)state;
	begin(&f);
	workload_cache_fixture_workload(&f, "done", 0, "2", WORKLOAD_CACHE_FIXTURE_ADMITTED("2"));
	w = workload_cache_fixture_get(&f, "done");
	assert_int_equal(w->object.npodsets, 1);
	workload_cache_fixture_workload(&f, "done", 0, "2",
					WORKLOAD_CACHE_FIXTURE_CONDITION("Finished"));
	status = workload_cache_status(f.cache, w);
	assert_true(workload_status_is_true(status, "Finished"));
	assert_string_equal(workload_status_condition(status, "Finished")->message, "");
	assert_int_equal(w->object.npodsets, 0);
	(void)workload_status_set_condition(workload_cache_edit(f.cache, w), &evicted);
	assert_false(workload_cache_commit(f.cache, w));
	workload_cache_fixture_no_write(&f);
	/* A user restores it. */
	workload_cache_fixture_workload(&f, "done", 0, "2", "");
	assert_int_equal(w->object.npodsets, 1);
	assert_int_equal(w->pending.where, QUOTA_HEAP);
	workload_cache_fixture_finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ready_checks_admit_with_the_reservation),
		cmocka_unit_test(quota_comes_from_the_status),
		cmocka_unit_test(a_removal_wakes_waiting_workloads),
		cmocka_unit_test(a_status_may_change_while_the_first_lists_come_in),
		cmocka_unit_test(quota_in_a_queue_that_appears_is_held),
		cmocka_unit_test(updates_of_before_a_write_are_not_read),
		cmocka_unit_test(an_update_that_came_meanwhile_counts_when_it_is_newer),
		cmocka_unit_test(a_failed_admission_is_taken_back),
		cmocka_unit_test(a_failed_preemption_is_taken_back),
		cmocka_unit_test(a_reason_that_was_not_written_is_found_again),
		cmocka_unit_test(an_eviction_counts_as_soon_as_it_is_decided),
		cmocka_unit_test(one_that_is_decided_to_be_finished_does_not_wait),
		cmocka_unit_test(writes_of_a_workload_go_one_by_one),
		cmocka_unit_test(an_eviction_that_is_refused_is_put_off),
		cmocka_unit_test(a_failed_write_does_not_undo_the_one_before),
		cmocka_unit_test(writes_of_others_are_not_overwritten),
		cmocka_unit_test(a_workload_that_has_finished_meanwhile_is_not_evicted),
		cmocka_unit_test(a_namesake_starts_anew),
		cmocka_unit_test(a_deletion_frees_its_quota_at_once),
		cmocka_unit_test(an_object_that_was_read_is_no_newer_than_the_watch),
		cmocka_unit_test(an_old_answer_does_not_replace_a_waiting_object),
		cmocka_unit_test(a_watch_that_is_behind_does_not_undo_what_was_read),
		cmocka_unit_test(a_write_names_the_version_that_was_read),
		cmocka_unit_test(a_gate_is_opened_and_closed_in_either_field),
		cmocka_unit_test(finished_and_bad_ones),
		cmocka_unit_test(of_a_finished_one_nothing_is_written),
	};

	return cmocka_run_group_tests_name("workloads/ingest/workload_cache_workload", tests, NULL,
					   NULL);
}
