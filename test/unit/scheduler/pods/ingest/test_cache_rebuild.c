#include "lib/pods/cache_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/model/access.h"

static void test_rebuilt_from_what_the_pods_prove(void **state)
{
	static const struct {
		struct cache_fixture_pod pod;
		enum charge_state charge;
	} rows[] = {
		{ { .name = "a", .group = "g", .opted_in = true, .reserved = "q" },
		  CHARGE_UNGATED },
		{ { .name = "b",
		    .group = "g",
		    .opted_in = true,
		    .reserved = "q",
		    .reason = "Unschedulable" },
		  CHARGE_PUBLISHED },
		{ { .name = "c", .group = "g", .opted_in = true, .gated = true, .reserved = "q" },
		  CHARGE_NONE }, /* forged: its gate is still there */
		{ { .name = "d", .group = "g", .opted_in = true }, CHARGE_NONE },
		{ { .name = "e", .group = "g", .reserved = "q" },
		  CHARGE_UNGATED }, /* the mark outlasts the annotation */
		{ { .name = "f", .group = "g", .node = "n", .phase = "Running" }, CHARGE_BOUND },
		{ { .name = "h", .group = "g", .node = "n", .phase = "Running", .deleted = true },
		  CHARGE_BOUND },
		{ { .name = "i", .group = "g", .node = "n", .phase = "Succeeded" }, CHARGE_NONE },
		{ { .name = "j", .group = "nowhere", .opted_in = true, .reserved = "q" },
		  CHARGE_NONE },
		{ { .name = "k", .group = "g", .opted_in = true, .reserved = "q", .cpu = "0" },
		  CHARGE_NONE }, /* best effort: nothing to charge */
		{ { .name = "l", .group = "nowhere", .node = "n", .phase = "Running" },
		  CHARGE_BOUND }, /* its PodGroup is not there: to the default queue */
		{ { .name = "m",
		    .group = "nowhere",
		    .scheduler = "default-scheduler",
		    .opted_in = true,
		    .reserved = "q",
		    .reason = "Unschedulable" },
		  CHARGE_UNGATED }, /* published by its own scheduler */
	};
	struct cache_fixture *f = *state;

	(void)cache_fixture_group(f, "g", "q", 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		(void)cache_fixture_pod(f, &rows[i].pod);
	}
	for (int again = 0; again < 2; again++) {
		cache_rebuild_ledger(f->cache, f->now);
		cache_fixture_check(f);
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			const struct task *t = cache_fixture_task(f, rows[i].pod.name);

			if (t->charge != rows[i].charge) {
				fail_msg("%s: %s", t->name,
					 ledger_state_name((enum charge_state)t->charge));
			}
		}
		assert_int_equal(cache_fixture_charged(f, "q"), 6000);
		assert_int_equal(cache_fixture_charged(f, "default"), 1000);
	}
}

/* Its gang cannot be placed before the wait is over: quota for it would be taken from others. */
static void test_a_pod_that_waits_after_an_attempt_holds_no_quota(void **state)
{
	static const struct {
		const char *reason;
		bool waits;
		enum charge_state charge;
	} rows[] = {
		{ "NotReadyForScheduling", true, CHARGE_NONE },
		{ "NotReadyForScheduling", false, CHARGE_UNGATED },
		{ "Unschedulable", true, CHARGE_PUBLISHED }, /* autoscalers see it */
	};
	struct cache_fixture *f = *state;

	(void)cache_fixture_group(f, "g", "q", 1);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cache_fixture_pod p = { .name = "p",
					       .group = "g",
					       .opted_in = true,
					       .reserved = "q",
					       .reason = rows[i].reason };
		struct task *t = cache_fixture_pod(f, &p);

		unit_row(rows[i].reason);
		t->retry_at = rows[i].waits ? f->now + 1 : MODEL_TIME_NONE;
		cache_rebuild_ledger(f->cache, f->now);
		cache_fixture_check(f);
		assert_int_equal(t->charge, rows[i].charge);
	}
}

