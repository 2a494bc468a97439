#include "scheduler/workloads/pending/pending.h"

#include "lib/unit.h"

#include <stdio.h>

#include "lib/workloads/admission_cycle_fixture.h"

#define SECOND INT64_C(1000000000)

/* Takes the head of the only queue that has one; NULL: none. */
static struct workload *pop(struct admission_cycle_fixture *f)
{
	struct pending_heads heads = { NULL, 0, 0 };
	struct workload *w;

	pending_pop(f->w.q, f->w.f, &heads);
	assert_true(heads.n <= 1);
	w = heads.n == 0 ? NULL : heads.v[0];
	vec_finish(&heads);
	if (w != NULL) {
		assert_int_equal(w->pending.where, QUOTA_IN_FLIGHT);
	}
	return w;
}

static void put_back(struct admission_cycle_fixture *f, struct workload *w, enum quota_requeue why)
{
	pending_requeue(f->w.q, w, why, false, f->w.now);
}

static void heads_by_priority_time_uid_and_key(void **state)
{
	struct admission_cycle_fixture f;

	(void)state;
	admission_cycle_fixture_init(&f, "quota q f cpu nominal=1\n"
					 "workload e queue=q cpu=1 created=-10s uid=2\n"
					 "workload d queue=q cpu=1 created=-10s uid=2\n"
					 "workload c queue=q cpu=1 created=-10s uid=1\n"
					 "workload b queue=q cpu=1 created=-20s uid=9\n"
					 "workload a queue=q cpu=1 created=-1s prio=1\n");
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), "a b c d e | ");
	admission_cycle_fixture_finish(&f);
}

static void priority_boost_counts_behind_its_gate(void **state)
{
	static const char world[] = "quota q f cpu nominal=1\n"
				    "workload a queue=q cpu=1 prio=5\n"
				    "workload b queue=q cpu=1 prio=1 boost=10\n";
	struct admission_cycle_fixture f;

	(void)state;
	admission_cycle_fixture_init(&f, world);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), "a b | ");
	admission_cycle_fixture_finish(&f);
	admission_cycle_fixture_init(&f, "option priority_boost=true\n");
	admission_cycle_fixture_add(&f, world);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), "b a | ");
	admission_cycle_fixture_finish(&f);
}

static void which_workloads_may_wait(void **state)
{
	struct admission_cycle_fixture f;

	(void)state;
	admission_cycle_fixture_init(&f, "quota q f cpu nominal=9\n"
					 "local ns/held queue=q stop=Hold\n"
					 "local ns/nowhere queue=unknown\n"
					 "workload ok queue=q cpu=1\n"
					 "workload over queue=q cpu=1 finished\n"
					 "workload off queue=q cpu=1 active=false\n"
					 "workload gated queue=q cpu=1 admission-gated\n"
					 "workload hold queue=q cpu=1 on-hold\n"
					 "workload has queue=q cpu=1 holds=f reserved=-1s\n"
					 "workload stopped local=held cpu=1\n"
					 "workload lost local=nowhere cpu=1\n"
					 "workload backoff queue=q cpu=1 requeue=10s\n"
					 "workload not-yet queue=q cpu=1 requeued-false\n");
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), "ok | backoff not-yet");
	admission_cycle_fixture_finish(&f);
}

static void a_workload_follows_its_local_queue(void **state)
{
	struct admission_cycle_fixture f;
	struct workload *w;

	(void)state;
	admission_cycle_fixture_init(&f, "quota q f cpu nominal=9\nquota r f cpu nominal=9\n"
					 "local ns/l queue=q\n"
					 "workload w local=l cpu=1\n");
	w = quota_world_workload(&f.w, "w");
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), "w | ");
	vec_push(&w->pending.tried, ((struct last_assignment){ 0 })); /* a scan stopped half way */
	pending_update(f.w.q, w, false, f.w.now);
	assert_int_equal(w->pending.tried.n, 1);
	quota_world_add(&f.w, "local ns/l queue=r\n");
	pending_update(f.w.q, w, false, f.w.now);
	assert_int_equal(w->pending.tried.n, 0); /* its flavors are those of the other queue */
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), " | ");
	assert_string_equal(admission_cycle_fixture_queue(&f, "r"), "w | ");
	quota_world_add(&f.w, "local ns/l queue=r stop=HoldAndDrain\n");
	pending_update(f.w.q, w, false, f.w.now);
	assert_string_equal(admission_cycle_fixture_queue(&f, "r"), " | ");
	assert_int_equal(w->pending.queue, MODEL_NONE);
	admission_cycle_fixture_finish(&f);
}

