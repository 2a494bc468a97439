#include "scheduler/pods/cycle/holds.h"

#include "lib/pods/evict_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"

struct fixture {
	struct cycle_fixture f;
	struct cluster *c;
	struct task *victim, *pod;
	struct node *n;
};

/* The victim is evicted for the pod, which awaits its node. */
static void start(struct fixture *x)
{
	cycle_fixture_init(&x->f, evict_fixture_conf);
	x->c = x->f.cluster;
	cluster_fixture_queue(x->c, "q", NULL, -1);
	x->n = cluster_fixture_node(x->c, "n", 1000);
	x->victim = evict_fixture_running(x->c, "v", evict_fixture_podgroup(x->c, "low", "q", 1, 1),
					  1000, x->n);
	x->pod = cluster_fixture_task(x->c, "p", evict_fixture_podgroup(x->c, "high", "q", 1, 9),
				      1000);
	assert_non_null(strstr(cycle_fixture_run(&x->f), "Evict v; Await p n"));
	assert_int_equal(x->pod->awaits, x->n->id);
	assert_int_equal(x->pod->nominated, x->n->id);
	assert_int_equal(x->pod->victims, 1);
	assert_string_equal(cycle_fixture_run(&x->f), "");
}

static const struct decision *find_event(const struct fixture *x, const char *reason)
{
	for (size_t i = 0; i < x->f.decisions->n; i++) {
		const struct decision *d = &x->f.decisions->v[i];

		if (d->kind == DECISION_EVENT && strcmp(d->reason, reason) == 0) {
			return d;
		}
	}
	return NULL;
}

static void others_do_not_get_the_room(void **state)
{
	struct podgroup *g;
	struct fixture x;
	struct task *t;

	(void)state;
	start(&x);
	cluster_fixture_queue(x.c, "a", NULL, -1);
	g = evict_fixture_podgroup(x.c, "other", "a", 1, 100);
	t = cluster_fixture_task(x.c, "t", g, 1000);
	assert_null(strstr(cycle_fixture_run(&x.f), "Bind"));
	evict_fixture_end(x.c, "v");
	assert_non_null(strstr(cycle_fixture_run(&x.f), "Bind p n"));
	assert_int_equal(t->status, TASK_PENDING);
	cycle_fixture_acknowledge(&x.f);
	assert_int_equal(x.pod->awaits, MODEL_NONE);
	assert_int_equal(x.pod->victims, 0);
	assert_int_equal(x.c->awaiting.n, 0);
	cycle_fixture_finish(&x.f);
}

/* The eviction was refused: the victim stays, the pod gives up the node, and pauses. */
static void a_refused_eviction_ends_the_hold(void **state)
{
	const struct decision *d;
	struct fixture x;

	(void)state;
	start(&x);
	ledger_set_releasing(x.c, x.victim, false);
	cluster_task_set_status(x.c, x.victim, TASK_RUNNING, x.n);
	x.victim->retry_at = x.f.now + 10 * CYCLE_FIXTURE_S;
	assert_non_null(strstr(cycle_fixture_run(&x.f), "Await p nothing"));
	d = find_event(&x, "EvictedInVain");
	assert_non_null(d);
	assert_non_null(strstr(d->message, "1 eviction made no room for the pod: "));
	assert_non_null(strstr(d->message, "no pod is evicted for it in the next 1 s"));
	assert_int_equal(x.pod->awaits, MODEL_NONE);
	assert_int_equal(x.pod->nominated, MODEL_NONE);
	assert_int_equal(x.pod->in_vain, 1);
	assert_true(x.pod->preempt_at > x.f.now - CYCLE_FIXTURE_S);
	cycle_fixture_finish(&x.f);
}

static void a_node_that_goes_ends_the_hold(void **state)
{
	struct fixture x;
	struct res old;

	(void)state;
	start(&x);
	old = x.n->allocatable;
	x.n->exists = false;
	cluster_node_changed(x.c, x.n, &old, true);
	assert_non_null(strstr(cycle_fixture_run(&x.f), "Await p nothing"));
	assert_non_null(find_event(&x, "EvictedInVain"));
	evict_fixture_end(x.c, "v");
	cycle_fixture_finish(&x.f);
}

/* A bind that failed: the pod waits for its turn, and no other pod takes the room. */
static void room_outlasts_a_failed_bind(void **state)
{
	struct fixture x;

	(void)state;
	start(&x);
	evict_fixture_end(x.c, "v");
	assert_non_null(strstr(cycle_fixture_run(&x.f), "Bind p n"));
	cluster_task_set_status(x.c, x.pod, TASK_PENDING, NULL);
	ledger_release(x.c, x.pod);
	x.pod->retry_at = x.f.now + 5 * CYCLE_FIXTURE_S;
	cluster_task_changed(x.c, x.pod);
	cluster_fixture_task(x.c, "t", evict_fixture_podgroup(x.c, "t", "q", 1, 100), 1000);
	assert_null(strstr(cycle_fixture_run(&x.f), "Bind"));
	x.f.now = x.pod->retry_at;
	assert_non_null(strstr(cycle_fixture_run(&x.f), "Bind p n"));
	cycle_fixture_finish(&x.f);
}

/* One victim of two is gone: the gang cannot start, and a member beyond its minimum starts no more
 * than the others. */
static void a_gang_waits_for_all_its_victims(void **state)
{
	struct podgroup *low, *high;
	struct cycle_fixture f;

	(void)state;
	cycle_fixture_init(&f, evict_fixture_conf);
	cluster_fixture_queue(f.cluster, "q", NULL, -1);
	low = evict_fixture_podgroup(f.cluster, "low", "q", 1, 1);
	evict_fixture_running(f.cluster, "v0", low, 1000,
			      cluster_fixture_node(f.cluster, "n0", 1000));
	evict_fixture_running(f.cluster, "v1", low, 1000,
			      cluster_fixture_node(f.cluster, "n1", 1000));
	high = evict_fixture_podgroup(f.cluster, "high", "q", 2, 9);
	cluster_fixture_task(f.cluster, "p0", high, 1000);
	cluster_fixture_task(f.cluster, "p1", high, 1000);
	cluster_fixture_task(f.cluster, "p2", high, 1000);
	assert_non_null(strstr(cycle_fixture_run(&f), "Await p0 n0; Await p1 n1"));
	evict_fixture_end(f.cluster, "v0");
	cluster_fixture_node(f.cluster, "n2", 1000);
	assert_null(strstr(cycle_fixture_run(&f), "Bind"));
	evict_fixture_end(f.cluster, "v1");
	assert_non_null(strstr(cycle_fixture_run(&f), "Bind p0 n0; Bind p1 n1; Bind p2 n2"));
	cycle_fixture_finish(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_do_not_get_the_room),
		cmocka_unit_test(a_refused_eviction_ends_the_hold),
		cmocka_unit_test(a_node_that_goes_ends_the_hold),
		cmocka_unit_test(room_outlasts_a_failed_bind),
		cmocka_unit_test(a_gang_waits_for_all_its_victims),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
