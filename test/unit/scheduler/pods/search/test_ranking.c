#include "scheduler/pods/search/ranking.h"

#include <stdio.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/pods/core_fixture.h"
#include "lib/pods/term_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/session/domains.h"
#include "scheduler/pods/values/pod_class.h"

enum { NODES = 7 };

static struct core_fixture sf;
static struct ranking_nodes nodes;

/* Nodes 0 to 3 are in zone a or b, on rack r or none; 4 and 5 have no labels; 6 is like 0. */
static void start(void)
{
	static const char *const labels[NODES] = {
		"rack=r,zone=a", "zone=b", "zone=a", "rack=r,zone=b", "", "", "rack=r,zone=a",
	};
	char name[8];

	core_fixture_init(&sf, NULL);
	for (size_t i = 0; i < NODES; i++) {
		snprintf(name, sizeof(name), "n%zu", i);
		term_fixture_node_labels(sf.f.cluster,
					 cluster_fixture_node(sf.f.cluster, name, 1000), labels[i]);
	}
}

static struct ranking *rank(const struct task *t)
{
	CLEANUP(strbuf_finish) struct strbuf shape = STRBUF_INIT;
	const struct domain_key *const *keys = NULL;
	const struct domain_view *v = domains_view(sf.s, t);
	struct arena *a = session_arena(sf.s);
	struct ranking *r;
	size_t n = 0;

	nodes.n = 0;
	nodes.v = arena_alloc(a, (NODES + 1) * sizeof(*nodes.v));
	nodes.place = arena_alloc(a, (NODES + 1) * sizeof(*nodes.place));
	nodes.made = arena_alloc(a, (NODES + 1) * sizeof(*nodes.made));
	nodes.made_for = arena_alloc(a, (NODES + 1) * sizeof(*nodes.made_for));
	for (size_t i = 0; i < sf.f.cluster->nodes.n; i++) {
		nodes.place[i] = (uint32_t)nodes.n;
		nodes.v[nodes.n++] = sf.f.cluster->nodes.v[i];
	}
	if (v != NULL) {
		keys = domains_keys(v, &n);
	}
	r = ranking_create(sf.s, &nodes);
	pod_class_format_shape(t->klass, &shape);
	ranking_fill(sf.s, r, t, strbuf_str(&shape), keys, n);
	return r;
}

static struct task *add(const char *name, int64_t cpu, const char *terms)
{
	struct task *t = cluster_fixture_task(sf.f.cluster, name, NULL, cpu);

	term_fixture_labels(sf.f.cluster, t, "");
	term_fixture_terms(sf.f.cluster, t, terms);
	return t;
}

