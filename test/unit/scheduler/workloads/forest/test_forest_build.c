/* Random trees and random changes against a naive recomputation by Kueue's definitions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/rng.h"
#include "base/xmalloc.h"
#include "lib/quota/quota_world.h"
#include "lib/unit.h"
#include "scheduler/workloads/forest/amount.h"

enum { COHORTS = 12, QUEUES = 14, PAIRS = 3, WORKLOADS = 40, DEPTH = 5 };

struct random_world {
	struct rng r;
	struct quota_model *q;
	struct forest *f;
	struct quota_node *queues[QUEUES];
	struct quota_node *cohorts[COHORTS];
	unsigned depth[COHORTS];
	int64_t usage[COHORTS + QUEUES][PAIRS]; /* of queues, by node id: what was charged */
};

/* --- by the definitions -------------------------------------------------------------------------
 */

static const struct quota_node *parent_of(const struct quota_model *q, const struct quota_node *n)
{
	return n->parent_id == MODEL_NONE ? NULL : q->nodes.v[n->parent_id];
}

static int64_t above_zero(int64_t v)
{
	return v > 0 ? v : 0;
}

static int64_t local_quota(const struct quota_model *q, const struct quota_node *n, uint32_t pair);

static int64_t subtree_quota(const struct quota_model *q, const struct quota_node *n, uint32_t pair)
{
	const struct quota_cell *c = quota_node_cell(n, pair);
	int64_t sum = c == NULL ? 0 : c->nominal;

	for (size_t i = 0; i < q->nodes.n; i++) {
		const struct quota_node *child = q->nodes.v[i];

		if (child != NULL && parent_of(q, child) == n) {
			sum = amount_add(sum, amount_sub(subtree_quota(q, child, pair),
							 local_quota(q, child, pair)));
		}
	}
	return sum;
}

static int64_t local_quota(const struct quota_model *q, const struct quota_node *n, uint32_t pair)
{
	const struct quota_cell *c = quota_node_cell(n, pair);

	if (c == NULL || c->lending == QUOTA_NO_LIMIT) {
		return 0;
	}
	return above_zero(amount_sub(subtree_quota(q, n, pair), c->lending));
}

static int64_t usage_of(const struct random_world *w, const struct quota_node *n, uint32_t pair)
{
	int64_t sum = 0;

	if (n->is_queue) {
		return w->usage[n->id][pair];
	}
	for (size_t i = 0; i < w->q->nodes.n; i++) {
		const struct quota_node *child = w->q->nodes.v[i];

		if (child != NULL && parent_of(w->q, child) == n) {
			sum += above_zero(amount_sub(usage_of(w, child, pair),
						     local_quota(w->q, child, pair)));
		}
	}
	return sum;
}

static int64_t available(const struct random_world *w, const struct quota_node *n, uint32_t pair)
{
	const struct quota_cell *c = quota_node_cell(n, pair);
	int64_t subtree = subtree_quota(w->q, n, pair), local = local_quota(w->q, n, pair);
	int64_t used = usage_of(w, n, pair), up, most;

	if (parent_of(w->q, n) == NULL) {
		return amount_sub(subtree, used);
	}
	up = available(w, parent_of(w->q, n), pair);
	if (c != NULL && c->borrowing != QUOTA_NO_LIMIT) {
		most = amount_sub(amount_sub(subtree, local), above_zero(amount_sub(used, local)));
		most = amount_add(most, c->borrowing);
		up = most < up ? most : up;
	}
	return amount_add(above_zero(amount_sub(local, used)), up);
}

static int64_t potential(const struct random_world *w, const struct quota_node *n, uint32_t pair)
{
	const struct quota_cell *c = quota_node_cell(n, pair);
	int64_t subtree = subtree_quota(w->q, n, pair), p, most;

	if (parent_of(w->q, n) == NULL) {
		return subtree;
	}
	p = amount_add(local_quota(w->q, n, pair), potential(w, parent_of(w->q, n), pair));
	if (c != NULL && c->borrowing != QUOTA_NO_LIMIT) {
		most = amount_add(subtree, c->borrowing);
		p = most < p ? most : p;
	}
	return p;
}

