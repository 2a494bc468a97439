#include "scheduler/pods/plugins/capacity_limits.h"

#include <stdlib.h>

#include "base/xmalloc.h"
#include "scheduler/base/tree.h"
#include "scheduler/pods/model/model.h"

/* limit(q) = min(capability(q), max0(limit(parent) - guarantees of all children) + guarantee(q)).
 * An unlimited dimension stays unlimited under the subtraction: there is no total to guarantee
 * from. capability(q) is the queue's own, dimension by dimension, or else its parent's. */
static void limit_below(const struct queue *q, const struct res *parent_limit,
			const struct res *siblings_guarantee, const struct res *capability,
			struct res *ret)
{
	*ret = *parent_limit;
	res_sub_floor(ret, siblings_guarantee);
	res_add(ret, &q->guarantee);
	res_min(ret, capability);
}

void capacity_limits_tree(const struct cluster *c, const struct tree *tree, struct res *ret)
{
	size_t n = c->queues.n, norder;
	const uint32_t *order = tree_order(tree, &norder);
	struct res *guaranteed = xmalloc_zero(n, sizeof(*guaranteed)); /* to children, by parent */
	struct res *capability = xmalloc(n * sizeof(*capability));     /* with inheritance */

	for (size_t i = 0; i < n; i++) {
		const struct queue *q = c->queues.v[i];

		res_fill(&ret[i], RES_UNLIMITED);
		if (q != NULL && q->exists && q->parent != MODEL_NONE) {
			res_add(&guaranteed[q->parent], &q->guarantee);
		}
	}
	for (size_t i = 0; i < norder; i++) {
		const struct queue *q = c->queues.v[order[i]];
		uint32_t parent = tree_parent(tree, order[i]);

		if (q == NULL) {
			continue;
		}
		capability[q->id] = q->capability;
		if (parent == TREE_NONE) {
			ret[q->id] = q->capability;
			continue;
		}
		/* tree_order has parents first: the parent's limit is there. */
		res_inherit(&capability[q->id], &capability[parent]);
		limit_below(q, &ret[parent], &guaranteed[parent], &capability[q->id], &ret[q->id]);
	}
	free(guaranteed);
	free(capability);
}

void capacity_limits_flat(const struct cluster *c, struct res *ret)
{
	for (size_t i = 0; i < c->queues.n; i++) {
		if (c->queues.v[i] == NULL) {
			res_fill(&ret[i], RES_UNLIMITED);
		} else {
			ret[i] = c->queues.v[i]->capability;
		}
	}
}

/* Volcano's realCapability: max0(total - guarantees of all) + the queue's own, at most its
 * capability. */
void capacity_limits_flat_clipped(const struct cluster *c, struct res *ret)
{
	struct res rest = c->total, guaranteed = { .v = { 0 } };

	for (size_t i = 0; i < c->queues.n; i++) {
		if (c->queues.v[i] != NULL && c->queues.v[i]->exists) {
			res_add(&guaranteed, &c->queues.v[i]->guarantee);
		}
	}
	res_sub_floor(&rest, &guaranteed);
	for (size_t i = 0; i < c->queues.n; i++) {
		const struct queue *q = c->queues.v[i];

		ret[i] = rest;
		if (q != NULL) {
			res_add(&ret[i], &q->guarantee);
			res_min(&ret[i], &q->capability);
		}
	}
}

/* Volcano's order: first down to the limit, then up to the guarantee. */
void capacity_limits_deserved(const struct cluster *c, const struct res *limits, struct res *ret)
{
	for (size_t i = 0; i < c->queues.n; i++) {
		const struct queue *q = c->queues.v[i];

		if (q == NULL) {
			ret[i] = (struct res){ .v = { 0 } };
			continue;
		}
		ret[i] = q->deserved;
		if (limits != NULL) {
			res_min(&ret[i], &limits[i]);
		}
		res_max(&ret[i], &q->guarantee);
	}
}
