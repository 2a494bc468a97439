#include "scheduler/pods/ledger/totals.h"

#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"

static struct task *add(struct cluster *c, const char *name, struct podgroup *g, uint32_t flags)
{
	struct task *t = cluster_fixture_task(c, name, g, 1000);

	t->flags |= flags;
	return t;
}

/* One pod in each state, in a child queue: the parent shows the same sums. */
static void test_each_state_counts_where_it_belongs(void **state)
{
	struct cluster *c = cluster_create();
	struct queue_totals totals[4];
	struct queue *root = cluster_fixture_queue(c, "root", NULL, -1),
		     *q = cluster_fixture_queue(c, "q", "root", 8000);
	struct node *n = cluster_fixture_node(c, "n", 8000);
	struct podgroup *g = cluster_fixture_podgroup(c, "j", "q", 1),
			*alone = cluster_podgroup_get_alone(c, STR_LIT("ns"), STR_LIT("theirs"));
	struct task *t;

	(void)state;
	cluster_podgroup_set_queue(c, alone, STR_LIT("q"));
	add(c, "gated", g, TASK_OPTED_IN | TASK_OUR_GATE);
	ledger_charge(c, add(c, "patching", g, TASK_OPTED_IN | TASK_OUR_GATE), q, CHARGE_PATCHING);
	t = add(c, "published", g, TASK_OPTED_IN);
	t->cond = POD_COND_UNSCHEDULABLE;
	ledger_charge(c, t, q, CHARGE_PATCHING);
	t = add(c, "withdrawn", g, TASK_OPTED_IN);
	t->cond = POD_COND_NOT_READY;
	t = add(c, "running", g, TASK_OPTED_IN);
	ledger_charge(c, t, q, CHARGE_BOUND);
	cluster_task_set_status(c, t, TASK_RUNNING, n);
	t = add(c, "ending", g, TASK_OPTED_IN);
	cluster_task_set_status(c, t, TASK_RELEASING, n);
	ledger_charge(c, t, q, CHARGE_BOUND);
	add(c, "plain", g, 0);
	add(c, "theirs", alone, TASK_OPTED_IN | TASK_OUR_GATE | TASK_GATE_ONLY);
	totals_compute(c, totals);
	for (unsigned i = 0; i < 2; i++) {
		const struct queue_totals *x = &totals[i == 0 ? q->id : root->id];

		assert_int_equal(x->gated, 2);
		assert_int_equal(x->patching, 1);
		assert_int_equal(x->published_pods, 1);
		assert_int_equal(x->withdrawn, 1);
		assert_int_equal(x->ungated, 1);
		assert_int_equal(x->allocated.v[RES_CPU], 1000);
		assert_int_equal(x->reserved.v[RES_CPU], 2000);
		assert_int_equal(x->held.v[RES_CPU], 3000);
		assert_int_equal(x->published.v[RES_CPU], 1000);
		assert_int_equal(x->request.v[RES_CPU], 7000);
		assert_int_equal(x->podgroups[PODGROUP_PENDING] + x->podgroups[PODGROUP_INQUEUE],
				 1);
	}
	cluster_destroy(c);
}

/* Not where its PodGroup was moved to; and a pod on a node that does not exist counts nowhere. */
static void test_a_charge_counts_in_its_own_queue(void **state)
{
	struct cluster *c = cluster_create();
	struct queue_totals totals[3];
	struct queue *was = cluster_fixture_queue(c, "was", NULL, 8000);
	struct node *n = cluster_fixture_node(c, "n", 8000);
	struct podgroup *g;
	struct task *t;

	(void)state;
	(void)cluster_fixture_queue(c, "now", NULL, 8000);
	g = cluster_fixture_podgroup(c, "j", "now", 1);
	t = add(c, "moved", g, TASK_OPTED_IN);
	ledger_charge(c, t, was, CHARGE_BOUND);
	cluster_task_set_status(c, t, TASK_RUNNING, n);
	t = add(c, "nowhere", g, TASK_OPTED_IN);
	cluster_task_set_status(c, t, TASK_BOUND, n);
	totals_compute(c, totals);
	assert_int_equal(totals[was->id].allocated.v[RES_CPU], 1000);
	assert_int_equal(totals[g->queue].allocated.v[RES_CPU], 0);
	cluster_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_state_counts_where_it_belongs),
		cmocka_unit_test(test_a_charge_counts_in_its_own_queue),
	};

	return cmocka_run_group_tests_name("pods/ledger/totals", tests, NULL, NULL);
}