static void check(const struct random_world *w)
{
	for (uint32_t i = 0; i < w->q->nodes.n; i++) {
		const struct quota_node *n = w->q->nodes.v[i];

		for (uint32_t p = 0; p < PAIRS && n != NULL; p++) {
			assert_int_equal(forest_subtree(w->f, i, p), subtree_quota(w->q, n, p));
			assert_int_equal(forest_usage(w->f, i, p), usage_of(w, n, p));
			assert_int_equal(forest_available(w->f, i, p), available(w, n, p));
			assert_int_equal(forest_potential(w->f, i, p), potential(w, n, p));
		}
	}
}

/* --- random -------------------------------------------------------------------------------------
 */

static int64_t below(struct random_world *w, uint64_t bound)
{
	return (int64_t)rng_below(&w->r, bound);
}

static int64_t some_limit(struct random_world *w)
{
	switch (rng_below(&w->r, 6)) {
	case 0:
		return 0;
	case 1:
		return QUOTA_UNLIMITED;
	case 2:
		return below(w, 30);
	default:
		return QUOTA_NO_LIMIT;
	}
}

static void fill(struct random_world *w, struct quota_node *n)
{
	vec_clear(&n->cells);
	for (uint32_t p = 0; p < PAIRS; p++) {
		struct quota_cell c = { .pair = p, .nominal = below(w, 40) };

		if (rng_below(&w->r, 5) == 0) {
			continue;
		}
		if (rng_below(&w->r, 40) == 0) {
			c.nominal = QUOTA_UNLIMITED;
		}
		c.borrowing = some_limit(w);
		c.lending = some_limit(w);
		quota_node_set_cell(n, c);
	}
}

static void move(struct random_world *w, struct quota_node *n, size_t to)
{
	n->parent = to < COHORTS ? w->cohorts[to]->name : NULL;
}

static void begin(struct random_world *w, uint64_t seed)
{
	char name[16];
	uint32_t flavor;

	*w = (struct random_world){ .q = quota_create() };
	rng_init(&w->r, seed);
	w->f = forest_create(w->q);
	flavor = quota_flavor_get(w->q, STR_LIT("f"))->id;
	for (uint32_t p = 0; p < PAIRS; p++) {
		(void)snprintf(name, sizeof(name), "r%u", p);
		(void)quota_pair_get(w->q, flavor, quota_resource(w->q, str_of(name)));
	}
	for (size_t i = 0; i < COHORTS; i++) {
		size_t to = i > 0 ? rng_below(&w->r, i) : COHORTS;

		(void)snprintf(name, sizeof(name), "c%zu", i);
		w->cohorts[i] = quota_cohort_get(w->q, str_of(name));
		w->cohorts[i]->exists = true;
		if (to < COHORTS && w->depth[to] + 2 < DEPTH && rng_below(&w->r, 6) > 0) {
			w->depth[i] = w->depth[to] + 1;
			move(w, w->cohorts[i], to);
		}
		fill(w, w->cohorts[i]);
	}
	for (size_t i = 0; i < QUEUES; i++) {
		(void)snprintf(name, sizeof(name), "q%zu", i);
		w->queues[i] = quota_queue_get(w->q, str_of(name));
		w->queues[i]->exists = true;
		move(w, w->queues[i], rng_below(&w->r, COHORTS + 1));
		fill(w, w->queues[i]);
	}
	for (size_t i = 0; i < WORKLOADS; i++) {
		struct workload *wl;

		(void)snprintf(name, sizeof(name), "w%zu", i);
		wl = quota_workload_add(w->q, str_of(name));
		for (uint32_t p = 0; p < PAIRS; p++) {
			if (rng_below(&w->r, 3) > 0) {
				quota_amounts_add(&wl->holding.usage, p, below(w, 12));
			}
		}
	}
	quota_nodes_changed(w->q);
	forest_sync(w->f);
}

static void end(struct random_world *w)
{
	forest_destroy(w->f);
	quota_destroy(w->q);
}

static void count(struct random_world *w, const struct workload *wl, uint32_t node, int sign)
{
	for (size_t i = 0; i < wl->holding.usage.n; i++) {
		w->usage[node][wl->holding.usage.v[i].id] += sign * wl->holding.usage.v[i].value;
	}
}

