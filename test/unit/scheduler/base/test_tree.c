#include "scheduler/base/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/rng.h"
#include "base/xmalloc.h"
#include "lib/unit.h"

/*     0        5      6 <-> 7, 8 below 7
 *    / \
 *   3   1
 *  /   / \
 * 9   2   4                                */
static const uint32_t forest[] = { TREE_NONE, 0, 1, 0, 1, TREE_NONE, 7, 6, 7, 3 };

/* Charges all dimensions. */
static void charge(struct tree_sums *s, uint32_t node, const int64_t *amount, size_t width,
		   tree_rise_fn rise)
{
	for (unsigned d = 0; d < width; d++) {
		tree_sums_charge(s, node, d, amount[d], rise, NULL);
	}
}

static void test_order_is_by_depth_then_index(void **state)
{
	struct tree *t = tree_create(forest, ARRAY_LEN(forest));
	static const uint32_t expected[] = { 0, 5, 1, 3, 2, 4, 9 };
	const uint32_t *order;
	size_t n;

	(void)state;
	order = tree_order(t, &n);
	assert_int_equal(n, ARRAY_LEN(expected));
	assert_memory_equal(order, expected, sizeof(expected));
	assert_int_equal(tree_parent(t, 9), 3);
	assert_int_equal(tree_parent(t, 5), TREE_NONE);
	tree_destroy(t);
}

static void test_a_cycle_and_what_is_below_it_are_not_placed(void **state)
{
	struct tree *t = tree_create(forest, ARRAY_LEN(forest));
	static const uint32_t itself[] = { 0, TREE_NONE };
	struct tree *own;

	(void)state;
	for (uint32_t i = 0; i < ARRAY_LEN(forest); i++) {
		assert_int_equal(tree_is_placed(t, i), i < 6 || i == 9);
		assert_int_equal(tree_is_on_cycle(t, i), i == 6 || i == 7);
	}
	assert_false(tree_is_leaf(t, 7));
	assert_true(tree_is_leaf(t, 8));
	assert_true(tree_is_leaf(t, 5));
	assert_false(tree_is_leaf(t, 1));
	tree_destroy(t);
	own = tree_create(itself, 2);
	assert_false(tree_is_placed(own, 0));
	assert_true(tree_is_on_cycle(own, 0));
	assert_false(tree_is_on_cycle(own, 1));
	assert_true(tree_is_placed(own, 1));
	tree_destroy(own);
	tree_destroy(NULL);
}

static void test_order_is_by_index_even_across_parents(void **state)
{
	static const uint32_t parent[] = { 3, 2, TREE_NONE, TREE_NONE };
	struct tree *t = tree_create(parent, 4);
	static const uint32_t expected[] = { 2, 3, 0, 1 };
	size_t n;

	(void)state;
	assert_memory_equal(tree_order(t, &n), expected, sizeof(expected));
	assert_int_equal(n, 4);
	tree_destroy(t);
}

static void test_common_ancestor(void **state)
{
	struct tree *t = tree_create(forest, ARRAY_LEN(forest));
	static const struct {
		const char *name;
		uint32_t a, b, common;
	} rows[] = {
		{ "siblings", 2, 4, 1 },
		{ "siblings, the other way round", 4, 2, 1 },
		{ "cousins", 2, 9, 0 },
		{ "a nephew and an uncle", 9, 1, 0 },
		{ "the parent of the other", 1, 2, 1 },
		{ "one node", 2, 2, 2 },
		{ "a root and a node below it", 0, 9, 0 },
		{ "two trees", 2, 5, TREE_NONE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].name);
		assert_int_equal(tree_common(t, rows[i].a, rows[i].b), rows[i].common);
	}
	tree_destroy(t);
}

static void test_below_walks_up_to_the_step_under_an_ancestor(void **state)
{
	struct tree *t = tree_create(forest, ARRAY_LEN(forest));

	(void)state;
	assert_int_equal(tree_below(t, 2, 1), 2);
	assert_int_equal(tree_below(t, 2, 0), 1);
	assert_int_equal(tree_below(t, 2, 2), 2);
	assert_int_equal(tree_below(t, 9, TREE_NONE), 0);
	assert_int_equal(tree_below(t, 0, TREE_NONE), 0);
	tree_destroy(t);
}

static void test_a_chain_of_100000_needs_no_recursion(void **state)
{
	enum { N = 100000 };
	uint32_t *parent = xmalloc(N * sizeof(*parent));
	struct tree *t;
	struct tree_sums *s;
	int64_t one = 1;

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		parent[i] = i == 0 ? TREE_NONE : i - 1;
	}
	t = tree_create(parent, N);
	s = tree_sums_create(t, 1);
	charge(s, N - 1, &one, 1, NULL);
	assert_int_equal(tree_sums_of(s, 0)[0], 1);
	tree_sums_destroy(s);
	tree_destroy(t);
	free(parent);
}

static void assert_sums(const struct tree_sums *s, uint32_t node, int64_t a, int64_t b)
{
	assert_int_equal(tree_sums_of(s, node)[0], a);
	assert_int_equal(tree_sums_of(s, node)[1], b);
}

static void test_charges_reach_every_ancestor(void **state)
{
	struct tree *t = tree_create(forest, ARRAY_LEN(forest));
	struct tree_sums *s = tree_sums_create(t, 2);

	(void)state;
	charge(s, 2, (const int64_t[]){ 5, 1 }, 2, NULL);
	charge(s, 4, (const int64_t[]){ 2, 0 }, 2, NULL);
	assert_sums(s, 2, 5, 1);
	assert_sums(s, 4, 2, 0);
	assert_sums(s, 1, 7, 1);
	assert_sums(s, 0, 7, 1);
	assert_sums(s, 3, 0, 0);
	tree_sums_destroy(s);
	tree_destroy(t);
}

