#include "scheduler/pods/session/domains.h"

#include <stdio.h>

#include "base/attrs.h"
#include "base/rng.h"
#include "collections/intern.h"
#include "lib/pods/core_fixture.h"
#include "lib/pods/term_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/model/selectors.h"

enum { NODES = 6, TASKS = 40, STEPS = 4000 };

/* With nodeorder: without it preferences have no effect. */
#define SCORED                                                                                     \
	"actions: allocate\n"                                                                      \
	"tiers: [{plugins: [{name: predicates}, {name: capacity}, {name: nodeorder}]}]\n"

static struct core_fixture sf;

static struct node *add_node(const char *name, const char *labels)
{
	struct node *n = cluster_fixture_node(sf.f.cluster, name, 100000);

	term_fixture_node_labels(sf.f.cluster, n, labels);
	return n;
}

static struct task *add(const char *name, const char *labels, const char *terms)
{
	return term_fixture_task(sf.f.cluster, name, NULL, labels, terms);
}

static void test_pods_that_nothing_concerns_have_no_view(void **state)
{
	struct task *plain, *carrier, *selected, *spread;

	(void)state;
	core_fixture_init(&sf, NULL);
	plain = add("plain", "app=x", "");
	core_fixture_open(&sf);
	assert_null(domains_view(sf.s, plain));
	assert_int_equal(domains_view_id(NULL), 0);
	assert_int_equal(domains_view_version(NULL), 0);
	core_fixture_finish(&sf);
	core_fixture_init(&sf, NULL);
	add_node("n", "zone=a");
	plain = add("plain", "app=z", "");
	carrier = add("carrier", "", "away zone app=x");
	spread = add("spread", "", "spread zone app=z");
	selected = add("selected", "app=x", "");
	core_fixture_open(&sf);
	/* A spread keeps nothing away from its pods. */
	assert_null(domains_view(sf.s, plain));
	assert_non_null(domains_view(sf.s, carrier));
	assert_non_null(domains_view(sf.s, spread));
	assert_int_equal(domains_forbidding(domains_view(sf.s, selected)), 1);
	assert_int_equal(domains_forbidding(domains_view(sf.s, carrier)), 0);
	core_fixture_finish(&sf);
}

static void test_preferences_need_a_plugin_that_scores(void **state)
{
	(void)state;
	for (int scored = 0; scored < 2; scored++) {
		struct task *carrier, *selected, *both, *plain;
		const struct domain_view *v;

		core_fixture_init(&sf, scored ? SCORED : NULL);
		add_node("n", "rack=b,zone=a");
		carrier = add("carrier", "", "prefer zone app=x");
		selected = add("selected", "app=x", "");
		both = add("both", "app=x", "near zone app=y; avoid rack app=x");
		plain = add("plain", "app=z", "");
		core_fixture_open(&sf);
		assert_null(domains_view(sf.s, plain));
		assert_int_equal(domains_view(sf.s, carrier) != NULL, scored);
		assert_int_equal(domains_view(sf.s, selected) != NULL, scored);
		assert_false(domains_view_decides(domains_view(sf.s, selected)));
		assert_false(domains_view_decides(domains_view(sf.s, carrier)));
		v = domains_view(sf.s, both);
		assert_true(domains_view_decides(v));
		assert_int_equal(domains_view_score_version(v) != 0, scored);
		assert_int_equal(domains_preferring(v), scored ? 2 : 0);
		core_fixture_finish(&sf);
	}
}

/* Each key has tables of the size of the cluster: a tenant may invent any number of them, but only
 * those that nodes have count. */