static void hold_or_release(struct random_world *w)
{
	struct workload *wl = w->q->workloads.v[rng_below(&w->r, WORKLOADS)];
	uint32_t node = w->queues[rng_below(&w->r, QUEUES)]->id;

	if (wl->holding.node != MODEL_NONE) {
		count(w, wl, wl->holding.node, -1);
		forest_release(w->f, wl);
	} else {
		count(w, wl, node, 1);
		forest_hold(w->f, wl, node);
	}
}

static int64_t *copy_usage(const struct random_world *w)
{
	int64_t *all = xmalloc_zero(w->q->nodes.n * PAIRS, sizeof(*all));

	for (uint32_t i = 0; i < w->q->nodes.n; i++) {
		for (uint32_t p = 0; p < PAIRS; p++) {
			all[i * PAIRS + p] = forest_usage(w->f, i, p);
		}
	}
	return all;
}

/* Removes the workloads that hold quota and adds the others, as a search for victims does; nested
 * once. */
static void try_and_undo(struct random_world *w, int nesting)
{
	size_t mark = forest_mark(w->f), size = w->q->nodes.n * PAIRS * sizeof(int64_t);
	int64_t *before = copy_usage(w), *after, expected[COHORTS + QUEUES][PAIRS];

	memcpy(expected, w->usage, sizeof(expected));
	for (int i = 0; i < 6; i++) {
		struct workload *wl = w->q->workloads.v[rng_below(&w->r, WORKLOADS)];
		uint32_t node = w->queues[rng_below(&w->r, QUEUES)]->id;

		if (wl->holding.node != MODEL_NONE && i % 2 == 0) {
			count(w, wl, wl->holding.node, -1);
			forest_remove(w->f, wl->holding.node, &wl->holding.usage);
		} else {
			count(w, wl, node, 1);
			forest_add(w->f, node, &wl->holding.usage);
		}
	}
	check(w);
	if (nesting > 0) {
		try_and_undo(w, nesting - 1);
		check(w);
	}
	forest_undo(w->f, mark);
	memcpy(w->usage, expected, sizeof(expected));
	after = copy_usage(w);
	assert_memory_equal(after, before, size);
	free(before);
	free(after);
}

static void change_forest(struct random_world *w)
{
	struct quota_node *n = w->queues[rng_below(&w->r, QUEUES)];

	if (rng_below(&w->r, 2) == 0) {
		move(w, n, rng_below(&w->r, COHORTS + 1));
	} else {
		fill(w, n);
	}
	quota_nodes_changed(w->q);
	forest_sync(w->f);
}

static void test_random_trees_agree_with_the_definitions(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct random_world w;

		begin(&w, seed);
		check(&w);
		for (int step = 0; step < 40; step++) {
			switch (rng_below(&w.r, 8)) {
			case 0:
				change_forest(&w);
				break;
			case 1:
			case 2:
				try_and_undo(&w, 1);
				break;
			default:
				hold_or_release(&w);
				break;
			}
			check(&w);
		}
		end(&w);
	}
}

/* As in a cycle that removes victims which use the root's own quota. */
static void test_removing_more_than_is_there_stays_consistent(void **state)
{
	struct quota_world w;
	struct quota_amounts *usage;

	(void)state;
	quota_world_init(&w, "cohort r\nqueue a cohort=r\nquota a f cpu nominal=4 lend=1\n"
			     "workload one queue=a cpu=5 holds=f\n");
	usage = &quota_world_workload(&w, "one")->holding.usage;
	forest_remove(w.f, quota_world_id(&w, "a"), usage);
	assert_int_equal(forest_usage(w.f, quota_world_id(&w, "r"), 0), 0);
	forest_add(w.f, quota_world_id(&w, "a"), usage);
	assert_int_equal(forest_usage(w.f, quota_world_id(&w, "r"), 0), 2000);
	forest_undo(w.f, 0);
	assert_int_equal(forest_usage(w.f, quota_world_id(&w, "a"), 0), 5000);
	quota_world_finish(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_trees_agree_with_the_definitions),
		cmocka_unit_test(test_removing_more_than_is_there_stays_consistent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
