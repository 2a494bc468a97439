#include "scheduler/workloads/pending/pending_heap.h"

#include <string.h>

#include "scheduler/workloads/model/quota_store.h"

static struct workload *at(const struct quota_model *model, const struct cluster_queue *queue,
			   size_t i)
{
	return model->workloads.v[queue->heap.v[i]];
}

/* The usage of the LocalQueue is not copied, but its id: comparisons read the usage of the
 * moment. */
static struct quota_rank rank_of(const struct quota_model *model, const struct workload *w)
{
	const struct local_queue *l = quota_local_of(model, w);

	return (struct quota_rank){ workload_priority(model, w), workload_queue_time(model, w),
				    l == NULL ? MODEL_NONE : l->id };
}

struct element {
	uint32_t id;
	struct quota_rank rank;
};

static struct element take(const struct cluster_queue *queue, size_t i)
{
	return (struct element){ queue->heap.v[i], queue->ranks.v[i] };
}

static void put(const struct quota_model *model, struct cluster_queue *queue, size_t i,
		struct element e)
{
	queue->heap.v[i] = e.id;
	queue->ranks.v[i] = e.rank;
	model->workloads.v[e.id]->pending.pos = (uint32_t)i;
}

static double usage_in(const struct quota_model *model, struct element e)
{
	const struct local_queue *l =
		e.rank.local < model->locals.n ? model->locals.v[e.rank.local] : NULL;

	return l == NULL ? 0 : l->usage;
}

/* Kueue: sticky workload. While its victims stop it stays in front; otherwise another Workload of
 * the queue could take the quota that they give back, and the preemption would have been for
 * nothing. With StrictFIFO none behind the head may take it anyway. */
static bool is_sticky(const struct cluster_queue *queue, struct element e)
{
	return e.id == queue->preemptor && queue->strategy == QUOTA_BEST_EFFORT_FIFO;
}

/* Reads the workloads only where their ranks are equal: the ranks are in the cache. */
static int compare(const struct quota_model *model, const struct cluster_queue *queue,
		   struct element a, struct element b)
{
	const struct workload *x, *y;
	int r;

	if (model->options.admission_fair_sharing && queue->usage_based) {
		/* Before priorities, as in Kueue. Not in the rank: it is the same for all of a
		 * LocalQueue, and changes while they wait. */
		double ua = usage_in(model, a), ub = usage_in(model, b);

		if (ua < ub || ua > ub) {
			return ua < ub ? -1 : 1;
		}
	}
	if (is_sticky(queue, a) != is_sticky(queue, b)) {
		return is_sticky(queue, a) ? -1 : 1;
	}
	if (a.rank.priority != b.rank.priority) {
		return a.rank.priority > b.rank.priority ? -1 : 1;
	}
	if (a.rank.time != b.rank.time) {
		return a.rank.time < b.rank.time ? -1 : 1;
	}
	/* Creation times have whole seconds: equal ones are frequent. UID and key make the order
	 * total. */
	x = model->workloads.v[a.id];
	y = model->workloads.v[b.id];
	r = strcmp(x->object.uid == NULL ? "" : x->object.uid,
		   y->object.uid == NULL ? "" : y->object.uid);
	return r != 0 ? r : strcmp(x->key, y->key);
}

int pending_heap_cmp(const struct quota_model *model, const struct workload *a,
		     const struct workload *b)
{
	static const struct cluster_queue unknown = { .preemptor = MODEL_NONE };
	const struct cluster_queue *queue =
		a->pending.queue == MODEL_NONE ? &unknown : model->nodes.v[a->pending.queue]->queue;

	return compare(model, queue, (struct element){ a->id, rank_of(model, a) },
		       (struct element){ b->id, rank_of(model, b) });
}

static bool is_before(const struct quota_model *model, const struct cluster_queue *queue,
		      struct element a, struct element b)
{
	return compare(model, queue, a, b) < 0;
}

