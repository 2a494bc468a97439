#include "quota/queues_heap.h"

#include "quota/queues.h"

static struct workload *at(const struct quota *q, const struct quota_queue *h, size_t i)
{
	return q->workloads.v[h->heap.v[i]];
}

static void put(const struct quota *q, struct quota_queue *h, size_t i, uint32_t id)
{
	h->heap.v[i] = id;
	q->workloads.v[id]->pos = (uint32_t)i;
}

static bool is_before(const struct quota *q, const struct quota_queue *h, size_t i, size_t k)
{
	return queues_cmp(q, at(q, h, i), at(q, h, k)) < 0;
}

static void swap(const struct quota *q, struct quota_queue *h, size_t i, size_t k)
{
	uint32_t a = h->heap.v[i], b = h->heap.v[k];

	put(q, h, i, b);
	put(q, h, k, a);
}

static void sift_up(const struct quota *q, struct quota_queue *h, size_t i)
{
	while (i > 0 && is_before(q, h, i, (i - 1) / 2)) {
		swap(q, h, i, (i - 1) / 2);
		i = (i - 1) / 2;
	}
}

static void sift_down(const struct quota *q, struct quota_queue *h, size_t i)
{
	for (;;) {
		size_t best = i;

		for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < h->heap.n; child++) {
			if (is_before(q, h, child, best)) {
				best = child;
			}
		}
		if (best == i) {
			return;
		}
		swap(q, h, i, best);
		i = best;
	}
}

void queues_heap_push(struct quota *q, struct quota_queue *h, struct workload *w)
{
	vec_push(&h->heap, w->id);
	w->where = QUOTA_HEAP;
	w->pos = (uint32_t)(h->heap.n - 1);
	sift_up(q, h, h->heap.n - 1);
}

struct workload *queues_heap_remove(struct quota *q, struct quota_queue *h, uint32_t pos)
{
	struct workload *w = at(q, h, pos);
	uint32_t last = vec_pop(&h->heap);

	if (pos < h->heap.n) {
		put(q, h, pos, last);
		queues_heap_fix(q, h, pos);
	}
	w->where = QUOTA_NOWHERE;
	w->pos = MODEL_NONE;
	return w;
}

void queues_heap_fix(struct quota *q, struct quota_queue *h, uint32_t pos)
{
	sift_down(q, h, pos);
	sift_up(q, h, pos);
}

void queues_heap_rebuild(struct quota *q, struct quota_queue *h)
{
	for (size_t i = 0; i < h->heap.n; i++) {
		put(q, h, i, h->heap.v[i]);
	}
	for (size_t i = h->heap.n / 2; i-- > 0;) {
		sift_down(q, h, i);
	}
}
