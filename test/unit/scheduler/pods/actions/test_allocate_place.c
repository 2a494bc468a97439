#include "scheduler/pods/actions/allocate_place.h"

#include "lib/pods/cycle_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"

static void a_gang_that_fits_in_part_gets_nothing(void **state)
{
	struct cycle_fixture f;
	struct podgroup *g;

	(void)state;
	cycle_fixture_init(&f, NULL);
	cluster_fixture_queue(f.cluster, "q", NULL, -1);
	cluster_fixture_node(f.cluster, "n", 1000);
	g = cluster_fixture_podgroup(f.cluster, "j", "q", 2);
	cluster_fixture_task(f.cluster, "p0", g, 1000);
	cluster_fixture_task(f.cluster, "p1", g, 1000);
	assert_string_equal(cycle_fixture_run(&f),
			    "JobPhase j Inqueue; JobCondition j Unschedulable; "
			    "Condition p0 Schedulable; Condition p1 Unschedulable");
	assert_string_equal(cycle_fixture_run(&f), "");
	cycle_fixture_finish(&f);
}

/* A gang that waits for resources that are being released holds them against later PodGroups, and
 * what it would get now as well. */
static void a_pipelined_gang_holds_its_place(void **state)
{
	struct cycle_fixture f;
	struct cluster *c;
	struct podgroup *gang, *late;
	struct task *old;

	(void)state;
	cycle_fixture_init(&f, NULL);
	c = f.cluster;
	cluster_fixture_queue(c, "q", NULL, -1);
	cluster_fixture_node(c, "n", 2000);
	old = cluster_fixture_task(c, "old", NULL, 1000);
	cluster_task_set_status(c, old, TASK_RELEASING, c->nodes.v[0]);
	gang = cluster_fixture_podgroup(c, "gang", "q", 2);
	late = cluster_fixture_podgroup(c, "late", "q", 1);
	gang->created = 1;
	late->created = 2;
	cluster_fixture_task(c, "g0", gang, 1000);
	cluster_fixture_task(c, "g1", gang, 1000);
	cluster_fixture_task(c, "l0", late, 1000);
	assert_string_equal(cycle_fixture_run(&f),
			    "JobPhase gang Inqueue; Condition g0 Schedulable; "
			    "Condition g1 Unschedulable; JobPhase late Inqueue; "
			    "JobCondition late Unschedulable; Condition l0 Unschedulable");
	cluster_task_remove(c, old);
	assert_string_equal(cycle_fixture_run(&f), "Bind g0 n; Bind g1 n; JobCondition gang "
						   "Scheduled");
	cycle_fixture_finish(&f);
}

/* So does a pod beyond the minimum of its PodGroup. */
static void a_pipelined_pod_holds_its_place(void **state)
{
	struct cycle_fixture f;
	struct podgroup *g;
	struct task *t;
	struct queue *q;

	(void)state;
	cycle_fixture_init(&f, NULL);
	q = cluster_fixture_queue(f.cluster, "q", NULL, -1);
	cluster_fixture_node(f.cluster, "m", 1000);
	cluster_fixture_node(f.cluster, "n", 2000);
	t = cluster_fixture_task(f.cluster, "old", NULL, 1000);
	cluster_task_set_status(f.cluster, t, TASK_RELEASING, f.cluster->nodes.v[1]);
	g = cluster_fixture_podgroup(f.cluster, "g", "q", 1);
	t = cluster_fixture_task(f.cluster, "g0", g, 1000);
	cluster_task_set_status(f.cluster, t, TASK_RUNNING, f.cluster->nodes.v[0]);
	ledger_charge(f.cluster, t, q, CHARGE_BOUND);
	cluster_podgroup_set_phase(f.cluster, g, PODGROUP_RUNNING);
	cluster_fixture_task(f.cluster, "g1", g, 2000);
	(void)cycle_fixture_run(&f);
	assert_true(q->scan.holds);
	cycle_fixture_finish(&f);
}

