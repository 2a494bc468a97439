#include "scheduler/pods/session/combine.h"

#include "base/attrs.h"
#include "lib/unit.h"

#define MAX 4

/* The answer of plugin i lies behind its state; asked counts the questions. */
struct answer {
	int order;
	enum vote vote;
	bool yes;
	double score;
	int asked;
};

static int queue_order(void *state, const struct session *s, const struct queue *a,
		       const struct queue *b)
{
	struct answer *answer = state;

	(void)s;
	(void)a;
	(void)b;
	answer->asked++;
	return answer->order;
}

static bool overused(void *state, const struct session *s, const struct queue *q)
{
	struct answer *a = state;

	(void)s;
	(void)q;
	a->asked++;
	return a->yes;
}

static enum vote job_pipelined(void *state, const struct session *s, const struct podgroup *g)
{
	struct answer *a = state;

	(void)s;
	(void)g;
	a->asked++;
	return a->vote;
}

static double node_score(void *state, const struct session *s, const struct pod_class *k,
			 const struct node *n)
{
	struct answer *a = state;

	(void)s;
	(void)k;
	(void)n;
	a->asked++;
	return a->score;
}

static const struct plugin_ops ops = {
	.queue_order = queue_order,
	.overused = overused,
	.job_pipelined = job_pipelined,
	.node_score = node_score,
};

static struct hook_list list_of(struct hook *v, struct answer *a, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		v[i] = (struct hook){ .ops = &ops, .state = &a[i] };
	}
	return (struct hook_list){ v, n };
}

static void test_order_takes_the_first_that_is_not_zero(void **state)
{
	static const struct {
		const char *name;
		int answers[MAX];
		int expected, asked;
	} rows[] = {
		{ "all equal", { 0, 0, 0, 0 }, 0, 4 },
		{ "the second decides", { 0, -1, 1, 1 }, -1, 2 },
		{ "the first decides", { 1, -1, -1, -1 }, 1, 1 },
		{ "the last decides", { 0, 0, 0, 5 }, 5, 4 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct answer a[MAX] = { { .order = 0 } };
		struct hook v[MAX];
		struct hook_list l = list_of(v, a, MAX);
		int asked = 0;

		for (size_t k = 0; k < MAX; k++) {
			a[k].order = rows[i].answers[k];
		}
		unit_row(rows[i].name);
		assert_int_equal(COMBINE_ORDER(&l, queue_order, NULL, NULL, NULL),
				 rows[i].expected);
		for (size_t k = 0; k < MAX; k++) {
			asked += a[k].asked;
		}
		assert_int_equal(asked, rows[i].asked);
	}
}

static void test_all_stops_at_the_first_no_and_any_at_the_first_yes(void **state)
{
	struct answer a[3] = { { .yes = true }, { .yes = false }, { .yes = true } };
	struct hook v[3];
	struct hook_list l = list_of(v, a, 3), none = { NULL, 0 };

	(void)state;
	assert_false(COMBINE_ALL(&l, overused, NULL, NULL));
	assert_int_equal(a[1].asked, 1);
	assert_int_equal(a[2].asked, 0);
	a[1].yes = true;
	assert_true(COMBINE_ALL(&l, overused, NULL, NULL));
	assert_true(COMBINE_ALL(&none, overused, NULL, NULL));
	assert_false(COMBINE_ANY(&none, overused, NULL, NULL));
	a[0].yes = a[1].yes = false;
	a[0].asked = a[1].asked = a[2].asked = 0;
	assert_true(COMBINE_ANY(&l, overused, NULL, NULL));
	assert_int_equal(a[2].asked, 1);
	a[2].yes = false;
	assert_false(COMBINE_ANY(&l, overused, NULL, NULL));
}

static void test_votes_over_tiers(void **state)
{
	enum { R = VOTE_REJECT, O = VOTE_ABSTAIN, P = VOTE_PERMIT };
	static const struct {
		const char *what;
		int votes[MAX];
		size_t tiers[MAX];
		bool expected;
		int asked;
	} rows[] = {
		{ "all abstain", { O, O, O, O }, { 0, 0, 1, 1 }, true, 4 },
		{ "a reject loses", { O, R, P, P }, { 0, 0, 1, 1 }, false, 2 },
		{ "a reject loses against a permit of its tier",
		  { P, R, O, O },
		  { 0, 0, 1, 1 },
		  false,
		  2 },
		{ "a permit ends the walk at the end of its tier",
		  { P, O, R, R },
		  { 0, 0, 1, 1 },
		  true,
		  2 },
		{ "an abstaining tier passes on", { O, O, P, R }, { 0, 0, 1, 2 }, true, 3 },
		{ "a later tier may reject", { O, O, O, R }, { 0, 0, 1, 2 }, false, 4 },
		{ "a permit of the last tier", { O, O, O, P }, { 0, 0, 1, 2 }, true, 4 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct answer a[MAX] = { { .order = 0 } };
		struct hook v[MAX];
		struct hook_list l = list_of(v, a, MAX);
		int asked = 0;

		for (size_t k = 0; k < MAX; k++) {
			a[k].vote = (enum vote)rows[i].votes[k];
			v[k].tier = rows[i].tiers[k];
		}
		print_message("%s\n", rows[i].what);
		assert_int_equal(COMBINE_VOTE(&l, job_pipelined, NULL, NULL), rows[i].expected);
		for (size_t k = 0; k < MAX; k++) {
			asked += a[k].asked;
		}
		assert_int_equal(asked, rows[i].asked);
	}
}

static void test_sum_is_rounded_so_that_equal_nodes_are_equal(void **state)
{
	struct answer a[2] = { { .score = 0.1 }, { .score = 0.2 } };
	struct answer b[1] = { { .score = 0.3 } };
	struct hook va[2], vb[1];
	struct hook_list la = list_of(va, a, 2), lb = list_of(vb, b, 1), none = { NULL, 0 };

	(void)state;
	assert_true(0.1 + 0.2 != 0.3);
	assert_true(COMBINE_SUM(&la, node_score, NULL, NULL, NULL) ==
		    COMBINE_SUM(&lb, node_score, NULL, NULL, NULL));
	assert_true(COMBINE_SUM(&none, node_score, NULL, NULL, NULL) == 0);
	b[0].score = 0.300001;
	assert_true(COMBINE_SUM(&la, node_score, NULL, NULL, NULL) <
		    COMBINE_SUM(&lb, node_score, NULL, NULL, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_takes_the_first_that_is_not_zero),
		cmocka_unit_test(test_all_stops_at_the_first_no_and_any_at_the_first_yes),
		cmocka_unit_test(test_votes_over_tiers),
		cmocka_unit_test(test_sum_is_rounded_so_that_equal_nodes_are_equal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