static void heads_of_active_queues_only(void **state)
{
	static const char *const rows[] = {
		"quota q f cpu nominal=1\nqueue q stop=Hold\n",
		"quota q f cpu nominal=1\nflavor f missing\n",
		"quota q f cpu nominal=1\ncheck c active=false\nqueue q checks=c\n",
		"quota q f cpu nominal=1\nqueue q cohort=x\ncohort x parent=y\ncohort y parent=x\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct admission_cycle_fixture f;

		admission_cycle_fixture_init(&f, rows[i]);
		admission_cycle_fixture_add(&f, "workload w queue=q cpu=1\n");
		assert_null(pop(&f));
		assert_string_equal(admission_cycle_fixture_queue(&f, "q"), "w | ");
		admission_cycle_fixture_finish(&f);
	}
}

static void several_heads_behind_an_option(void **state)
{
	struct admission_cycle_fixture f;
	struct pending_heads heads = { NULL, 0, 0 };

	(void)state;
	admission_cycle_fixture_init(&f, "option heads=2\n"
					 "quota q f cpu nominal=1\nquota r f cpu nominal=1\n"
					 "workload a queue=q cpu=1 prio=3\n"
					 "workload b queue=q cpu=1 prio=2\n"
					 "workload c queue=q cpu=1 prio=1\n"
					 "workload d queue=r cpu=1\n");
	pending_pop(f.w.q, f.w.f, &heads);
	assert_int_equal(heads.n, 3);
	assert_string_equal(heads.v[0]->key, "ns/a");
	assert_string_equal(heads.v[1]->key, "ns/b");
	assert_string_equal(heads.v[2]->key, "ns/d");
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), "c | ");
	vec_finish(&heads);
	admission_cycle_fixture_finish(&f);
}

/* Which reasons lead back to the heap at once. */
static void where_it_goes_depends_on_strategy_and_reason(void **state)
{
	static const struct {
		enum quota_requeue why;
		bool strict_heap, best_effort_heap;
	} rows[] = {
		{ QUOTA_REQUEUE_NONE, true, false },
		{ QUOTA_REQUEUE_NO_FIT, true, false },
		{ QUOTA_REQUEUE_NO_CANDIDATES, true, false },
		{ QUOTA_REQUEUE_PENDING_PREEMPTION, true, true },
		{ QUOTA_REQUEUE_PREEMPTION_FAILED, true, true },
		{ QUOTA_REQUEUE_GATED, true, false },
		{ QUOTA_REQUEUE_PENDING_MIGRATION, true, true },
		{ QUOTA_REQUEUE_NAMESPACE_MISMATCH, false, false },
		{ QUOTA_REQUEUE_FAILED_AFTER_NOMINATION, true, true },
	};

	(void)state;
	for (int strict = 0; strict < 2; strict++) {
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			bool heap = strict ? rows[i].strict_heap : rows[i].best_effort_heap;
			struct admission_cycle_fixture f;

			admission_cycle_fixture_init(&f, "quota q f cpu nominal=1\n"
							 "workload w queue=q cpu=1\n");
			if (strict) {
				admission_cycle_fixture_add(&f, "queue q strategy=StrictFIFO\n");
			}
			put_back(&f, pop(&f), rows[i].why);
			assert_string_equal(admission_cycle_fixture_queue(&f, "q"),
					    heap ? "w | " : " | w");
			admission_cycle_fixture_finish(&f);
		}
	}
}

