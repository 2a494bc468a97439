#include <stdio.h>

#include "lib/pods/cache_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/model/access.h"

/* Every status of the pod against every state of a charge it may come with. */
static const struct {
	struct cache_fixture_pod pod;
	enum charge_state before, after;
} settle_rows[] = {
	{ { .opted_in = true }, CHARGE_PATCHING, CHARGE_UNGATED },
	{ { .opted_in = true, .gated = true }, CHARGE_PATCHING, CHARGE_PATCHING },
	{ { .opted_in = true, .reason = "Unschedulable" }, CHARGE_UNGATED, CHARGE_PUBLISHED },
	{ { .opted_in = true, .reason = "NotReadyForScheduling" },
	  CHARGE_PUBLISHED,
	  CHARGE_UNGATED },
	{ { .opted_in = true, .reason = "SchedulerError" }, CHARGE_PUBLISHED, CHARGE_PUBLISHED },
	{ { .opted_in = false }, CHARGE_UNGATED, CHARGE_NONE },
	{ { .opted_in = true, .cpu = "0" }, CHARGE_PUBLISHED, CHARGE_NONE },
	{ { .opted_in = true, .node = "n" }, CHARGE_PATCHING, CHARGE_BOUND },
	{ { .opted_in = true, .node = "n" }, CHARGE_NONE, CHARGE_BOUND },
	{ { .opted_in = true, .deleted = true }, CHARGE_PUBLISHED, CHARGE_PUBLISHED },
	{ { .opted_in = true, .phase = "Failed" }, CHARGE_PUBLISHED, CHARGE_NONE },
	{ { .opted_in = true, .scheduler = "other" }, CHARGE_UNGATED, CHARGE_NONE },
	{ { .opted_in = true, .scheduler = "other", .node = "n" }, CHARGE_UNGATED, CHARGE_NONE },
	/* Another scheduler may bind it as soon as its gate is off. */
	{ { .opted_in = true, .scheduler = "default-scheduler" }, CHARGE_PATCHING, CHARGE_UNGATED },
	{ { .opted_in = true, .gated = true, .scheduler = "default-scheduler" },
	  CHARGE_PATCHING,
	  CHARGE_PATCHING },
	{ { .opted_in = true, .scheduler = "default-scheduler", .reason = "Unschedulable" },
	  CHARGE_UNGATED,
	  CHARGE_UNGATED },
	{ { .scheduler = "default-scheduler", .reserved = "q" }, CHARGE_UNGATED, CHARGE_UNGATED },
	{ { .scheduler = "default-scheduler" }, CHARGE_UNGATED, CHARGE_NONE },
	{ { .opted_in = true, .scheduler = "default-scheduler", .reserved = "q" },
	  CHARGE_NONE,
	  CHARGE_UNGATED },
	{ { .opted_in = true, .scheduler = "default-scheduler" }, CHARGE_NONE, CHARGE_NONE },
	{ { .opted_in = true, .scheduler = "default-scheduler", .reserved = "q", .gated = true },
	  CHARGE_NONE,
	  CHARGE_NONE },
	{ { .opted_in = true, .scheduler = "default-scheduler", .node = "n" },
	  CHARGE_NONE,
	  CHARGE_BOUND },
	{ { .opted_in = true, .scheduler = "default-scheduler", .node = "n" },
	  CHARGE_UNGATED,
	  CHARGE_BOUND },
	{ { .opted_in = true, .scheduler = "default-scheduler", .node = "n", .phase = "Succeeded" },
	  CHARGE_BOUND,
	  CHARGE_NONE },
};

static void test_settles_to_what_the_pod_shows(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(settle_rows); i++) {
		struct cache_fixture *f = cache_fixture_create();
		struct cache_fixture_pod p = {
			.name = "p", .group = "g", .opted_in = true, .gated = true
		};
		struct task *t;

		(void)cache_fixture_node(f, "n", "8");
		(void)cache_fixture_group(f, "g", "q", 1);
		t = cache_fixture_pod(f, &p);
		if (settle_rows[i].before != CHARGE_NONE) {
			ledger_charge(f->c, t, queue_find(f->c, STR_LIT("q")),
				      settle_rows[i].before);
		}
		p = settle_rows[i].pod;
		p.name = "p";
		p.group = "g";
		t = cache_fixture_pod(f, &p);
		if ((t == NULL ? CHARGE_NONE : t->charge) != settle_rows[i].after) {
			fail_msg("row %zu: %s", i, ledger_state_name((enum charge_state)t->charge));
		}
		assert_int_equal(cache_fixture_charged(f, "q"),
				 settle_rows[i].after == CHARGE_NONE ? 0 : 1000);
		cache_fixture_destroy(f);
	}
}

