#include "scheduler/workloads/forest/forest.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "scheduler/workloads/forest/amount.h"
#include "scheduler/workloads/forest/forest_priv.h"
#include "scheduler/workloads/forest/precedence.h"
#include "scheduler/workloads/model/quota_store.h"

struct forest *forest_create(struct quota_model *model)
{
	struct forest *f = xmalloc_zero(1, sizeof(*f));

	f->model = model;
	return f;
}

void forest_destroy(struct forest *f)
{
	if (f == NULL) {
		return;
	}
	if (f->is_fork) {
		tree_sums_destroy(f->sums);
	} else {
		forest_build_free(f);
	}
	free(f);
}

struct forest *forest_fork(const struct forest *f)
{
	struct forest *fork = xmalloc_zero(1, sizeof(*fork));

	/* Trees and limits are those of f, which outlives the fork; only the sums are its own. */
	*fork = *f;
	fork->is_fork = true;
	fork->sums = tree_sums_copy(f->sums);
	return fork;
}

struct quota_model *forest_model(const struct forest *f)
{
	return f->model;
}

static const struct forest_limit *limit_of(const struct forest *f, uint32_t node, uint32_t pair)
{
	/* A pair that was named first since the forest was built: no node configures it. */
	static const struct forest_limit none = { .borrowing = QUOTA_NO_LIMIT };

	return pair < f->width ? &f->limits[(size_t)node * f->width + pair] : &none;
}

/* A node on or below a cycle of cohorts has no place in the tree: it stands alone. */
static uint32_t parent_of(const struct forest *f, uint32_t node)
{
	return tree_is_placed(f->tree, node) ? tree_parent(f->tree, node) : TREE_NONE;
}

static int64_t above_zero(int64_t amount)
{
	return amount > 0 ? amount : 0;
}

/* The part of a charge that goes on to the parent: of an addition, the part that exceeds the free
 * private quota of the node; of a removal, at most the part that the parent was charged with before
 * (Kueue: resource_node). */
static int64_t rise(void *ctx, uint32_t node, unsigned pair, int64_t before, int64_t amount)
{
	const struct forest *f = ctx;
	int64_t local = limit_of(f, node, pair)->local;

	if (amount >= 0) {
		return above_zero(amount_sub(amount, above_zero(amount_sub(local, before))));
	}
	before = above_zero(amount_sub(before, local));
	return before < -amount ? -before : amount;
}

static void charge(struct forest *f, uint32_t node, const struct quota_amounts *usage, int sign)
{
	for (size_t i = 0; i < usage->n; i++) {
		assert(usage->v[i].id < f->width);
		tree_sums_charge(f->sums, node, usage->v[i].id, sign * usage->v[i].value, rise, f);
	}
}

/* The charges so far are final: there is nothing to undo.
 * The new state voids what is cached of the usage before (forest_over.h). */
static void settle(struct forest *f)
{
	tree_sums_forget(f->sums);
	f->state++;
}

/* The sums of a new tree, from the Workloads that hold quota: they are the only record of it. */
static void charge_holders(struct forest *f)
{
	const struct quota_model *model = f->model;

	for (uint32_t i = 0; i < f->n; i++) {
		const struct quota_node *n = model->nodes.v[i];

		for (size_t k = 0; n != NULL && n->is_queue && k < n->queue->holders.n; k++) {
			charge(f, i, &n->queue->holders.v[k].w->holding.usage, 1);
		}
	}
	settle(f);
}

static void rebuild(struct forest *f)
{
	assert(!f->is_built || tree_sums_mark(f->sums) == 0);
	forest_build_from_model(f);
	f->is_built = true;
	f->gen = f->model->forest_gen;
	charge_holders(f);
}

void forest_sync(struct forest *f)
{
	/* New pairs alone need room for their sums; no limit has changed, and nothing that waits
	 * may fit because of them. */
	bool is_stale = !f->is_built || f->gen != f->model->forest_gen;

	assert(!f->is_fork);
	if (is_stale || f->width < f->model->pairs.n) {
		rebuild(f);
	}
	for (size_t i = 0; is_stale && i < f->n; i++) {
		struct quota_node *n = f->model->nodes.v[i];

		if (n != NULL && n->is_queue) {
			n->queue->allocatable_gen++;
		}
	}
}

void forest_hold(struct forest *f, struct workload *w, uint32_t node)
{
	struct quota_holder holder = { .w = w,
				       .pairs = quota_amounts_mask(&w->holding.usage),
				       .usage = w->holding.usage.v,
				       .nusage = (uint32_t)w->holding.usage.n,
				       .id = w->id };
	struct cluster_queue *queue;

	forest_sync(f);
	assert(w->holding.node == MODEL_NONE && tree_sums_mark(f->sums) == 0);
	queue = f->model->nodes.v[node]->queue;
	quota_local_remember(f->model, w);
	w->holding.node = node;
	w->holding.pos = (uint32_t)queue->holders.n;
	vec_push(&queue->holders, holder);
	charge(f, node, &w->holding.usage, 1);
	settle(f);
}

