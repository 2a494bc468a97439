/* Results of predicates and scores are kept over cycles. cycle_fixture_run compares the decisions
 * with those of a cycle that has kept none, here as in all tests that use it. */
#include "scheduler/pods/session/ranking_memo.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/rng.h"
#include "lib/pods/configurations.h"
#include "lib/pods/cycle_fixture.h"
#include "lib/seeds.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/model/volumes.h"
#include "scheduler/pods/values/pod_class.h"

enum { NODES = 20, NODES_MAX = 12, STEPS = 120, WORLDS = 40, SHAPES = 12, PODS = 4 };

static unsigned made;

static struct task *add_pod(struct cluster *c, int64_t cpu)
{
	char name[24];
	struct podgroup *g;

	snprintf(name, sizeof(name), "g%u", ++made);
	g = cluster_fixture_podgroup(c, name, "q", 1);
	g->phase = PODGROUP_INQUEUE;
	g->created = made;
	snprintf(name, sizeof(name), "p%u", made);
	return cluster_fixture_task(c, name, g, cpu);
}

static void start(struct cycle_fixture *f, unsigned nodes, unsigned conf)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	made = 0;
	configurations_add(conf, CONFIGURATIONS_EVICT_NONE, &text);
	cycle_fixture_init(f, strbuf_str(&text).p);
	cluster_fixture_queue(f->cluster, "q", NULL, -1);
	for (unsigned i = 0; i < nodes; i++) {
		char name[24];

		snprintf(name, sizeof(name), "n%02u", i);
		cluster_fixture_node(f->cluster, name, 4000);
	}
}

/* Nodes that a cycle asks, which has a pod more to place. */
static uint64_t asked(struct cycle_fixture *f, int64_t cpu)
{
	add_pod(f->cluster, cpu);
	cycle_assume(f->cluster, cycle_run(f->cycle, f->cluster, f->now, NULL), f->now);
	return cycle_last_stats(f->cycle).nodes_scored;
}

static void change_node(struct cluster *c, const char *name)
{
	struct node *n = cluster_node_find(c, str_of(name));
	struct res old = n->allocatable;

	n->allocatable.v[RES_CPU] += 1000;
	cluster_node_changed(c, n, &old, false);
}

static void only_nodes_that_have_changed_are_asked_again(void **state)
{
	struct volume_limit limit = { .count = 1 };
	struct cycle_fixture f;

	(void)state;
	start(&f, NODES, CONFIGURATIONS_BUILT_IN);
	limit.driver = cluster_fixture_name(f.cluster, "driver");
	assert_int_equal(asked(&f, 100), NODES);
	assert_int_equal(asked(&f, 100), 1); /* where the first pod went */
	assert_int_equal(asked(&f, 200), NODES);
	assert_int_equal(asked(&f, 200), 1);
	change_node(f.cluster, "n03");
	assert_int_equal(asked(&f, 200), NODES);
	volumes_set_limits(f.cluster, str_of("n03"), &limit, 1);
	assert_int_equal(asked(&f, 200), NODES);
	assert_true(res_names_add(f.cluster->res, STR_LIT("example.com/new")) > 0);
	assert_int_equal(asked(&f, 200), NODES);
	cycle_fixture_finish(&f);
}

static void the_shapes_that_were_asked_for_last_are_kept(void **state)
{
	struct cycle_fixture f;

	(void)state;
	start(&f, NODES, CONFIGURATIONS_BUILT_IN);
	for (int64_t i = 1; i <= RANKING_MEMO_SHAPES; i++) {
		assert_int_equal(asked(&f, i), NODES);
	}
	assert_true(asked(&f, 1) < NODES);
	assert_int_equal(asked(&f, RANKING_MEMO_SHAPES + 1), NODES);
	assert_true(asked(&f, 1) < NODES);
	assert_int_equal(asked(&f, 2), NODES); /* it had to go */
	cycle_fixture_finish(&f);
}

