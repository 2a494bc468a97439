#include "scheduler/pods/session/statement.h"

#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "base/rng.h"
#include "lib/pods/core_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"

enum { PODGROUPS = 4, PER_PODGROUP = 6, NODES = 3, ROUNDS = 300, STEPS = 25 };

/* Two queues below one, PodGroups of gated, plain, charged and running tasks, one of them best
 * effort.
 */
static int setup(void **state)
{
	static struct core_fixture sf;
	struct cluster *c;
	char name[32];

	core_fixture_init(&sf, NULL);
	c = sf.f.cluster;
	cluster_fixture_queue(c, "top", NULL, 100000);
	cluster_fixture_queue(c, "q0", "top", 60000);
	cluster_fixture_queue(c, "q1", "top", 60000);
	for (int i = 0; i < NODES; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		cluster_fixture_node(c, name, 100000);
	}
	for (int i = 0; i < PODGROUPS; i++) {
		struct podgroup *g;

		snprintf(name, sizeof(name), "j%d", i);
		g = cluster_fixture_podgroup(c, name, i % 2 == 0 ? "q0" : "q1", 2);
		for (int k = 0; k < PER_PODGROUP; k++) {
			struct task *t;

			snprintf(name, sizeof(name), "p%d-%d", i, k);
			t = k < 3 ? cycle_fixture_gated(&sf.f, name, g, k * 1000)
				  : cluster_fixture_task(c, name, g, k * 100);
			if (k == 4) {
				ledger_charge(c, t, c->queues.v[g->queue], CHARGE_BOUND);
				cluster_task_set_status(c, t, TASK_RUNNING, c->nodes.v[0]);
			}
		}
	}
	core_fixture_open(&sf);
	*state = &sf;
	return 0;
}

/* Each statement ended in some way, so nothing is left to be undone. */
static int teardown(void **state)
{
	struct core_fixture *sf = *state;

	assert_int_equal(sf->s->statements, 0);
	assert_int_equal(sf->s->overlay->log.n, 0);
	core_fixture_finish(sf);
	return 0;
}

static const struct task *task(struct core_fixture *sf, const char *name)
{
	char key[64];

	snprintf(key, sizeof(key), "ns/%s", name);
	return cluster_task_find(sf->f.cluster, str_of(key));
}

static void allocate_takes_the_node_and_the_quota(void **state)
{
	struct core_fixture *sf = *state;
	struct session *s = sf->s;
	const struct task *t = task(sf, "p0-3");
	const struct node *n = sf->f.cluster->nodes.v[1];
	const struct podgroup *g = sf->f.cluster->podgroups.v[t->podgroup];
	const struct queue *top = queue_find(sf->f.cluster, STR_LIT("top"));
	int64_t before = session_queue_charged(s, top)->v[RES_CPU];
	struct statement st = statement_begin(s);
	uint32_t version = session_node_version(s, n);

	statement_allocate(s, t, n);
	assert_int_equal(session_task_status(s, t), TASK_ALLOCATED);
	assert_int_equal(session_task_node(s, t), n->id);
	assert_int_equal(session_task_charge(s, t), CHARGE_ASSUMED);
	assert_int_equal(session_node_used(s, n)->v[RES_CPU], 300);
	assert_int_equal(session_node_used(s, n)->v[RES_PODS], 1);
	assert_ptr_equal(session_node_added(s, n, 0), t);
	assert_null(session_node_added(s, n, 1));
	assert_int_equal(session_queue_charged(s, top)->v[RES_CPU], before + 300);
	assert_int_equal(session_podgroup_count(s, g, TASK_ALLOCATED), 1);
	assert_int_equal(session_podgroup_ready_count(s, g), 2);
	assert_true(session_node_version(s, n) > version);
	assert_int_equal(t->status, TASK_PENDING);
	assert_int_equal(n->used.v[RES_CPU], 0);
	statement_commit(s, st);
	assert_string_equal(core_fixture_decisions(sf), "Bind p0-3 n1");
}

static void pipeline_waits_and_decides_nothing(void **state)
{
	struct core_fixture *sf = *state;
	struct session *s = sf->s;
	const struct task *t = task(sf, "p0-3");
	const struct node *n = sf->f.cluster->nodes.v[1];
	struct statement st = statement_begin(s);

	statement_pipeline(s, t, n);
	assert_int_equal(session_node_pipelined(s, n)->v[RES_CPU], 300);
	assert_int_equal(session_node_used(s, n)->v[RES_CPU], 0);
	assert_int_equal(
		session_podgroup_count(s, sf->f.cluster->podgroups.v[t->podgroup], TASK_PIPELINED),
		1);
	statement_commit(s, st);
	assert_string_equal(core_fixture_decisions(sf), "");
}

static void reserve_depends_on_the_gate(void **state)
{
	struct core_fixture *sf = *state;
	struct session *s = sf->s;
	struct task *open = sf->f.cluster->tasks.v[task(sf, "p0-2")->id];
	struct statement st = statement_begin(s);

	open->flags &= ~(uint32_t)TASK_OUR_GATE;
	statement_reserve(s, task(sf, "p0-1"));
	statement_reserve(s, open);
	assert_int_equal(session_task_charge(s, task(sf, "p0-1")), CHARGE_PATCHING);
	assert_int_equal(session_task_charge(s, open), CHARGE_UNGATED);
	statement_revoke(s, open, 77, 2);
	assert_int_equal(session_task_charge(s, open), CHARGE_NONE);
	assert_true(session_task_was_revoked(s, open));
	assert_int_equal(s->decisions.v[2].retry_at, 77);
	statement_commit(s, st);
	assert_string_equal(core_fixture_decisions(sf), "Ungate p0-1; Reserve p0-2; Revoke p0-2");
}