/* A tenant names a node at creation as it likes; the phase is the kubelet's. */
static void test_a_node_that_does_not_exist_is_charged_nothing(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod p = { .name = "p", .group = "g", .node = "n" };
	struct cache_fixture_pod deleted = { .name = "d", .group = "g", .node = "n" };
	struct cache_fixture_pod runs = {
		.name = "r", .group = "g", .node = "gone", .phase = "Running"
	};

	deleted.deleted = true;
	(void)cache_fixture_group(f, "g", "q", 1);
	(void)cache_fixture_pod(f, &p);
	(void)cache_fixture_pod(f, &deleted);
	assert_int_equal(cache_fixture_charged(f, "q"), 0);
	cache_rebuild_ledger(f->cache, f->now);
	assert_int_equal(cache_fixture_charged(f, "q"), 0);
	(void)cache_fixture_pod(f, &runs);
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
	(void)cache_fixture_node(f, "n", "8");
	assert_int_equal(cache_fixture_charged(f, "q"), 3000);
	cache_fixture_delete(f, SCHED_NODES, "n");
	assert_int_equal(cache_fixture_charged(f, "q"), 3000);
	cache_rebuild_ledger(f->cache, f->now);
	assert_int_equal(cache_fixture_charged(f, "q"), 3000);
}

/* Nor does a kubelet take what its node cannot hold. */
static void test_more_than_its_node_has_is_charged_when_it_runs(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod p = { .name = "p", .group = "g", .node = "n", .cpu = "9" };
	struct cache_fixture_pod ours = {
		.name = "o", .group = "g", .node = "n", .cpu = "9", .bound_by_us = true
	};
	struct cache_fixture_pod granted = { .name = "r",
					     .group = "g",
					     .node = "n",
					     .cpu = "9",
					     .opted_in = true,
					     .reserved = "q" };

	(void)cache_fixture_node(f, "n", "8");
	(void)cache_fixture_group(f, "g", "q", 1);
	(void)cache_fixture_pod(f, &p);
	assert_int_equal(cache_fixture_charged(f, "q"), 0);
	cache_rebuild_ledger(f->cache, f->now);
	assert_int_equal(cache_fixture_charged(f, "q"), 0);
	(void)cache_fixture_pod(f, &ours);
	(void)cache_fixture_pod(f, &granted);
	assert_int_equal(cache_fixture_charged(f, "q"), 18000);
	cache_rebuild_ledger(f->cache, f->now);
	assert_int_equal(cache_fixture_charged(f, "q"), 18000);
	p.phase = "Running";
	(void)cache_fixture_pod(f, &p);
	assert_int_equal(cache_fixture_charged(f, "q"), 27000);
}

static void test_a_node_that_grows_can_hold_it(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod p = { .name = "p", .group = "g", .node = "n", .cpu = "9" };

	(void)cache_fixture_node(f, "n", "8");
	(void)cache_fixture_group(f, "g", "q", 1);
	(void)cache_fixture_pod(f, &p);
	(void)cache_fixture_node(f, "n", "9");
	assert_int_equal(cache_fixture_charged(f, "q"), 9000);
}

/* A tenant puts a pod on a node, in a PodGroup of a queue that is for others. */
static void test_a_queue_of_others_is_charged_nothing(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod p = { .name = "p", .group = "g", .node = "n" };
	struct cache_fixture_pod before = {
		.name = "b", .group = "g", .node = "n", .opted_in = true, .reserved = "q"
	};

	(void)cache_fixture_node(f, "n", "8");
	(void)cache_fixture_group(f, "g", "q", 1);
	assert_true(access_set_queue(f->c, STR_LIT("q"), "kubernetes.io/metadata.name=other"));
	(void)queue_topology_changed(f->c);
	cache_rebuild_ledger(f->cache, f->now);
	(void)cache_fixture_pod(f, &p);
	assert_int_equal(cache_fixture_charged(f, "q"), 0);
	assert_int_equal(cache_fixture_charged(f, "default"), 1000);
	(void)cache_fixture_pod(f, &before);
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
	cache_rebuild_ledger(f->cache, f->now);
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
	assert_int_equal(cache_fixture_charged(f, "default"), 1000);
}

