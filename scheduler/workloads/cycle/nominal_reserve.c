#include "scheduler/workloads/cycle/nominal_reserve.h"

#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/pending/pending_heap.h"

void nominal_reserve_begin(struct nominal_reserve *n)
{
	vec_clear(&n->queues);
	n->nreserved = 0;
}

void nominal_reserve_end(struct nominal_reserve *n)
{
	forest_destroy(n->forest);
	n->forest = NULL;
}

void nominal_reserve_finish(struct nominal_reserve *n)
{
	nominal_reserve_end(n);
	vec_finish(&n->queues);
}

void nominal_reserve_admitted(struct nominal_reserve *n, uint32_t queue)
{
	vec_push(&n->queues, queue);
}

/* Without a forest of its own nothing is to be done: a fork that is made later begins with the
 * usage that the cycle has by then. */
void nominal_reserve_add(struct nominal_reserve *n, uint32_t node,
			 const struct quota_amounts *usage)
{
	if (n->forest != NULL) {
		forest_add(n->forest, node, usage);
	}
}

void nominal_reserve_remove(struct nominal_reserve *n, uint32_t node,
			    const struct quota_amounts *usage)
{
	if (n->forest != NULL) {
		forest_remove(n->forest, node, usage);
	}
}

/* Charges the next workloads of a queue, up to the first that would have to borrow or preempt. */
static void reserve(struct nominal_reserve *n, const struct nominate_context *c, uint32_t node)
{
	const struct quota_model *q = forest_model(c->forest);
	struct nominate_context kept = *c;
	uint32_t next[NOMINAL_RESERVE_AHEAD];
	size_t count = pending_heap_first(q, q->nodes.v[node]->queue, next, NOMINAL_RESERVE_AHEAD);

	/* Each is assigned beside the reserves of those before it. */
	kept.forest = n->forest;
	for (size_t i = 0; i < count; i++) {
		const struct quota_amounts *usage =
			nomination_usage_without_borrowing(&kept, q->workloads.v[next[i]], node);

		if (usage == NULL) {
			return;
		}
		forest_add(n->forest, node, usage);
	}
}

/* The fork and the reserves are made when the first entry wants to borrow; reserves of queues with
 * a head that was admitted since the last call are added then. */
bool nominal_reserve_fits(struct nominal_reserve *n, const struct nominate_context *c,
			  uint32_t node, const struct quota_amounts *usage)
{
	if (n->queues.n == 0) {
		return true;
	}
	if (n->forest == NULL) {
		n->forest = forest_fork(c->forest);
	}
	while (n->nreserved < n->queues.n) {
		reserve(n, c, n->queues.v[n->nreserved++]);
	}
	return forest_fits(n->forest, node, usage);
}
