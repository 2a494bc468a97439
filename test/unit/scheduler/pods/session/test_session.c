#include "scheduler/pods/session/session.h"

#include "lib/pods/core_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"

static void reads_the_cluster_until_something_changes(void **state)
{
	struct core_fixture sf;
	struct cluster *c;
	struct podgroup *g;
	struct task *t, *be;

	(void)state;
	core_fixture_init(&sf, NULL);
	c = sf.f.cluster;
	cluster_fixture_queue(c, "q", NULL, 5000);
	cluster_fixture_node(c, "n1", 4000);
	g = cluster_fixture_podgroup(c, "j", "q", 2);
	g->phase = PODGROUP_INQUEUE;
	t = cluster_fixture_task(c, "p1", g, 1000);
	be = cluster_fixture_task(c, "p2", g, 0);
	ledger_charge(c, t, c->queues.v[g->queue], CHARGE_BOUND);
	cluster_task_set_status(c, t, TASK_RUNNING, c->nodes.v[0]);
	core_fixture_open(&sf);
	assert_int_equal(session_task_status(sf.s, t), TASK_RUNNING);
	assert_int_equal(session_task_node(sf.s, t), 0);
	assert_int_equal(session_task_charge(sf.s, t), CHARGE_BOUND);
	assert_false(session_task_was_revoked(sf.s, t));
	assert_ptr_equal(session_node_used(sf.s, c->nodes.v[0]), &c->nodes.v[0]->used);
	assert_true(res_is_zero(session_node_pipelined(sf.s, c->nodes.v[0])));
	assert_int_equal(session_node_version(sf.s, c->nodes.v[0]), 0);
	assert_int_equal(session_podgroup_phase(sf.s, g), PODGROUP_INQUEUE);
	assert_int_equal(session_podgroup_ready_count(sf.s, g), 1);
	assert_int_equal(session_podgroup_best_effort_pending(sf.s, g), 1);
	assert_int_equal(session_queue_charged(sf.s, c->queues.v[g->queue])->v[RES_CPU], 1000);
	assert_int_equal(session_queue_limit(sf.s, c->queues.v[g->queue])->v[RES_CPU], 5000);
	assert_true(session_queue_limit(sf.s, c->queues.v[g->queue])->v[RES_MEMORY] ==
		    RES_UNLIMITED);
	assert_true(session_has_quota_plugin(sf.s));
	assert_true(session_is_due(sf.s, c->queues.v[g->queue]));
	statement_allocate(sf.s, be, c->nodes.v[0]);
	assert_int_equal(session_podgroup_best_effort_pending(sf.s, g), 0);
	core_fixture_finish(&sf);
}

