#include "scheduler/workloads/cycle/nominal_first.h"

#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/pending/pending_heap.h"

void nominal_first_begin(struct nominal_first *n)
{
	vec_clear(&n->queues);
	n->looked = 0;
}

void nominal_first_end(struct nominal_first *n)
{
	forest_destroy(n->kept);
	n->kept = NULL;
}

void nominal_first_finish(struct nominal_first *n)
{
	nominal_first_end(n);
	vec_finish(&n->queues);
}

void nominal_first_admitted(struct nominal_first *n, uint32_t queue)
{
	vec_push(&n->queues, queue);
}

void nominal_first_add(struct nominal_first *n, uint32_t node, const struct quota_amounts *usage)
{
	if (n->kept != NULL) {
		forest_add(n->kept, node, usage);
	}
}

void nominal_first_remove(struct nominal_first *n, uint32_t node, const struct quota_amounts *usage)
{
	if (n->kept != NULL) {
		forest_remove(n->kept, node, usage);
	}
}

/* For the next ones of a queue, up to the first that would have to borrow or to preempt. */
static void keep(struct nominal_first *n, const struct nominate_context *c, uint32_t node)
{
	const struct quota *q = forest_world(c->forest);
	struct nominate_context kept = *c;
	uint32_t next[NOMINAL_FIRST_AHEAD];
	size_t count = pending_heap_first(q, q->nodes.v[node]->queue, next, NOMINAL_FIRST_AHEAD);

	kept.forest = n->kept;
	for (size_t i = 0; i < count; i++) {
		const struct quota_amounts *usage =
			nomination_nominal(&kept, q->workloads.v[next[i]], node);

		if (usage == NULL) {
			return;
		}
		forest_add(n->kept, node, usage);
	}
}

bool nominal_first_leaves(struct nominal_first *n, const struct nominate_context *c, uint32_t node,
			  const struct quota_amounts *usage)
{
	if (n->queues.n == 0) {
		return true;
	}
	if (n->kept == NULL) {
		n->kept = forest_fork(c->forest);
	}
	while (n->looked < n->queues.n) {
		keep(n, c, n->queues.v[n->looked++]);
	}
	return forest_fits(n->kept, node, usage);
}
