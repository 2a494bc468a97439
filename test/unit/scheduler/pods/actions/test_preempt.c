#include "lib/pods/evict_fixture.h"
#include "lib/unit.h"

static void start(struct cycle_fixture *f)
{
	cycle_fixture_init(f, evict_fixture_conf);
	cluster_fixture_queue(f->cluster, "q", NULL, -1);
}

/* The first cycle reports what is there already. */
static void settle(struct cycle_fixture *f)
{
	(void)cycle_fixture_run(f);
	(void)cycle_fixture_run(f);
	assert_string_equal(cycle_fixture_run(f), "");
}

static void a_gang_is_all_or_nothing(void **state)
{
	struct podgroup *low, *high;
	struct cycle_fixture f;

	(void)state;
	start(&f);
	low = evict_fixture_podgroup(f.cluster, "low", "q", 1, 1);
	for (int i = 0; i < 2; i++) {
		struct node *n = cluster_fixture_node(f.cluster, i == 0 ? "n0" : "n1", 1000);

		evict_fixture_running(f.cluster, i == 0 ? "v0" : "v1", low, 1000, n);
	}
	settle(&f);
	/* Three do not fit, whatever is evicted. */
	high = evict_fixture_podgroup(f.cluster, "high", "q", 3, 9);
	cluster_fixture_task(f.cluster, "p0", high, 1000);
	cluster_fixture_task(f.cluster, "p1", high, 1000);
	cluster_fixture_task(f.cluster, "p2", high, 1000);
	assert_null(strstr(cycle_fixture_run(&f), "Evict"));
	high->min_member = 2;
	cluster_podgroup_changed(f.cluster, high);
	assert_non_null(
		strstr(cycle_fixture_run(&f), "Evict v0; Evict v1; Await p0 n0; Await p1 n1"));
	evict_fixture_end(f.cluster, "v0");
	/* The room of the first victim alone starts nothing, and goes to no other pod. */
	cluster_fixture_task(f.cluster, "late",
			     evict_fixture_podgroup(f.cluster, "late", "q", 1, 5), 1000);
	assert_null(strstr(cycle_fixture_run(&f), "Bind"));
	evict_fixture_end(f.cluster, "v1");
	assert_non_null(strstr(cycle_fixture_run(&f), "Bind p0 n0; Bind p1 n1"));
	cycle_fixture_finish(&f);
}

static void quota_is_freed_as_well(void **state)
{
	struct cycle_fixture f;
	struct podgroup *low;

	(void)state;
	cycle_fixture_init(&f, evict_fixture_conf);
	cluster_fixture_queue(f.cluster, "q", NULL, 2000);
	low = evict_fixture_podgroup(f.cluster, "low", "q", 1, 1);
	evict_fixture_running(f.cluster, "v0", low, 1000,
			      cluster_fixture_node(f.cluster, "n", 8000));
	evict_fixture_running(f.cluster, "v1", low, 1000, f.cluster->nodes.v[0]);
	settle(&f);
	cluster_fixture_task(f.cluster, "p", evict_fixture_podgroup(f.cluster, "high", "q", 1, 9),
			     1000);
	assert_non_null(strstr(cycle_fixture_run(&f), "Evict v1; Await p n"));
	/* The quota of a terminating pod goes to others at once, as in Volcano. */
	assert_non_null(strstr(cycle_fixture_run(&f), "Bind p n"));
	cycle_fixture_finish(&f);
}

static void never_means_never(void **state)
{
	struct cycle_fixture f;
	struct podgroup *low;
	struct task *t;

	(void)state;
	start(&f);
	low = evict_fixture_podgroup(f.cluster, "low", "q", 1, 1);
	evict_fixture_running(f.cluster, "v", low, 1000,
			      cluster_fixture_node(f.cluster, "n", 1000));
	settle(&f);
	t = cluster_fixture_task(f.cluster, "p",
				 evict_fixture_podgroup(f.cluster, "high", "q", 1, 9), 1000);
	t->flags |= TASK_PREEMPT_NEVER;
	assert_null(strstr(cycle_fixture_run(&f), "Evict"));
	t->flags &= ~(uint32_t)TASK_PREEMPT_NEVER;
	cluster_task_changed(f.cluster, t);
	assert_non_null(strstr(cycle_fixture_run(&f), "Evict v"));
	cycle_fixture_finish(&f);
}

static void what_fits_without_evictions_is_left_to_allocate(void **state)
{
	struct cycle_fixture f;

	(void)state;
	cycle_fixture_init(&f, "actions: \"preempt, allocate\"\n"
			       "tiers:\n"
			       "- plugins:\n"
			       "  - name: priority\n"
			       "  - name: predicates\n"
			       "  - name: capacity\n");
	cluster_fixture_queue(f.cluster, "q", NULL, -1);
	cluster_fixture_node(f.cluster, "n", 1000);
	cluster_fixture_task(f.cluster, "p", evict_fixture_podgroup(f.cluster, "j", "q", 1, 9),
			     1000);
	/* The PodGroup is Pending while preempt runs, so that it comes to allocate first. */
	assert_non_null(strstr(cycle_fixture_run(&f), "Bind p n"));
	cycle_fixture_finish(&f);
}

/* Pods of a PodGroup that beats others only by the priority of its pods. */
static void within_a_podgroup(void **state)
{
	struct cycle_fixture f;
	struct podgroup *g;
	struct task *t;

	(void)state;
	start(&f);
	g = evict_fixture_podgroup(f.cluster, "g", "q", 2, 1);
	evict_fixture_running(f.cluster, "v", g, 1000, cluster_fixture_node(f.cluster, "n", 1000))
		->priority = 1;
	t = cluster_fixture_task(f.cluster, "p", g, 1000);
	t->priority = 2;
	g->phase = PODGROUP_RUNNING;
	/* Its gang would lack the victim instead. */
	assert_null(strstr(cycle_fixture_run(&f), "Evict"));
	cycle_fixture_finish(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gang_is_all_or_nothing),
		cmocka_unit_test(quota_is_freed_as_well),
		cmocka_unit_test(never_means_never),
		cmocka_unit_test(what_fits_without_evictions_is_left_to_allocate),
		cmocka_unit_test(within_a_podgroup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
