#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "base/xmalloc.h"
#include "lib/pods/cycle_fixture.h"
#include "lib/pods/ledger_verify.h"
#include "lib/unit.h"
#include "scheduler/pods/cycle/cycle.h"
#include "scheduler/pods/ledger/ledger.h"

struct fixture {
	struct cycle_fixture f;
	struct decisions list;
	struct queue *q;
	struct podgroup *g;
	struct task *t;
};

static int setup(void **state)
{
	static struct fixture f;

	f = (struct fixture){ .t = NULL };
	cycle_fixture_init(&f.f, NULL);
	f.q = cluster_fixture_queue(f.f.cluster, "q", NULL, 9000);
	cluster_fixture_node(f.f.cluster, "n", 9000);
	f.g = cluster_fixture_podgroup(f.f.cluster, "j", "q", 1);
	f.t = cycle_fixture_gated(&f.f, "p", f.g, 1000);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	decision_finish(&f->list);
	cycle_fixture_finish(&f->f);
	return 0;
}

static struct decision *add(struct fixture *f, enum decision_kind kind)
{
	struct decision *d = decision_add(&f->list, kind);

	d->task = f->t->id;
	d->queue = f->q->id;
	d->message = "said";
	return d;
}

static void assume(struct fixture *f)
{
	cycle_assume(f->f.cluster, &f->list, f->f.now);
	f->list.n = 0;
	assert_null(ledger_verify(f->f.cluster));
	assert_null(cluster_verify(f->f.cluster));
}

static void the_life_of_a_charge(void **state)
{
	struct fixture *f = *state;

	add(f, DECISION_UNGATE);
	assume(f);
	assert_int_equal(f->t->charge, CHARGE_PATCHING);
	assert_int_equal(f->q->charged.v[RES_CPU], 1000);
	cycle_fixture_acknowledge(&f->f);
	add(f, DECISION_PUBLISH)->reason = "Unschedulable";
	assume(f);
	assert_int_equal(f->t->charge, CHARGE_PUBLISHED);
	assert_int_equal(f->t->cond, POD_COND_UNSCHEDULABLE);
	assert_true(f->t->published_at == f->f.now);
	assert_true(f->t->cond_message == str_hash(STR_LIT("said")));
	*add(f, DECISION_REVOKE) = (struct decision){ .kind = DECISION_REVOKE,
						      .task = f->t->id,
						      .queue = f->q->id,
						      .retry_at = 99,
						      .attempts = 3 };
	add(f, DECISION_WITHDRAW)->reason = "NotReadyForScheduling";
	assume(f);
	/* Autoscalers see the pod until the withdrawal is acknowledged. */
	assert_int_equal(f->t->charge, CHARGE_WITHDRAWING);
	assert_int_equal(f->q->charged.v[RES_CPU], 1000);
	cycle_fixture_acknowledge(&f->f);
	assert_int_equal(f->t->charge, CHARGE_NONE);
	assert_int_equal(f->q->charged.v[RES_CPU], 0);
	assert_int_equal(f->t->cond, POD_COND_NOT_READY);
	assert_true(f->t->retry_at == 99);
	assert_int_equal(f->t->attempts, 3);
	assert_true(f->t->published_at == MODEL_TIME_NONE);
	add(f, DECISION_RESERVE);
	add(f, DECISION_BIND)->node = 0;
	assume(f);
	assert_int_equal(f->t->charge, CHARGE_ASSUMED);
	assert_int_equal(f->t->attempts, 0);
	assert_int_equal(f->t->status, TASK_BINDING);
	assert_int_equal(f->f.cluster->nodes.v[0]->used.v[RES_CPU], 1000);
}

static void a_release_without_back_off_is_no_failure(void **state)
{
	struct fixture *f = *state;

	ledger_charge(f->f.cluster, f->t, f->q, CHARGE_UNGATED);
	add(f, DECISION_REVOKE);
	assume(f);
	assert_int_equal(f->t->write_failures, 0);
	assert_true(f->t->retry_at == MODEL_TIME_NONE);
}

static void ungating_without_charge_is_remembered(void **state)
{
	struct fixture *f = *state;

	add(f, DECISION_UNGATE)->uncharged = true;
	assume(f);
	assert_int_equal(f->t->charge, CHARGE_NONE);
	assert_true((f->t->flags & TASK_UNGATING) != 0);
}

static void plain_pods_are_charged_when_bound(void **state)
{
	struct fixture *f = *state;

	f->t->flags = TASK_OURS | TASK_GREW;
	add(f, DECISION_BIND)->node = 0;
	assume(f);
	assert_int_equal(f->t->charge, CHARGE_ASSUMED);
	assert_int_equal(f->t->flags, TASK_OURS);
	assert_int_equal(f->q->charged.v[RES_CPU], 1000);
}

