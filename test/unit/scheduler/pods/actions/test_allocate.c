#include <stdio.h>

#include "lib/pods/cycle_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"

static void pods(struct cycle_fixture *f, struct podgroup *g, int n, int64_t cpu, bool gated)
{
	for (int i = 0; i < n; i++) {
		char name[32];
		struct task *t;

		snprintf(name, sizeof(name), "%s-w-%d", g->name, i);
		t = gated ? cycle_fixture_gated(f, name, g, cpu)
			  : cluster_fixture_task(f->cluster, name, g, cpu);
		t->created = (int64_t)t->id;
	}
}

/* The first pass commits exactly the minimum; what is beyond waits for its turn, queue by queue. */
static void pods_beyond_the_minimum_take_turns(void **state)
{
	struct cycle_fixture f;
	struct podgroup *a, *b;

	(void)state;
	cycle_fixture_init(&f, NULL);
	cluster_fixture_queue(f.cluster, "q", NULL, -1);
	cluster_fixture_node(f.cluster, "n", 4000);
	a = cluster_fixture_podgroup(f.cluster, "a", "q", 1);
	b = cluster_fixture_podgroup(f.cluster, "b", "q", 1);
	a->created = 1;
	b->created = 2;
	pods(&f, a, 3, 1000, false);
	pods(&f, b, 3, 1000, false);
	assert_string_equal(
		cycle_fixture_run(&f),
		"Bind a-w-0 n; Bind b-w-0 n; Bind a-w-1 n; Bind a-w-2 n; JobPhase a Inqueue; "
		"JobCondition a Scheduled; JobPhase b Inqueue; JobCondition b Scheduled; "
		"Condition b-w-1 Unschedulable; Condition b-w-2 Unschedulable");
	cycle_fixture_finish(&f);
}

static void gangs_under_way_come_first(void **state)
{
	struct cycle_fixture f;
	struct podgroup *old, *started;

	(void)state;
	cycle_fixture_init(&f, NULL);
	cluster_fixture_queue(f.cluster, "q", NULL, 2000);
	cluster_fixture_node(f.cluster, "n", 9000);
	old = cluster_fixture_podgroup(f.cluster, "old", "q", 1);
	started = cluster_fixture_podgroup(f.cluster, "started", "q", 2);
	old->created = 1;
	started->created = 2;
	started->phase = PODGROUP_RUNNING;
	pods(&f, old, 1, 1000, true);
	pods(&f, started, 2, 1000, true);
	/* One of them runs already. */
	f.cluster->tasks.v[2]->flags &= ~(uint32_t)TASK_OUR_GATE;
	ledger_charge(f.cluster, f.cluster->tasks.v[2], f.cluster->queues.v[old->queue],
		      CHARGE_BOUND);
	cluster_task_set_status(f.cluster, f.cluster->tasks.v[2], TASK_RUNNING,
				f.cluster->nodes.v[0]);
	cycle_fixture_run(&f);
	assert_int_equal(f.cluster->tasks.v[1]->charge, CHARGE_PATCHING);
	assert_int_equal(f.cluster->tasks.v[0]->charge, CHARGE_NONE);
	cycle_fixture_finish(&f);
}

static void a_queue_without_changes_is_not_looked_at(void **state)
{
	struct cycle_fixture f;
	struct podgroup *a;

	(void)state;
	cycle_fixture_init(&f, NULL);
	cluster_fixture_queue(f.cluster, "q", NULL, 1000);
	a = cluster_fixture_podgroup(f.cluster, "a", "q", 1);
	pods(&f, a, 3, 1000, true);
	cycle_fixture_run(&f);
	cycle_fixture_run(&f);
	cycle_fixture_run(&f);
	assert_int_equal(cycle_last_stats(f.cycle).queues_scanned, 0);
	/* Room at an ancestor is a change. */
	cluster_fixture_queue(f.cluster, "q", NULL, 2000);
	assert_string_equal(cycle_fixture_run(&f), "Ungate a-w-1");
	cycle_fixture_finish(&f);
}

static void without_the_enqueue_action_pending_podgroups_are_placed(void **state)
{
	struct cycle_fixture f;

	(void)state;
	cycle_fixture_init(&f, "actions: \"allocate\"\n"
			       "tiers:\n- plugins: [{name: gang}, {name: predicates}]\n");
	cluster_fixture_queue(f.cluster, "q", NULL, -1);
	cluster_fixture_node(f.cluster, "n", 4000);
	pods(&f, cluster_fixture_podgroup(f.cluster, "a", "q", 1), 1, 1000, false);
	assert_string_equal(cycle_fixture_run(&f),
			    "Bind a-w-0 n; JobPhase a Inqueue; JobCondition a Scheduled");
	cycle_fixture_finish(&f);
}

static void a_pod_group_that_holds_quota_is_admitted(void **state)
{
	struct cycle_fixture f;
	struct podgroup *g;

	(void)state;
	cycle_fixture_init(&f, NULL);
	cluster_fixture_queue(f.cluster, "q", NULL, 1000);
	g = cluster_fixture_podgroup(f.cluster, "a", "q", 1);
	g->has_min_resources = true;
	g->min_resources.v[RES_CPU] = 5000;
	pods(&f, g, 1, 1000, true);
	f.cluster->tasks.v[0]->flags &= ~(uint32_t)TASK_OUR_GATE;
	ledger_charge(f.cluster, f.cluster->tasks.v[0], f.cluster->queues.v[g->queue],
		      CHARGE_UNGATED);
	assert_string_equal(cycle_fixture_run(&f),
			    "JobPhase a Inqueue; JobCondition a Unschedulable; Publish a-w-0");
	cycle_fixture_finish(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(pods_beyond_the_minimum_take_turns),
		cmocka_unit_test(gangs_under_way_come_first),
		cmocka_unit_test(a_queue_without_changes_is_not_looked_at),
		cmocka_unit_test(without_the_enqueue_action_pending_podgroups_are_placed),
		cmocka_unit_test(a_pod_group_that_holds_quota_is_admitted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
