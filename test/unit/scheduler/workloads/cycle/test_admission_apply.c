#include "scheduler/workloads/cycle/admission_apply.h"

#include "lib/unit.h"

#include "lib/quota/quota_workloads.h"
#include "lib/workloads/admission_cycle_fixture.h"
#include "scheduler/workloads/pending/pending.h"

static void an_admitted_one_holds_its_quota(void **state)
{
	struct admission_cycle_fixture f;
	const struct workload *w;

	(void)state;
	admission_cycle_fixture_init(&f, "quota q f cpu nominal=9\nquota q f pods nominal=9\n"
					 "workload w queue=q cpu=500m pods=3\n"
					 "podset more pods=2 cpu=1\n");
	assert_string_equal(admission_cycle_fixture_run(&f),
			    "admit w to q cpu=f pods=f cpu=f pods=f");
	w = quota_world_workload(&f.w, "w");
	assert_int_equal(w->holding.node, quota_world_id(&f.w, "q"));
	assert_int_equal(w->pending.where, QUOTA_NOWHERE);
	assert_int_equal(w->flags.reserved_at, f.w.now);
	assert_true(w->flags.admitted);
	assert_int_equal(w->holding.assigned.n, 4);
	assert_int_equal(w->holding.assigned.v[0].amount, 1500);
	assert_int_equal(w->holding.assigned.v[1].amount, 3);
	assert_int_equal(w->holding.assigned.v[3].podset, 1);
	assert_int_equal(w->holding.assigned.v[3].amount, 2);
	assert_int_equal(forest_usage(f.w.f, w->holding.node, quota_world_pair(&f.w, "f", "cpu")),
			 3500);
	assert_int_equal(forest_usage(f.w.f, w->holding.node, quota_world_pair(&f.w, "f", "pods")),
			 5);
	admission_cycle_fixture_finish(&f);
}

static void a_victim_is_evicted_and_keeps_its_quota(void **state)
{
	struct admission_cycle_fixture f;
	struct workload *v;

	(void)state;
	admission_cycle_fixture_init(&f, "quota q f cpu nominal=4\nqueue q within=LowerPriority\n"
					 "workload v queue=q cpu=4 holds=f reserved=-60s\n"
					 "workload p queue=q cpu=2 prio=10\n");
	v = quota_world_workload(&f.w, "v");
	quota_workloads_gate(v);
	(void)admission_cycle_fixture_run(&f);
	assert_true(v->flags.evicted);
	assert_true(v->flags.preemption_gated);
	assert_false(v->flags.reclaimed_while_borrowing);
	assert_int_equal(v->flags.evicted_at, f.w.now);
	assert_int_equal(v->holding.node, quota_world_id(&f.w, "q"));
	/* Once more, it changes nothing. */
	f.w.now += 1000000000;
	(void)admission_cycle_fixture_run(&f);
	assert_int_equal(v->flags.evicted_at, f.w.now - 1000000000);
	admission_cycle_fixture_finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_admitted_one_holds_its_quota),
		cmocka_unit_test(a_victim_is_evicted_and_keeps_its_quota),
	};

	return cmocka_run_group_tests_name("workloads/cycle/admission_apply", tests, NULL, NULL);
}