static void a_flush_during_the_cycle_is_not_lost(void **state)
{
	struct admission_cycle_fixture f;
	struct workload *w;

	(void)state;
	admission_cycle_fixture_init(&f, "quota q f cpu nominal=1\nworkload w queue=q cpu=1\n");
	w = pop(&f);
	pending_flush(f.w.q, f.w.f, quota_world_id(&f.w, "q"), f.w.now);
	put_back(&f, w, QUOTA_REQUEUE_NO_FIT);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), "w | ");
	put_back(&f, pop(&f), QUOTA_REQUEUE_NO_FIT);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), " | w");
	admission_cycle_fixture_finish(&f);
}

static void pending_flavors_and_back_off(void **state)
{
	struct admission_cycle_fixture f;
	struct workload *w;

	(void)state;
	admission_cycle_fixture_init(&f, "quota q f cpu nominal=1\nworkload w queue=q cpu=1\n");
	pending_requeue(f.w.q, pop(&f), QUOTA_REQUEUE_NO_FIT, true, f.w.now);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), "w | ");
	w = pop(&f);
	w->flags.requeue_at = f.w.now + 5 * SECOND;
	pending_requeue(f.w.q, w, QUOTA_REQUEUE_FAILED_AFTER_NOMINATION, true, f.w.now);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), " | w");
	pending_flush(f.w.q, f.w.f, quota_world_id(&f.w, "q"), f.w.now);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), " | w");
	assert_int_equal(pending_timers(f.w.q, f.w.now), f.w.now + 5 * SECOND);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), " | w");
	assert_int_equal(pending_timers(f.w.q, f.w.now + 5 * SECOND), INT64_MAX);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), "w | ");
	admission_cycle_fixture_finish(&f);
}

/* Requeued=False holds it at any time; the timer must end all the same. */
static void requeued_false_outlives_the_timer(void **state)
{
	struct admission_cycle_fixture f;

	(void)state;
	admission_cycle_fixture_init(&f, "quota q f cpu nominal=1\n"
					 "workload w queue=q cpu=1 requeued-false requeue=1s\n");
	assert_int_equal(pending_timers(f.w.q, f.w.now + 9 * SECOND), INT64_MAX);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), " | w");
	quota_world_workload(&f.w, "w")->flags.requeued_false = false;
	pending_update(f.w.q, quota_world_workload(&f.w, "w"), true, f.w.now + 9 * SECOND);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), "w | ");
	admission_cycle_fixture_finish(&f);
}

/* It would be tried and parked without end. */
static void a_time_that_has_passed_is_no_timer(void **state)
{
	struct admission_cycle_fixture f;
	struct workload *w;

	(void)state;
	admission_cycle_fixture_init(&f, "quota q f cpu nominal=1\nworkload w queue=q cpu=5\n");
	w = pop(&f);
	w->flags.requeue_at = f.w.now - 5 * SECOND;
	pending_requeue(f.w.q, w, QUOTA_REQUEUE_NO_FIT, false, f.w.now);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), " | w");
	assert_int_equal(pending_timers(f.w.q, f.w.now), INT64_MAX);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), " | w");
	admission_cycle_fixture_finish(&f);
}

static void equal_ones_are_passed_over_until_something_changes(void **state)
{
	struct admission_cycle_fixture f;

	(void)state;
	admission_cycle_fixture_init(&f, "quota q f cpu nominal=1\n"
					 "workload a queue=q cpu=5 created=-9s\n"
					 "workload b queue=q cpu=5 created=-8s\n"
					 "workload c queue=q cpu=1 created=-7s\n"
					 "workload d queue=q cpu=5 prio=-1\n");
	put_back(&f, pop(&f), QUOTA_REQUEUE_NO_FIT);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), "c d | a b");
	admission_cycle_fixture_add(&f, "workload e queue=q cpu=5\nworkload f queue=q cpu=6\n");
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), "c f d | a b e");
	pending_flush(f.w.q, f.w.f, quota_world_id(&f.w, "q"), f.w.now);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), "a b c e f d | ");
	admission_cycle_fixture_finish(&f);
}

