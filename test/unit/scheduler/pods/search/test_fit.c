#include "scheduler/pods/search/fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "base/rng.h"
#include "lib/pods/core_fixture.h"
#include "lib/pods/term_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/model/images.h"
#include "scheduler/pods/session/domains.h"
#include "scheduler/pods/values/pod_class.h"

enum { NODES = 13, SHAPES = 80, STEPS = 3000 };

static void the_best_score_wins_and_ties_go_to_the_smaller_id(void **state)
{
	struct core_fixture sf;
	const struct node *n = NULL;
	struct task *a, *b;

	(void)state;
	core_fixture_init(&sf, NULL);
	cluster_fixture_node(sf.f.cluster, "n0", 4000);
	cluster_fixture_node(sf.f.cluster, "n1", 2000);
	cluster_fixture_node(sf.f.cluster, "n2", 2000);
	a = cluster_fixture_task(sf.f.cluster, "a", NULL, 1000);
	b = cluster_fixture_task(sf.f.cluster, "b", NULL, 1000);
	core_fixture_open(&sf);
	/* binpack: 1000 of 2000 is fuller than 1000 of 4000. */
	assert_int_equal(fit_find(sf.s, a, &n), FIT_IDLE);
	assert_string_equal(n->name, "n1");
	statement_allocate(sf.s, a, sf.f.cluster->nodes.v[2]);
	assert_int_equal(fit_find(sf.s, b, &n), FIT_IDLE);
	assert_string_equal(n->name, "n2");
	core_fixture_finish(&sf);
}

static void names_that_no_node_has_fit_nowhere_and_are_named(void **state)
{
	struct unoffered_amount v[] = { { "example.com/a", 1 }, { "example.com/b", 1 } };
	struct core_fixture sf;
	const struct node *n = NULL;
	struct task *t;

	(void)state;
	core_fixture_init(&sf, NULL);
	cluster_fixture_node(sf.f.cluster, "n0", 4000);
	cluster_fixture_node(sf.f.cluster, "n1", 100);
	t = cluster_fixture_task(sf.f.cluster, "t", NULL, 1000);
	cluster_fixture_request(sf.f.cluster, t, &(struct unoffered){ v, 2 });
	core_fixture_open(&sf);
	assert_int_equal(fit_find(sf.s, t, &n), FIT_NONE);
	assert_string_equal(fit_explain(sf.s, t),
			    "0/2 nodes are available: 2 Insufficient example.com/a, "
			    "2 Insufficient example.com/b, 1 Insufficient cpu.");
	core_fixture_finish(&sf);
}

static void the_nominated_node_goes_first(void **state)
{
	struct core_fixture sf;
	const struct node *n = NULL;
	struct task *t;

	(void)state;
	core_fixture_init(&sf, NULL);
	cluster_fixture_node(sf.f.cluster, "n0", 1000);
	cluster_task_set_nominated(sf.f.cluster,
				   t = cluster_fixture_task(sf.f.cluster, "t", NULL, 1000),
				   cluster_fixture_node(sf.f.cluster, "n1", 8000));
	core_fixture_open(&sf);
	assert_int_equal(fit_find(sf.s, t, &n), FIT_IDLE);
	assert_string_equal(n->name, "n1");
	core_fixture_finish(&sf);
}

static void resources_of_terminating_pods_count_for_later(void **state)
{
	struct core_fixture sf;
	struct cluster *c;
	const struct node *n = NULL;
	struct task *t, *big, *old;

	(void)state;
	core_fixture_init(&sf, NULL);
	c = sf.f.cluster;
	cluster_fixture_node(c, "n0", 1000);
	old = cluster_fixture_task(c, "old", NULL, 1000);
	cluster_task_set_status(c, old, TASK_RELEASING, c->nodes.v[0]);
	t = cluster_fixture_task(c, "t", NULL, 600);
	big = cluster_fixture_task(c, "big", NULL, 1001);
	core_fixture_open(&sf);
	assert_int_equal(fit_find(sf.s, t, &n), FIT_RELEASING);
	assert_string_equal(n->name, "n0");
	assert_int_equal(fit_find(sf.s, big, &n), FIT_NONE);
	statement_pipeline(sf.s, t, n);
	assert_int_equal(fit_find(sf.s, t, &n), FIT_NONE);
	core_fixture_finish(&sf);
}