static void test_writes_in_flight_keep_their_charge(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod p = { .name = "p", .group = "g", .opted_in = true, .gated = true };
	struct cache_fixture_pod b = { .name = "b", .group = "g" };
	struct queue *q = queue_find(f->c, STR_LIT("q"));
	struct task *t, *u;

	(void)cache_fixture_group(f, "g", "q", 1);
	t = cache_fixture_pod(f, &p);
	ledger_charge(f->c, t, q, CHARGE_PATCHING);
	u = cache_fixture_pod(f, &b);
	ledger_charge(f->c, u, q, CHARGE_ASSUMED);
	cluster_task_set_status(f->c, u, TASK_BINDING, cache_fixture_node(f, "n", "8"));
	cache_rebuild_ledger(f->cache, f->now);
	cache_fixture_check(f);
	assert_int_equal(t->charge, CHARGE_PATCHING);
	assert_int_equal(u->charge, CHARGE_ASSUMED);
}

/* The PodGroup names "default" by now; q granted the quota. */
static void test_the_queue_that_granted_it_is_charged(void **state)
{
	static const struct {
		struct cache_fixture_pod pod;
		const char *queue;
	} rows[] = {
		{ { .node = "n", .phase = "Running", .opted_in = true, .reserved = "q" }, "q" },
		{ { .node = "n", .phase = "Running", .reserved = "q" }, "q" },
		{ { .node = "n", .phase = "Running", .reserved = "gone" }, "default" },
		{ { .node = "n", .phase = "Running", .reserved = "No Name" }, "default" },
		{ { .node = "n", .phase = "Running" }, "default" },
		{ { .opted_in = true, .reserved = "q" }, "q" },
		{ { .opted_in = true, .reserved = "q", .reason = "Unschedulable" }, "q" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cache_fixture *f = cache_fixture_create();
		struct cache_fixture_pod p = rows[i].pod;

		p.name = "p";
		p.group = "g";
		(void)cache_fixture_group(f, "g", "default", 1);
		(void)cache_fixture_pod(f, &p);
		for (int again = 0; again < 2; again++) {
			cache_rebuild_ledger(f->cache, f->now);
			cache_fixture_check(f);
			if (cache_fixture_charged(f, rows[i].queue) != 1000) {
				fail_msg("row %zu: %s is not charged", i, rows[i].queue);
			}
		}
		cache_fixture_destroy(f);
	}
}

/* Without a mark, what this process has seen counts. */
static void test_an_edit_does_not_count_at_the_next_leadership(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod p = { .name = "p", .group = "g", .node = "n", .phase = "Running" };

	(void)cache_fixture_group(f, "g", "q", 1);
	(void)cache_fixture_pod(f, &p);
	(void)cache_fixture_group(f, "g", "default", 1);
	cache_rebuild_ledger(f->cache, f->now);
	cache_fixture_check(f);
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
}

/* Created on its node, in a PodGroup of a queue that its namespace may not use. The mark of a
 * charge shows that the queue gave it quota before the rule was there. */
static void test_a_queue_that_is_barred_is_charged_by_mark_alone(void **state)
{
	static const struct {
		const char *reserved, *queue;
	} rows[] = { { NULL, "default" }, { "q", "q" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cache_fixture *f = cache_fixture_create();
		const struct cache_fixture_pod p = { .name = "p",
						     .group = "g",
						     .node = "n",
						     .phase = "Running",
						     .reserved = rows[i].reserved };

		unit_row(rows[i].queue);
		(void)cache_fixture_group(f, "g", "q", 1);
		cache_fixture_json(f, SCHED_NAMESPACES, "{\"metadata\":{\"name\":\"ns\"}}");
		(void)access_set_queue(f->c, STR_LIT("q"), "team=a");
		(void)access_update(f->c);
		(void)cache_fixture_pod(f, &p);
		cache_rebuild_ledger(f->cache, f->now);
		cache_fixture_check(f);
		assert_int_equal(cache_fixture_charged(f, rows[i].queue), 1000);
		cache_fixture_destroy(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CACHE_FIXTURE_TEST(test_rebuilt_from_what_the_pods_prove),
		CACHE_FIXTURE_TEST(test_a_pod_that_waits_after_an_attempt_holds_no_quota),
		CACHE_FIXTURE_TEST(test_writes_in_flight_keep_their_charge),
		CACHE_FIXTURE_TEST(test_the_queue_that_granted_it_is_charged),
		CACHE_FIXTURE_TEST(test_an_edit_does_not_count_at_the_next_leadership),
		cmocka_unit_test(test_a_queue_that_is_barred_is_charged_by_mark_alone),
	};

	return cmocka_run_group_tests_name("pods/ingest/cache_rebuild", tests, NULL, NULL);
}
