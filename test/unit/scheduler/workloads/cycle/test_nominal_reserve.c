#include "scheduler/workloads/cycle/nominal_reserve.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "lib/workloads/admission_cycle_fixture.h"

/* b owns what a would borrow: b1 gets in, more of b wait behind it. */
#define COHORT                                                                                     \
	"queue a cohort=c reclaim=Any\nqueue b cohort=c reclaim=Any\n"                             \
	"quota a f cpu nominal=4\nquota b f cpu nominal=4\n"                                       \
	"workload a0 queue=a cpu=4 holds=f reserved=-9s\n"                                         \
	"workload b1 queue=b cpu=1 prio=9\n"

#define LATER "wait a1 heap FailedAfterNomination WaitingForQuota"

static void quota_of_the_next_heads_is_not_lent(void **state)
{
	static const struct admission_cycle_row rows[] = {
		/* Without: lent, and taken back in the next cycle. */
		{ "option nominal_first=false\n" COHORT "workload b2 queue=b cpu=3\n"
		  "workload a1 queue=a cpu=3\n",
		  { "admit b1 to b cpu=f; admit a1 to a cpu=f",
		    "preempt a1 for b2 InCohortReclamation; "
		    "wait b2 heap PendingPreemption WaitingForPreemptedWorkloads",
		    NULL } },
		{ COHORT "workload b2 queue=b cpu=3\nworkload a1 queue=a cpu=3\n",
		  { "admit b1 to b cpu=f; " LATER, "admit b2 to b cpu=f; " LATER,
		    "wait a1 inadmissible PreemptionNoCandidates WaitingForQuota", "" } },
		/* There is room for both. */
		{ COHORT "workload b2 queue=b cpu=1\nworkload a1 queue=a cpu=2\n",
		  { "admit b1 to b cpu=f; admit a1 to a cpu=f", "admit b2 to b cpu=f", "" } },
		/* Several of them. */
		{ COHORT "workload b2 queue=b cpu=1 prio=3\nworkload b3 queue=b cpu=1 prio=2\n"
			 "workload a1 queue=a cpu=2\n",
		  { "admit b1 to b cpu=f; " LATER, "admit b2 to b cpu=f; " LATER,
		    "admit b3 to b cpu=f; " LATER, NULL } },
		/* Not behind one that has to borrow itself. */
		{ COHORT "workload b2 queue=b cpu=4 prio=3\nworkload b3 queue=b cpu=1 prio=2\n"
			 "workload a1 queue=a cpu=3\n",
		  { "admit b1 to b cpu=f; admit a1 to a cpu=f", NULL } },
		/* Nor for one that may not start. */
		{ COHORT "workload b2 queue=b cpu=3 check-blocks\nworkload a1 queue=a cpu=3\n",
		  { "admit b1 to b cpu=f; admit a1 to a cpu=f", NULL } },
	};

	(void)state;
	admission_cycle_fixture_rows(rows, ARRAY_LEN(rows));
}

/* The heads of two queues borrow, with small ones behind: neither waits for those of the other. */
static void only_behind_a_head_that_got_in(void **state)
{
	static const struct admission_cycle_row rows[] = {
		{ "queue a cohort=c\nqueue b cohort=c\nqueue o cohort=c\n"
		  "quota a f cpu nominal=2\nquota b f cpu nominal=2\nquota o f cpu nominal=2\n"
		  "workload a1 queue=a cpu=5 prio=2\nworkload a2 queue=a cpu=1\n"
		  "workload b1 queue=b cpu=5 prio=1\nworkload b2 queue=b cpu=1\n",
		  { "admit a1 to a cpu=f; wait b1 heap FailedAfterNomination WaitingForQuota",
		    NULL } },
		{ COHORT "queue b stop=Hold\nworkload b2 queue=b cpu=3\n"
			 "workload a1 queue=a cpu=3\n",
		  { "admit a1 to a cpu=f", NULL } },
	};

	(void)state;
	admission_cycle_fixture_rows(rows, ARRAY_LEN(rows));
}

static void set_preemptor(struct admission_cycle_fixture *f, const char *queue,
			  const char *workload)
{
	struct cluster_queue *q = quota_world_node(&f->w, queue)->queue;
	const struct workload *w = quota_world_workload(&f->w, workload);

	q->preemptor = w->id;
	q->preemptor_generation = w->object.generation;
}

static void a_preemptor_may_borrow(void **state)
{
	struct admission_cycle_fixture f;

	(void)state;
	admission_cycle_fixture_init(&f, COHORT "workload b2 queue=b cpu=3\n"
						"workload a1 queue=a cpu=3\n");
	set_preemptor(&f, "a", "a1");
	set_preemptor(&f, "b", "b1");
	assert_string_equal(admission_cycle_fixture_run(&f),
			    "admit b1 to b cpu=f; admit a1 to a cpu=f");
	admission_cycle_fixture_finish(&f);
}

static void follows_what_the_cycle_does(void **state)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct nominal_reserve n = { .forest = NULL };
	struct quota_amounts two = { NULL, 0, 0 };
	struct admission_cycle_fixture f;
	struct nominate_context c;
	uint32_t a, b;

	(void)state;
	admission_cycle_fixture_init(&f, "queue a cohort=c\nqueue b cohort=c\n"
					 "quota a f cpu nominal=2\nquota b f cpu nominal=2\n"
					 "workload b1 queue=b cpu=1\n");
	c = (struct nominate_context){ .forest = f.w.f, .arena = arena, .now = f.w.now };
	a = quota_world_id(&f.w, "a");
	b = quota_world_id(&f.w, "b");
	quota_amounts_add(&two, quota_world_pair(&f.w, "f", "cpu"), 2000);
	nominal_reserve_begin(&n);
	assert_true(nominal_reserve_fits(&n, &c, a, &two));
	assert_null(n.forest);
	nominal_reserve_admitted(&n, b);
	assert_true(nominal_reserve_fits(&n, &c, a, &two));
	nominal_reserve_add(&n, a, &two);
	assert_false(nominal_reserve_fits(&n, &c, a, &two));
	nominal_reserve_remove(&n, a, &two);
	assert_true(nominal_reserve_fits(&n, &c, a, &two));
	assert_int_equal(forest_usage(f.w.f, a, two.v[0].id), 0);
	nominal_reserve_end(&n);
	nominal_reserve_begin(&n);
	assert_int_equal(n.queues.n, 0);
	nominal_reserve_finish(&n);
	quota_amounts_finish(&two);
	admission_cycle_fixture_finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quota_of_the_next_heads_is_not_lent),
		cmocka_unit_test(only_behind_a_head_that_got_in),
		cmocka_unit_test(a_preemptor_may_borrow),
		cmocka_unit_test(follows_what_the_cycle_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