static void the_nearest_full_queue_is_found_and_described(void **state)
{
	static const struct {
		int64_t beside, cpu; /* charged to a queue beside it; asked for */
		const char *full;
	} rows[] = { { 1000, 1000, NULL }, { 1500, 1000, "top" }, { 1500, 2500, "below" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct core_fixture sf;
		struct cluster *c;
		struct queue *below, *beside;
		const struct queue *full;
		struct task *t, *other;
		uint32_t over = 0;

		unit_row_number(i);
		core_fixture_init(&sf, NULL);
		c = sf.f.cluster;
		cluster_fixture_queue(c, "top", NULL, 2000);
		below = cluster_fixture_queue(c, "below", "top", 2000);
		beside = cluster_fixture_queue(c, "beside", "top", 2000);
		t = cluster_fixture_task(c, "p1", cluster_fixture_podgroup(c, "g", "below", 1),
					 rows[i].cpu);
		other = cluster_fixture_task(c, "p2", cluster_fixture_podgroup(c, "h", "beside", 1),
					     rows[i].beside);
		ledger_charge(c, other, beside, CHARGE_UNGATED);
		core_fixture_open(&sf);
		full = session_find_full_queue(sf.s, below, t, &over);
		if (rows[i].full == NULL) {
			assert_null(full);
		} else {
			assert_string_equal(full->name, rows[i].full);
			assert_int_equal(over, 1u << RES_CPU);
			assert_string_equal(session_describe_full_queue(sf.s, below, over),
					    "queue below has not enough quota left: "
					    "insufficient cpu");
		}
		core_fixture_finish(&sf);
	}
}

static void a_new_session_forgets_the_last(void **state)
{
	struct core_fixture sf;
	struct task *t;
	uint64_t before;

	(void)state;
	core_fixture_init(&sf, NULL);
	cluster_fixture_queue(sf.f.cluster, "q", NULL, -1);
	cluster_fixture_node(sf.f.cluster, "n1", 4000);
	t = cluster_fixture_task(sf.f.cluster, "p1",
				 cluster_fixture_podgroup(sf.f.cluster, "j", "q", 1), 1000);
	core_fixture_open(&sf);
	before = core_fixture_checksum(sf.s);
	statement_allocate(sf.s, t, sf.f.cluster->nodes.v[0]);
	assert_true(core_fixture_checksum(sf.s) != before);
	session_close(sf.s);
	core_fixture_open(&sf);
	assert_true(core_fixture_checksum(sf.s) == before);
	core_fixture_finish(&sf);
}

static void notes_survive_a_rollback(void **state)
{
	struct core_fixture sf;
	const struct queue *q;
	struct statement st;
	struct task *t;
	struct podgroup *g;

	(void)state;
	core_fixture_init(&sf, NULL);
	q = cluster_fixture_queue(sf.f.cluster, "q", NULL, -1);
	cluster_fixture_node(sf.f.cluster, "n1", 4000);
	g = cluster_fixture_podgroup(sf.f.cluster, "j", "q", 1);
	t = cluster_fixture_task(sf.f.cluster, "p1", g, 1000);
	core_fixture_open(&sf);
	assert_false(session_podgroup_was_tried(sf.s, g));
	st = statement_begin(sf.s);
	statement_allocate(sf.s, t, sf.f.cluster->nodes.v[0]);
	session_note_attempt(sf.s, t, ATTEMPT_ALLOCATED, sf.f.cluster->nodes.v[0], NULL);
	session_note_tried(sf.s, g);
	session_note_refusal(sf.s, g, "first", "the first");
	session_note_refusal(sf.s, g, "second", "the second");
	statement_discard(sf.s, st);
	assert_int_equal(session_priv_task(sf.s, t)->attempt, ATTEMPT_ALLOCATED);
	assert_int_equal(session_priv_task(sf.s, t)->attempt_node, 0);
	assert_true(session_podgroup_was_tried(sf.s, g));
	assert_string_equal(session_priv_podgroup(sf.s, g)->refusal, "the first");
	session_wait_until(sf.s, q, 50);
	session_wait_until(sf.s, q, 40);
	session_wait_until(sf.s, q, 60);
	assert_int_equal(sf.s->timers[q->id], 40);
	session_wait_for_nodes(sf.s, q);
	session_wait_for_podgroups(sf.s, q);
	assert_int_equal(sf.s->waits[q->id], SESSION_WAITS_NODES | SESSION_WAITS_PODGROUPS);
	core_fixture_finish(&sf);
}

static void failed_pods_are_deferred(void **state)
{
	static const struct {
		const char *name;
		uint32_t flags;
		int64_t retry_in;
		bool expected;
	} rows[] = {
		{ "retried now", 0, 0, false },
		{ "retried later", 0, 1, true },
		{ "retried before", 0, -1, false },
		{ "parked", TASK_PARKED, 0, true },
	};
	struct core_fixture sf;

	(void)state;
	core_fixture_init(&sf, NULL);
	core_fixture_open(&sf);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct task t = { .flags = rows[i].flags, .retry_at = sf.f.now + rows[i].retry_in };

		unit_row(rows[i].name);
		assert_int_equal(session_task_is_set_aside(sf.s, &t), rows[i].expected);
	}
	core_fixture_finish(&sf);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_cluster_until_something_changes),
		cmocka_unit_test(the_nearest_full_queue_is_found_and_described),
		cmocka_unit_test(a_new_session_forgets_the_last),
		cmocka_unit_test(notes_survive_a_rollback),
		cmocka_unit_test(failed_pods_are_deferred),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