static void test_nodes_with_the_same_domains_form_a_cell(void **state)
{
	static const struct {
		const char *terms;
		size_t ncells;
		uint32_t cells[NODES];
	} rows[] = {
		{ "", 1, { 0, 0, 0, 0, 0, 0, 0 } },
		{ "near zone app=x", 3, { 0, 1, 0, 1, 2, 2, 0 } },
		{ "near none app=x", 1, { 0, 0, 0, 0, 0, 0, 0 } },
		{ "near zone app=x; away rack *", 5, { 0, 3, 1, 2, 4, 4, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct ranking *r;
		struct task *t;

		start();
		t = add("t", 100, rows[i].terms);
		core_fixture_open(&sf);
		r = rank(t);
		assert_int_equal(r->ncells, rows[i].ncells);
		for (size_t a = 0; a < NODES; a++) {
			assert_true(r->start[r->cell[a]] <= r->at[a] &&
				    r->at[a] < r->start[r->cell[a] + 1]);
			assert_int_equal(r->order[r->at[a]], a);
			for (size_t b = 0; b < NODES; b++) {
				assert_int_equal(r->cell[a] == r->cell[b],
						 rows[i].cells[a] == rows[i].cells[b]);
			}
		}
		core_fixture_finish(&sf);
	}
}

static void test_each_cell_has_a_best_node(void **state)
{
	struct task *t, *big, *small;
	struct ranking *r;

	(void)state;
	start();
	t = add("t", 100, "near zone app=x");
	big = add("big", 950, "");
	small = add("small", 100, "");
	sf.f.cluster->nodes.v[1]->unschedulable = true;
	core_fixture_open(&sf);
	r = rank(t);
	assert_int_equal(ranking_best(r, r->cell[0]), 0);
	assert_int_equal(ranking_best(r, r->cell[1]), 3);
	assert_int_equal(ranking_sample(r, r->cell[1]), 3);
	assert_true(ranking_fits(r, 0));
	assert_false(ranking_fits(r, 1));
	/* No room any more for the class, which does not close the cell. */
	statement_allocate(sf.s, big, sf.f.cluster->nodes.v[3]);
	statement_allocate(sf.s, small, sf.f.cluster->nodes.v[2]);
	ranking_refresh(sf.s, r, t, false);
	assert_int_equal(ranking_best(r, r->cell[1]), RANKING_NONE);
	assert_int_equal(ranking_sample(r, r->cell[1]), 3);
	/* binpack: the fuller one */
	assert_int_equal(ranking_best(r, r->cell[0]), 2);
	core_fixture_finish(&sf);
}

static void test_it_serves_pods_of_one_shape_and_the_same_keys(void **state)
{
	static const struct {
		int64_t cpu;
		const char *terms;
		bool serves;
	} rows[] = {
		{ 100, "near zone app=x", true },
		{ 100, "away zone app=y", true },
		{ 200, "near zone app=x", false },
		{ 100, "", false },
		{ 100, "near rack app=x", false },
		{ 100, "near zone app=x; near rack app=x", false },
	};
	struct task *tasks[ARRAY_LEN(rows)];
	struct ranking *r;

	(void)state;
	start();
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char name[8];

		snprintf(name, sizeof(name), "t%zu", i);
		tasks[i] = add(name, rows[i].cpu, rows[i].terms);
	}
	core_fixture_open(&sf);
	r = rank(tasks[0]);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf shape = STRBUF_INIT;
		const struct domain_view *v = domains_view(sf.s, tasks[i]);
		const struct domain_key *const *keys = NULL;
		size_t n = 0;

		unit_row(rows[i].terms);
		if (v != NULL) {
			keys = domains_keys(v, &n);
		}
		pod_class_format_shape(tasks[i]->klass, &shape);
		assert_int_equal(ranking_serves(r, strbuf_str(&shape), keys, n), rows[i].serves);
	}
	core_fixture_finish(&sf);
}

/* Room that is held is not free, though no pod uses it; room of pods that terminate comes later. */
static void test_room(void **state)
{
	struct task *old, *waits, *t;
	const struct node *n;

	(void)state;
	start();
	n = sf.f.cluster->nodes.v[0];
	old = add("old", 600, "");
	cluster_task_set_status(sf.f.cluster, old, TASK_RELEASING, sf.f.cluster->nodes.v[0]);
	t = add("t", 400, "");
	waits = add("waits", 700, "");
	core_fixture_open(&sf);
	assert_true(ranking_room_now(sf.s, t->klass, n));
	assert_false(ranking_room_now(sf.s, waits->klass, n));
	assert_true(ranking_room_later(sf.s, waits->klass, n));
	statement_pipeline(sf.s, waits, n);
	assert_false(ranking_room_now(sf.s, t->klass, n));
	assert_false(ranking_room_later(sf.s, t->klass, n));
	core_fixture_finish(&sf);
}

/* All nodes may be asked to be played again, also unchanged ones. */
static void test_a_whole_pass_is_counted(void **state)
{
	struct ranking *r;
	struct task *t;
	uint64_t whole;

	(void)state;
	start();
	t = add("t", 100, "");
	core_fixture_open(&sf);
	r = rank(t);
	whole = r->whole;
	ranking_refresh(sf.s, r, t, false);
	assert_int_equal(r->whole, whole);
	ranking_refresh(sf.s, r, t, true);
	assert_int_equal(r->whole, whole + 1);
	core_fixture_finish(&sf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nodes_with_the_same_domains_form_a_cell),
		cmocka_unit_test(test_each_cell_has_a_best_node),
		cmocka_unit_test(test_it_serves_pods_of_one_shape_and_the_same_keys),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_a_whole_pass_is_counted),
	};

	return cmocka_run_group_tests_name("pods/search/ranking", tests, NULL, NULL);
}