static void test_topology_keys_that_no_node_has(void **state)
{
	const struct domain_view *v;
	const struct domain_key *const *keys;
	struct task *selected, *own;
	struct domain_count count;
	struct node *n;
	char terms[64];
	size_t nkeys;

	(void)state;
	core_fixture_init(&sf, SCORED);
	n = add_node("n", "zone=a");
	selected = add("selected", "app=x", "");
	own = add("own", "app=x", "away other-1 app=x; avoid other-2 app=x; anyway other-3 app=x");
	add("away", "", "away zone app=x; avoid zone app=x");
	for (int i = 0; i < 20; i++) {
		char name[16];

		snprintf(name, sizeof(name), "p%d", i);
		snprintf(terms, sizeof(terms), "away invented-%d app=x; avoid invented-%d app=x", i,
			 i);
		add(name, "", terms);
	}
	core_fixture_open(&sf);
	v = domains_view(sf.s, selected);
	keys = domains_keys(v, &nkeys);
	assert_int_equal(nkeys, 1);
	assert_string_equal(keys[0]->name, "zone");
	assert_int_equal(domains_forbidding(v), 1);
	assert_int_equal(domains_preferring(v), 1);
	v = domains_view(sf.s, own);
	(void)domains_keys(v, &nkeys);
	assert_int_equal(nkeys, 2); /* zone, and one for all those that no node has */
	assert_false(domains_selected(v, 0, n, &count));
	assert_false(domains_selected(v, 1, n, &count));
	core_fixture_finish(&sf);
}

/* Scores follow every pod that counts; what is allowed depends on none of them. */
static void test_preferences_have_a_version_of_their_own(void **state)
{
	const struct domain_view *v;
	uint64_t version, scored;
	struct task *t, *x, *y;
	struct node *n;

	(void)state;
	core_fixture_init(&sf, SCORED);
	n = add_node("n", "zone=a");
	t = add("t", "", "prefer zone app=x");
	x = add("x", "app=x", "");
	y = add("y", "app=y", "");
	core_fixture_open(&sf);
	v = domains_view(sf.s, t);
	version = domains_view_version(v);
	scored = domains_view_score_version(v);
	statement_allocate(sf.s, y, n);
	assert_int_equal(domains_view_score_version(v), scored);
	statement_allocate(sf.s, x, n);
	assert_true(domains_view_score_version(v) > scored);
	assert_int_equal(domains_view_version(v), version);
	core_fixture_finish(&sf);
}

static void test_equal_pods_share_a_view(void **state)
{
	struct task *a, *b, *other;
	const struct domain_view *v;

	(void)state;
	core_fixture_init(&sf, NULL);
	a = add("a", "app=x,i=1", "near zone app=x");
	b = add("b", "app=x,i=2", "near zone app=x");
	other = add("c", "app=y", "near zone app=x");
	core_fixture_open(&sf);
	v = domains_view(sf.s, a);
	assert_ptr_equal(v, domains_view(sf.s, b));
	assert_int_not_equal(domains_view_id(v), domains_view_id(domains_view(sf.s, other)));
	assert_true(domains_selects_itself(v, 0));
	assert_false(domains_selects_itself(domains_view(sf.s, other), 0));
	core_fixture_finish(&sf);
}

/* Only a pod that all terms of affinity select counts for each of them. */
static void test_affinity_counts_pods_that_all_terms_select(void **state)
{
	struct domain_count count;
	struct task *t, *one, *both;
	struct node *n;

	(void)state;
	core_fixture_init(&sf, NULL);
	n = add_node("n", "rack=r,zone=a");
	t = add("t", "", "near zone app=x; near rack tier=y");
	one = add("one", "app=x", "");
	both = add("both", "app=x,tier=y", "");
	cluster_task_set_status(sf.f.cluster, one, TASK_RUNNING, n);
	core_fixture_open(&sf);
	assert_int_equal(domains_total(domains_view(sf.s, t), 0).here, 0);
	statement_allocate(sf.s, both, n);
	for (size_t i = 0; i < 2; i++) {
		assert_true(domains_selected(domains_view(sf.s, t), i, n, &count));
		assert_int_equal(count.here, 1);
	}
	core_fixture_finish(&sf);
}