/* A tenant puts a pod on a node, in a PodGroup that does not exist; then it makes the PodGroup. */
static void test_without_its_podgroup_the_default_queue_is_charged(void **state)
{
	struct cache_fixture_pod p = { .name = "p", .group = "g", .node = "n" };

	(void)state;
	for (size_t restarts = 0; restarts < 2; restarts++) {
		struct cache_fixture *f = cache_fixture_create();

		(void)cache_fixture_node(f, "n", "8");
		(void)cache_fixture_group(f, "other", "q", 1);
		(void)cache_fixture_pod(f, &p);
		/* The PodGroup may be in a list that has not come in. */
		assert_int_equal(cache_fixture_charged(f, "default"), 0);
		cache_rebuild_ledger(f->cache, f->now);
		assert_int_equal(cache_fixture_charged(f, "default"), 1000);
		cache_fixture_delete(f, SCHED_PODS, "ns/p");
		assert_int_equal(cache_fixture_charged(f, "default"), 0);
		(void)cache_fixture_pod(f, &p);
		assert_int_equal(cache_fixture_charged(f, "default"), 1000);
		if (restarts > 0) {
			cache_rebuild_ledger(f->cache, f->now);
			assert_int_equal(cache_fixture_charged(f, "default"), 1000);
		}
		(void)cache_fixture_group(f, "g", "q", 1);
		assert_int_equal(cache_fixture_charged(f, "default"), 0);
		assert_int_equal(cache_fixture_charged(f, "q"), 1000);
		cache_fixture_delete(f, SCHED_PODGROUPS, "ns/g");
		(void)cache_fixture_group(f, "g", "default", 1);
		assert_int_equal(cache_fixture_charged(f, "q"), 1000);
		cache_fixture_destroy(f);
	}
}

/* The binding may arrive whatever becomes of the PodGroup; when it does not, the pod waits again.
 */
static void test_a_binding_keeps_its_charge_without_its_group(void **state)
{
	static const struct {
		enum sched_outcome outcome;
		int64_t charged;
	} rows[] = { { SCHED_DONE, 1000 }, { SCHED_STALE, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cache_fixture *f = cache_fixture_create();
		struct cache_fixture_pod p = { .name = "p", .group = "g", .opted_in = true };
		struct node *n = cache_fixture_node(f, "n", "8");
		struct task *t;

		(void)cache_fixture_group(f, "g", "q", 1);
		t = cache_fixture_pod(f, &p);
		ledger_charge(f->c, t, queue_find(f->c, STR_LIT("q")), CHARGE_ASSUMED);
		cluster_task_set_status(f->c, t, TASK_BINDING, n);
		cache_fixture_delete(f, SCHED_PODGROUPS, "ns/g");
		assert_int_equal(cache_fixture_charged(f, "q"), 1000);
		cache_fixture_done(f, SCHED_REQ_BIND, "ns/p", "uid-p", rows[i].outcome);
		assert_int_equal(cache_fixture_charged(f, "q"), rows[i].charged);
		cache_fixture_destroy(f);
	}
}

/* A tenant edits its PodGroup, then the group annotation, of a pod that runs. */
static void test_an_edit_moves_no_charge(void **state)
{
	static const char *const nowhere = "no-such-queue";
	struct cache_fixture *f = *state;
	struct cache_fixture_pod p = {
		.name = "p", .group = "g", .node = "n", .phase = "Running", .opted_in = true
	};
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 1);
	(void)cache_fixture_group(f, "h", "default", 1);
	t = cache_fixture_pod(f, &p);
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
	(void)cache_fixture_group(f, "g", "default", 1);
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
	(void)cache_fixture_group(f, "g", nowhere, 1);
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
	p.group = "h";
	t = cache_fixture_pod(f, &p);
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
	assert_int_equal(cache_fixture_charged(f, "default"), 0);
	assert_int_equal(t->charge, CHARGE_BOUND);
}

/* Its quota is free for others, so it must be withdrawn. */
/* The quota of a pod that another scheduler is free to bind outlasts its queue, also if that was
 * deleted while the patch was under way. */
