#include "scheduler/workloads/cycle/admission_cycle.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/xmalloc.h"
#include "scheduler/workloads/cycle/nomination.h"
#include "scheduler/workloads/cycle/process_entry.h"
#include "scheduler/workloads/pending/pending.h"

struct admission_cycle {
	struct forest *forest;
	struct arena *arena;   /* of the last run */
	struct arena *scratch; /* of its searches */
	struct pending_heads heads;
	struct process process;
	struct admission_decisions decisions;
};

struct admission_cycle *admission_cycle_create(struct forest *f)
{
	struct admission_cycle *c = xmalloc_zero(1, sizeof(*c));

	c->forest = f;
	c->arena = arena_create(1 << 16);
	c->scratch = arena_create(1 << 16);
	return c;
}

void admission_cycle_destroy(struct admission_cycle *c)
{
	if (c == NULL) {
		return;
	}
	vec_finish(&c->heads);
	vec_finish(&c->decisions);
	process_entry_finish(&c->process);
	arena_destroy(c->arena);
	arena_destroy(c->scratch);
	free(c);
}

/* A skipped entry lost its turn to another one of the cycle. With Kueue's gate
 * FlavorFungibilityPreserveScanProgress it goes on where its scan stopped, without it at the first
 * flavor. */
static bool drops_scan(const struct quota_model *q, const struct entry *e)
{
	return !e->keep_tried || (e->status == ENTRY_SKIPPED && !q->options.preserve_scan_progress);
}

/* The scan has flavors left. */
static bool has_pending_flavors(const struct quota_model *q, const struct entry *e)
{
	for (size_t i = 0; i < e->w->pending.tried.n && !drops_scan(q, e); i++) {
		if (e->w->pending.tried.v[i].flavor >= 0) {
			return true;
		}
	}
	return false;
}

/* Requeues the workload, and adds the decision that says so. */
static void requeue(struct admission_cycle *c, struct entry *e, int64_t now)
{
	struct quota_model *q = forest_model(c->forest);
	struct workload *w = e->w;
	struct admission_decision d = { .kind = QUOTA_DECIDE_PENDING,
					.workload = w->id,
					.by = MODEL_NONE,
					.node = e->node,
					.status = e->status,
					.requeue = e->requeue,
					.reason = e->reason,
					.recompute = e->recompute,
					.message = e->message,
					.assignment = e->has_assignment ? &e->assignment : NULL };
	bool pending = has_pending_flavors(q, e);

	if (drops_scan(q, e)) {
		vec_clear(&w->pending.tried);
	}
	/* Others of this cycle took its flavor, and may have left enough for fewer pods. No event
	 * says so: when the scan over the other flavors ends, it begins again at once
	 * (pending_is_immediate). */
	w->pending.scan_lost_turn =
		w->pending.scan_lost_turn ||
		(pending && e->status == ENTRY_SKIPPED && nomination_may_shrink(q, w));
	w->pending.last_reason = e->reason;
	pending_requeue(q, w, e->requeue, pending, now);
	d.where = w->pending.where;
	vec_push(&c->decisions, d);
}

/* The entries of a cycle: by queue, and those of one queue in its order. */
struct batch {
	struct entry *v;
	size_t n;
	struct entry **nominated;
	size_t nnominated;
	struct entry **processed; /* in the order in which they were */
	size_t nprocessed;
	bool *is_processed; /* by index in v */
};

