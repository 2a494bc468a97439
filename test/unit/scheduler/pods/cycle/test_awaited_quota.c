#include "scheduler/pods/cycle/awaited_quota.h"

#include "lib/pods/evict_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"

struct fixture {
	struct cycle_fixture f;
	struct cluster *c;
	struct queue *q;
	struct task *pod;
};

/* Two victims on two nodes fill the queue; a gated pod asks for as much as both have. */
static void start(struct fixture *x)
{
	struct podgroup *low, *high;

	cycle_fixture_init(&x->f, evict_fixture_conf);
	x->c = x->f.cluster;
	x->q = cluster_fixture_queue(x->c, "q", NULL, 2000);
	low = evict_fixture_podgroup(x->c, "low", "q", 1, 1);
	evict_fixture_running(x->c, "v0", low, 1000, cluster_fixture_node(x->c, "n0", 1000));
	evict_fixture_running(x->c, "v1", low, 1000, cluster_fixture_node(x->c, "n1", 1000));
	high = evict_fixture_podgroup(x->c, "high", "q", 1, 9);
	x->pod = cycle_fixture_gated(&x->f, "p", high, 2000);
	assert_non_null(strstr(cycle_fixture_run(&x->f), "Evict v1; Evict v0; AwaitQuota p"));
	assert_int_equal(x->pod->charge, CHARGE_AWAITING_VICTIMS);
	/* Charged beside its victims; no node can be made to fit. */
	assert_int_equal(x->q->charged.v[RES_CPU], 4000);
	assert_int_equal(x->pod->awaits, MODEL_NONE);
	assert_string_equal(cycle_fixture_run(&x->f), "");
}

static void the_gate_goes_when_the_last_victim_is_gone(void **state)
{
	struct fixture x;

	(void)state;
	start(&x);
	evict_fixture_end(x.c, "v0");
	assert_null(strstr(cycle_fixture_run(&x.f), "Ungate"));
	evict_fixture_end(x.c, "v1");
	assert_non_null(strstr(cycle_fixture_run(&x.f), "Ungate p"));
	assert_int_equal(x.pod->charge, CHARGE_PATCHING);
	assert_int_equal(x.q->charged.v[RES_CPU], 2000);
	assert_int_equal(x.pod->victims, 0);
	cycle_fixture_finish(&x.f);
}

/* An eviction was refused: even with the end of the other one the quota does not come. */
static void quota_that_does_not_come_is_given_up(void **state)
{
	struct fixture x;
	struct task *v;

	(void)state;
	start(&x);
	v = cluster_task_find(x.c, STR_LIT("ns/v0"));
	ledger_set_releasing(x.c, v, false);
	cluster_task_set_status(x.c, v, TASK_RUNNING, x.c->nodes.v[0]);
	v->retry_at = x.f.now + 10 * CYCLE_FIXTURE_S;
	assert_non_null(strstr(cycle_fixture_run(&x.f), "Await p nothing; Revoke p"));
	assert_int_equal(x.pod->charge, CHARGE_NONE);
	assert_int_equal(x.pod->in_vain, 1);
	assert_true(x.pod->preempt_at != MODEL_TIME_NONE);
	cycle_fixture_finish(&x.f);
}

static void a_closed_queue_takes_it_back(void **state)
{
	struct fixture x;

	(void)state;
	start(&x);
	x.q->state = QUEUE_CLOSED;
	queue_topology_changed(x.c);
	assert_non_null(strstr(cycle_fixture_run(&x.f), "Await p nothing; Revoke p"));
	assert_int_equal(x.pod->charge, CHARGE_NONE);
	cycle_fixture_finish(&x.f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_gate_goes_when_the_last_victim_is_gone),
		cmocka_unit_test(quota_that_does_not_come_is_given_up),
		cmocka_unit_test(a_closed_queue_takes_it_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
