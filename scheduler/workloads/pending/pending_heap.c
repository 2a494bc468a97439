#include "scheduler/workloads/pending/pending_heap.h"

#include <string.h>

#include "scheduler/workloads/model/quota_store.h"

static struct workload *at(const struct quota *q, const struct cluster_queue *h, size_t i)
{
	return q->workloads.v[h->heap.v[i]];
}

static struct quota_rank rank_of(const struct quota *q, const struct workload *w)
{
	const struct local_queue *l = quota_local_of(q, w);

	return (struct quota_rank){ workload_priority(q, w), workload_queue_time(q, w),
				    l == NULL ? MODEL_NONE : l->id };
}

struct element {
	uint32_t id;
	struct quota_rank rank;
};

static struct element take(const struct cluster_queue *h, size_t i)
{
	return (struct element){ h->heap.v[i], h->ranks.v[i] };
}

static void put(const struct quota *q, struct cluster_queue *h, size_t i, struct element e)
{
	h->heap.v[i] = e.id;
	h->ranks.v[i] = e.rank;
	q->workloads.v[e.id]->pending.pos = (uint32_t)i;
}

static double usage_in(const struct quota *q, struct element e)
{
	const struct local_queue *l = e.rank.local < q->locals.n ? q->locals.v[e.rank.local] : NULL;

	return l == NULL ? 0 : l->usage;
}

static bool is_sticky(const struct cluster_queue *h, struct element e)
{
	return e.id == h->preemptor && h->strategy == QUOTA_BEST_EFFORT_FIFO;
}

/* Reads the workloads only where their ranks are equal: the ranks are in the cache. */
static int compare(const struct quota *q, const struct cluster_queue *h, struct element a,
		   struct element b)
{
	const struct workload *x, *y;
	int r;

	if (q->options.admission_fair_sharing && h->usage_based) {
		double ua = usage_in(q, a), ub = usage_in(q, b);

		if (ua < ub || ua > ub) {
			return ua < ub ? -1 : 1;
		}
	}
	if (is_sticky(h, a) != is_sticky(h, b)) {
		return is_sticky(h, a) ? -1 : 1;
	}
	if (a.rank.priority != b.rank.priority) {
		return a.rank.priority > b.rank.priority ? -1 : 1;
	}
	if (a.rank.time != b.rank.time) {
		return a.rank.time < b.rank.time ? -1 : 1;
	}
	x = q->workloads.v[a.id];
	y = q->workloads.v[b.id];
	r = strcmp(x->object.uid == NULL ? "" : x->object.uid,
		   y->object.uid == NULL ? "" : y->object.uid);
	return r != 0 ? r : strcmp(x->key, y->key);
}

int pending_heap_cmp(const struct quota *q, const struct workload *a, const struct workload *b)
{
	return compare(q, q->nodes.v[a->pending.queue]->queue,
		       (struct element){ a->id, rank_of(q, a) },
		       (struct element){ b->id, rank_of(q, b) });
}

static bool is_before(const struct quota *q, const struct cluster_queue *h, struct element a,
		      struct element b)
{
	return compare(q, h, a, b) < 0;
}

static void sift_up(const struct quota *q, struct cluster_queue *h, size_t i)
{
	struct element e = take(h, i);

	while (i > 0 && is_before(q, h, e, take(h, (i - 1) / 2))) {
		put(q, h, i, take(h, (i - 1) / 2));
		i = (i - 1) / 2;
	}
	put(q, h, i, e);
}

static void sift_down(const struct quota *q, struct cluster_queue *h, size_t i)
{
	struct element e = take(h, i);

	for (;;) {
		size_t child = 2 * i + 1;

		if (child + 1 < h->heap.n && is_before(q, h, take(h, child + 1), take(h, child))) {
			child++;
		}
		if (child >= h->heap.n || !is_before(q, h, take(h, child), e)) {
			break;
		}
		put(q, h, i, take(h, child));
		i = child;
	}
	put(q, h, i, e);
}

static void settle(const struct quota *q, struct cluster_queue *h, size_t i)
{
	sift_down(q, h, i);
	sift_up(q, h, i);
}

void pending_heap_push(struct quota *q, struct cluster_queue *h, struct workload *w)
{
	vec_push(&h->heap, w->id);
	vec_push(&h->ranks, rank_of(q, w));
	w->pending.where = QUOTA_HEAP;
	sift_up(q, h, h->heap.n - 1);
}

struct workload *pending_heap_remove(struct quota *q, struct cluster_queue *h, uint32_t pos)
{
	struct workload *w = at(q, h, pos);
	struct element last = take(h, h->heap.n - 1);

	h->heap.n--;
	h->ranks.n--;
	if (pos < h->heap.n) {
		put(q, h, pos, last);
		settle(q, h, pos);
	}
	w->pending.where = QUOTA_NOWHERE;
	w->pending.pos = MODEL_NONE;
	return w;
}

size_t pending_heap_first(const struct quota *q, const struct cluster_queue *h, uint32_t *ret_ids,
			  size_t max)
{
	struct VEC(size_t) open = VEC_INIT; /* the next one is one of these */
	size_t n = 0;

	if (h->heap.n > 0) {
		vec_push(&open, 0);
	}
	while (n < max && open.n > 0) {
		size_t best = 0, i;

		for (size_t k = 1; k < open.n; k++) {
			if (is_before(q, h, take(h, open.v[k]), take(h, open.v[best]))) {
				best = k;
			}
		}
		i = open.v[best];
		vec_swap_remove(&open, best);
		ret_ids[n++] = h->heap.v[i];
		for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < h->heap.n; k++) {
			vec_push(&open, k);
		}
	}
	vec_finish(&open);
	return n;
}

void pending_heap_fix(struct quota *q, struct cluster_queue *h, uint32_t pos)
{
	h->ranks.v[pos] = rank_of(q, at(q, h, pos));
	settle(q, h, pos);
}

void pending_heap_rebuild(struct quota *q, struct cluster_queue *h)
{
	vec_clear(&h->ranks);
	for (size_t i = 0; i < h->heap.n; i++) {
		vec_push(&h->ranks, rank_of(q, at(q, h, i)));
		at(q, h, i)->pending.pos = (uint32_t)i;
	}
	pending_heap_reorder(q, h);
}

void pending_heap_reorder(struct quota *q, struct cluster_queue *h)
{
	for (size_t i = h->heap.n / 2; i-- > 0;) {
		sift_down(q, h, i);
	}
}