/* A gang that was taken back does not begin in the same domain; others are not concerned. */
static void test_domains_are_avoided(void **state)
{
	struct task *t, *alike, *follower, *plain;
	struct node *a, *b;
	uint64_t version;

	(void)state;
	core_fixture_init(&sf, NULL);
	a = add_node("a", "zone=a");
	b = add_node("b", "zone=b");
	t = add("t", "app=x", "near zone app=x");
	alike = add("alike", "app=x", "near zone app=x");
	follower = add("follower", "app=y", "near zone app=y");
	plain = add("plain", "app=z", "near zone app=x");
	cluster_task_set_status(sf.f.cluster, add("y", "app=y", ""), TASK_RUNNING, a);
	core_fixture_open(&sf);
	assert_false(domains_avoid(sf.s, plain, a));
	assert_false(domains_avoid(sf.s, follower, a));
	version = domains_view_version(domains_view(sf.s, t));
	assert_true(domains_avoid(sf.s, t, a));
	assert_true(domains_view_version(domains_view(sf.s, t)) > version);
	assert_true(domains_is_avoided(domains_view(sf.s, alike), 0, a));
	assert_false(domains_is_avoided(domains_view(sf.s, alike), 0, b));
	assert_true(domains_avoid(sf.s, t, b));
	version = domains_view_version(domains_view(sf.s, t));
	domains_avoid_nothing(sf.s);
	assert_true(domains_view_version(domains_view(sf.s, t)) > version);
	assert_false(domains_is_avoided(domains_view(sf.s, t), 0, a));
	domains_avoid_nothing(sf.s);
	core_fixture_finish(&sf);
}

/* --- random changes, counted again -------------------------------------------------------------
 */

static struct task *tasks[TASKS];
static struct podgroup *groups[2];

static bool is_eligible(const struct pod_class *k, size_t i, const struct node *n)
{
	(void)k;
	(void)i;
	return n->id != 1;
}

static const char *zone(const struct node *n, const char *key)
{
	return match_label(n->labels.v, n->labels.n, key);
}

/* Node and state of a pod, from the session alone. */
static const struct node *node_of(const struct task *t, struct domain_count *ret)
{
	enum task_status status = session_task_status(sf.s, t);
	uint32_t id = session_task_node(sf.s, t);
	bool pipelined = status == TASK_PIPELINED;

	*ret = (struct domain_count){ .here = !pipelined,
				      .releasing = status == TASK_RELEASING,
				      .pipelined = pipelined };
	return id == MODEL_NONE ? NULL : sf.f.cluster->nodes.v[id];
}

static bool carries(const struct task *t, const struct pod_term *term)
{
	for (size_t i = 0; i < t->klass->nterms; i++) {
		if (t->klass->terms[i].kind == POD_TERM_ANTI_AFFINITY &&
		    t->klass->terms[i].selector == term->selector &&
		    t->klass->terms[i].topology_key == term->topology_key) {
			return true;
		}
	}
	return false;
}

static void sum(struct domain_count *to, const struct domain_count *c)
{
	to->here += c->here;
	to->releasing += c->releasing;
	to->pipelined += c->pipelined;
}

static bool is_spread(const struct pod_term *t)
{
	return t->kind == POD_TERM_SPREAD || t->kind == POD_TERM_SPREAD_ANYWAY;
}

/* Pods in the domain of n that the term selects, or (by_carriers) that have it. */
static struct domain_count recount(const struct pod_term *term, const struct node *n,
				   bool by_carriers)
{
	struct domain_count all = { 0 }, one;

	for (size_t i = 0; i < TASKS; i++) {
		const struct node *at = node_of(tasks[i], &one);

		if (at == NULL || zone(at, term->topology_key) != zone(n, term->topology_key) ||
		    (is_spread(term) && !is_eligible(NULL, 0, at))) {
			continue;
		}
		if (by_carriers ? carries(tasks[i], term)
				: selectors_selects(term->selector, tasks[i]->labels)) {
			sum(&all, &one);
		}
	}
	return all;
}

static void assert_same(struct domain_count a, struct domain_count b)
{
	assert_int_equal(a.here, b.here);
	assert_int_equal(a.releasing, b.releasing);
	assert_int_equal(a.pipelined, b.pipelined);
}

static void check_least(const struct domain_table *table, const struct pod_term *term, bool later)
{
	uint32_t least = UINT32_MAX;

	for (size_t i = 0; i < NODES; i++) {
		const struct node *n = sf.f.cluster->nodes.v[i];
		struct domain_count c = recount(term, n, false);

		if (zone(n, term->topology_key) != NULL && is_eligible(NULL, 0, n) &&
		    domain_count_spread(&c, later) < least) {
			least = domain_count_spread(&c, later);
		}
	}
	assert_int_equal(later ? table->least_later : table->least, least);
}

