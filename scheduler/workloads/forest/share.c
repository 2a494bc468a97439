#include "scheduler/workloads/forest/share.h"

#include <math.h>

#include "scheduler/workloads/forest/amount.h"
#include "scheduler/workloads/model/quota_store.h"

/* How much of its pairs of one resource the node has beyond its subtree quota. Moves *at behind the
 * pairs of the resource. */
static int64_t borrowed_of(const struct forest *f, uint32_t node, const struct quota_amounts *extra,
			   const uint32_t *pairs, size_t n, size_t *at)
{
	const struct quota_model *q = forest_model(f);
	uint32_t resource = q->pairs.v[pairs[*at]].resource;
	int64_t sum = 0;

	for (; *at < n && q->pairs.v[pairs[*at]].resource == resource; (*at)++) {
		uint32_t pair = pairs[*at];
		int64_t used = forest_usage(f, node, pair), over;

		if (!forest_has(f, node, pair)) {
			continue;
		}
		if (extra != NULL) {
			used = amount_add(used, quota_amounts_get(extra, pair));
		}
		over = amount_sub(used, forest_subtree(f, node, pair));
		sum = over > 0 ? amount_add(sum, over) : sum;
	}
	return sum;
}

struct share share_of(const struct forest *f, uint32_t node, const struct quota_amounts *extra)
{
	const struct quota_model *q = forest_model(f);
	struct share s = { .weight = q->nodes.v[node]->weight, .resource = MODEL_NONE };
	uint32_t above = forest_parent(f, node);
	size_t n;
	const uint32_t *pairs = forest_pairs(f, node, &n);

	/* A root has nothing to borrow from: as in Kueue it has no share. */
	if (above == MODEL_NONE) {
		return s;
	}
	for (size_t at = 0; at < n;) {
		uint32_t resource = q->pairs.v[pairs[at]].resource;
		int64_t borrowed = borrowed_of(f, node, extra, pairs, n, &at);
		int64_t lendable = forest_lendable(f, above, resource);
		double ratio;

		if (borrowed <= 0) {
			continue;
		}
		s.borrowing = true;
		/* Kueue: where nothing can be lent the ratio is 0, and the node borrows all the
		 * same. */
		ratio = lendable > 0 ? (double)borrowed * 1000 / (double)lendable : 0;
		/* Pairs come by name of the resource: of equal ratios the first stays. */
		if (ratio > s.unweighted) {
			s.unweighted = ratio;
			s.resource = resource;
		}
	}
	return s;
}

int64_t share_status(struct share s)
{
	double up;

	if (share_is_infinite(s)) {
		return INT64_MAX;
	}
	up = ceil(share_weighted(&s));
	return up >= 0x1p63 ? INT64_MAX : (int64_t)up;
}
