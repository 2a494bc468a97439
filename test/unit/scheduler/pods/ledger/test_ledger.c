#include "scheduler/pods/ledger/ledger.h"

#include "lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/rng.h"
#include "base/xmalloc.h"
#include "lib/pods/ledger_verify.h"
#include "scheduler/pods/values/pod_class.h"

enum { QUEUES = 7, TASKS = 40, CLASSES = 4, STEPS = 4000 };

/* root(0) <- a(1), b(2); a <- a1(3), a2(4); a1 <- deep(5); 6 stands alone (a broken chain). */
static const uint32_t parents[QUEUES] = { MODEL_NONE, 0, 0, 1, 1, 3, MODEL_NONE };

struct fixture {
	struct cluster c;
	struct queue queues[QUEUES];
	struct task tasks[TASKS];
	struct pod_class classes[CLASSES];
};

static int setup(void **state)
{
	struct fixture *f = xmalloc_zero(1, sizeof(*f));

	for (uint32_t i = 0; i < CLASSES; i++) {
		f->classes[i].request.v[RES_CPU] = (int64_t)i * 100;
		f->classes[i].request.v[RES_MEMORY] = (int64_t)(CLASSES - i) * 7;
		f->classes[i].request.v[RES_PODS] = 1;
	}
	for (uint32_t i = 0; i < QUEUES; i++) {
		f->queues[i].id = i;
		f->queues[i].parent = parents[i];
		vec_push(&f->c.queues, &f->queues[i]);
	}
	for (uint32_t i = 0; i < TASKS; i++) {
		f->tasks[i].id = i;
		f->tasks[i].charge_queue = f->tasks[i].podgroup = MODEL_NONE;
		f->tasks[i].klass = &f->classes[i % CLASSES];
		vec_push(&f->c.tasks, &f->tasks[i]);
	}
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	vec_finish(&f->c.queues);
	vec_finish(&f->c.tasks);
	free(f);
	return 0;
}

static void charge_rolls_up_to_every_ancestor(void **state)
{
	struct fixture *f = *state;

	ledger_charge(&f->c, &f->tasks[3], &f->queues[5], CHARGE_PATCHING);
	for (uint32_t i = 0; i < QUEUES; i++) {
		bool above = i == 5 || i == 3 || i == 1 || i == 0;

		assert_int_equal(f->queues[i].charged.v[RES_CPU], above ? 300 : 0);
		assert_int_equal(f->queues[i].charged.v[RES_PODS], above ? 1 : 0);
	}
	assert_null(ledger_verify(&f->c));
	ledger_release(&f->c, &f->tasks[3]);
	assert_int_equal(f->queues[0].charged.v[RES_CPU], 0);
	assert_int_equal(f->tasks[3].charge_queue, MODEL_NONE);
	ledger_release(&f->c, &f->tasks[3]);
	assert_int_equal(f->c.drift, 0);
}

/* A pod that is charged to a Workload goes through the same states for nothing. */
static void a_pod_charged_to_a_workload_weighs_nothing(void **state)
{
	struct fixture *f = *state;
	struct res whole = f->classes[3].request;
	const struct res nothing = { .v = { 0 } };

	f->classes[3].charged_to_workload = true;
	ledger_charge(&f->c, &f->tasks[3], &f->queues[5], CHARGE_ASSUMED);
	ledger_set_releasing(&f->c, &f->tasks[3], true);
	f->tasks[3].status = TASK_RELEASING;
	assert_true(res_is_zero(&f->queues[0].charged));
	assert_true(res_is_zero(&f->queues[0].releasing));
	assert_int_equal(f->tasks[3].charge, CHARGE_ASSUMED);
	assert_null(ledger_verify(&f->c));
	f->tasks[3].status = TASK_RUNNING;
	/* It is charged here after all, and then not any more. */
	f->classes[3].charged_to_workload = false;
	ledger_recharge(&f->c, &f->tasks[3], &nothing);
	assert_int_equal(f->queues[0].charged.v[RES_CPU], 300);
	assert_null(ledger_verify(&f->c));
	f->classes[3].charged_to_workload = true;
	ledger_recharge(&f->c, &f->tasks[3], &whole);
	assert_true(res_is_zero(&f->queues[0].charged));
	ledger_release(&f->c, &f->tasks[3]);
	assert_int_equal(f->c.drift, 0);
}

static void only_a_smaller_charge_makes_room(void **state)
{
	struct fixture *f = *state;
	uint64_t before;

	before = f->queues[1].room_gen;
	ledger_charge(&f->c, &f->tasks[1], &f->queues[4], CHARGE_UNGATED);
	ledger_advance(&f->c, &f->tasks[1], CHARGE_ASSUMED);
	assert_int_equal(f->queues[1].room_gen, before);
	ledger_release(&f->c, &f->tasks[1]);
	assert_true(f->queues[4].room_gen > before);
	assert_true(f->queues[1].room_gen > before);
	assert_int_equal(f->queues[2].room_gen, 0);
}