static void test_a_node_on_a_cycle_is_charged_alone(void **state)
{
	struct tree *t = tree_create(forest, ARRAY_LEN(forest));
	struct tree_sums *s = tree_sums_create(t, 2);

	(void)state;
	charge(s, 8, (const int64_t[]){ 5, 1 }, 2, NULL);
	assert_sums(s, 8, 5, 1);
	assert_sums(s, 7, 0, 0);
	tree_sums_destroy(s);
	tree_destroy(t);
}

static void test_sums_saturate_and_come_back(void **state)
{
	struct tree *t = tree_create(forest, ARRAY_LEN(forest));
	struct tree_sums *s = tree_sums_create(t, 2);
	size_t mark;

	(void)state;
	charge(s, 2, (const int64_t[]){ 10, -10 }, 2, NULL);
	mark = tree_sums_mark(s);
	charge(s, 2, (const int64_t[]){ INT64_MAX, INT64_MIN }, 2, NULL);
	assert_sums(s, 0, INT64_MAX, INT64_MIN);
	tree_sums_undo(s, mark);
	assert_sums(s, 0, 10, -10);
	tree_sums_forget(s);
	assert_int_equal(tree_sums_mark(s), 0);
	assert_sums(s, 0, 10, -10);
	tree_sums_destroy(s);
	tree_destroy(t);
}

/* A small form of Kueue's rule: only usage beyond 10 of a node rises. */
static int64_t rise_beyond_ten(void *ctx, uint32_t node, unsigned dim, int64_t before,
			       int64_t amount)
{
	int64_t beyond = before + amount - 10;

	(void)ctx;
	(void)node;
	(void)dim;
	if (beyond <= 0) {
		return 0;
	}
	return beyond < amount ? beyond : amount;
}

static void test_a_rule_decides_what_rises(void **state)
{
	struct tree *t = tree_create(forest, ARRAY_LEN(forest));
	struct tree_sums *s = tree_sums_create(t, 2);

	(void)state;
	charge(s, 2, (const int64_t[]){ 8, 25 }, 2, rise_beyond_ten);
	assert_sums(s, 2, 8, 25);
	assert_sums(s, 1, 0, 15);
	assert_sums(s, 0, 0, 5);
	charge(s, 2, (const int64_t[]){ 4, 1 }, 2, rise_beyond_ten);
	assert_sums(s, 2, 12, 26);
	assert_sums(s, 1, 2, 16);
	assert_sums(s, 0, 0, 6);
	tree_sums_destroy(s);
	tree_destroy(t);
}

static void test_one_dimension_can_be_charged_alone(void **state)
{
	struct tree *t = tree_create(forest, ARRAY_LEN(forest));
	struct tree_sums *s = tree_sums_create(t, 2);

	(void)state;
	tree_sums_charge(s, 2, 1, 25, rise_beyond_ten, NULL);
	assert_sums(s, 2, 0, 25);
	assert_sums(s, 1, 0, 15);
	assert_sums(s, 0, 0, 5);
	tree_sums_undo(s, 0);
	assert_sums(s, 1, 0, 0);
	tree_sums_destroy(s);
	tree_destroy(t);
}

static void test_undo_restores_random_charges_exactly(void **state)
{
	enum { N = 60, STEPS = 400 };
	struct rng r;
	uint32_t parent[N];
	struct tree *t;
	struct tree_sums *s;

	(void)state;
	rng_init(&r, 7);
	for (uint32_t i = 0; i < N; i++) {
		parent[i] = i == 0 ? TREE_NONE : (uint32_t)rng_below(&r, i);
	}
	t = tree_create(parent, N);
	s = tree_sums_create(t, 2);
	for (int step = 0; step < STEPS; step++) {
		int64_t before[N * 2];
		size_t mark = tree_sums_mark(s);

		memcpy(before, tree_sums_of(s, 0), sizeof(before));
		for (int i = 0; i < 5; i++) {
			int64_t amount[2] = { (int64_t)rng_below(&r, 50) - 20,
					      (int64_t)rng_below(&r, 50) - 20 };

			charge(s, (uint32_t)rng_below(&r, N), amount, 2,
			       i % 2 == 0 ? rise_beyond_ten : NULL);
		}
		if (step % 3 != 0) {
			tree_sums_undo(s, mark);
			assert_memory_equal(tree_sums_of(s, 0), before, sizeof(before));
		}
	}
	tree_sums_destroy(s);
	tree_destroy(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_is_by_depth_then_index),
		cmocka_unit_test(test_a_cycle_and_what_is_below_it_are_not_placed),
		cmocka_unit_test(test_order_is_by_index_even_across_parents),
		cmocka_unit_test(test_common_ancestor),
		cmocka_unit_test(test_below_walks_up_to_the_step_under_an_ancestor),
		cmocka_unit_test(test_a_chain_of_100000_needs_no_recursion),
		cmocka_unit_test(test_charges_reach_every_ancestor),
		cmocka_unit_test(test_a_node_on_a_cycle_is_charged_alone),
		cmocka_unit_test(test_sums_saturate_and_come_back),
		cmocka_unit_test(test_a_rule_decides_what_rises),
		cmocka_unit_test(test_one_dimension_can_be_charged_alone),
		cmocka_unit_test(test_undo_restores_random_charges_exactly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
