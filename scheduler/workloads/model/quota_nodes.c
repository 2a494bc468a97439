#include <stdlib.h>

#include "base/xmalloc.h"
#include "scheduler/workloads/model/quota_store.h"

/* A cohort exists while a queue or cohort names it (Kueue: implicit cohorts). Placeholders are
 * appended while this runs; they have no parent. */
static void resolve_parents(struct quota_model *q)
{
	for (size_t i = 0; i < q->nodes.n; i++) {
		struct quota_node *n = q->nodes.v[i];

		if (n == NULL) {
			continue;
		}
		n->parent_id = MODEL_NONE;
		if (n->exists && n->parent != NULL) {
			n->parent_id = quota_cohort_get(q, str_of(n->parent))->id;
		}
	}
}

static bool is_empty_queue(const struct quota_node *n)
{
	const struct cluster_queue *queue = n->queue;

	return queue->holders.n == 0 && queue->heap.n == 0 && queue->inadmissible.n == 0;
}

/* used[id]: the node exists, or another node or a workload points to it. *ret_idle: there are
 * queues without an object that only a workload may point to. */
static void mark_used(const struct quota_model *q, bool *used, bool *ret_idle)
{
	*ret_idle = false;
	for (size_t i = 0; i < q->nodes.n; i++) {
		const struct quota_node *n = q->nodes.v[i];

		if (n == NULL) {
			continue;
		}
		if (n->exists || (n->is_queue && !is_empty_queue(n))) {
			used[i] = true;
		} else if (n->is_queue) {
			*ret_idle = true;
		}
		if (n->parent_id != MODEL_NONE) {
			used[n->parent_id] = true;
		}
	}
	for (size_t i = 0; *ret_idle && i < q->workloads.n; i++) {
		const struct workload *w = q->workloads.v[i];

		if (w != NULL && w->pending.queue != MODEL_NONE) {
			used[w->pending.queue] = true;
		}
	}
}

/* Parents first, as a cohort is used as long as another node names it; then the unused nodes go;
 * then the reasons why queues are inactive, which depend on the tree. */
void quota_nodes_changed(struct quota_model *q)
{
	bool idle;
	bool *used;

	resolve_parents(q);
	used = xmalloc_zero(q->nodes.n, sizeof(*used));
	mark_used(q, used, &idle);
	for (size_t i = 0; i < q->nodes.n; i++) {
		if (q->nodes.v[i] != NULL && !used[i]) {
			quota_node_drop(q, q->nodes.v[i]);
		}
	}
	free(used);
	q->forest_gen++;
	cluster_queue_check_all(q);
}