static void every_change_is_seen_by_the_queue(void **state)
{
	struct fixture *f = *state;
	uint64_t gen;

	ledger_charge(&f->c, &f->tasks[1], &f->queues[4], CHARGE_PATCHING);
	gen = f->queues[4].podgroups_gen;
	ledger_advance(&f->c, &f->tasks[1], CHARGE_PATCHING);
	assert_int_equal(f->queues[4].podgroups_gen, gen);
	ledger_advance(&f->c, &f->tasks[1], CHARGE_UNGATED);
	assert_true(f->queues[4].podgroups_gen > gen);
}

static void releasing_follows_the_status(void **state)
{
	struct fixture *f = *state;
	struct task *t = &f->tasks[2];

	ledger_charge(&f->c, t, &f->queues[3], CHARGE_BOUND);
	ledger_set_releasing(&f->c, t, true);
	t->status = TASK_RELEASING;
	assert_int_equal(f->queues[0].releasing.v[RES_CPU], 200);
	assert_int_equal(f->queues[0].charged.v[RES_CPU], 200);
	ledger_set_releasing(&f->c, t, true);
	assert_int_equal(f->queues[0].releasing.v[RES_CPU], 200);
	ledger_move(&f->c, t, &f->queues[2]);
	assert_int_equal(f->queues[3].releasing.v[RES_CPU], 0);
	assert_int_equal(f->queues[2].releasing.v[RES_CPU], 200);
	ledger_release(&f->c, t);
	assert_int_equal(f->queues[0].releasing.v[RES_CPU], 0);
	assert_null(ledger_verify(&f->c));
}

static void saturates_instead_of_wrapping(void **state)
{
	struct fixture *f = *state;

	f->classes[1].request.v[RES_MEMORY] = INT64_MAX - 1;
	ledger_charge(&f->c, &f->tasks[1], &f->queues[2], CHARGE_UNGATED);
	ledger_charge(&f->c, &f->tasks[5], &f->queues[2], CHARGE_UNGATED);
	assert_true(f->queues[2].charged.v[RES_MEMORY] == INT64_MAX);
}

/* The charges of the others are counted in full when one goes. */
static void a_sum_that_was_cut_off_comes_back(void **state)
{
	struct fixture *f = *state;
	struct res old;

	f->classes[1].request.v[RES_MEMORY] = INT64_MAX - 1;
	ledger_charge(&f->c, &f->tasks[1], &f->queues[2], CHARGE_UNGATED);
	ledger_charge(&f->c, &f->tasks[5], &f->queues[2], CHARGE_UNGATED);
	ledger_set_releasing(&f->c, &f->tasks[1], true);
	f->tasks[1].status = TASK_RELEASING;
	ledger_release(&f->c, &f->tasks[1]);
	assert_true(f->queues[2].charged.v[RES_MEMORY] == INT64_MAX - 1);
	assert_int_equal(f->queues[2].releasing.v[RES_MEMORY], 0);
	f->tasks[1].status = TASK_PENDING;
	ledger_charge(&f->c, &f->tasks[1], &f->queues[2], CHARGE_UNGATED);
	assert_true(f->queues[2].charged.v[RES_MEMORY] == INT64_MAX);
	old = f->classes[1].request;
	f->classes[1].request.v[RES_MEMORY] = 7;
	ledger_recharge(&f->c, &f->tasks[1], &old);
	assert_true(f->queues[2].charged.v[RES_MEMORY] <= 2 * 7);
	assert_null(ledger_verify(&f->c));
	assert_int_equal(f->c.drift, 0);
}

static void below_zero_is_counted_not_fatal(void **state)
{
	struct fixture *f = *state;

	ledger_charge(&f->c, &f->tasks[1], &f->queues[2], CHARGE_UNGATED);
	f->queues[0].charged.v[RES_CPU] = 0;
	assert_non_null(ledger_verify(&f->c));
	ledger_release(&f->c, &f->tasks[1]);
	assert_int_equal(f->c.drift, 1);
	assert_int_equal(f->queues[0].charged.v[RES_CPU], 0);
}