/* Sums that were cut off at the largest number do not come back by subtraction. */
static bool is_saturated(const struct forest *f, uint32_t node, const struct quota_amounts *usage)
{
	for (; node != TREE_NONE; node = parent_of(f, node)) {
		for (size_t i = 0; i < usage->n; i++) {
			if (forest_usage(f, node, usage->v[i].id) == QUOTA_UNLIMITED) {
				return true;
			}
		}
	}
	return false;
}

void forest_release(struct forest *f, struct workload *w)
{
	struct cluster_queue *queue;
	uint32_t node = w->holding.node;

	forest_sync(f);
	assert(node != MODEL_NONE && tree_sums_mark(f->sums) == 0);
	/* Before its node is forgotten: the release counts in the tree of that node. */
	precedence_released(f, w);
	queue = f->model->nodes.v[node]->queue;
	assert(queue->holders.v[w->holding.pos].w == w);
	queue->holders.v[queue->holders.n - 1].w->holding.pos = w->holding.pos;
	vec_swap_remove(&queue->holders, w->holding.pos);
	/* Scans over flavors in this queue may be outdated: assign_last_is_outdated. */
	queue->allocatable_gen++;
	w->holding.node = MODEL_NONE;
	if (is_saturated(f, node, &w->holding.usage)) {
		rebuild(f);
		return;
	}
	charge(f, node, &w->holding.usage, -1);
	settle(f);
}

size_t forest_mark(const struct forest *f)
{
	return tree_sums_mark(f->sums);
}

void forest_undo(struct forest *f, size_t mark)
{
	tree_sums_undo(f->sums, mark);
}

void forest_add(struct forest *f, uint32_t node, const struct quota_amounts *usage)
{
	charge(f, node, usage, 1);
}

void forest_remove(struct forest *f, uint32_t node, const struct quota_amounts *usage)
{
	charge(f, node, usage, -1);
}

int64_t forest_nominal(const struct forest *f, uint32_t node, uint32_t pair)
{
	return limit_of(f, node, pair)->nominal;
}

int64_t forest_subtree(const struct forest *f, uint32_t node, uint32_t pair)
{
	return limit_of(f, node, pair)->subtree;
}

int64_t forest_borrowing(const struct forest *f, uint32_t node, uint32_t pair)
{
	return limit_of(f, node, pair)->borrowing;
}

bool forest_has(const struct forest *f, uint32_t node, uint32_t pair)
{
	return limit_of(f, node, pair)->has;
}

int64_t forest_usage(const struct forest *f, uint32_t node, uint32_t pair)
{
	return pair < f->width ? tree_sums_of(f->sums, node)[pair] : 0;
}

int64_t forest_local_available(const struct forest *f, uint32_t node, uint32_t pair)
{
	return above_zero(amount_sub(limit_of(f, node, pair)->local, forest_usage(f, node, pair)));
}

/* available(n) = what is private and free at n + min(available(parent), what n may still borrow):
 * on the way up, `own` is the sum of the private parts and `most` the tightest bound so far. */
int64_t forest_available(const struct forest *f, uint32_t node, uint32_t pair)
{
	int64_t own = 0, most = QUOTA_UNLIMITED, rest;
	uint32_t above;

	for (; (above = parent_of(f, node)) != TREE_NONE; node = above) {
		const struct forest_limit *l = limit_of(f, node, pair);

		own = amount_add(own, forest_local_available(f, node, pair));
		if (l->borrowing != QUOTA_NO_LIMIT) {
			int64_t used =
				above_zero(amount_sub(forest_usage(f, node, pair), l->local));

			rest = amount_sub(amount_sub(l->subtree, l->local), used);
			rest = amount_add(own, amount_add(rest, l->borrowing));
			most = rest < most ? rest : most;
		}
	}
	rest = amount_sub(limit_of(f, node, pair)->subtree, forest_usage(f, node, pair));
	rest = amount_add(own, rest);
	return rest < most ? rest : most;
}

int64_t forest_potential(const struct forest *f, uint32_t node, uint32_t pair)
{
	return limit_of(f, node, pair)->potential;
}

int64_t forest_lendable(const struct forest *f, uint32_t node, uint32_t resource)
{
	return resource < f->nresources
		       ? f->lendable[(size_t)node * f->ncolumns + f->column[resource]]
		       : 0;
}

/* Of a cohort: all below it together use more than they have, so it borrows from its parent. */
bool forest_borrows_with(const struct forest *f, uint32_t node, uint32_t pair, int64_t extra)
{
	return amount_add(forest_usage(f, node, pair), extra) > forest_subtree(f, node, pair);
}

bool forest_within_nominal(const struct forest *f, uint32_t node, const uint32_t *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (forest_borrows_with(f, node, pairs[i], 0)) {
			return false;
		}
	}
	return true;
}

/* Kueue: a queue loses no more Workloads when it, or a cohort between it and the common one, is
 * back within its quota: that quota belongs to it. */