static void evict_frees_later_what_is_used_now(void **state)
{
	struct core_fixture *sf = *state;
	struct session *s = sf->s;
	const struct task *t = task(sf, "p0-4");
	const struct node *n = sf->f.cluster->nodes.v[0];
	const struct queue *q = queue_find(sf->f.cluster, STR_LIT("q0"));
	int64_t charged = session_queue_charged(s, q)->v[RES_CPU];
	struct statement st = statement_begin(s);

	statement_evict(s, t, t, "for another pod");
	assert_int_equal(session_task_status(s, t), TASK_RELEASING);
	assert_int_equal(session_node_releasing(s, n)->v[RES_CPU], 400);
	assert_int_equal(session_queue_charged(s, q)->v[RES_CPU], charged);
	assert_int_equal(session_queue_releasing(s, q)->v[RES_CPU], 400);
	statement_discard(s, st);
	assert_int_equal(session_task_status(s, t), TASK_RUNNING);
	assert_int_equal(session_queue_releasing(s, q)->v[RES_CPU], 0);
	assert_string_equal(core_fixture_decisions(sf), "");
}

static void hold_keeps_the_place_without_a_decision(void **state)
{
	struct core_fixture *sf = *state;
	struct session *s = sf->s;
	const struct task *t = task(sf, "p1-3");
	struct statement st = statement_begin(s);

	statement_allocate(s, t, sf->f.cluster->nodes.v[2]);
	statement_hold(s, st);
	assert_int_equal(session_task_status(s, t), TASK_PIPELINED);
	assert_int_equal(session_task_node(s, t), 2);
	assert_string_equal(core_fixture_decisions(sf), "");
}

static void inner_statements_go_with_the_outer_one(void **state)
{
	struct core_fixture *sf = *state;
	struct session *s = sf->s;
	uint64_t before = core_fixture_checksum(s);
	struct statement outer = statement_begin(s), inner;

	statement_reserve(s, task(sf, "p0-1"));
	inner = statement_begin(s);
	statement_allocate(s, task(sf, "p0-3"), sf->f.cluster->nodes.v[0]);
	statement_commit(s, inner);
	inner = statement_begin(s);
	statement_allocate(s, task(sf, "p1-3"), sf->f.cluster->nodes.v[0]);
	statement_discard(s, inner);
	assert_string_equal(core_fixture_decisions(sf), "Ungate p0-1; Bind p0-3 n0");
	statement_discard(s, outer);
	assert_true(core_fixture_checksum(s) == before);
	assert_string_equal(core_fixture_decisions(sf), "");
}

static void random_operation(struct core_fixture *sf, struct rng *r)
{
	struct session *s = sf->s;
	const struct cluster *c = sf->f.cluster;
	const struct task *t = c->tasks.v[rng_below(r, c->tasks.n)];
	const struct node *n = c->nodes.v[rng_below(r, c->nodes.n)];
	enum task_status status = session_task_status(s, t);
	enum charge_state charge = session_task_charge(s, t);

	switch (rng_below(r, 6)) {
	case 0:
		if (status == TASK_PENDING) {
			statement_allocate(s, t, n);
		}
		break;
	case 1:
		if (status == TASK_PENDING) {
			statement_pipeline(s, t, n);
		}
		break;
	case 2:
		if (charge == CHARGE_NONE) {
			statement_reserve(s, t);
		}
		break;
	case 3:
		if (ledger_is_unbound(charge)) {
			statement_revoke(s, t, MODEL_TIME_NONE, 0);
		}
		break;
	case 4:
		if (status == TASK_RUNNING) {
			statement_evict(s, t, t, "m");
		}
		break;
	default:
		statement_set_phase(s, c->podgroups.v[t->podgroup],
				    (enum podgroup_phase)rng_below(r, 3));
		break;
	}
}

/* Operations at random, some kept, then as many taken back: the overlay is as it was. */
static void rollback_restores_the_overlay(void **state)
{
	struct core_fixture *sf = *state;
	struct session *s = sf->s;
	struct rng r;

	rng_init(&r, 6010);
	for (int round = 0; round < ROUNDS; round++) {
		size_t decisions = s->decisions.n;
		uint64_t before = core_fixture_checksum(s);
		struct statement st = statement_begin(s);

		for (int i = 0; i < STEPS; i++) {
			random_operation(sf, &r);
		}
		statement_discard(s, st);
		assert_true(core_fixture_checksum(s) == before);
		assert_int_equal(s->decisions.n, decisions);
		if (round % 60 == 0) {
			st = statement_begin(s);
			random_operation(sf, &r);
			statement_commit(s, st);
		}
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(allocate_takes_the_node_and_the_quota),
		TEST(pipeline_waits_and_decides_nothing),
		TEST(reserve_depends_on_the_gate),
		TEST(evict_frees_later_what_is_used_now),
		TEST(hold_keeps_the_place_without_a_decision),
		TEST(inner_statements_go_with_the_outer_one),
		TEST(rollback_restores_the_overlay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