static void check_task(const struct task *t)
{
	const struct domain_view *v = domains_view(sf.s, t);
	struct domain_count count;

	for (size_t i = 0; i < t->klass->nterms; i++) {
		const struct pod_term *term = &t->klass->terms[i];

		for (size_t k = 0; k < NODES; k++) {
			const struct node *n = sf.f.cluster->nodes.v[k];
			bool in =
				is_spread(term)
					? domain_table_get(domains_spread(sf.s, v, i, is_eligible),
							   n, &count)
					: domains_selected(v, i, n, &count);

			assert_int_equal(in, zone(n, term->topology_key) != NULL);
			if (in) {
				assert_same(count, recount(term, n, false));
			}
		}
		if (is_spread(term)) {
			check_least(domains_spread(sf.s, v, i, is_eligible), term, false);
			check_least(domains_spread(sf.s, v, i, is_eligible), term, true);
		}
	}
}

/* The pods that forbid it, in all sets together. */
static void check_forbidden(const struct task *t, const struct task *carrier)
{
	const struct domain_view *v = domains_view(sf.s, t);
	const struct pod_term *term = &carrier->klass->terms[0];
	struct domain_count count;

	if (term->kind != POD_TERM_ANTI_AFFINITY || !selectors_selects(term->selector, t->labels)) {
		return;
	}
	for (size_t k = 0; k < NODES; k++) {
		const struct node *n = sf.f.cluster->nodes.v[k];
		struct domain_count want = recount(term, n, true);
		bool found = zone(n, term->topology_key) == NULL;

		for (size_t i = 0; i < domains_forbidding(v); i++) {
			found |= domains_forbids(v, i, n, &count) && count.here == want.here &&
				 count.releasing == want.releasing &&
				 count.pipelined == want.pipelined;
		}
		assert_true(found);
	}
}

static int64_t weight_of(const struct task *t, const struct pod_selector *x, const char *key)
{
	int64_t sum = 0;

	for (size_t i = 0; i < t->klass->nterms; i++) {
		const struct pod_term *term = &t->klass->terms[i];

		if (term->kind == POD_TERM_PREFERRED && term->selector == x &&
		    term->topology_key == key) {
			sum += term->weight;
		}
	}
	return sum;
}

/* The weights that pods in the domain of n give to t, of all selectors and keys together. */
static int64_t prefer_by_hand(const struct task *t, const struct node *n)
{
	const struct selector_index *x = sf.f.cluster->selectors;
	static const char *const keys[] = { "zone", "rack" };
	struct domain_count one;
	int64_t sum = 0;

	for (size_t i = 0; i < TASKS; i++) {
		const struct node *at = node_of(tasks[i], &one);

		for (size_t k = 0; at != NULL && k < ARRAY_LEN(keys); k++) {
			const char *key =
				intern_name(sf.f.cluster->names,
					    intern_id(sf.f.cluster->names, str_of(keys[k])));

			if (zone(at, key) == NULL || zone(at, key) != zone(n, key)) {
				continue;
			}
			for (struct idset_cursor m = IDSET_FIRST;
			     idset_next(&t->labels->selectors, &m);) {
				sum += weight_of(tasks[i], x->selectors.v[m.id], key);
			}
		}
	}
	return sum;
}

static void check_preferred(const struct task *t)
{
	const struct domain_view *v = domains_view(sf.s, t);
	struct domain_count count;

	for (size_t k = 0; v != NULL && k < NODES; k++) {
		const struct node *n = sf.f.cluster->nodes.v[k];
		int64_t sum = 0;

		for (size_t i = 0; i < domains_preferring(v); i++) {
			if (domains_prefers(v, i, n, &count)) {
				sum += (int32_t)(count.here + count.pipelined);
			}
		}
		assert_int_equal(sum, prefer_by_hand(t, n));
	}
}

static void act(struct rng *rng, const struct task *t)
{
	const struct node *n = sf.f.cluster->nodes.v[rng_below(rng, NODES)];

	if (session_task_status(sf.s, t) == TASK_PENDING) {
		(rng_below(rng, 3) == 0 ? statement_pipeline : statement_allocate)(sf.s, t, n);
	} else if (session_task_status(sf.s, t) == TASK_RUNNING) {
		statement_evict(sf.s, t, tasks[0], "");
	}
}