static void a_place_that_was_given_back_is_free_again(void **state)
{
	struct core_fixture sf;
	const struct node *n = NULL;
	struct statement st;
	struct task *t;

	(void)state;
	core_fixture_init(&sf, NULL);
	cluster_fixture_node(sf.f.cluster, "n0", 1000);
	t = cluster_fixture_task(sf.f.cluster, "t", NULL, 600);
	core_fixture_open(&sf);
	st = statement_begin(sf.s);
	assert_int_equal(fit_find(sf.s, t, &n), FIT_IDLE);
	statement_allocate(sf.s, t, n);
	assert_int_equal(fit_find(sf.s, t, &n), FIT_NONE);
	statement_discard(sf.s, st);
	assert_int_equal(fit_find(sf.s, t, &n), FIT_IDLE);
	core_fixture_finish(&sf);
}

static void evictions_of_this_session_count(void **state)
{
	struct core_fixture sf;
	struct cluster *c;
	const struct node *n = NULL;
	struct task *t, *victim;

	(void)state;
	core_fixture_init(&sf, NULL);
	c = sf.f.cluster;
	cluster_fixture_node(c, "n0", 1000);
	victim = cluster_fixture_task(c, "victim", NULL, 1000);
	cluster_task_set_status(c, victim, TASK_RUNNING, c->nodes.v[0]);
	t = cluster_fixture_task(c, "t", NULL, 600);
	core_fixture_open(&sf);
	assert_int_equal(fit_find(sf.s, t, &n), FIT_NONE);
	statement_evict(sf.s, victim, victim, "m");
	assert_int_equal(fit_find(sf.s, t, &n), FIT_RELEASING);
	core_fixture_finish(&sf);
}

static void the_explanation_counts_reasons(void **state)
{
	struct core_fixture sf;
	struct cluster *c;
	struct task *t;

	(void)state;
	core_fixture_init(&sf, NULL);
	c = sf.f.cluster;
	for (int i = 0; i < 5; i++) {
		char name[32];

		snprintf(name, sizeof(name), "n%d", i);
		cluster_fixture_node(c, name, 500);
	}
	c->nodes.v[1]->unschedulable = c->nodes.v[3]->unschedulable = true;
	t = cluster_fixture_task(c, "t", NULL, 600);
	core_fixture_open(&sf);
	assert_string_equal(fit_explain(sf.s, t),
			    "0/5 nodes are available: 3 Insufficient cpu, 2 node(s) were "
			    "unschedulable.");
	core_fixture_finish(&sf);
	core_fixture_init(&sf, NULL);
	t = cluster_fixture_task(sf.f.cluster, "t", NULL, 600);
	core_fixture_open(&sf);
	assert_string_equal(fit_explain(sf.s, t), "0/0 nodes are available.");
	core_fixture_finish(&sf);
}

/* Images of pods, unlike the rest of their class, only make rankings of their own where they decide
 * a score. */
