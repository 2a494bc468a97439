#include "scheduler/ctl/explain/request_levels.h"

#include "base/arena.h"
#include "scheduler/workloads/assign/assign_reason.h"
#include "scheduler/workloads/forest/amount.h"
#include "scheduler/workloads/model/quota_store.h"

/* The part of the node's quota that is not lent: what Kueue calls the local quota, which nothing
 * above sees. */
static int64_t private_quota(const struct request_level *l)
{
	int64_t rest = l->lending == QUOTA_NO_LIMIT ? 0 : amount_sub(l->quota, l->lending);

	return rest > 0 ? rest : 0;
}

static int64_t not_below_zero(int64_t amount)
{
	return amount > 0 ? amount : 0;
}

/* The amount that the borrowing limit still allows to come from above, as Kueue computes it:
 * (quota - own) - max(0, used - own) + borrowingLimit, where `own` is never lent and so never
 * counts above. */
static int64_t borrowable(const struct request_level *l)
{
	int64_t own = private_quota(l);
	int64_t above = not_below_zero(amount_sub(l->used, own));

	return amount_add(amount_sub(amount_sub(l->quota, own), above), l->borrowing);
}

static struct request_level describe(const struct forest *f, uint32_t node,
				     struct quota_amount asked)
{
	const struct quota_cell *cell = quota_node_cell(forest_model(f)->nodes.v[node], asked.id);

	return (struct request_level){
		.pair = asked.id,
		.node = node,
		.nominal = forest_nominal(f, node, asked.id),
		.lending = cell == NULL ? QUOTA_NO_LIMIT : cell->lending,
		.borrowing = cell == NULL ? QUOTA_NO_LIMIT : cell->borrowing,
		.quota = forest_subtree(f, node, asked.id),
		/* A sum that is too large to be counted is not "unlimited". */
		.used = amount_short(forest_usage(f, node, asked.id), 0),
		.asked = asked.value,
		.available = not_below_zero(forest_available(f, node, asked.id)),
	};
}

/* Why the request does not fit at this level; NULL: it fits. `left` is the part of the request that
 * must come from above; the root has nothing above. */
static const char *find_shortage(const struct forest *f, const struct request_level *l,
				 int64_t left, struct arena *arena)
{
	const struct quota_model *q = forest_model(f);
	const char *resource = quota_resource_name(q, q->pairs.v[l->pair].resource);
	char shortage[ASSIGN_REASON_AMOUNT_MAX];

	if (forest_parent(f, l->node) == MODEL_NONE) {
		if (l->asked <= l->available) {
			return NULL;
		}
		assign_reason_amount(resource, amount_short(l->asked, l->available), shortage);
		return arena_printf(arena, "short by %s", shortage);
	}
	if (l->borrowing == QUOTA_NO_LIMIT || left <= not_below_zero(borrowable(l))) {
		return NULL;
	}
	assign_reason_amount(resource, amount_short(left, not_below_zero(borrowable(l))), shortage);
	return arena_printf(arena, "short by %s because of borrowingLimit", shortage);
}

/* From the queue up to the root: what a node has for itself alone is used first, and only the
 * rest is asked of its parent. This is how usage is added as well, so that the amount at each
 * level is the one that would be charged there. */
void request_levels_add(const struct forest *f, uint32_t queue, struct quota_amount asked,
			struct arena *arena, struct request_levels *out)
{
	for (uint32_t at = queue; at != MODEL_NONE; at = forest_parent(f, at)) {
		struct request_level l = describe(f, at, asked);
		int64_t left = not_below_zero(
			amount_short(asked.value, forest_local_available(f, at, asked.id)));

		l.shortage = find_shortage(f, &l, left, arena);
		vec_push(out, l);
		asked.value = left;
	}
}