static void play(struct rng *rng)
{
	struct statement st = statement_begin(sf.s);
	const struct podgroup *g = groups[rng_below(rng, 2)];

	for (uint64_t i = rng_below(rng, 6); i > 0; i--) {
		act(rng, tasks[rng_below(rng, TASKS)]);
		if (rng_below(rng, 2) == 0) {
			check_task(tasks[rng_below(rng, TASKS)]);
		}
	}
	switch (rng_below(rng, 8)) {
	case 0:
		statement_commit(sf.s, st);
		break;
	case 1:
		for (size_t i = 0; i < g->tasks.n; i++) {
			act(rng, sf.f.cluster->tasks.v[g->tasks.v[i]]);
		}
		session_note_held(sf.s, g);
		statement_hold(sf.s, st);
		break;
	default:
		statement_discard(sf.s, st);
	}
}

static void set_up_world(struct rng *rng)
{
	static const char *const nodes[NODES] = {
		"zone=a", "zone=a,rack=r", "zone=b,rack=r", "zone=b", "", "zone=c,rack=s"
	};
	static const char *const labels[] = { "", "app=x", "app=y", "app=x,tier=y" };
	static const char *const terms[] = {
		"",
		"near zone app=x",
		"away rack app=x; away zone app=x",
		"away zone app=y; spread zone app=x",
		"near zone app=y; away zone *; spread rack app=y",
		"prefer zone app=x weight=7; avoid zone app=x weight=3",
		"near zone app=x; avoid rack * weight=100; anyway zone app=y"
	};
	char name[16];

	core_fixture_init(&sf, SCORED);
	for (size_t i = 0; i < NODES; i++) {
		snprintf(name, sizeof(name), "n%zu", i);
		add_node(name, nodes[i]);
	}
	cluster_fixture_queue(sf.f.cluster, "q", NULL, -1);
	groups[0] = cluster_fixture_podgroup(sf.f.cluster, "g0", "q", 1);
	groups[1] = cluster_fixture_podgroup(sf.f.cluster, "g1", "q", 1);
	for (size_t i = 0; i < TASKS; i++) {
		/* The small group is held at some time. */
		struct podgroup *g = i < 3 ? groups[0] : i < 6 ? groups[1] : NULL;

		snprintf(name, sizeof(name), "p%zu", i);
		tasks[i] = term_fixture_task(sf.f.cluster, name, g,
					     labels[rng_below(rng, ARRAY_LEN(labels))],
					     terms[rng_below(rng, ARRAY_LEN(terms))]);
		if (i % 3 == 0 && g == NULL) {
			cluster_task_set_status(sf.f.cluster, tasks[i],
						i % 2 == 0 ? TASK_RUNNING : TASK_RELEASING,
						sf.f.cluster->nodes.v[rng_below(rng, NODES)]);
		}
	}
}

/* Views that are made in the middle of a statement follow when it is undone, committed or held. */
static void test_counts_follow_the_session(void **state)
{
	struct rng rng;

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		rng_init(&rng, seed);
		set_up_world(&rng);
		core_fixture_open(&sf);
		for (size_t step = 0; step < STEPS / 20; step++) {
			size_t i = rng_below(&rng, TASKS);

			play(&rng);
			check_task(tasks[i]);
			check_preferred(tasks[i]);
			for (size_t k = 0; k < TASKS; k++) {
				if (tasks[k]->klass->nterms > 0) {
					check_forbidden(tasks[i], tasks[k]);
				}
			}
		}
		core_fixture_finish(&sf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pods_that_nothing_concerns_have_no_view),
		cmocka_unit_test(test_preferences_need_a_plugin_that_scores),
		cmocka_unit_test(test_topology_keys_that_no_node_has),
		cmocka_unit_test(test_preferences_have_a_version_of_their_own),
		cmocka_unit_test(test_equal_pods_share_a_view),
		cmocka_unit_test(test_affinity_counts_pods_that_all_terms_select),
		cmocka_unit_test(test_domains_are_avoided),
		cmocka_unit_test(test_counts_follow_the_session),
	};

	return cmocka_run_group_tests_name("pods/session/domains", tests, NULL, NULL);
}
