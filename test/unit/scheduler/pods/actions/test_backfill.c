#include "lib/pods/cycle_fixture.h"
#include "lib/unit.h"

#include "scheduler/pods/ledger/ledger.h"

static void pods_without_requests_go_anywhere(void **state)
{
	struct cycle_fixture f;
	struct podgroup *g;

	(void)state;
	cycle_fixture_init(&f, NULL);
	/* A queue without any room: best-effort pods need none. */
	cluster_fixture_queue(f.cluster, "q", NULL, 0);
	cluster_fixture_node(f.cluster, "n", 0);
	g = cluster_fixture_podgroup(f.cluster, "j", "q", 2);
	cluster_fixture_task(f.cluster, "p0", g, 0);
	cluster_fixture_task(f.cluster, "p1", g, 0);
	assert_string_equal(cycle_fixture_run(&f), "Bind p0 n; Bind p1 n; JobPhase j Inqueue; "
						   "JobCondition j Scheduled");
	cycle_fixture_finish(&f);
}

/* A pod without requests counts for its gang before it is placed, as in Volcano. */
static void mixed_gangs(void **state)
{
	struct cycle_fixture f;
	struct podgroup *g;

	(void)state;
	cycle_fixture_init(&f, NULL);
	cluster_fixture_queue(f.cluster, "q", NULL, -1);
	cluster_fixture_node(f.cluster, "n", 1000);
	g = cluster_fixture_podgroup(f.cluster, "j", "q", 2);
	cluster_fixture_task(f.cluster, "p0", g, 1000);
	cluster_fixture_task(f.cluster, "p1", g, 0);
	assert_string_equal(cycle_fixture_run(&f), "Bind p0 n; Bind p1 n; JobPhase j Inqueue; "
						   "JobCondition j Scheduled");
	cycle_fixture_finish(&f);
}

static void an_opted_in_pod_without_a_node_is_published(void **state)
{
	struct cycle_fixture f;

	(void)state;
	cycle_fixture_init(&f, NULL);
	cluster_fixture_queue(f.cluster, "q", NULL, 0);
	cycle_fixture_gated(&f, "p0", cluster_fixture_podgroup(f.cluster, "j", "q", 1), 0);
	assert_string_equal(cycle_fixture_run(&f), "Ungate p0 uncharged; JobPhase j Inqueue");
	cycle_fixture_acknowledge(&f);
	assert_string_equal(cycle_fixture_run(&f), "Publish p0");
	assert_string_equal(cycle_fixture_run(&f), "");
	cluster_fixture_node(f.cluster, "n", 1000);
	assert_string_equal(cycle_fixture_run(&f), "Bind p0 n; JobCondition j Scheduled");
	cycle_fixture_finish(&f);
}

/* Members with requests are tried by allocate alone: this says nothing about them. */
static void members_with_requests_are_not_published_untried(void **state)
{
	struct cycle_fixture f;
	struct podgroup *g;
	struct task *t;

	(void)state;
	cycle_fixture_init(&f,
			   "actions: \"enqueue, backfill\"\ntiers:\n- plugins:\n  - name: gang\n"
			   "  - name: capacity\n  - name: predicates\n");
	cluster_fixture_queue(f.cluster, "q", NULL, 1000);
	g = cluster_fixture_podgroup(f.cluster, "j", "q", 2);
	t = cycle_fixture_gated(&f, "p0", g, 1000);
	t->flags &= ~(uint32_t)TASK_OUR_GATE;
	ledger_charge(f.cluster, t, f.cluster->queues.v[g->queue], CHARGE_UNGATED);
	cluster_fixture_task(f.cluster, "p1", g, 0);
	assert_string_equal(cycle_fixture_run(&f),
			    "JobPhase j Inqueue; Condition p1 Unschedulable");
	cycle_fixture_finish(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(pods_without_requests_go_anywhere),
		cmocka_unit_test(mixed_gangs),
		cmocka_unit_test(an_opted_in_pod_without_a_node_is_published),
		cmocka_unit_test(members_with_requests_are_not_published_untried),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