static void sift_up(const struct quota_model *model, struct cluster_queue *queue, size_t i)
{
	struct element e = take(queue, i);

	while (i > 0 && is_before(model, queue, e, take(queue, (i - 1) / 2))) {
		put(model, queue, i, take(queue, (i - 1) / 2));
		i = (i - 1) / 2;
	}
	put(model, queue, i, e);
}

static void sift_down(const struct quota_model *model, struct cluster_queue *queue, size_t i)
{
	struct element e = take(queue, i);

	for (;;) {
		size_t child = 2 * i + 1;

		if (child + 1 < queue->heap.n &&
		    is_before(model, queue, take(queue, child + 1), take(queue, child))) {
			child++;
		}
		if (child >= queue->heap.n || !is_before(model, queue, take(queue, child), e)) {
			break;
		}
		put(model, queue, i, take(queue, child));
		i = child;
	}
	put(model, queue, i, e);
}

/* The element at i was replaced: it may belong further down or further up, never both. */
static void settle(const struct quota_model *model, struct cluster_queue *queue, size_t i)
{
	sift_down(model, queue, i);
	sift_up(model, queue, i);
}

void pending_heap_push(struct quota_model *model, struct cluster_queue *queue, struct workload *w)
{
	vec_push(&queue->heap, w->id);
	vec_push(&queue->ranks, rank_of(model, w));
	w->pending.where = QUOTA_HEAP;
	sift_up(model, queue, queue->heap.n - 1);
}

struct workload *pending_heap_remove(struct quota_model *model, struct cluster_queue *queue,
				     uint32_t pos)
{
	struct workload *w = at(model, queue, pos);
	struct element last = take(queue, queue->heap.n - 1);

	queue->heap.n--;
	queue->ranks.n--;
	if (pos < queue->heap.n) {
		put(model, queue, pos, last);
		/* The last element takes the place, which may be in another branch: it may have to
		 * move up, too. */
		settle(model, queue, pos);
	}
	w->pending.where = QUOTA_NOWHERE;
	w->pending.pos = MODEL_NONE;
	return w;
}

size_t pending_heap_first(const struct quota_model *model, const struct cluster_queue *queue,
			  uint32_t *ret_ids, size_t max)
{
	/* A child is never before its parent in the order: so the next one is among the children of
	 * those that were taken, without sorting the heap. */
	struct VEC(size_t) open = VEC_INIT; /* the next one is one of these */
	size_t n = 0;

	if (queue->heap.n > 0) {
		vec_push(&open, 0);
	}
	while (n < max && open.n > 0) {
		size_t best = 0, i;

		for (size_t k = 1; k < open.n; k++) {
			if (is_before(model, queue, take(queue, open.v[k]),
				      take(queue, open.v[best]))) {
				best = k;
			}
		}
		i = open.v[best];
		vec_swap_remove(&open, best);
		ret_ids[n++] = queue->heap.v[i];
		for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < queue->heap.n; k++) {
			vec_push(&open, k);
		}
	}
	vec_finish(&open);
	return n;
}

void pending_heap_fix(struct quota_model *model, struct cluster_queue *queue, uint32_t pos)
{
	queue->ranks.v[pos] = rank_of(model, at(model, queue, pos));
	settle(model, queue, pos);
}

void pending_heap_rebuild(struct quota_model *model, struct cluster_queue *queue)
{
	vec_clear(&queue->ranks);
	for (size_t i = 0; i < queue->heap.n; i++) {
		vec_push(&queue->ranks, rank_of(model, at(model, queue, i)));
		at(model, queue, i)->pending.pos = (uint32_t)i;
	}
	pending_heap_reorder(model, queue);
}

void pending_heap_reorder(struct quota_model *model, struct cluster_queue *queue)
{
	/* From the last parent to the root: below i all is in order (Floyd), in O(n). */
	for (size_t i = queue->heap.n / 2; i-- > 0;) {
		sift_down(model, queue, i);
	}
}