static void victims_stay_charged_and_releasing(void **state)
{
	struct fixture *f = *state;

	ledger_charge(f->f.cluster, f->t, f->q, CHARGE_BOUND);
	cluster_task_set_status(f->f.cluster, f->t, TASK_RUNNING, f->f.cluster->nodes.v[0]);
	add(f, DECISION_EVICT)->by = f->t->id;
	assume(f);
	assert_int_equal(f->t->status, TASK_RELEASING);
	assert_int_equal(f->q->charged.v[RES_CPU], 1000);
	assert_int_equal(f->q->releasing.v[RES_CPU], 1000);
	assert_int_equal(f->t->node, 0);
}

/* The PodGroup of the victim remembers for which one that was. */
static void evictions_are_remembered(void **state)
{
	struct fixture *f = *state;
	struct cluster *c = f->f.cluster;
	struct podgroup *g = c->podgroups.v[f->t->podgroup];
	struct podgroup *rival = cluster_fixture_podgroup(c, "rival", "q", 1);
	struct task *by = cluster_fixture_task(c, "by", rival, 1000);

	rival->uid = xmalloc_dup("uid");
	ledger_charge(c, f->t, f->q, CHARGE_BOUND);
	for (uint32_t times = 1; times <= 2; times++) {
		ledger_set_releasing(c, f->t, false);
		cluster_task_set_status(c, f->t, TASK_RUNNING, c->nodes.v[0]);
		add(f, DECISION_EVICT)->by = by->id;
		assume(f);
		assert_int_equal(by->victims, times);
		assert_int_equal(g->rivals.n, 1);
		assert_ptr_equal(cluster_podgroup_rival(c, &g->rivals.v[0]), rival);
	}
}

static void room_is_held_and_given_up(void **state)
{
	struct fixture *f = *state;
	struct cluster *c = f->f.cluster;
	struct decision *d;

	add(f, DECISION_AWAIT)->node = 0;
	assume(f);
	assert_int_equal(f->t->awaits, 0);
	assert_int_equal(c->awaiting.n, 1);
	f->t->victims = 3;
	d = add(f, DECISION_AWAIT);
	d->warning = true; /* in vain */
	d->retry_at = 77;
	assume(f);
	assert_int_equal(f->t->awaits, MODEL_NONE);
	assert_int_equal(f->t->victims, 0);
	assert_int_equal(f->t->in_vain, 1);
	assert_int_equal(f->t->preempt_at, 77);
	assert_null(cluster_verify(c));
}

static void a_written_condition_is_remembered(void **state)
{
	static const struct {
		const char *reason;
		enum pod_cond cond;
	} rows[] = {
		{ "Unschedulable", POD_COND_UNSCHEDULABLE },
		{ "Schedulable", POD_COND_SCHEDULABLE },
		{ "NotReadyForScheduling", POD_COND_NOT_READY },
		{ "SchedulerError", POD_COND_ERROR },
		{ "Whatever", POD_COND_OTHER },
	};
	struct fixture *f = *state;
	struct decision *d;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].reason);
		f->t->cond_message = 0;
		add(f, DECISION_CONDITION)->reason = rows[i].reason;
		assume(f);
		assert_int_equal(f->t->cond, rows[i].cond);
		assert_true(f->t->cond_message == str_hash(STR_LIT("said")));
	}
	f->t->cond_message = 0;
	add(f, DECISION_EVENT);
	assume(f);
	assert_true(f->t->cond_message == 0);
	add(f, DECISION_EVENT)->warning = true;
	assume(f);
	assert_true(f->t->cond_message == str_hash(STR_LIT("said")));
	d = decision_add(&f->list, DECISION_PODGROUP_CONDITION);
	d->podgroup = f->g->id;
	d->hash = 4711;
	d = decision_add(&f->list, DECISION_PODGROUP_PHASE);
	d->podgroup = f->g->id;
	d->phase = PODGROUP_INQUEUE;
	d = decision_add(&f->list, DECISION_QUEUE_SCANNED);
	d->queue = f->q->id;
	d->scan.timer_at = 12;
	assume(f);
	assert_int_equal(f->g->status_hash, 4711);
	assert_int_equal(f->g->phase, PODGROUP_INQUEUE);
	assert_int_equal(f->q->scan.timer_at, 12);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(the_life_of_a_charge),
		TEST(a_release_without_back_off_is_no_failure),
		TEST(ungating_without_charge_is_remembered),
		TEST(plain_pods_are_charged_when_bound),
		TEST(victims_stay_charged_and_releasing),
		TEST(evictions_are_remembered),
		TEST(room_is_held_and_given_up),
		TEST(a_written_condition_is_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
