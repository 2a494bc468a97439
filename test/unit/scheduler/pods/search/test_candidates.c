#include "scheduler/pods/search/candidates.h"

#include "base/clock.h"
#include "lib/pods/core_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"

static const char conf[] = "actions: preempt\n"
			   "tiers:\n"
			   "- plugins:\n"
			   "  - name: priority\n"
			   "- plugins:\n"
			   "  - name: predicates\n"
			   "  - name: capacity\n";

struct fixture {
	struct core_fixture core;
	struct cluster *c;
	struct node *near, *far;
	struct podgroup *low, *high;
};

static struct podgroup *podgroup(struct fixture *f, const char *name, const char *queue,
				 int32_t priority)
{
	struct podgroup *g = cluster_fixture_podgroup(f->c, name, queue, 1);

	g->priority = priority;
	return g;
}

static struct task *running(struct fixture *f, const char *name, struct podgroup *g, struct node *n)
{
	struct task *t = cluster_fixture_task(f->c, name, g, 1000);

	t->flags |= TASK_PREEMPTABLE;
	ledger_charge(f->c, t, f->c->queues.v[g->queue], CHARGE_BOUND);
	cluster_task_set_status(f->c, t, TASK_RUNNING, n);
	return t;
}

static void start(struct fixture *f)
{
	core_fixture_init(&f->core, conf);
	f->c = f->core.f.cluster;
	cluster_fixture_queue(f->c, "q", NULL, -1);
	cluster_fixture_queue(f->c, "r", NULL, -1);
	f->near = cluster_fixture_node(f->c, "near", 9000);
	f->far = cluster_fixture_node(f->c, "far", 9000);
	f->high = podgroup(f, "high", "q", 2);
	f->low = podgroup(f, "low", "q", 1);
}

static void assert_order(const struct candidates_spot *spot, const struct task *const *want,
			 size_t n)
{
	assert_int_equal(spot->n, n);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(spot->v[i].task->name, want[i]->name);
	}
}

/* PodGroup, then priority of the pod, then its cost, then its age. */
static void the_order_of_eviction(void **state)
{
	struct candidates_spot all;
	struct candidates found;
	struct fixture f;
	struct task *a, *b, *c, *d, *e;

	(void)state;
	start(&f);
	e = running(&f, "e", f.high, f.near);
	a = running(&f, "a", f.low, f.near);
	b = running(&f, "b", f.low, f.far);
	c = running(&f, "c", f.low, f.near);
	d = running(&f, "d", f.low, f.near);
	e->priority = a->priority = b->priority = c->priority = 5;
	d->priority = 6;
	c->deletion_cost = 1;
	a->created = 20;
	b->created = 10;
	core_fixture_open(&f.core);
	candidates_of_queue(f.core.s, queue_find(f.c, STR_LIT("q")), &found);
	assert_int_equal(found.n, 5);
	assert_int_equal(found.npodgroups, 2);
	assert_ptr_equal(found.podgroups[0], f.low);
	assert_int_equal(found.nspots, 2);
	for (size_t i = 0; i < found.nspots; i++) {
		struct candidates_spot *spot = &found.spots[i];

		/* The first one is in its place before the others are. */
		assert_ptr_equal(spot->v[0].task, spot->node == f.near ? a : b);
		candidates_sort(spot);
		if (spot->node == f.near) {
			assert_order(spot, (const struct task *[]){ a, c, d, e }, 4);
		}
	}
	all = candidates_on_all_nodes(f.core.s, &found);
	assert_order(&all, (const struct task *[]){ a, b, c, d, e }, 5);
	core_fixture_finish(&f.core);
}

/* The pause of the refused pod a ended `ago` nanoseconds before the session. */
static void refused_one(int64_t ago, bool last)
{
	struct candidates_spot all;
	struct candidates found;
	struct fixture f;
	struct task *a, *b, *c;

	start(&f);
	a = running(&f, "a", f.low, f.near);
	b = running(&f, "b", f.low, f.far);
	c = running(&f, "c", f.high, f.near);
	a->deletion_cost = -1;
	a->flags |= TASK_EVICTION_REFUSED;
	f.core.f.now = 1000 * CLOCK_NS_PER_S;
	cluster_task_set_retry(f.c, a, f.core.f.now - ago);
	core_fixture_open(&f.core);
	candidates_of_queue(f.core.s, queue_find(f.c, STR_LIT("q")), &found);
	assert_int_equal(found.npodgroups, 2);
	assert_ptr_equal(found.podgroups[0], last ? f.high : f.low);
	assert_ptr_equal(found.podgroups[1], last ? f.low : f.high);
	all = candidates_on_all_nodes(f.core.s, &found);
	assert_order(&all,
		     last ? (const struct task *[]){ b, c, a } : (const struct task *[]){ a, b, c },
		     3);
	core_fixture_finish(&f.core);
}

/* A pod that the API server has just refused to evict goes after all others, and so does its
 * PodGroup. */
static void refused_ones_last(void **state)
{
	(void)state;
	refused_one(0, true);
	refused_one(256 * CLOCK_NS_PER_S - 1, true);
	refused_one(256 * CLOCK_NS_PER_S, false);
}

/* Of the queue, of the PodGroup, of all queues: without pods that may not be evicted. */
static void which_pods(void **state)
{
	struct candidates found;
	struct session *s;
	struct fixture f;

	(void)state;
	start(&f);
	running(&f, "kept", f.low, f.near)->flags &= ~(uint32_t)TASK_PREEMPTABLE;
	running(&f, "one", f.low, f.near);
	running(&f, "two", f.high, f.near);
	running(&f, "other", podgroup(&f, "elsewhere", "r", 1), f.far);
	core_fixture_open(&f.core);
	s = f.core.s;
	candidates_of_queue(s, queue_find(f.c, STR_LIT("q")), &found);
	assert_int_equal(found.n, 2);
	candidates_of_podgroup(s, f.low, &found);
	assert_int_equal(found.n, 1);
	assert_string_equal(found.spots[0].v[0].task->name, "one");
	candidates_of_all_queues(s, &found);
	assert_int_equal(found.n, 3);
	core_fixture_finish(&f.core);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_order_of_eviction),
		cmocka_unit_test(refused_ones_last),
		cmocka_unit_test(which_pods),
	};

	return cmocka_run_group_tests_name("pods/search/candidates", tests, NULL, NULL);
}
