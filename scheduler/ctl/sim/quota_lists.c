#include "scheduler/ctl/sim/quota_lists.h"

#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/str.h"
#include "base/xmalloc.h"
#include "scheduler/workloads/pending/pending_heap.h"

static int by_kind_and_name(const void *a, const void *b)
{
	const struct quota_node *const *x = a, *const *y = b;

	return (*x)->is_queue != (*y)->is_queue ? (int)(*y)->is_queue - (int)(*x)->is_queue
						: strcmp((*x)->name, (*y)->name);
}

const struct quota_node **quota_lists_nodes(const struct quota_model *q, size_t *ret_n)
{
	const struct quota_node **v = xmalloc_zero(q->nodes.n + 1, sizeof(struct quota_node *));
	size_t n = 0;

	for (size_t i = 0; i < q->nodes.n; i++) {
		const struct quota_node *node = q->nodes.v[i];

		/* A Cohort exists as soon as a ClusterQueue or Cohort names it, a ClusterQueue
		 * only as an object. */
		if (node != NULL && (node->exists || !node->is_queue)) {
			v[n++] = node;
		}
	}
	qsort(v, n, sizeof(struct quota_node *), by_kind_and_name);
	*ret_n = n;
	return v;
}

static int by_key(const void *a, const void *b)
{
	const struct workload *const *x = a, *const *y = b;

	return strcmp((*x)->key, (*y)->key);
}

const struct workload **quota_lists_workloads(const struct quota_model *q, size_t *ret_n)
{
	const struct workload **v = xmalloc_zero(q->workloads.n + 1, sizeof(struct workload *));
	size_t n = 0;

	for (size_t i = 0; i < q->workloads.n; i++) {
		if (q->workloads.v[i] != NULL) {
			v[n++] = q->workloads.v[i];
		}
	}
	qsort(v, n, sizeof(struct workload *), by_key);
	*ret_n = n;
	return v;
}

static int by_rank(const void *a, const void *b, void *q)
{
	const struct workload *const *x = a, *const *y = b;

	return pending_heap_cmp(q, *x, *y);
}

static void add_ids(const struct quota_model *q, const uint32_t *ids, size_t count,
		    const struct workload **v, size_t *n)
{
	for (size_t i = 0; i < count; i++) {
		/* Kueue's rule: Requeued=False blocks queueing. */
		if (!q->workloads.v[ids[i]]->flags.requeued_false) {
			v[(*n)++] = q->workloads.v[ids[i]];
		}
	}
}

/* A heap is sorted only at its top: the list has the order in which Workloads would be popped. */
static void sort_by_rank(const struct quota_model *q, const struct workload **v, size_t n)
{
	/* qsort_r takes a pointer that is not const; the comparison only reads. */
	union {
		const struct quota_model *in;
		void *out;
	} ctx = { .in = q };

	qsort_r(v, n, sizeof(struct workload *), by_rank, ctx.out);
}

const struct workload **quota_lists_waiting(const struct quota_model *q,
					    const struct cluster_queue *queue, bool heap,
					    size_t *ret_n)
{
	size_t all = heap ? queue->heap.n : queue->inadmissible.n, n = 0;
	const struct workload **v = xmalloc_zero(all + 1, sizeof(struct workload *));

	add_ids(q, heap ? queue->heap.v : queue->inadmissible.v, all, v, &n);
	sort_by_rank(q, v, n);
	*ret_n = n;
	return v;
}

const struct workload **quota_lists_local(const struct quota_model *q, const char *local,
					  size_t *ret_n)
{
	size_t all, n = 0;
	const struct workload **v = quota_lists_workloads(q, &all);

	for (size_t i = 0; i < all; i++) {
		const struct workload *w = v[i];
		CLEANUP(xmalloc_freep)
		char *key = xmalloc_printf("%s/%s", w->object.namespace_, w->object.local_queue);

		/* Asked of the Workload and not of a heap: without the ClusterQueue it is in
		 * none. */
		if (str_streq(key, local) && w->holding.node == MODEL_NONE && w->object.active &&
		    !w->flags.finished && !w->object.deleting && !w->flags.requeued_false) {
			v[n++] = w;
		}
	}
	sort_by_rank(q, v, n);
	*ret_n = n;
	return v;
}

const struct workload **quota_lists_pending(const struct quota_model *q,
					    const struct cluster_queue *queue, size_t *ret_n)
{
	size_t all = queue->heap.n + queue->inadmissible.n, n = 0;
	const struct workload **v = xmalloc_zero(all + 1, sizeof(struct workload *));

	add_ids(q, queue->heap.v, queue->heap.n, v, &n);
	add_ids(q, queue->inadmissible.v, queue->inadmissible.n, v, &n);
	sort_by_rank(q, v, n);
	*ret_n = n;
	return v;
}

int32_t quota_lists_pod_count(const struct workload *w, const char *podset)
{
	for (size_t i = 0; w != NULL && i < w->object.npodsets; i++) {
		if (str_streq(w->object.podsets[i].name, podset)) {
			return w->object.podsets[i].count;
		}
	}
	return 0;
}