/* Whatever a cycle looks at makes a Workload another one than the one that did not fit. */
static void each_difference_makes_it_unequal(void **state)
{
	static const char *const rows[] = { "nothing", "priority", "count",     "minimum",
					    "shape",   "flavors",  "no pod set" };
	static const uint32_t allowed[] = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct admission_cycle_fixture f;
		struct workload *b;

		unit_row(rows[i]);
		admission_cycle_fixture_init(&f, "quota q f cpu nominal=1\n"
						 "workload a queue=q cpu=5 created=-9s\n"
						 "workload b queue=q cpu=5 created=-8s\n");
		b = quota_world_workload(&f.w, "b");
		b->object.priority -= i == 1;
		b->object.podsets[0].count += i == 2;
		b->object.podsets[0].min_count += i == 3;
		b->object.podsets[0].shape += i == 4;
		if (i == 5) {
			b->object.allowed = allowed;
			b->object.nallowed = ARRAY_LEN(allowed);
		}
		b->object.npodsets -= i == 6;
		pending_update(f.w.q, b, true, f.w.now);
		put_back(&f, pop(&f), QUOTA_REQUEUE_NO_FIT);
		assert_string_equal(admission_cycle_fixture_queue(&f, "q"),
				    i == 0 ? " | a b" : "b | a");
		b->object.npodsets += i == 6;
		admission_cycle_fixture_finish(&f);
	}
}

/* The last reason is about its former requests. */
static void changed_requests_are_tried_again(void **state)
{
	struct admission_cycle_fixture f;
	struct workload *a;

	(void)state;
	admission_cycle_fixture_init(&f, "quota q f cpu nominal=1\n"
					 "workload a queue=q cpu=5 created=-9s\n"
					 "workload b queue=q cpu=5 created=-8s\n");
	a = pop(&f);
	put_back(&f, a, QUOTA_REQUEUE_NO_FIT);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), " | a b");
	a->object.podsets[0].invalid = "cpu is above the maximum of a LimitRange";
	a->object.podsets[0].shape = podset_shape(&a->object.podsets[0]);
	pending_update(f.w.q, a, true, f.w.now);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), "a | b");
	put_back(&f, pop(&f), QUOTA_REQUEUE_NAMESPACE_MISMATCH);
	a->object.podsets[0].invalid = NULL;
	a->object.podsets[0].shape = podset_shape(&a->object.podsets[0]);
	pending_update(f.w.q, a, true, f.w.now);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), "a | b");
	/* The same once more changes nothing. */
	put_back(&f, pop(&f), QUOTA_REQUEUE_NO_FIT);
	pending_update(f.w.q, a, true, f.w.now);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), " | a b");
	admission_cycle_fixture_finish(&f);
}

/* Its own former reason marks it as known not to fit: it gets the reason again, which may never
 * have been written. */
static void a_requeued_workload_gets_its_reason_again(void **state)
{
	struct admission_cycle_fixture f;
	struct workload *a;

	(void)state;
	admission_cycle_fixture_init(&f, "quota q f cpu nominal=1\n"
					 "workload a queue=q cpu=5 created=-9s\n");
	a = pop(&f);
	a->object.generation = 3;
	pending_update(f.w.q, a, false, f.w.now);
	a->pending.evaluated_generation = a->object.generation;
	put_back(&f, a, QUOTA_REQUEUE_NO_FIT);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), " | a");
	assert_int_equal(a->pending.evaluated_generation, 3);
	a->flags.waits_replacement = true;
	pending_update(f.w.q, a, false, f.w.now);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), " | ");
	a->flags.waits_replacement = false;
	pending_update(f.w.q, a, false, f.w.now);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), " | a");
	assert_int_not_equal(a->pending.evaluated_generation, a->object.generation);
	admission_cycle_fixture_finish(&f);
}