static void images_that_decide_nothing_share_a_ranking(void **state)
{
	static const struct {
		int64_t bytes; /* of the image of the first pod, which is on all nodes */
		size_t scored; /* nodes, for both pods */
		const char *node;
	} rows[] = {
		{ 0, 2, "n0" },
		{ 20 << 20, 2, "n0" },
		{ 100 << 20, 4, "n1" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct images_entry on_both = { "a:1", rows[i].bytes }, rare = { "b:1", 1 };
		struct images_entry all[] = { on_both, rare };
		struct pod_image first = { .name = "a:1", .times = 1 };
		struct pod_image second = { .name = "b:1", .times = 1 };
		struct pod_class k = { .request = { .v = { 1000 } }, .nimages = 1 };
		struct core_fixture sf;
		const struct node *n = NULL;
		struct task *a, *b;

		unit_row_number(i);
		core_fixture_init(&sf, "actions: allocate\ntiers: [{plugins: [{name: predicates}, "
				       "{name: capacity}, {name: nodeorder, arguments: "
				       "{leastrequested.weight: 0, imagelocality.weight: 3}}]}]\n");
		cluster_fixture_node(sf.f.cluster, "n0", 2000);
		cluster_fixture_node(sf.f.cluster, "n1", 2000);
		images_set_node(sf.f.cluster, sf.f.cluster->nodes.v[0], &rare, 1);
		images_set_node(sf.f.cluster, sf.f.cluster->nodes.v[1], all, 2);
		pod_class_normalise(&k);
		k.image_sources = 1;
		a = cluster_fixture_task(sf.f.cluster, "a", NULL, 1000);
		k.images = &first;
		cluster_task_set_class(sf.f.cluster, a, cluster_class_intern(sf.f.cluster, &k));
		b = cluster_fixture_task(sf.f.cluster, "b", NULL, 1000);
		k.images = &second;
		cluster_task_set_class(sf.f.cluster, b, cluster_class_intern(sf.f.cluster, &k));
		core_fixture_open(&sf);
		assert_int_equal(fit_find(sf.s, b, &n), FIT_IDLE);
		assert_string_equal(n->name, "n0");
		assert_int_equal(fit_find(sf.s, a, &n), FIT_IDLE);
		assert_string_equal(n->name, rows[i].node);
		assert_int_equal(sf.s->nodes_scored, rows[i].scored);
		core_fixture_finish(&sf);
	}
}

/* Why they fit nowhere is looked into once for pods that differ in such images alone. */
static void equal_pods_share_what_explains_them(void **state)
{
	struct pod_image image = { .name = "a:1", .times = 1 };
	struct core_fixture sf;
	struct pod_class k;
	struct task *a, *b;

	(void)state;
	core_fixture_init(&sf, NULL);
	cluster_fixture_node(sf.f.cluster, "n0", 100);
	a = cluster_fixture_task(sf.f.cluster, "a", NULL, 1000);
	b = cluster_fixture_task(sf.f.cluster, "b", NULL, 1000);
	k = *b->klass;
	k.images = &image;
	k.nimages = k.image_sources = 1;
	cluster_task_set_class(sf.f.cluster, b, cluster_class_intern(sf.f.cluster, &k));
	core_fixture_open(&sf);
	assert_string_equal(fit_explain(sf.s, a), "0/1 nodes are available: 1 Insufficient cpu.");
	assert_ptr_equal(fit_explain(sf.s, b), fit_explain(sf.s, a));
	core_fixture_finish(&sf);
}

/* With what the pods in its domains add, each node of its own compared with all that the class may
 * use. */
static double full_score(struct session *s, const struct task *t, const struct node *n)
{
	const struct cluster *c = session_cluster(s);
	const struct node *nodes[NODES];
	double scores[NODES], sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < c->nodes.n; i++) {
		if (hooks_class_predicate(s, t->klass, c->nodes.v[i], NULL)) {
			nodes[count++] = c->nodes.v[i];
		}
	}
	if (domains_view(s, t) != NULL) {
		hooks_domain_scores(s, t, nodes, count, scores);
		for (size_t i = 0; i < count; i++) {
			sum += nodes[i] == n ? scores[i] : 0;
		}
	}
	return round((hooks_node_score(s, t->klass, n) + sum) / 1e-6) * 1e-6;
}

/* Asked of every node, without any memory. */
static const struct node *best_by_hand(struct session *s, const struct task *t)
{
	const struct cluster *c = session_cluster(s);
	const struct node *best = NULL;

	for (size_t i = 0; i < c->nodes.n; i++) {
		const struct node *n = c->nodes.v[i];

		if (session_node_used(s, n)->v[RES_CPU] + t->klass->request.v[RES_CPU] <=
			    n->allocatable.v[RES_CPU] &&
		    hooks_class_predicate(s, t->klass, n, NULL) && hooks_predicate(s, t, n, NULL) &&
		    (best == NULL || full_score(s, t, n) > full_score(s, t, best))) {
			best = n;
		}
	}
	return best;
}

/* More classes than rankings are kept, placements and rollbacks at random: always the node that a
 * plain search finds. */
static void agrees_with_a_plain_search(void **state)
{
	struct core_fixture sf;
	struct statement st;
	struct rng r;

	(void)state;
	rng_init(&r, 5000);
	core_fixture_init(&sf, NULL);
	for (int i = 0; i < NODES; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		cluster_fixture_node(sf.f.cluster, name, 40000 + 1000 * i)->unschedulable =
			i % 5 == 4;
	}
	for (int i = 0; i < STEPS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "p%d", i);
		cluster_fixture_task(sf.f.cluster, name, NULL,
				     100 + (int64_t)rng_below(&r, SHAPES) * 10);
	}
	core_fixture_open(&sf);
	st = statement_begin(sf.s);
	for (size_t i = 0; i < STEPS; i++) {
		const struct task *t = sf.f.cluster->tasks.v[i];
		const struct node *want = best_by_hand(sf.s, t), *n = NULL;

		assert_int_equal(fit_find(sf.s, t, &n), want == NULL ? FIT_NONE : FIT_IDLE);
		if (want != NULL) {
			assert_string_equal(n->name, want->name);
			statement_allocate(sf.s, t, n);
		}
		if (rng_below(&r, 400) == 0) {
			statement_discard(sf.s, st);
			st = statement_begin(sf.s);
		}
	}
	core_fixture_finish(&sf);
}

static const char *const images[] = { "a:1", "b:1", "c:1", "small:1" };