/* The legal lives of a charge, written down a second time. */
static void transitions_are_the_documented_ones(void **state)
{
	static const char *const allowed[CHARGE_STATE_COUNT_] = {
		[CHARGE_NONE] = "00000000",
		[CHARGE_PATCHING] = "01100010",
		[CHARGE_UNGATED] = "00111111",
		[CHARGE_PUBLISHED] = "00111111",
		[CHARGE_AWAITING_VICTIMS] = "01111111",
		[CHARGE_ASSUMED] = "00110110",
		[CHARGE_BOUND] = "00000010",
		[CHARGE_WITHDRAWING] = "00100011",
	};
	static const char unbound[] = "01111000";

	(void)state;
	for (int from = 0; from < CHARGE_STATE_COUNT_; from++) {
		for (int to = 0; to < CHARGE_STATE_COUNT_; to++) {
			assert_int_equal(
				ledger_may_advance((enum charge_state)from, (enum charge_state)to),
				allowed[from][to] == '1');
		}
		assert_int_equal(ledger_is_unbound((enum charge_state)from), unbound[from] == '1');
		assert_non_null(ledger_state_name((enum charge_state)from));
	}
}

static void random_step(struct fixture *f, struct rng *r)
{
	struct task *t = &f->tasks[rng_below(r, TASKS)];
	struct queue *q = &f->queues[rng_below(r, QUEUES)];
	struct res old = t->klass->request;
	enum charge_state to = (enum charge_state)(1 + rng_below(r, CHARGE_STATE_COUNT_ - 1));
	bool releasing;

	switch (rng_below(r, 6)) {
	case 0:
		if (t->charge == CHARGE_NONE) {
			ledger_charge(&f->c, t, q, to);
		}
		break;
	case 1:
		if (ledger_may_advance((enum charge_state)t->charge, to)) {
			ledger_advance(&f->c, t, to);
		}
		break;
	case 2:
		ledger_release(&f->c, t);
		break;
	case 3:
		releasing = rng_below(r, 2) != 0;
		ledger_set_releasing(&f->c, t, releasing);
		t->status = releasing ? TASK_RELEASING : TASK_RUNNING;
		break;
	case 4:
		t->klass = &f->classes[rng_below(r, CLASSES)];
		ledger_recharge(&f->c, t, &old);
		break;
	default:
		ledger_move(&f->c, t, q);
		break;
	}
}

static void random_operations_keep_every_sum(void **state)
{
	struct fixture *f = *state;
	struct rng r;

	rng_init(&r, 8303);
	for (int i = 0; i < STEPS; i++) {
		random_step(f, &r);
		assert_null(ledger_verify(&f->c));
	}
	assert_int_equal(f->c.drift, 0);
	/* The tree changes shape: a2 goes below b. */
	f->queues[4].parent = 2;
	ledger_rebuild_sums(&f->c);
	assert_null(ledger_verify(&f->c));
	for (uint32_t i = 0; i < TASKS; i++) {
		ledger_release(&f->c, &f->tasks[i]);
	}
	for (uint32_t i = 0; i < QUEUES; i++) {
		assert_true(res_is_zero(&f->queues[i].charged));
		assert_true(res_is_zero(&f->queues[i].releasing));
	}
}

static void a_published_charge_is_held_until_withdrawn(void **state)
{
	static const struct {
		enum charge_state charge;
		enum pod_cond cond;
		enum charge_state after;
	} rows[] = {
		{ CHARGE_UNGATED, POD_COND_NONE, CHARGE_NONE },
		{ CHARGE_UNGATED, POD_COND_NOT_READY, CHARGE_NONE },
		{ CHARGE_UNGATED, POD_COND_UNSCHEDULABLE, CHARGE_WITHDRAWING },
		{ CHARGE_UNGATED, POD_COND_OTHER, CHARGE_WITHDRAWING },
		{ CHARGE_PUBLISHED, POD_COND_NOT_READY, CHARGE_WITHDRAWING },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct task t = { .cond = (uint8_t)rows[i].cond };

		assert_int_equal(ledger_state_when_given_up(&t, rows[i].charge), rows[i].after);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(charge_rolls_up_to_every_ancestor, setup, teardown),
		cmocka_unit_test_setup_teardown(a_pod_charged_to_a_workload_weighs_nothing, setup,
						teardown),
		cmocka_unit_test_setup_teardown(only_a_smaller_charge_makes_room, setup, teardown),
		cmocka_unit_test_setup_teardown(every_change_is_seen_by_the_queue, setup, teardown),
		cmocka_unit_test_setup_teardown(releasing_follows_the_status, setup, teardown),
		cmocka_unit_test_setup_teardown(saturates_instead_of_wrapping, setup, teardown),
		cmocka_unit_test_setup_teardown(a_sum_that_was_cut_off_comes_back, setup, teardown),
		cmocka_unit_test_setup_teardown(below_zero_is_counted_not_fatal, setup, teardown),
		cmocka_unit_test_setup_teardown(random_operations_keep_every_sum, setup, teardown),
		cmocka_unit_test(transitions_are_the_documented_ones),
		cmocka_unit_test(a_published_charge_is_held_until_withdrawn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