static void test_what_is_let_go_stays_charged(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod p = { .name = "p",
				       .group = "g",
				       .scheduler = "default-scheduler",
				       .opted_in = true,
				       .reserved = "q" };
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 1);
	t = cache_fixture_pod(f, &p);
	assert_int_equal(t->charge, CHARGE_UNGATED);
	cache_fixture_delete(f, SCHED_PODGROUPS, "ns/g");
	cache_fixture_delete(f, SCHED_QUEUES, "q");
	assert_int_equal(t->charge, CHARGE_UNGATED);
	assert_int_equal(t->charge_queue, queue_find(f->c, STR_LIT("q"))->id);

	p.name = "late";
	p.gated = true;
	p.reserved = NULL;
	t = cache_fixture_pod(f, &p);
	p.gated = false;
	p.reserved = "q";
	t = cache_fixture_pod(f, &p);
	assert_int_equal(t->charge, CHARGE_NONE);
	assert_false(cluster_task_is_stranded(f->c, t));
	(void)cache_fixture_queue(f, "q", NULL, "4");
	t = cache_fixture_pod(f, &p);
	assert_int_equal(t->charge, CHARGE_UNGATED);
	assert_int_equal(cache_fixture_charged(f, "q"), 2000);
}

/* The patch that takes the gate off may be through already, and then another scheduler may start
 * the pod: its quota is free only when the answer says that the gate is still on. */
static void test_a_patch_in_flight_keeps_its_charge_without_its_group(void **state)
{
	static const struct {
		enum sched_resource deleted;
		const char *key;
		enum sched_outcome outcome;
		enum charge_state after;
	} rows[] = {
		{ SCHED_PODGROUPS, "ns/g", SCHED_DONE, CHARGE_UNGATED },
		{ SCHED_PODGROUPS, "ns/g", SCHED_STALE, CHARGE_NONE },
		{ SCHED_QUEUES, "q", SCHED_DONE, CHARGE_UNGATED },
		{ SCHED_QUEUES, "q", SCHED_STALE, CHARGE_NONE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cache_fixture *f = cache_fixture_create();
		struct cache_fixture_pod p = { .name = "p",
					       .group = "g",
					       .opted_in = true,
					       .gated = true,
					       .scheduler = "default-scheduler" };
		bool is_queue = rows[i].deleted == SCHED_QUEUES;
		struct task *t;

		unit_row_number(i);
		(void)cache_fixture_group(f, "g", "q", 1);
		t = cache_fixture_pod(f, &p);
		ledger_charge(f->c, t, queue_find(f->c, STR_LIT("q")), CHARGE_PATCHING);
		cache_fixture_delete(f, rows[i].deleted, rows[i].key);
		assert_int_equal(t->charge, CHARGE_PATCHING);
		assert_int_equal(cache_fixture_charged(f, "q"), 1000);
		/* An update from before the patch. */
		t = cache_fixture_pod(f, &p);
		assert_int_equal(t->charge, CHARGE_PATCHING);
		cache_fixture_done(f, SCHED_REQ_UNGATE, "ns/p", "uid-p", rows[i].outcome);
		assert_int_equal(t->charge, rows[i].after);
		if (is_queue && rows[i].after == CHARGE_NONE) {
			/* The next object of any kind removes it. */
			cache_fixture_delete(f, SCHED_PODGROUPS, "ns/g");
			assert_null(queue_find(f->c, STR_LIT("q")));
		} else {
			assert_int_equal(cache_fixture_charged(f, "q"),
					 rows[i].after == CHARGE_NONE ? 0 : 1000);
		}
		cache_fixture_destroy(f);
	}
}

static void test_a_published_pod_without_its_group_is_stranded(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod p = {
		.name = "p", .group = "g", .opted_in = true, .reason = "Unschedulable"
	};
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 1);
	t = cache_fixture_pod(f, &p);
	if (t->charge == CHARGE_NONE) {
		ledger_charge(f->c, t, queue_find(f->c, STR_LIT("q")), CHARGE_PUBLISHED);
	}
	assert_int_equal(f->c->stranded.n, 0);
	cache_fixture_delete(f, SCHED_PODGROUPS, "ns/g");
	assert_int_equal(cache_fixture_charged(f, "q"), 0);
	assert_int_equal(f->c->stranded.n, 1);
	assert_true(cluster_task_is_stranded(f->c, t));
	/* A reason of another client: autoscalers may react to it as well. */
	p.reason = "Other";
	t = cache_fixture_pod(f, &p);
	assert_true(cluster_task_is_stranded(f->c, t));
	p.reason = "NotReadyForScheduling";
	t = cache_fixture_pod(f, &p);
	assert_false(cluster_task_is_stranded(f->c, t));
}