uint32_t forest_find_within_nominal(const struct forest *f, uint32_t node, uint32_t above,
				    const uint32_t *pairs, size_t n)
{
	for (uint32_t at = node; at != above; at = forest_parent(f, at)) {
		if (forest_within_nominal(f, at, pairs, n)) {
			return at;
		}
	}
	return MODEL_NONE;
}

/* A node keeps its private quota for itself, so its parent is asked for the part beyond that
 * alone. */
bool forest_fits_here(const struct forest *f, uint32_t node, const struct quota_amounts *req,
		      struct quota_amounts *ret_rest)
{
	bool fits = true;

	if (ret_rest != req) {
		vec_reserve(ret_rest, req->n);
		ret_rest->n = req->n;
	}
	for (size_t i = 0; i < req->n; i++) {
		uint32_t pair = req->v[i].id;
		int64_t amount = req->v[i].value;
		int64_t own = forest_local_available(f, node, pair);

		fits = fits && !forest_borrows_with(f, node, pair, amount);
		ret_rest->v[i] = (struct quota_amount){
			.id = pair,
			.value = above_zero(amount_sub(amount, own)),
		};
	}
	return fits;
}

bool forest_fits(const struct forest *f, uint32_t node, const struct quota_amounts *req)
{
	for (size_t i = 0; i < req->n; i++) {
		if (req->v[i].value > above_zero(forest_available(f, node, req->v[i].id))) {
			return false;
		}
	}
	return true;
}

/* The level is the height of the first node on the way up that need not borrow itself: its subtree
 * has quota for all that is used below it, with the request. Where even the root has too little, it
 * is that of the root. */
unsigned forest_level(const struct forest *f, uint32_t node, uint32_t pair, int64_t amount,
		      bool *ret_reclaim)
{
	uint32_t at = parent_of(f, node), top = node;

	/* On the way up, `amount` is the part that the nodes so far could not provide themselves.
	 */
	if (at == TREE_NONE || !forest_borrows_with(f, node, pair, amount)) {
		*ret_reclaim = at != TREE_NONE;
		return 0;
	}
	amount = amount_sub(amount, forest_local_available(f, node, pair));
	for (; at != TREE_NONE; at = parent_of(f, at)) {
		if (!forest_borrows_with(f, at, pair, amount)) {
			*ret_reclaim = parent_of(f, at) != TREE_NONE;
			return f->height[at];
		}
		amount = amount_sub(amount, forest_local_available(f, at, pair));
		top = at;
	}
	*ret_reclaim = false;
	return f->height[top];
}

bool forest_is_placed(const struct forest *f, uint32_t node)
{
	return tree_is_placed(f->tree, node);
}

uint32_t forest_parent(const struct forest *f, uint32_t node)
{
	return parent_of(f, node);
}

uint32_t forest_root(const struct forest *f, uint32_t node)
{
	return f->root[node];
}

uint32_t forest_common(const struct forest *f, uint32_t a, uint32_t b)
{
	if (a == b) {
		return a;
	}
	return f->root[a] == f->root[b] ? tree_common(f->tree, a, b) : TREE_NONE;
}

uint32_t forest_below(const struct forest *f, uint32_t node, uint32_t above)
{
	return tree_below(f->tree, node, above);
}

const uint32_t *forest_children(const struct forest *f, uint32_t node, size_t *ret_n)
{
	*ret_n = f->child_at[node + 1] - f->child_at[node];
	return &f->children[f->child_at[node]];
}

/* Children are sorted cohorts first (forest_build.c). */
const uint32_t *forest_cohorts(const struct forest *f, uint32_t node, size_t *ret_n)
{
	size_t n;
	const uint32_t *children = forest_children(f, node, &n);

	*ret_n = 0;
	while (*ret_n < n && !f->model->nodes.v[children[*ret_n]]->is_queue) {
		(*ret_n)++;
	}
	return children;
}

const uint32_t *forest_pairs(const struct forest *f, uint32_t node, size_t *ret_n)
{
	uint32_t root = f->root[node];

	*ret_n = f->pair_at[root + 1] - f->pair_at[root];
	return &f->pairs[f->pair_at[root]];
}

static void put(char *buf, size_t size, size_t at, const char *text, size_t n)
{
	if (at < size) {
		memcpy(buf + at, text, n < size - at ? n : size - at);
	}
}

size_t forest_path(const struct forest *f, uint32_t node, char *buf, size_t size)
{
	size_t len = 0, end;

	/* The path is known from its end: first its length, then the names backwards. */
	for (uint32_t at = node; at != TREE_NONE; at = parent_of(f, at)) {
		len += 1 + strlen(f->model->nodes.v[at]->name);
	}
	end = len;
	for (uint32_t at = node; at != TREE_NONE; at = parent_of(f, at)) {
		const char *name = f->model->nodes.v[at]->name;
		size_t n = strlen(name);

		end -= n;
		put(buf, size, end, name, n);
		put(buf, size, --end, "/", 1);
	}
	if (size > 0) {
		buf[len < size ? len : size - 1] = '\0';
	}
	return len;
}