/* The same for pods that opted in: those that do not fit now are published. */
static void a_pipelined_gang_that_opted_in_is_published(void **state)
{
	struct cycle_fixture f;
	struct cluster *c;
	struct task *old;
	struct podgroup *g;

	(void)state;
	cycle_fixture_init(&f, NULL);
	c = f.cluster;
	cluster_fixture_queue(c, "q", NULL, 9000);
	cluster_fixture_node(c, "n", 2000);
	old = cluster_fixture_task(c, "old", NULL, 1000);
	cluster_task_set_status(c, old, TASK_RELEASING, c->nodes.v[0]);
	g = cluster_fixture_podgroup(c, "gang", "q", 2);
	cycle_fixture_gated(&f, "g0", g, 1000);
	cycle_fixture_gated(&f, "g1", g, 1000);
	assert_string_equal(cycle_fixture_run(&f), "Ungate g0; Ungate g1; JobPhase gang Inqueue");
	cycle_fixture_acknowledge(&f);
	assert_string_equal(cycle_fixture_run(&f), "Publish g0; Publish g1");
	cluster_task_remove(c, old);
	assert_string_equal(cycle_fixture_run(&f),
			    "Bind g0 n; Bind g1 n; JobCondition gang Scheduled");
	cycle_fixture_finish(&f);
}

static void ordinary_pods_ask_the_quota(void **state)
{
	struct cycle_fixture f;
	struct podgroup *g;

	(void)state;
	cycle_fixture_init(&f, NULL);
	cluster_fixture_queue(f.cluster, "q", NULL, 1500);
	cluster_fixture_node(f.cluster, "n", 9000);
	g = cluster_fixture_podgroup(f.cluster, "j", "q", 1);
	cluster_fixture_task(f.cluster, "p0", g, 1000);
	cluster_fixture_task(f.cluster, "p1", g, 1000);
	assert_string_equal(cycle_fixture_run(&f),
			    "Bind p0 n; JobPhase j Inqueue; JobCondition j Scheduled; "
			    "Condition p1 Unschedulable");
	cycle_fixture_finish(&f);
}

/* Quota of a terminating pod goes to the pods that wait for it with a reservation beside them, not
 * to an ordinary pod at their expense. */
static void quota_coming_free_is_not_taken_from_reservations(void **state)
{
	struct cycle_fixture f;
	struct cluster *c;
	struct task *old, *opted;
	struct podgroup *g, *k;
	struct queue *q;

	(void)state;
	cycle_fixture_init(&f, NULL);
	c = f.cluster;
	q = cluster_fixture_queue(c, "q", NULL, 2000);
	cluster_fixture_node(c, "n", 9000);
	g = cluster_fixture_podgroup(c, "j", "q", 1);
	k = cluster_fixture_podgroup(c, "k", "q", 1);
	old = cluster_fixture_task(c, "old", k, 1000);
	ledger_charge(c, old, q, CHARGE_BOUND);
	ledger_set_releasing(c, old, true);
	cluster_task_set_status(c, old, TASK_RELEASING, c->nodes.v[0]);
	opted = cycle_fixture_gated(&f, "opted", g, 1000);
	ledger_charge(c, opted, q, CHARGE_PATCHING);
	cluster_fixture_task(c, "plain", k, 1000);
	assert_string_equal(cycle_fixture_run(&f),
			    "JobPhase j Inqueue; JobPhase k Running; Condition plain "
			    "Unschedulable");
	ledger_release(c, opted);
	cluster_task_changed(c, opted);
	opted->flags |= TASK_PARKED;
	assert_string_equal(cycle_fixture_run(&f), "Bind plain n; JobCondition k Scheduled");
	cycle_fixture_finish(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gang_that_fits_in_part_gets_nothing),
		cmocka_unit_test(a_pipelined_gang_holds_its_place),
		cmocka_unit_test(a_pipelined_pod_holds_its_place),
		cmocka_unit_test(a_pipelined_gang_that_opted_in_is_published),
		cmocka_unit_test(ordinary_pods_ask_the_quota),
		cmocka_unit_test(quota_coming_free_is_not_taken_from_reservations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
