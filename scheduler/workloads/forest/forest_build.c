#include <stdlib.h>

#include "base/xmalloc.h"
#include "collections/intern.h"
#include "scheduler/workloads/forest/amount.h"
#include "scheduler/workloads/forest/forest_over.h"
#include "scheduler/workloads/forest/forest_priv.h"
#include "scheduler/workloads/model/quota_store.h"

static struct forest_limit *limit_at(struct forest *f, uint32_t node, uint32_t pair)
{
	return &f->limits[(size_t)node * f->width + pair];
}

static struct tree *build_tree(const struct quota_model *model)
{
	uint32_t *parent = xmalloc(model->nodes.n * sizeof(*parent));
	struct tree *t;

	for (size_t i = 0; i < model->nodes.n; i++) {
		const struct quota_node *n = model->nodes.v[i];

		parent[i] = n == NULL || n->parent_id == MODEL_NONE ? TREE_NONE : n->parent_id;
	}
	t = tree_create(parent, model->nodes.n);
	free(parent);
	return t;
}

/* The part that the node does not lend. Without a lending limit it lends all, and even its own
 * quota is charged to the cohort. */
static int64_t local_quota(int64_t subtree, int64_t lending)
{
	int64_t local = lending == QUOTA_NO_LIMIT ? 0 : amount_sub(subtree, lending);

	return local > 0 ? local : 0;
}

/* The limits that nodes configure themselves. A node that is not placed has no others. */
static void fill_own(struct forest *f, int64_t *lending)
{
	for (size_t i = 0; i < f->n * f->width; i++) {
		f->limits[i] = (struct forest_limit){ .borrowing = QUOTA_NO_LIMIT };
		lending[i] = QUOTA_NO_LIMIT;
	}
	for (uint32_t i = 0; i < f->n; i++) {
		const struct quota_node *n = f->model->nodes.v[i];

		for (size_t k = 0; n != NULL && k < n->cells.n; k++) {
			const struct quota_cell *c = &n->cells.v[k];

			*limit_at(f, i, c->pair) = (struct forest_limit){
				.has = true,
				.nominal = c->nominal,
				.subtree = c->nominal,
				.borrowing = c->borrowing,
				.local = local_quota(c->nominal, c->lending),
				.potential = c->nominal,
			};
			lending[(size_t)i * f->width + c->pair] = c->lending;
		}
	}
}

/* Children before parents: the quota that a node lends is added to the subtree of its parent. */
static void roll_up(struct forest *f, const int64_t *lending)
{
	size_t n;
	const uint32_t *order = tree_order(f->tree, &n);

	for (size_t i = n; i-- > 0;) {
		uint32_t node = order[i], above = tree_parent(f->tree, node);

		for (uint32_t pair = 0; pair < f->width; pair++) {
			struct forest_limit *l = limit_at(f, node, pair), *up;

			/* Again, since children have added to `subtree` meanwhile: what a cohort
			 * keeps to itself is measured against all that it has. */
			l->local = local_quota(l->subtree, lending[(size_t)node * f->width + pair]);
			if (above != TREE_NONE && l->has) {
				up = limit_at(f, above, pair);
				up->has = true;
				up->subtree =
					amount_add(up->subtree, amount_sub(l->subtree, l->local));
			}
		}
		if (above != TREE_NONE && f->height[above] < f->height[node] + 1) {
			f->height[above] = f->height[node] + 1;
		}
	}
}

/* Parents before children: the most that a node could ever have. */
static void roll_down(struct forest *f)
{
	size_t n;
	const uint32_t *order = tree_order(f->tree, &n);

	for (size_t i = 0; i < n; i++) {
		uint32_t node = order[i], above = tree_parent(f->tree, node);

		f->root[node] = above == TREE_NONE ? node : f->root[above];
		for (uint32_t pair = 0; pair < f->width; pair++) {
			struct forest_limit *l = limit_at(f, node, pair);
			int64_t most;

			if (above == TREE_NONE) {
				l->potential = l->subtree;
				continue;
			}
			l->potential = amount_add(l->local, limit_at(f, above, pair)->potential);
			most = amount_add(l->subtree, l->borrowing);
			if (l->borrowing != QUOTA_NO_LIMIT && most < l->potential) {
				l->potential = most;
			}
		}
	}
}

/* Cohorts first, as forest_cohorts returns the beginning of the list. Names are unique among the
 * cohorts and among the queues, so the order is total. */
static int compare_children(const void *a, const void *b, void *ctx)
{
	const struct quota_model *model = ctx;
	const struct quota_node *x = model->nodes.v[*(const uint32_t *)a];
	const struct quota_node *y = model->nodes.v[*(const uint32_t *)b];

	if (x->is_queue != y->is_queue) {
		return x->is_queue ? 1 : -1;
	}
	return strcmp(x->name, y->name);
}

