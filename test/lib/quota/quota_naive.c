#include "lib/quota/quota_naive.h"

#include <assert.h>

#include "scheduler/workloads/model/quota_store.h"

#define NONE QUOTA_NAIVE_NONE

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t above_zero(int64_t a)
{
	return a > 0 ? a : 0;
}

void quota_naive_read(struct quota_naive *t, const struct forest *f, uint32_t pair)
{
	const struct quota_model *q = forest_model(f);

	assert(q->nodes.n <= QUOTA_NAIVE_MAX);
	*t = (struct quota_naive){ .n = (int)q->nodes.n };
	for (int i = 0; i < t->n; i++) {
		const struct quota_node *n = q->nodes.v[i];
		const struct quota_cell *c = n == NULL ? NULL : quota_node_cell(n, pair);

		t->v[i].parent =
			n == NULL || !forest_is_placed(f, (uint32_t)i) || n->parent_id == MODEL_NONE
				? NONE
				: (int)n->parent_id;
		t->v[i].is_queue = n != NULL && n->is_queue;
		t->v[i].nominal = c == NULL ? 0 : c->nominal;
		t->v[i].borrow = c == NULL || c->borrowing == QUOTA_NO_LIMIT ? NONE : c->borrowing;
		t->v[i].lend = c == NULL || c->lending == QUOTA_NO_LIMIT ? NONE : c->lending;
	}
	for (size_t i = 0; i < q->workloads.n; i++) {
		const struct workload *w = q->workloads.v[i];

		if (w != NULL && w->holding.node != MODEL_NONE) {
			t->v[w->holding.node].used += quota_amounts_get(&w->holding.usage, pair);
		}
	}
}

int64_t quota_naive_subtree(const struct quota_naive *t, int i)
{
	int64_t sum = t->v[i].nominal;

	for (int c = 0; c < t->n; c++) {
		if (t->v[c].parent == i) {
			sum += quota_naive_subtree(t, c) - quota_naive_local(t, c);
		}
	}
	return sum;
}

int64_t quota_naive_local(const struct quota_naive *t, int i)
{
	return t->v[i].lend == NONE ? 0 : above_zero(quota_naive_subtree(t, i) - t->v[i].lend);
}

int64_t quota_naive_used(const struct quota_naive *t, int i)
{
	int64_t sum = t->v[i].used;

	for (int c = 0; c < t->n; c++) {
		if (t->v[c].parent == i) {
			sum += above_zero(quota_naive_used(t, c) - quota_naive_local(t, c));
		}
	}
	return sum;
}

int64_t quota_naive_available(const struct quota_naive *t, int i)
{
	int64_t local = quota_naive_local(t, i), subtree = quota_naive_subtree(t, i);
	int64_t used = quota_naive_used(t, i), a;

	if (t->v[i].parent == NONE) {
		return subtree - used;
	}
	a = quota_naive_available(t, t->v[i].parent);
	if (t->v[i].borrow != NONE) {
		a = least(a, subtree - local - above_zero(used - local) + t->v[i].borrow);
	}
	return above_zero(local - used) + a;
}

int64_t quota_naive_potential(const struct quota_naive *t, int i)
{
	int64_t p;

	if (t->v[i].parent == NONE) {
		return quota_naive_subtree(t, i);
	}
	p = quota_naive_local(t, i) + quota_naive_potential(t, t->v[i].parent);
	return t->v[i].borrow == NONE ? p : least(p, quota_naive_subtree(t, i) + t->v[i].borrow);
}

bool quota_naive_is(const struct quota_naive *t, int i, const struct forest *f, uint32_t id,
		    uint32_t pair)
{
	return forest_subtree(f, id, pair) == quota_naive_subtree(t, i) &&
	       forest_usage(f, id, pair) == quota_naive_used(t, i) &&
	       forest_local_available(f, id, pair) ==
		       above_zero(quota_naive_local(t, i) - quota_naive_used(t, i)) &&
	       forest_available(f, id, pair) == quota_naive_available(t, i) &&
	       forest_potential(f, id, pair) == quota_naive_potential(t, i);
}