static void deleted_workloads_leave_the_queue(void **state)
{
	struct admission_cycle_fixture f;
	struct workload *a;

	(void)state;
	admission_cycle_fixture_init(&f, "quota q f cpu nominal=1\n"
					 "workload a queue=q cpu=1\n");
	a = quota_world_workload(&f.w, "a");
	a->object.deleting = true;
	pending_update(f.w.q, a, true, f.w.now);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), " | ");
	admission_cycle_fixture_finish(&f);
}

static void no_hash_for_strict_fifo_other_reasons_or_without_the_gate(void **state)
{
	static const struct {
		const char *line;
		enum quota_requeue why;
	} rows[] = {
		{ "queue q strategy=StrictFIFO\n", QUOTA_REQUEUE_NO_FIT },
		{ "option equivalence_hashing=false\n", QUOTA_REQUEUE_NO_FIT },
		{ "", QUOTA_REQUEUE_GATED },
		{ "", QUOTA_REQUEUE_NAMESPACE_MISMATCH },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct admission_cycle_fixture f;

		admission_cycle_fixture_init(&f, "quota q f cpu nominal=1\n");
		admission_cycle_fixture_add(&f, rows[i].line);
		admission_cycle_fixture_add(&f, "workload a queue=q cpu=5 created=-9s\n"
						"workload b queue=q cpu=5 created=-8s\n");
		put_back(&f, pop(&f), rows[i].why);
		assert_int_equal(quota_world_workload(&f.w, "b")->pending.where, QUOTA_HEAP);
		admission_cycle_fixture_finish(&f);
	}
}

static void the_preemptor_stays_first_in_best_effort_fifo(void **state)
{
	struct admission_cycle_fixture f;
	struct workload *a;

	(void)state;
	admission_cycle_fixture_init(&f, "quota q f cpu nominal=1\n"
					 "workload a queue=q cpu=1\n");
	a = pop(&f);
	put_back(&f, a, QUOTA_REQUEUE_PENDING_PREEMPTION);
	assert_true(pending_is_preemptor(f.w.q, a));
	admission_cycle_fixture_add(&f, "workload b queue=q cpu=1 prio=9\n");
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), "a b | ");
	a->object.generation++;
	assert_false(pending_is_preemptor(f.w.q, a));
	/* Another one replaces it. */
	assert_ptr_equal(pop(&f), a);
	put_back(&f, a, QUOTA_REQUEUE_NO_FIT);
	put_back(&f, pop(&f), QUOTA_REQUEUE_PENDING_PREEMPTION);
	pending_flush(f.w.q, f.w.f, quota_world_id(&f.w, "q"), f.w.now);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), "b a | ");
	/* Gone: the record goes with it. */
	pending_remove(f.w.q, quota_world_workload(&f.w, "b"));
	assert_int_equal(quota_world_node(&f.w, "q")->queue->preemptor, MODEL_NONE);
	admission_cycle_fixture_finish(&f);
}

static void the_preemptor_is_an_ordinary_one_in_strict_fifo(void **state)
{
	struct admission_cycle_fixture f;

	(void)state;
	admission_cycle_fixture_init(&f, "quota q f cpu nominal=1\nqueue q strategy=StrictFIFO\n"
					 "workload a queue=q cpu=1\n");
	put_back(&f, pop(&f), QUOTA_REQUEUE_PENDING_PREEMPTION);
	admission_cycle_fixture_add(&f, "workload b queue=q cpu=1 prio=9\n");
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), "b a | ");
	admission_cycle_fixture_finish(&f);
}