/* Two passes over the placed nodes: count, then fill. */
static void list_children(struct forest *f)
{
	size_t n, total = 0, at = 0;
	const uint32_t *order = tree_order(f->tree, &n);
	size_t *next;

	f->child_at = xmalloc_zero(f->n + 1, sizeof(*f->child_at));
	for (size_t i = 0; i < n; i++) {
		uint32_t above = tree_parent(f->tree, order[i]);

		if (above != TREE_NONE) {
			f->child_at[above + 1]++;
			total++;
		}
	}
	for (size_t i = 0; i < f->n; i++) {
		f->child_at[i + 1] += f->child_at[i];
	}
	f->children = xmalloc(total * sizeof(*f->children));
	next = xmalloc(f->n * sizeof(*next));
	for (size_t i = 0; i < f->n; i++) {
		next[i] = f->child_at[i];
	}
	for (; at < n; at++) {
		uint32_t above = tree_parent(f->tree, order[at]);

		if (above != TREE_NONE) {
			f->children[next[above]++] = order[at];
		}
	}
	free(next);
	for (size_t i = 0; i < f->n; i++) {
		size_t count = f->child_at[i + 1] - f->child_at[i];

		if (count > 1) {
			qsort_r(&f->children[f->child_at[i]], count, sizeof(*f->children),
				compare_children, f->model);
		}
	}
}

static int compare_pairs(const void *a, const void *b, void *ctx)
{
	const struct quota_model *model = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t rx = model->pairs.v[x].resource, ry = model->pairs.v[y].resource;

	if (rx != ry) {
		return strcmp(quota_resource_name(model, rx), quota_resource_name(model, ry));
	}
	return x < y ? -1 : x > y;
}

static bool is_root(const struct forest *f, uint32_t node)
{
	return tree_is_placed(f->tree, node) && tree_parent(f->tree, node) == TREE_NONE;
}

/* The limits of a root have all pairs of its tree (roll_up), so only roots are looked at. */
static void list_pairs(struct forest *f)
{
	size_t n = f->model->pairs.n, at = 0, total = 0;
	uint32_t *sorted = xmalloc(n * sizeof(*sorted));

	for (uint32_t i = 0; i < n; i++) {
		sorted[i] = i;
	}
	if (n > 1) {
		qsort_r(sorted, n, sizeof(*sorted), compare_pairs, f->model);
	}
	for (uint32_t i = 0; i < f->n; i++) {
		for (uint32_t p = 0; is_root(f, i) && p < n; p++) {
			total += limit_at(f, i, p)->has;
		}
	}
	f->pairs = xmalloc(total * sizeof(*f->pairs));
	f->pair_at = xmalloc((f->n + 1) * sizeof(*f->pair_at));
	for (uint32_t i = 0; i < f->n; i++) {
		f->pair_at[i] = at;
		for (size_t k = 0; is_root(f, i) && k < n; k++) {
			if (limit_at(f, i, sorted[k])->has) {
				f->pairs[at++] = sorted[k];
			}
		}
	}
	f->pair_at[f->n] = at;
	free(sorted);
}

/* Resources that only workloads name, whatever their number, get no column of their own: the first
 * one stays 0. */
static void number_columns(struct forest *f)
{
	f->nresources = intern_count(f->model->resources);
	f->column = xmalloc_zero(f->nresources, sizeof(*f->column));
	f->ncolumns = 1;
	for (uint32_t p = 0; p < f->width; p++) {
		uint32_t *column = &f->column[f->model->pairs.v[p].resource];

		if (*column == 0) {
			*column = f->ncolumns++;
		}
	}
}

/* Per resource: all that a node could have of the pairs of its tree. */
static void sum_lendable(struct forest *f)
{
	size_t n;
	const uint32_t *order = tree_order(f->tree, &n);

	f->lendable = xmalloc_zero(f->n * f->ncolumns, sizeof(*f->lendable));
	for (size_t i = 0; i < n; i++) {
		uint32_t root = f->root[order[i]];

		for (size_t k = f->pair_at[root]; k < f->pair_at[root + 1]; k++) {
			uint32_t resource = f->model->pairs.v[f->pairs[k]].resource;
			int64_t *sum =
				&f->lendable[(size_t)order[i] * f->ncolumns + f->column[resource]];

			*sum = amount_add(*sum, limit_at(f, order[i], f->pairs[k])->potential);
		}
	}
}

void forest_build_free(struct forest *f)
{
	tree_sums_destroy(f->sums);
	tree_destroy(f->tree);
	free(f->limits);
	free(f->height);
	free(f->root);
	free(f->column);
	free(f->lendable);
	free(f->children);
	free(f->child_at);
	free(f->pairs);
	free(f->pair_at);
	forest_over_free(f);
}

/* Kueue: resource_node.
 * 1. Each node has the limits that it configures.
 * 2. Upwards: subtree quota is the own quota and what the children lend; heights.
 * 3. Downwards: potential is what a node could have if all else were idle; roots.
 * 4. Children by name, the pairs of each tree by resource.
 * 5. The lendable amounts, which are the denominators of shares: sums of potentials. They depend on
 *    quota alone, so they are computed here and not for each candidate of a search. */
void forest_build_from_model(struct forest *f)
{
	int64_t *lending;

	forest_build_free(f);
	f->n = f->model->nodes.n;
	f->width = (unsigned)f->model->pairs.n;
	f->tree = build_tree(f->model);
	f->sums = tree_sums_create(f->tree, f->width);
	f->limits = xmalloc(f->n * f->width * sizeof(*f->limits));
	f->height = xmalloc_zero(f->n, sizeof(*f->height));
	f->root = xmalloc(f->n * sizeof(*f->root));
	/* A node that is not placed is a tree of its own; the others get their root in
	 * roll_down. */
	for (uint32_t i = 0; i < f->n; i++) {
		f->root[i] = i;
	}
	lending = xmalloc(f->n * f->width * sizeof(*lending));
	fill_own(f, lending);
	roll_up(f, lending);
	free(lending);
	roll_down(f);
	list_children(f);
	list_pairs(f);
	number_columns(f);
	sum_lendable(f);
}
