#include "scheduler/pods/plugins/nodeorder_domains.h"

#include <stdio.h>

#include "base/attrs.h"
#include "base/rng.h"
#include "lib/pods/core_fixture.h"
#include "lib/pods/term_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/model/selectors.h"
#include "scheduler/pods/session/domains.h"

enum { NODES = 6, TASKS = 30 };

static struct core_fixture sf;
static const struct node *nodes[NODES];

static const char *const places[NODES] = {
	"host=n0,zone=a", "host=n1,zone=a", "host=n2,zone=b",
	"host=n3,zone=b", "host=n4,zone=c", "",
};

static void start(void)
{
	char name[8];

	core_fixture_init(&sf, "actions: allocate\n"
			       "tiers: [{plugins: [{name: predicates}, {name: capacity}, "
			       "{name: nodeorder}]}]\n");
	for (size_t i = 0; i < NODES; i++) {
		struct node *n;

		snprintf(name, sizeof(name), "n%zu", i);
		n = cluster_fixture_node(sf.f.cluster, name, 100000);
		term_fixture_node_labels(sf.f.cluster, n, places[i]);
		nodes[i] = n;
	}
}

static struct task *run_on(size_t node, const char *labels, const char *terms)
{
	static unsigned count;
	char name[16];
	struct task *t;

	snprintf(name, sizeof(name), "r%u", count++);
	t = term_fixture_task(sf.f.cluster, name, NULL, labels, terms);
	cluster_task_set_status(sf.f.cluster, t, TASK_RUNNING, sf.f.cluster->nodes.v[node]);
	return t;
}

static void scores_of(const struct task *t, int64_t *ret)
{
	const struct nodeorder_domains d = { .nodes = nodes, .n = NODES, .scores = ret };

	nodeorder_domains_affinity(domains_view(sf.s, t), t->klass, &d);
}

static bool spread_of(const struct task *t, int64_t *ret)
{
	uint32_t marks[NODES];
	double sums[NODES];
	const struct nodeorder_domains d = {
		.nodes = nodes,
		.n = NODES,
		.scores = ret,
		.sums = sums,
		.marks = marks,
	};

	return nodeorder_domains_spread(sf.s, domains_view(sf.s, t), t->klass, &d);
}

static void assert_scores(const struct task *t, const int64_t *want)
{
	int64_t got[NODES];

	scores_of(t, got);
	for (size_t i = 0; i < NODES; i++) {
		assert_int_equal(got[i], want[i]);
	}
}

