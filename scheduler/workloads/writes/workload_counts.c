#include "scheduler/workloads/writes/workload_counts.h"

#include "scheduler/workloads/model/quota_store.h"

/* Kueue: flavorsReservation counts all that hold quota, flavorsUsage those that are admitted. */
static void add_holder(struct workload_counts_of *t, const struct workload *w)
{
	t->reserving++;
	t->admitted += w->flags.admitted;
	for (size_t i = 0; i < w->holding.usage.n; i++) {
		quota_amounts_add(&t->reserved, w->holding.usage.v[i].id,
				  w->holding.usage.v[i].value);
		if (w->flags.admitted) {
			quota_amounts_add(&t->used, w->holding.usage.v[i].id,
					  w->holding.usage.v[i].value);
		}
	}
}

static struct workload_counts_of *local_of(struct workload_counts *t, const struct quota_model *q,
					   const struct workload *w)
{
	const struct local_queue *l = quota_local_of(q, w);

	/* Its LocalQueue may have been deleted: it counts in the ClusterQueue alone. */
	return l == NULL ? NULL : &t->locals.v[l->id];
}

static void add_pending(struct workload_counts *t, const struct quota_model *q, const uint32_t *ids,
			size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct workload_counts_of *local = local_of(t, q, q->workloads.v[ids[i]]);

		if (local != NULL) {
			local->pending++;
		}
	}
}

static void sum_queue(struct workload_counts *t, const struct quota_model *q,
		      const struct quota_node *n)
{
	const struct cluster_queue *queue = n->queue;
	struct workload_counts_of *own = &t->nodes.v[n->id];

	/* Those in flight are not counted: no cycle runs meanwhile. */
	own->pending = (int64_t)(queue->heap.n + queue->inadmissible.n);
	add_pending(t, q, queue->heap.v, queue->heap.n);
	add_pending(t, q, queue->inadmissible.v, queue->inadmissible.n);
	for (size_t i = 0; i < queue->holders.n; i++) {
		const struct workload *w = queue->holders.v[i].w;
		struct workload_counts_of *local = local_of(t, q, w);

		add_holder(own, w);
		if (local != NULL) {
			add_holder(local, w);
		}
	}
}

/* Room for n, all of them zero. The memory of the lists of amounts is kept for the next time. */
static void clear(struct workload_counts_list *l, size_t n)
{
	while (l->n < n) {
		vec_push(l, ((struct workload_counts_of){ 0 }));
	}
	for (size_t i = 0; i < l->n; i++) {
		struct quota_amounts reserved = l->v[i].reserved, used = l->v[i].used;

		reserved.n = used.n = 0;
		l->v[i] = (struct workload_counts_of){ .reserved = reserved, .used = used };
	}
}

void workload_counts_sum(struct workload_counts *t, const struct quota_model *q)
{
	clear(&t->nodes, q->nodes.n);
	clear(&t->locals, q->locals.n);
	for (size_t i = 0; i < q->nodes.n; i++) {
		if (q->nodes.v[i] != NULL && q->nodes.v[i]->is_queue) {
			sum_queue(t, q, q->nodes.v[i]);
		}
	}
}

static void finish(struct workload_counts_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		quota_amounts_finish(&l->v[i].reserved);
		quota_amounts_finish(&l->v[i].used);
	}
	vec_finish(l);
}

void workload_counts_finish(struct workload_counts *t)
{
	finish(&t->nodes);
	finish(&t->locals);
}
