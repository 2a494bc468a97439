#include "lib/pods/evict_fixture.h"
#include "lib/unit.h"

static struct queue *queue(struct cluster *c, const char *name, int64_t deserved)
{
	struct queue *q = cluster_fixture_queue(c, name, NULL, -1);

	q->deserved.v[RES_CPU] = deserved;
	queue_topology_changed(c);
	return q;
}

/* Queue a has 4 of the 2 that it deserves, b asks for 2 of its 2. */
static void start(struct cycle_fixture *f)
{
	struct podgroup *g;

	cycle_fixture_init(f, evict_fixture_conf);
	queue(f->cluster, "a", 2000);
	queue(f->cluster, "b", 2000);
	g = evict_fixture_podgroup(f->cluster, "a", "a", 1, 1);
	cluster_fixture_node(f->cluster, "n", 4000);
	for (int i = 0; i < 4; i++) {
		const char *const names[] = { "v0", "v1", "v2", "v3" };

		evict_fixture_running(f->cluster, names[i], g, 1000, f->cluster->nodes.v[0]);
	}
	(void)cycle_fixture_run(f);
	(void)cycle_fixture_run(f);
}

static void as_much_as_the_queue_deserves(void **state)
{
	struct cycle_fixture f;
	const char *got;

	(void)state;
	start(&f);
	for (int i = 0; i < 3; i++) {
		const char *const names[] = { "b0", "b1", "b2" };

		cluster_fixture_task(f.cluster, names[i],
				     evict_fixture_podgroup(f.cluster, names[i], "b", 1, 0), 1000);
	}
	got = cycle_fixture_run(&f);
	assert_non_null(strstr(got, "Evict v3; Await b0 n; Evict v2; Await b1 n"));
	assert_null(strstr(got, "b2 n"));
	/* Queue a has left what it deserves: it takes nothing back. */
	cluster_fixture_task(f.cluster, "again",
			     evict_fixture_podgroup(f.cluster, "again", "a", 1, 0), 1000);
	assert_null(strstr(cycle_fixture_run(&f), "Evict"));
	cycle_fixture_finish(&f);
}

static void what_protects_a_queue(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct cycle_fixture f;
		struct queue *a;

		start(&f);
		a = queue_find(f.cluster, STR_LIT("a"));
		if (i == 0) {
			a->reclaimable = false;
		} else if (i == 1) {
			a->guarantee.v[RES_CPU] = 4000;
		} else {
			a->deserved.v[RES_CPU] = 4000;
		}
		queue_topology_changed(f.cluster);
		cluster_fixture_task(f.cluster, "b0",
				     evict_fixture_podgroup(f.cluster, "b0", "b", 1, 9), 1000);
		assert_null(strstr(cycle_fixture_run(&f), "Evict"));
		cycle_fixture_finish(&f);
	}
}

static void a_closed_queue_takes_nothing(void **state)
{
	struct cycle_fixture f;

	(void)state;
	start(&f);
	queue_find(f.cluster, STR_LIT("b"))->state = QUEUE_CLOSED;
	queue_topology_changed(f.cluster);
	cluster_fixture_task(f.cluster, "b0", evict_fixture_podgroup(f.cluster, "b0", "b", 1, 9),
			     1000);
	assert_null(strstr(cycle_fixture_run(&f), "Evict"));
	cycle_fixture_finish(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_much_as_the_queue_deserves),
		cmocka_unit_test(what_protects_a_queue),
		cmocka_unit_test(a_closed_queue_takes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