/* Pods labelled x run on n0, n0, n2 and n4; y on n3. */
static void test_preferences_of_the_pod(void **state)
{
	static const struct {
		const char *terms;
		int64_t scores[NODES];
	} rows[] = {
		{ "prefer zone app=x", { 100, 100, 50, 50, 50, 0 } },
		{ "avoid zone app=x", { 0, 0, 50, 50, 50, 100 } },
		{ "prefer host app=x weight=3", { 100, 0, 50, 0, 50, 0 } },
		/* sums: 4, 4, 2 - 9, 2 - 9, 2, 0 */
		{ "prefer zone app=x weight=2; avoid zone app=y weight=9",
		  { 100, 100, 0, 0, 81, 63 } },
		/* sums: 6, 0, 3 - 1, -1, 3, 0 */
		{ "prefer host app=x weight=3; avoid zone app=y weight=1",
		  { 100, 14, 42, 0, 57, 14 } },
		{ "prefer zone app=none", { 0 } },
		{ "prefer none app=x", { 0 } },
		{ "prefer zone *", { 100, 100, 100, 100, 50, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct task *t;

		unit_row(rows[i].terms);
		start();
		run_on(0, "app=x", "");
		run_on(0, "app=x", "");
		run_on(2, "app=x", "");
		run_on(4, "app=x", "");
		run_on(3, "app=y", "");
		t = term_fixture_task(sf.f.cluster, "t", NULL, "", rows[i].terms);
		core_fixture_open(&sf);
		assert_scores(t, rows[i].scores);
		core_fixture_finish(&sf);
	}
}

/* Required terms of others are no preference of theirs: Volcano gives them the weight 0. */
static void test_preferences_of_others(void **state)
{
	static const int64_t want[NODES] = { 100, 100, 0, 0, 33, 16 };
	struct task *t, *wants;

	(void)state;
	start();
	run_on(0, "", "prefer zone app=t weight=50");
	run_on(2, "", "avoid zone app=t weight=10");
	run_on(4, "", "prefer host app=t weight=10; near zone app=t");
	t = term_fixture_task(sf.f.cluster, "t", NULL, "app=t", "");
	wants = term_fixture_task(sf.f.cluster, "wants", NULL, "app=t",
				  "prefer zone app=b weight=40");
	run_on(3, "app=b", "");
	core_fixture_open(&sf);
	assert_scores(t, want);
	/* sums: 50, 50, 30, 30, 10, 0, from 0 to 50 */
	assert_scores(wants, (const int64_t[]){ 100, 100, 60, 60, 20, 0 });
	core_fixture_finish(&sf);
}

static void test_terminating_and_expected_pods_count(void **state)
{
	struct task *t, *gone, *comes;

	(void)state;
	start();
	gone = run_on(0, "app=x", "");
	comes = term_fixture_task(sf.f.cluster, "comes", NULL, "app=x", "");
	t = term_fixture_task(sf.f.cluster, "t", NULL, "", "prefer zone app=x");
	core_fixture_open(&sf);
	statement_evict(sf.s, gone, t, "");
	assert_scores(t, (const int64_t[]){ 100, 100, 0, 0, 0, 0 });
	statement_pipeline(sf.s, comes, nodes[2]);
	assert_scores(t, (const int64_t[]){ 100, 100, 100, 100, 0, 0 });
	core_fixture_finish(&sf);
}

/* The same pods. Weights: log(5) for the 3 zones, log(7) for the 5 hosts. */
static void test_spread(void **state)
{
	static const struct {
		const char *terms;
		int64_t scores[NODES];
	} rows[] = {
		/* sums: 3, 2, 2 */
		{ "anyway zone app=x", { 66, 66, 100, 100, 100, 0 } },
		/* sums: 7, 6, 6 */
		{ "anyway zone app=x skew=5", { 85, 85, 100, 100, 100, 0 } },
		{ "anyway zone app=none", { 100, 100, 100, 100, 100, 0 } },
		{ "anyway zone *", { 66, 66, 66, 66, 100, 0 } },
		/* sums: 4, 0, 2, 0, 2 */
		{ "anyway host app=x", { 0, 100, 50, 100, 50, 0 } },
		/* sums: 7, 3, 4, 2, 4 */
		{ "anyway zone app=x; anyway host app=x", { 28, 85, 71, 100, 71, 0 } },
		/* a constraint that decides says nothing about the others */
		{ "spread none app=x; anyway zone app=x", { 66, 66, 100, 100, 100, 0 } },
		{ "anyway none app=x", { 0 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t got[NODES];
		struct task *t;

		unit_row(rows[i].terms);
		start();
		run_on(0, "app=x", "");
		run_on(0, "app=x", "");
		run_on(2, "app=x", "");
		run_on(4, "app=x", "");
		run_on(3, "app=y", "");
		t = term_fixture_task(sf.f.cluster, "t", NULL, "", rows[i].terms);
		core_fixture_open(&sf);
		assert_true(spread_of(t, got));
		for (size_t n = 0; n < NODES; n++) {
			assert_int_equal(got[n], rows[i].scores[n]);
		}
		core_fixture_finish(&sf);
	}
}

static void test_spread_of_pods_that_come_and_go(void **state)
{
	struct task *t, *gone, *comes, *none;
	int64_t got[NODES];

	(void)state;
	start();
	gone = run_on(0, "app=x", "");
	comes = term_fixture_task(sf.f.cluster, "comes", NULL, "app=x", "");
	t = term_fixture_task(sf.f.cluster, "t", NULL, "", "anyway zone app=x");
	none = term_fixture_task(sf.f.cluster, "none", NULL, "", "prefer zone app=x");
	core_fixture_open(&sf);
	assert_false(spread_of(none, got));
	assert_true(spread_of(t, got));
	assert_int_equal(got[0], 0);
	statement_evict(sf.s, gone, t, "");
	assert_true(spread_of(t, got));
	assert_int_equal(got[0], 100);
	statement_pipeline(sf.s, comes, nodes[2]);
	assert_true(spread_of(t, got));
	assert_int_equal(got[0], 100);
	assert_int_equal(got[3], 0);
	core_fixture_finish(&sf);
}

/* --- random placements, counted again ----------------------------------------------------------
 */

static struct task *tasks[TASKS];

static const char *value(const struct node *n, const char *key)
{
	return match_label(n->labels.v, n->labels.n, key);
}

static int64_t sum_of(const struct task *owner, const struct task *other, const struct node *at,
		      const struct node *n)
{
	int64_t sum = 0;

	for (size_t i = 0; i < owner->klass->nterms; i++) {
		const struct pod_term *term = &owner->klass->terms[i];

		if (term->kind == POD_TERM_PREFERRED && value(at, term->topology_key) != NULL &&
		    value(at, term->topology_key) == value(n, term->topology_key) &&
		    selectors_selects(term->selector, other->labels)) {
			sum += term->weight;
		}
	}
	return sum;
}

static void check(const struct task *t)
{
	int64_t sums[NODES] = { 0 }, got[NODES], least = INT64_MAX, most = INT64_MIN;

	for (size_t n = 0; n < NODES; n++) {
		for (size_t i = 0; i < TASKS; i++) {
			uint32_t at = session_task_node(sf.s, tasks[i]);

			if (at != MODEL_NONE) {
				sums[n] += sum_of(t, tasks[i], nodes[at], nodes[n]) +
					   sum_of(tasks[i], t, nodes[at], nodes[n]);
			}
		}
		least = sums[n] < least ? sums[n] : least;
		most = sums[n] > most ? sums[n] : most;
	}
	scores_of(t, got);
	for (size_t n = 0; n < NODES; n++) {
		double part =
			most == least ? 0 : (double)(sums[n] - least) / (double)(most - least);

		assert_int_equal(got[n], (int64_t)(100 * part));
	}
}

static void test_random_placements(void **state)
{
	static const char *const labels[] = { "", "app=x", "app=y" };
	static const char *const terms[] = {
		"",
		"prefer zone app=x weight=7; prefer zone app=x weight=2; avoid host app=y weight=3",
		"near zone app=x; avoid zone *",
		"prefer host * weight=100; prefer zone app=y",
	};
	struct rng rng;
	char name[16];

	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		rng_init(&rng, seed);
		start();
		for (size_t i = 0; i < TASKS; i++) {
			snprintf(name, sizeof(name), "p%zu", i);
			tasks[i] = term_fixture_task(sf.f.cluster, name, NULL,
						     labels[rng_below(&rng, ARRAY_LEN(labels))],
						     terms[rng_below(&rng, ARRAY_LEN(terms))]);
		}
		core_fixture_open(&sf);
		for (size_t i = 0; i < TASKS; i++) {
			struct statement st = statement_begin(sf.s);

			if (domains_view(sf.s, tasks[i]) != NULL) {
				check(tasks[i]);
			}
			statement_allocate(sf.s, tasks[i], nodes[rng_below(&rng, NODES)]);
			(rng_below(&rng, 3) == 0 ? statement_discard : statement_commit)(sf.s, st);
		}
		core_fixture_finish(&sf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_preferences_of_the_pod),
		cmocka_unit_test(test_preferences_of_others),
		cmocka_unit_test(test_terminating_and_expected_pods_count),
		cmocka_unit_test(test_spread),
		cmocka_unit_test(test_spread_of_pods_that_come_and_go),
		cmocka_unit_test(test_random_placements),
	};

	return cmocka_run_group_tests_name("pods/plugins/nodeorder_domains", tests, NULL, NULL);
}
