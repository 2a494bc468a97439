#include "quota/quota_cycle.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/xmalloc.h"
#include "quota/queues.h"
#include "quota/quota_nominate.h"
#include "quota/quota_process.h"

struct quota_cycle {
	struct forest *forest;
	struct arena *arena; /* of the last run */
	struct queues_heads heads;
	struct process process;
	struct quota_decisions decisions;
};

struct quota_cycle *quota_cycle_create(struct forest *f)
{
	struct quota_cycle *c = xmalloc_zero(1, sizeof(*c));

	c->forest = f;
	c->arena = arena_create(1 << 16);
	return c;
}

void quota_cycle_destroy(struct quota_cycle *c)
{
	if (c == NULL) {
		return;
	}
	vec_finish(&c->heads);
	vec_finish(&c->decisions);
	quota_process_finish(&c->process);
	arena_destroy(c->arena);
	free(c);
}

/* Back to its queue, and the decision that says so. */
static void put_back(struct quota_cycle *c, struct entry *e, int64_t now)
{
	struct quota *q = forest_world(c->forest);
	struct workload *w = e->w;
	struct quota_decision d = { .kind = QUOTA_DECIDE_PENDING,
				    .workload = w->id,
				    .by = MODEL_NONE,
				    .node = e->node,
				    .status = e->status,
				    .requeue = e->requeue,
				    .reason = e->reason,
				    .recompute = e->recompute,
				    .message = e->message,
				    .assignment = e->has_assignment ? &e->assignment : NULL };
	bool pending = false;

	if (!e->keep_tried || (e->status == ENTRY_SKIPPED && !q->options.preserve_scan_progress)) {
		vec_clear(&w->tried);
	}
	for (size_t i = 0; i < w->tried.n; i++) {
		pending |= w->tried.v[i].flavor >= 0;
	}
	w->last_reason = e->reason;
	queues_requeue(q, w, e->requeue, pending, now);
	d.where = w->where;
	vec_push(&c->decisions, d);
}

static struct entry *make_entries(struct quota_cycle *c)
{
	const struct quota *q = forest_world(c->forest);
	struct entry *entries = arena_zero(c->arena, c->heads.n + 1, sizeof(*entries));

	for (size_t i = 0; i < c->heads.n; i++) {
		entries[i].w = c->heads.v[i];
		entries[i].node = c->heads.v[i]->queue;
		entries[i].is_preemptor = queues_is_preemptor(q, c->heads.v[i]);
	}
	return entries;
}

const struct quota_decisions *quota_cycle_run(struct quota_cycle *c, int64_t now)
{
	struct quota *q = forest_world(c->forest);
	struct nominate_context context = { .forest = c->forest, .arena = c->arena, .now = now };
	struct entry *entries, **nominated, **processed;
	size_t mark, nnominated = 0, nprocessed = 0;
	struct order *order;

	arena_reset(c->arena);
	vec_clear(&c->decisions);
	vec_clear(&c->heads);
	forest_sync(c->forest);
	q->cycle++;
	queues_pop(q, c->forest, &c->heads);
	entries = make_entries(c);
	nominated = arena_alloc(c->arena, (c->heads.n + 1) * sizeof(struct entry *));
	processed = arena_alloc(c->arena, (c->heads.n + 1) * sizeof(struct entry *));
	for (size_t i = 0; i < c->heads.n; i++) {
		quota_nominate(&context, &entries[i]);
		if (entries[i].status == ENTRY_NOMINATED) {
			nominated[nnominated++] = &entries[i];
		}
	}
	mark = forest_mark(c->forest);
	quota_process_begin(&c->process, c->forest, c->arena, now, &c->decisions);
	order = order_create(c->forest, nominated, nnominated, c->arena);
	for (struct entry *e = order_next(order); e != NULL; e = order_next(order)) {
		quota_process_entry(&c->process, e);
		processed[nprocessed++] = e;
	}
	forest_undo(c->forest, mark);
	assert(nprocessed == nnominated);
	for (size_t i = 0; i < nprocessed; i++) {
		if (processed[i]->status != ENTRY_ASSUMED) {
			put_back(c, processed[i], now);
		}
	}
	for (size_t i = 0; i < c->heads.n; i++) {
		if (entries[i].status == ENTRY_NOT_NOMINATED) {
			put_back(c, &entries[i], now);
		}
	}
	return &c->decisions;
}
