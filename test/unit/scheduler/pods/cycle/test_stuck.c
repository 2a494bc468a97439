#include "scheduler/pods/cycle/stuck.h"

#include "lib/pods/evict_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"

struct fixture {
	struct cycle_fixture f;
	struct cluster *c;
	struct task *victim, *pod;
	struct node *n;
};

/* The victim is evicted for the pod, which awaits its node; its deletion is seen. */
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
	assert_int_equal(x->c->ending.n, 1);
	(void)cycle_fixture_run(&x->f);
	x->victim->ends_by = x->f.now + 30 * CYCLE_FIXTURE_S;
	assert_string_equal(cycle_fixture_run(&x->f), "");
}

static unsigned events(const struct fixture *x, const char *reason)
{
	unsigned n = 0;

	for (size_t i = 0; i < x->f.decisions->n; i++) {
		const struct decision *d = &x->f.decisions->v[i];

		n += d->kind == DECISION_EVENT && strcmp(d->reason, reason) == 0;
	}
	return n;
}

static void the_pod_gives_up_and_looks_for_others(void **state)
{
	struct fixture x;

	(void)state;
	start(&x);
	x.f.now = x.victim->ends_by + STUCK_AFTER_NS - 1;
	assert_string_equal(cycle_fixture_run(&x.f), "");
	assert_int_equal(cycle_last_stats(x.f.cycle).next_timer,
			 x.victim->ends_by + STUCK_AFTER_NS);
	x.f.now = x.victim->ends_by + STUCK_AFTER_NS;
	assert_non_null(strstr(cycle_fixture_run(&x.f), "Stuck v"));
	assert_int_equal(events(&x, "PodDoesNotEnd"), 1);
	assert_int_equal(x.victim->status, TASK_UNKNOWN);
	assert_int_equal(x.victim->node, x.n->id);
	assert_true(res_is_zero(&x.n->releasing));
	assert_true(res_is_zero(&queue_find(x.c, STR_LIT("q"))->releasing));
	assert_int_equal(x.c->ending.n, 0);
	/* Then nothing says that its room will come free. */
	assert_non_null(strstr(cycle_fixture_run(&x.f), "Await p nothing"));
	assert_int_equal(events(&x, "EvictedInVain"), 1);
	evict_fixture_running(x.c, "w", evict_fixture_podgroup(x.c, "low2", "q", 1, 1), 1000,
			      cluster_fixture_node(x.c, "m", 1000));
	x.f.now = x.pod->preempt_at;
	assert_non_null(strstr(cycle_fixture_run(&x.f), "Evict w; Await p m"));
	assert_int_equal(events(&x, "PodDoesNotEnd"), 0);
	cycle_fixture_finish(&x.f);
}

static void it_may_end_after_all(void **state)
{
	struct fixture x;

	(void)state;
	start(&x);
	x.f.now = x.victim->ends_by + STUCK_AFTER_NS;
	(void)cycle_fixture_run(&x.f);
	(void)cycle_fixture_run(&x.f);
	evict_fixture_end(x.c, "v");
	assert_non_null(strstr(cycle_fixture_run(&x.f), "Bind p n"));
	cycle_fixture_finish(&x.f);
}

/* The eviction may still be on its way: how long the pod takes to end is not known. */
static void a_deletion_that_is_not_seen_is_waited_for(void **state)
{
	struct fixture x;

	(void)state;
	start(&x);
	x.victim->ends_by = MODEL_TIME_NONE;
	x.f.now += 10 * STUCK_AFTER_NS;
	assert_string_equal(cycle_fixture_run(&x.f), "");
	cycle_fixture_finish(&x.f);
}

static void pods_of_others_are_not_reported(void **state)
{
	struct fixture x;

	(void)state;
	start(&x);
	x.victim->flags &= ~(uint32_t)TASK_OURS;
	x.f.now = x.victim->ends_by + STUCK_AFTER_NS;
	assert_non_null(strstr(cycle_fixture_run(&x.f), "Stuck v"));
	assert_int_equal(events(&x, "PodDoesNotEnd"), 0);
	cycle_fixture_finish(&x.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_pod_gives_up_and_looks_for_others),
		cmocka_unit_test(it_may_end_after_all),
		cmocka_unit_test(a_deletion_that_is_not_seen_is_waited_for),
		cmocka_unit_test(pods_of_others_are_not_reported),
	};

	return cmocka_run_group_tests_name("pods/cycle/stuck", tests, NULL, NULL);
}