static void nominate_heads(struct admission_cycle *c, int64_t now, struct batch *b)
{
	struct nominate_context context = {
		.forest = c->forest, .arena = c->arena, .scratch = c->scratch, .now = now
	};
	const struct quota_model *q = forest_model(c->forest);
	size_t n = c->heads.n;

	*b = (struct batch){ .n = n };
	b->v = arena_zero(c->arena, n + 1, sizeof(struct entry));
	b->nominated = arena_alloc(c->arena, (n + 1) * sizeof(struct entry *));
	b->processed = arena_alloc(c->arena, (n + 1) * sizeof(struct entry *));
	b->is_processed = arena_zero(c->arena, n + 1, sizeof(bool));
	for (size_t i = 0; i < n; i++) {
		struct entry *e = &b->v[i];

		e->w = c->heads.v[i];
		e->node = e->w->pending.queue;
		e->is_preemptor = pending_is_preemptor(q, e->w);
		nomination(&context, e);
		if (e->status == ENTRY_NOMINATED) {
			b->nominated[b->nnominated++] = e;
		}
	}
}

/* It stays the first of its queue, and the others of the queue must not overtake it. */
static bool blocks(const struct quota_model *q, const struct entry *e, int64_t now)
{
	return e->status != ENTRY_ASSUMED &&
	       pending_is_immediate(q, e->w, e->requeue, has_pending_flavors(q, e), now);
}

static void process(struct admission_cycle *c, struct batch *b, size_t i, int64_t now)
{
	struct entry *e = &b->v[i];

	if (b->is_processed[i] || e->status != ENTRY_NOMINATED) {
		return;
	}
	b->is_processed[i] = true;
	b->processed[b->nprocessed++] = e;
	if (i > 0 && b->v[i - 1].node == e->node &&
	    blocks(forest_model(c->forest), &b->v[i - 1], now)) {
		process_entry_skip(e, "another workload of its queue goes first");
		return;
	}
	process_entry_decide(&c->process, e);
}

/* One after another, in the order of the cycle; but the entries of one queue keep their order:
 * those before an entry in its queue are processed before it. */
static void process_batch(struct admission_cycle *c, struct batch *b, int64_t now)
{
	struct entry_order *order =
		entry_order_create(c->forest, b->nominated, b->nnominated, c->arena);

	for (const struct entry *e = entry_order_next(order); e != NULL;
	     e = entry_order_next(order)) {
		size_t last = (size_t)(e - b->v), first = last;

		while (first > 0 && b->v[first - 1].node == e->node) {
			first--;
		}
		for (size_t i = first; i <= last; i++) {
			process(c, b, i, now);
		}
	}
	assert(b->nprocessed == b->nnominated);
}

/* Kueue: scheduler.schedule.
 * 1. Trees follow the objects. The decisions of the last run end here.
 * 2. Heads leave their heaps and are in flight.
 * 3. Each is nominated by the usage that the model holds: none sees what another one would take.
 * 4. One after the other is decided upon, in the order of the cycle; what it takes counts for those
 *    after it.
 * 5. This usage is undone. It comes back as held quota when the caller applies the decisions.
 * 6. All but the admitted are requeued, in the order in which they were decided; the admitted stay
 *    in flight until admission_apply. */
const struct admission_decisions *admission_cycle_run(struct admission_cycle *c, int64_t now)
{
	struct quota_model *q = forest_model(c->forest);
	struct batch b;
	size_t mark;

	arena_reset(c->arena);
	vec_clear(&c->decisions);
	vec_clear(&c->heads);
	forest_sync(c->forest);
	q->cycle++;
	pending_pop(q, c->forest, &c->heads);
	nominate_heads(c, now, &b);
	mark = forest_mark(c->forest);
	process_entry_begin(&c->process, c->forest, c->arena, c->scratch, now, &c->decisions);
	process_batch(c, &b, now);
	process_entry_end(&c->process);
	forest_undo(c->forest, mark);
	for (size_t i = 0; i < b.nprocessed; i++) {
		if (b.processed[i]->status != ENTRY_ASSUMED) {
			requeue(c, b.processed[i], now);
		}
	}
	for (size_t i = 0; i < b.n; i++) {
		if (b.v[i].status == ENTRY_NOT_NOMINATED) {
			requeue(c, &b.v[i], now);
		}
	}
	return &c->decisions;
}