static void updates_leave_an_inadmissible_one_unless_something_counts(void **state)
{
	struct admission_cycle_fixture f;
	struct workload *w;

	(void)state;
	admission_cycle_fixture_init(&f, "quota q f cpu nominal=1\nworkload w queue=q cpu=5\n");
	w = pop(&f);
	pending_update(f.w.q, w, true, f.w.now);
	assert_int_equal(w->pending.where, QUOTA_IN_FLIGHT);
	put_back(&f, w, QUOTA_REQUEUE_NONE);
	pending_update(f.w.q, w, false, f.w.now);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), " | w");
	pending_update(f.w.q, w, true, f.w.now);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), "w | ");
	put_back(&f, pop(&f), QUOTA_REQUEUE_NONE);
	w->object.generation++;
	pending_update(f.w.q, w, false, f.w.now);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), "w | ");
	/* Deactivated while in flight. */
	assert_ptr_equal(pop(&f), w);
	w->object.active = false;
	put_back(&f, w, QUOTA_REQUEUE_FAILED_AFTER_NOMINATION);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), " | ");
	assert_int_equal(w->pending.where, QUOTA_NOWHERE);
	admission_cycle_fixture_finish(&f);
}

static void a_flush_reaches_the_whole_tree_and_nothing_else(void **state)
{
	static const char *const queues[] = { "q", "r", "s", "t" };
	struct admission_cycle_fixture f;
	struct pending_heads heads = { NULL, 0, 0 };

	(void)state;
	admission_cycle_fixture_init(&f, "cohort left parent=root\ncohort right parent=root\n"
					 "queue q cohort=left\nqueue r cohort=right\n"
					 "queue s cohort=root namespaces=none\n"
					 "quota q f cpu nominal=1\nquota r f cpu nominal=1\n"
					 "quota s f cpu nominal=1\nquota t f cpu nominal=1\n"
					 "workload a queue=q cpu=1\nworkload b queue=r cpu=1\n"
					 "workload c queue=s cpu=1\nworkload d queue=t cpu=1\n");
	pending_pop(f.w.q, f.w.f, &heads);
	assert_int_equal(heads.n, 4);
	for (size_t i = 0; i < heads.n; i++) {
		put_back(&f, heads.v[i], QUOTA_REQUEUE_NONE);
	}
	vec_finish(&heads);
	pending_flush(f.w.q, f.w.f, quota_world_id(&f.w, "q"), f.w.now);
	for (size_t i = 0; i < 4; i++) {
		char expected[16];

		/* s does not select the namespace; t stands alone. */
		snprintf(expected, sizeof(expected), i < 2 ? "%c | " : " | %c", "abcd"[i]);
		assert_string_equal(admission_cycle_fixture_queue(&f, queues[i]), expected);
	}
	admission_cycle_fixture_finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heads_by_priority_time_uid_and_key),
		cmocka_unit_test(priority_boost_counts_behind_its_gate),
		cmocka_unit_test(which_workloads_may_wait),
		cmocka_unit_test(a_workload_follows_its_local_queue),
		cmocka_unit_test(heads_of_active_queues_only),
		cmocka_unit_test(several_heads_behind_an_option),
		cmocka_unit_test(where_it_goes_depends_on_strategy_and_reason),
		cmocka_unit_test(a_flush_during_the_cycle_is_not_lost),
		cmocka_unit_test(pending_flavors_and_back_off),
		cmocka_unit_test(requeued_false_outlives_the_timer),
		cmocka_unit_test(a_time_that_has_passed_is_no_timer),
		cmocka_unit_test(equal_ones_are_passed_over_until_something_changes),
		cmocka_unit_test(each_difference_makes_it_unequal),
		cmocka_unit_test(changed_requests_are_tried_again),
		cmocka_unit_test(a_requeued_workload_gets_its_reason_again),
		cmocka_unit_test(deleted_workloads_leave_the_queue),
		cmocka_unit_test(no_hash_for_strict_fifo_other_reasons_or_without_the_gate),
		cmocka_unit_test(the_preemptor_stays_first_in_best_effort_fifo),
		cmocka_unit_test(the_preemptor_is_an_ordinary_one_in_strict_fifo),
		cmocka_unit_test(updates_leave_an_inadmissible_one_unless_something_counts),
		cmocka_unit_test(a_flush_reaches_the_whole_tree_and_nothing_else),
	};

	return cmocka_run_group_tests_name("workloads/pending/pending", tests, NULL, NULL);
}