/* Those on many nodes decide a score, and small ones never do. */
static void give_images(struct cluster *c, struct rng *r, struct node *n)
{
	struct images_entry v[ARRAY_LEN(images)];
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_LEN(images); i++) {
		if (rng_below(r, 3) > 0) {
			v[count++] =
				(struct images_entry){ images[i],
						       i == 3 ? 1000 : (int64_t)(i + 1) << 30 };
		}
	}
	images_set_node(c, n, v, count);
}

static void name_an_image(struct cluster *c, struct rng *r, struct task *t)
{
	struct pod_image image = { .name = images[rng_below(r, ARRAY_LEN(images))], .times = 1 };
	struct pod_class k = *t->klass;

	k.images = &image;
	k.nimages = rng_below(r, 3) > 0;
	k.image_sources = 2 * (uint32_t)k.nimages;
	cluster_task_set_class(c, t, cluster_class_intern(c, &k));
}

static void set_up_neighbours(struct core_fixture *sf, struct rng *r)
{
	static const char *const labels[] = { "", "app=x", "app=y", "app=x,tier=y" };
	static const char *const terms[] = {
		"",
		"",
		"near zone app=x",
		"near zone app=y; away host app=x",
		"away host app=y",
		"away zone tier=y; spread zone app=x skew=3",
		"spread zone app=x; spread host app=x skew=2",
		"near rack app=x; near zone app=x",
		"prefer zone app=x weight=3; avoid host app=y",
		"near zone app=x; avoid host app=x",
		"avoid zone tier=y weight=10",
		"anyway zone app=x skew=2",
		"spread zone app=x; anyway host app=x; anyway rack *"
	};
	char name[16], text[64];

	core_fixture_init(sf, "actions: allocate\ntiers: [{plugins: [{name: predicates}, "
			      "{name: capacity}, {name: nodeorder}]}]\n");
	for (int i = 0; i < NODES; i++) {
		struct node *n;

		snprintf(name, sizeof(name), "n%d", i);
		n = cluster_fixture_node(sf->f.cluster, name, 2000 + 100 * i);
		snprintf(text, sizeof(text), "host=n%d,zone=z%d%s", i, i % 3,
			 i % 4 == 0 ? "" : ",rack=r");
		term_fixture_node_labels(sf->f.cluster, n, i == 5 ? "" : text);
		n->unschedulable = i % 6 == 5;
		give_images(sf->f.cluster, r, n);
	}
	for (int i = 0; i < STEPS; i++) {
		struct task *t;

		snprintf(name, sizeof(name), "p%d", i);
		t = cluster_fixture_task(sf->f.cluster, name, NULL,
					 100 + 10 * (int64_t)rng_below(r, 3));
		term_fixture_labels(sf->f.cluster, t, labels[rng_below(r, ARRAY_LEN(labels))]);
		term_fixture_terms(sf->f.cluster, t, terms[rng_below(r, ARRAY_LEN(terms))]);
		name_an_image(sf->f.cluster, r, t);
	}
}

/* The same with terms about other pods, by several sets of topology keys. */
static void agrees_with_a_plain_search_about_neighbours(void **state)
{
	struct core_fixture sf;
	struct statement st;
	struct rng r;

	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		rng_init(&r, seed);
		set_up_neighbours(&sf, &r);
		core_fixture_open(&sf);
		st = statement_begin(sf.s);
		for (size_t i = 0; i < STEPS; i++) {
			const struct task *t = sf.f.cluster->tasks.v[i];
			const struct node *want = best_by_hand(sf.s, t), *n = NULL;

			assert_int_equal(fit_find(sf.s, t, &n), want == NULL ? FIT_NONE : FIT_IDLE);
			assert_ptr_equal(n, want);
			if (want != NULL) {
				statement_allocate(sf.s, t, n);
			}
			if (rng_below(&r, 60) == 0) {
				statement_discard(sf.s, st);
				st = statement_begin(sf.s);
			}
		}
		core_fixture_finish(&sf);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_score_wins_and_ties_go_to_the_smaller_id),
		cmocka_unit_test(names_that_no_node_has_fit_nowhere_and_are_named),
		cmocka_unit_test(the_nominated_node_goes_first),
		cmocka_unit_test(resources_of_terminating_pods_count_for_later),
		cmocka_unit_test(a_place_that_was_given_back_is_free_again),
		cmocka_unit_test(evictions_of_this_session_count),
		cmocka_unit_test(the_explanation_counts_reasons),
		cmocka_unit_test(images_that_decide_nothing_share_a_ranking),
		cmocka_unit_test(equal_pods_share_what_explains_them),
		cmocka_unit_test(agrees_with_a_plain_search),
		cmocka_unit_test(agrees_with_a_plain_search_about_neighbours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