/* A pod of the shape with a claim finds its volume by other objects. */
static void shapes_with_claims_are_not_kept(void **state)
{
	struct pod_claim claim = { .id = 0 };
	struct pod_class plain = { .nclaims = 0 }, with = { .nclaims = 1, .claims = &claim };
	struct ranking_memo *m = ranking_memo_create();
	struct cycle_fixture f;

	(void)state;
	start(&f, 1, CONFIGURATIONS_BUILT_IN);
	assert_non_null(ranking_memo_of(m, f.cluster, &plain, STR_LIT("a")));
	assert_null(ranking_memo_of(m, f.cluster, &with, STR_LIT("a")));
	ranking_memo_destroy(m);
	cycle_fixture_finish(&f);
}

struct world {
	struct cycle_fixture f;
	struct rng rng;
	struct task *pods[STEPS * PODS];
	size_t n;
};

static size_t below(struct world *w, size_t n)
{
	return (size_t)rng_below(&w->rng, n);
}

static void end_pod(struct world *w)
{
	size_t i = w->n == 0 ? 0 : below(w, w->n);
	struct cluster *c = w->f.cluster;

	if (w->n == 0) {
		return;
	}
	if (w->pods[i]->status == TASK_RUNNING && below(w, 2) == 0) {
		ledger_set_releasing(c, w->pods[i], true);
		cluster_task_set_status(c, w->pods[i], TASK_RELEASING,
					c->nodes.v[w->pods[i]->node]);
		return;
	}
	ledger_release(c, w->pods[i]);
	cluster_task_remove(c, w->pods[i]);
	w->pods[i] = w->pods[--w->n];
}

static void change_some_node(struct world *w)
{
	struct cluster *c = w->f.cluster;
	struct node *n;
	struct res old;
	char name[24];

	snprintf(name, sizeof(name), "n%02zu", below(w, NODES_MAX));
	n = cluster_node_find(c, str_of(name));
	if (n == NULL || !n->exists) {
		cluster_fixture_node(c, name, 4000);
		return;
	}
	old = n->allocatable;
	n->unschedulable = !n->unschedulable;
	cluster_node_changed(c, n, &old, true);
}

/* A pod that was created on its node by another program. */
static void add_foreign(struct world *w)
{
	struct cluster *c = w->f.cluster;
	struct node *n = c->nodes.v[below(w, c->nodes.n)];
	char name[24];
	struct task *t;

	snprintf(name, sizeof(name), "o%u", ++made);
	t = cluster_fixture_task(c, name, NULL, 500);
	if (n != NULL) {
		cluster_task_set_status(c, t, TASK_RUNNING, n);
	}
	w->pods[w->n++] = t;
}

static void step(struct world *w)
{
	switch (below(w, 6)) {
	case 0:
		end_pod(w);
		break;
	case 1:
		change_some_node(w);
		break;
	case 2:
		add_foreign(w);
		break;
	default:
		/* Of several shapes in one cycle: nodes have been changed by the session itself. */
		for (size_t i = 1 + below(w, PODS); i > 0; i--) {
			w->pods[w->n++] =
				add_pod(w->f.cluster, 300 * (1 + (int64_t)below(w, SHAPES)));
		}
	}
	(void)cycle_fixture_run(&w->f);
	cycle_fixture_acknowledge(&w->f);
}

static void decisions_are_those_of_a_cycle_without_memory(void **state)
{
	const struct seeds seeds = seeds_of_run(WORLDS);

	(void)state;
	for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
		struct world w = { .n = 0 };

		print_message("seed %" PRIu64 "\n", seed);
		rng_init(&w.rng, seed);
		start(&w.f, NODES_MAX / 2, (unsigned)(seed % CONFIGURATIONS_COUNT));
		for (size_t i = 0; i < STEPS; i++) {
			step(&w);
		}
		cycle_fixture_finish(&w.f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_nodes_that_have_changed_are_asked_again),
		cmocka_unit_test(the_shapes_that_were_asked_for_last_are_kept),
		cmocka_unit_test(shapes_with_claims_are_not_kept),
		cmocka_unit_test(decisions_are_those_of_a_cycle_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