/* Each is listed once, and the list does not grow beyond twice the pods that are stranded. */
static void test_stranded_pods_are_listed_once(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod p = {
		.name = "p0", .group = "g", .opted_in = true, .reason = "Unschedulable"
	};
	char names[8][8], key[16];
	struct task *t;
	size_t left = 0;

	(void)cache_fixture_group(f, "g", "q", 1);
	for (int i = 0; i < 8; i++) {
		snprintf(names[i], sizeof(names[i]), "p%d", i);
		p.name = names[i];
		t = cache_fixture_pod(f, &p);
		if (t->charge == CHARGE_NONE) {
			ledger_charge(f->c, t, queue_find(f->c, STR_LIT("q")), CHARGE_PUBLISHED);
		}
	}
	cache_fixture_delete(f, SCHED_PODGROUPS, "ns/g");
	assert_int_equal(f->c->stranded.n, 8);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 8; i++) {
			p.name = names[i];
			(void)cache_fixture_pod(f, &p);
		}
	}
	assert_int_equal(f->c->stranded.n, 8);
	/* Another pod gets the id, and an entry of its own. */
	for (int round = 0; round < 20; round++) {
		p.name = names[0];
		p.uid = round % 2 == 0 ? "other" : "another";
		(void)cache_fixture_pod(f, &p);
	}
	for (int i = 1; i < 8; i++) {
		snprintf(key, sizeof(key), "ns/%s", names[i]);
		cache_fixture_delete(f, SCHED_PODS, key);
	}
	assert_in_range(f->c->stranded.n, 1, 17);
	for (size_t i = 0; i < f->c->stranded.n; i++) {
		left += cluster_task_stranded_at(f->c, i) != NULL;
	}
	assert_int_equal(left, 1);
}

/* The quota that is held for it is released: the cycle is to report that pods left for nothing. */
static void test_a_preemptor_without_its_group_is_stranded(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod p = { .name = "p", .group = "g", .opted_in = true, .gated = true };
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 1);
	t = cache_fixture_pod(f, &p);
	ledger_charge(f->c, t, queue_find(f->c, STR_LIT("q")), CHARGE_AWAITING_VICTIMS);
	t->victims = 1;
	cache_fixture_delete(f, SCHED_PODGROUPS, "ns/g");
	assert_int_equal(cache_fixture_charged(f, "q"), 0);
	assert_int_equal(f->c->stranded.n, 1);
	assert_true(cluster_task_has_lost_hold(t));
	t->victims = 0;
	assert_false(cluster_task_is_stranded(f->c, t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_settles_to_what_the_pod_shows),
		CACHE_FIXTURE_TEST(test_a_node_that_does_not_exist_is_charged_nothing),
		CACHE_FIXTURE_TEST(test_more_than_its_node_has_is_charged_when_it_runs),
		CACHE_FIXTURE_TEST(test_a_node_that_grows_can_hold_it),
		CACHE_FIXTURE_TEST(test_a_queue_of_others_is_charged_nothing),
		cmocka_unit_test(test_without_its_podgroup_the_default_queue_is_charged),
		cmocka_unit_test(test_a_binding_keeps_its_charge_without_its_group),
		CACHE_FIXTURE_TEST(test_an_edit_moves_no_charge),
		CACHE_FIXTURE_TEST(test_what_is_let_go_stays_charged),
		cmocka_unit_test(test_a_patch_in_flight_keeps_its_charge_without_its_group),
		CACHE_FIXTURE_TEST(test_a_published_pod_without_its_group_is_stranded),
		CACHE_FIXTURE_TEST(test_stranded_pods_are_listed_once),
		CACHE_FIXTURE_TEST(test_a_preemptor_without_its_group_is_stranded),
	};

	return cmocka_run_group_tests_name("pods/ingest/cache_charge", tests, NULL, NULL);
}
