#include "scheduler/pods/model/selectors.h"

#include <stdio.h>

#include "base/attrs.h"
#include "base/rng.h"
#include "collections/intern.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/pods/term_fixture.h"
#include "lib/unit.h"

static bool selects(const struct task *carrier, const struct task *t)
{
	return selectors_selects(carrier->klass->terms[0].selector, t->labels);
}

static void test_pods_with_equal_labels_and_terms_share(void **state)
{
	struct cluster *c = cluster_create();
	struct task *a = term_fixture_task(c, "a", NULL, "app=x", "away zone app=x");
	struct task *b = term_fixture_task(c, "b", NULL, "app=x", "away rack app=x");
	struct task *other = term_fixture_task(c, "c", NULL, "app=y", "");

	(void)state;
	assert_ptr_equal(a->labels, b->labels);
	assert_int_equal(a->labels->tasks.n, 2);
	assert_ptr_equal(a->klass->terms[0].selector, b->klass->terms[0].selector);
	assert_int_equal(a->klass->terms[0].selector->by_kind[POD_TERM_ANTI_AFFINITY], 2);
	assert_true(selects(a, b));
	assert_false(selects(a, other));
	assert_false(selectors_selects(a->klass->terms[0].selector, NULL));
	assert_null(cluster_verify(c));
	term_fixture_labels(c, other, "app=x");
	assert_true(selects(a, other));
	cluster_task_remove(c, b);
	cluster_task_remove(c, a);
	/* No class has it any more. */
	assert_int_equal(slots_count(&c->selectors->selectors), 0);
	assert_true(idset_is_empty(&other->labels->selectors));
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

static void test_no_selector_selects_nothing_and_an_empty_one_all(void **state)
{
	struct cluster *c = cluster_create();
	struct task *none = term_fixture_task(c, "a", NULL, "", "away zone -");
	struct task *all = term_fixture_task(c, "b", NULL, "", "away zone *");

	(void)state;
	assert_false(selects(none, all));
	assert_true(selects(all, none));
	cluster_destroy(c);
}

/* Pods that wait are looked at again when such a pod comes or goes; preferences wait for nothing.
 */
static void test_terms_that_decide(void **state)
{
	static const struct {
		const char *terms;
		bool decides;
	} rows[] = {
		{ "near zone app=x", true },
		{ "away zone app=x", true },
		{ "spread zone app=x", true },
		{ "prefer zone app=x", false },
		{ "anyway zone app=x", false },
		{ "prefer zone app=y", false },
		{ "near zone app=y", false },
		{ "near zone *; avoid zone app=x", true },
		{ "near zone app=x; avoid zone app=x", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cluster *c = cluster_create();
		struct task *t = term_fixture_task(c, "t", NULL, "app=x", "");
		uint64_t gen;

		unit_row(rows[i].terms);
		term_fixture_task(c, "carrier", NULL, "", rows[i].terms);
		assert_int_equal(selectors_decide_about(c, t->labels), rows[i].decides);
		gen = c->demand_gen;
		selectors_forget_labels(c, t);
		assert_int_equal(c->demand_gen - gen, rows[i].decides);
		cluster_destroy(c);
	}
}

static struct task *far_task(struct cluster *c, const char *space, const char *name)
{
	struct task *t = cluster_task_add(c, str_of(space), str_of(name), STR_LIT(""));

	cluster_task_set_class(c, t, cluster_fixture_class(c, 1));
	term_fixture_labels(c, t, "app=x");
	return t;
}

static void test_namespaces(void **state)
{
	struct cluster *c = cluster_create();
	struct task *far = far_task(c, "far", "p"), *other = far_task(c, "other", "p");
	struct task *own = term_fixture_task(c, "own", NULL, "", "away zone app=x");
	struct task *two = term_fixture_task(c, "two", NULL, "", "away zone app=x in=far+ns");
	struct task *red = term_fixture_task(c, "red", NULL, "", "away zone app=x of=team=red");
	struct task *all = term_fixture_task(c, "all", NULL, "", "away zone app=x of=*");
	struct task *name = term_fixture_task(c, "name", NULL, "",
					      "away zone app=x of=kubernetes.io/metadata.name=far");
	uint64_t gen;

	(void)state;
	assert_false(selects(own, far));
	assert_true(selects(two, far));
	assert_false(selects(two, other));
	assert_false(selects(red, far));
	assert_true(selects(all, far));
	assert_true(selects(all, other));
	/* A namespace that is not known has this label all the same. */
	assert_true(selects(name, far));
	assert_false(selects(name, other));
	gen = c->demand_gen;
	term_fixture_namespace(c, "far", "team=red");
	assert_true(selects(red, far));
	assert_true(c->demand_gen > gen);
	assert_null(cluster_verify(c));
	term_fixture_namespace(c, "far", "team=blue");
	assert_false(selects(red, far));
	/* Labels that come later are compared, too. */
	term_fixture_namespace(c, "late", "team=red");
	assert_true(selects(red, far_task(c, "late", "p")));
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

static void test_alike(void **state)
{
	struct cluster *c = cluster_create();
	struct task *carrier = term_fixture_task(c, "c", NULL, "", "away zone app=x");
	struct task *a = term_fixture_task(c, "a", NULL, "app=x,i=1", "");
	struct task *b = term_fixture_task(c, "b", NULL, "app=x,i=2", "");

	(void)state;
	assert_true(selectors_are_alike(a->labels, b->labels));
	assert_false(selectors_are_alike(a->labels, carrier->labels));
	assert_true(selectors_are_alike(carrier->labels, NULL));
	assert_false(selectors_are_alike(NULL, b->labels));
	term_fixture_terms(c, carrier, "away zone app=x; away zone i=1");
	assert_false(selectors_are_alike(a->labels, b->labels));
	cluster_destroy(c);
}

/* Names are swept while labels and terms have them. */
static void test_names_stay(void **state)
{
	struct cluster *c = cluster_create();
	struct task *t = term_fixture_task(c, "t", NULL, "app=x", "away zone app=x");
	char text[64];

	(void)state;
	for (int i = 0; i < 200000 && !intern_wants_sweep(c->names); i++) {
		snprintf(text, sizeof(text), "a-long-name-that-nothing-has-any-more-%d", i);
		(void)intern_id(c->names, str_of(text));
	}
	cluster_names_sweep(c);
	assert_string_equal(t->labels->v[0].value, "x");
	assert_true(selects(t, t));
	term_fixture_labels(c, t, "app=y");
	term_fixture_labels(c, t, "app=x");
	assert_true(selects(t, t));
	cluster_destroy(c);
}

static void test_random_changes(void **state)
{
	static const char *const labels[] = { "", "app=x", "app=y", "app=x,i=1", "i=1" };
	static const char *const terms[] = { "", "near zone app=x",
					     "away zone app=x; away rack app=x",
					     "away zone * of=*; spread zone i=1",
					     "near zone app=y of=team=red" };
	struct cluster *c = cluster_create();
	struct rng rng;
	struct task *tasks[12] = { NULL };
	char name[16];

	(void)state;
	rng_init(&rng, 7);
	for (int step = 0; step < 3000; step++) {
		size_t i = rng_below(&rng, ARRAY_LEN(tasks));

		if (tasks[i] == NULL) {
			snprintf(name, sizeof(name), "p%zu", i);
			tasks[i] = cluster_fixture_task(c, name, NULL, 1);
		} else if (rng_below(&rng, 8) == 0) {
			cluster_task_remove(c, tasks[i]);
			tasks[i] = NULL;
		} else if (rng_below(&rng, 8) == 0) {
			term_fixture_namespace(c, "ns", rng_below(&rng, 2) == 0 ? "team=red" : "");
		} else if (rng_below(&rng, 2) == 0) {
			term_fixture_labels(c, tasks[i],
					    labels[rng_below(&rng, ARRAY_LEN(labels))]);
		} else {
			term_fixture_terms(c, tasks[i], terms[rng_below(&rng, ARRAY_LEN(terms))]);
		}
		assert_null(cluster_verify(c));
	}
	cluster_destroy(c);
}

/* A tenant can make every selector differ and select all labels, which differ too: each pair is
 * kept, in less than a byte. */
static void test_pairs_are_small(void **state)
{
	enum { PODS = 400 };
	struct cluster *c = cluster_create();
	size_t pairs = 0, bytes = 0;

	(void)state;
	for (int i = 0; i < PODS; i++) {
		char name[16], labels[16], terms[32];

		(void)snprintf(name, sizeof(name), "p%d", i);
		(void)snprintf(labels, sizeof(labels), "n=%d", i);
		(void)snprintf(terms, sizeof(terms), "away zone * in=ns+x%d", i);
		(void)term_fixture_task(c, name, NULL, labels, terms);
	}
	for (size_t i = 0; i < c->selectors->labels.n; i++) {
		const struct idset *s = &c->selectors->labels.v[i]->selectors;

		pairs += idset_count(s);
		bytes += s->words.cap * sizeof(s->words.v[0]);
	}
	for (size_t i = 0; i < c->selectors->selectors.n; i++) {
		const struct idset *s = &c->selectors->selectors.v[i]->labels;

		bytes += s->words.cap * sizeof(s->words.v[0]);
	}
	assert_int_equal(pairs, PODS * PODS);
	assert_in_range(bytes, 1, pairs);
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs_are_small),
		cmocka_unit_test(test_terms_that_decide),
		cmocka_unit_test(test_pods_with_equal_labels_and_terms_share),
		cmocka_unit_test(test_no_selector_selects_nothing_and_an_empty_one_all),
		cmocka_unit_test(test_namespaces),
		cmocka_unit_test(test_alike),
		cmocka_unit_test(test_names_stay),
		cmocka_unit_test(test_random_changes),
	};

	return cmocka_run_group_tests_name("pods/model/selectors", tests, NULL, NULL);
}
