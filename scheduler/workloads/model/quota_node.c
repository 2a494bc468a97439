#include <assert.h>
#include <stdlib.h>

#include "collections/strmap.h"
#include "scheduler/workloads/model/quota_store.h"

static void clear_selector(struct namespace_selector *s)
{
	for (size_t i = 0; i < s->nexprs; i++) {
		free(s->exprs[i].values);
	}
	free(s->exprs);
	*s = (struct namespace_selector){ .absent = true };
}

/* The defaults of the CRD. The pending side and the holders stay: they belong to Workloads, which
 * outlive an edit of the queue, and its deletion. */
static void clear_queue(struct cluster_queue *queue)
{
	for (size_t i = 0; i < queue->checks.n; i++) {
		free(queue->checks.v[i].flavors);
	}
	vec_clear(&queue->checks);
	clear_selector(&queue->namespaces);
	queue->strategy = QUOTA_BEST_EFFORT_FIFO;
	queue->when_can_borrow = QUOTA_MAY_STOP_SEARCH;
	queue->when_can_preempt = QUOTA_TRY_NEXT_FLAVOR;
	queue->preference = QUOTA_BORROWING_OVER_PREEMPTION;
	queue->within_queue = queue->reclaim = queue->borrow_within = QUOTA_NEVER;
	queue->has_threshold = false;
	queue->threshold = 0;
	queue->stop = QUOTA_RUN;
	queue->covers_pods = queue->terminating = queue->usage_based = false;
}

void quota_node_clear(struct quota_node *n)
{
	n->exists = false;
	n->parent = NULL;
	n->weight = 1;
	vec_clear(&n->cells);
	for (size_t i = 0; i < n->groups.n; i++) {
		free(n->groups.v[i].resources);
		free(n->groups.v[i].flavors);
	}
	vec_clear(&n->groups);
	if (n->queue != NULL) {
		clear_queue(n->queue);
	}
}

void quota_node_drop(struct quota_model *q, struct quota_node *n)
{
	quota_node_clear(n);
	strmap_remove(n->is_queue ? q->queue_of : q->cohort_of, str_of(n->name));
	slots_remove(&q->nodes, n->id);
	vec_finish(&n->cells);
	vec_finish(&n->groups);
	if (n->queue != NULL) {
		vec_finish(&n->queue->checks);
		vec_finish(&n->queue->holders);
		vec_finish(&n->queue->heap);
		vec_finish(&n->queue->ranks);
		vec_finish(&n->queue->inadmissible);
		vec_finish(&n->queue->blocked);
		free(n->queue);
	}
	free(n);
}

static size_t lower_bound(const struct quota_node *n, uint32_t pair)
{
	size_t lo = 0, hi = n->cells.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (n->cells.v[mid].pair < pair) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	return lo;
}

void quota_node_set_cell(struct quota_node *n, struct quota_cell cell)
{
	size_t at = lower_bound(n, cell.pair);

	if (at == n->cells.n || n->cells.v[at].pair != cell.pair) {
		vec_push(&n->cells, cell);
		memmove(&n->cells.v[at + 1], &n->cells.v[at],
			(n->cells.n - 1 - at) * sizeof(n->cells.v[0]));
	}
	n->cells.v[at] = cell;
}

const struct quota_cell *quota_node_cell(const struct quota_node *n, uint32_t pair)
{
	size_t at = lower_bound(n, pair);

	return at < n->cells.n && n->cells.v[at].pair == pair ? &n->cells.v[at] : NULL;
}

const struct resource_group *quota_node_group(const struct quota_node *n, uint32_t resource)
{
	for (size_t i = 0; i < n->groups.n; i++) {
		if (quota_group_covers(&n->groups.v[i], resource)) {
			return &n->groups.v[i];
		}
	}
	return NULL;
}
