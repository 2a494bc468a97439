#include "scheduler/workloads/cycle/entry_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "scheduler/workloads/cycle/entry_order_fair.h"
#include "scheduler/workloads/model/quota_store.h"

struct entry_order {
	struct entry **sorted; /* classical */
	size_t n, next;
	struct entry_order_fair *fair; /* NULL: classical */
};

static int compare_text(const char *a, const char *b)
{
	return strcmp(a == NULL ? "" : a, b == NULL ? "" : b);
}

/* The classical comparison: holders of quota first (second pass), then, when the gate is on,
 * preemptors, then the lower level of borrowing, the higher priority, the older, uid, key. */
static int compare(const struct quota *q, const struct entry *a, const struct entry *b)
{
	bool holds_a = a->w->holding.node != MODEL_NONE, holds_b = b->w->holding.node != MODEL_NONE;
	int64_t x, y;
	int r;

	if (holds_a != holds_b) {
		return holds_a ? -1 : 1;
	}
	if (q->options.prioritize_preemptors && a->is_preemptor != b->is_preemptor) {
		return a->is_preemptor ? -1 : 1;
	}
	if (a->assignment.level != b->assignment.level) {
		return a->assignment.level < b->assignment.level ? -1 : 1;
	}
	x = workload_priority(q, a->w);
	y = workload_priority(q, b->w);
	if (q->options.priority_sorting && x != y) {
		return x > y ? -1 : 1;
	}
	x = workload_queue_time(q, a->w);
	y = workload_queue_time(q, b->w);
	if (x != y) {
		return x < y ? -1 : 1;
	}
	r = compare_text(a->w->object.uid, b->w->object.uid);
	return r != 0 ? r : strcmp(a->w->key, b->w->key);
}

static int compare_entries(const void *a, const void *b, void *world)
{
	const struct entry *const *x = a, *const *y = b;

	return compare(world, *x, *y);
}

struct entry_order *entry_order_create(struct forest *f, struct entry **entries, size_t n,
				       struct arena *arena)
{
	struct quota *q = forest_world(f);
	struct entry_order *o = arena_zero(arena, 1, sizeof(*o));

	if (q->options.fair_sharing) {
		o->fair = entry_order_fair_create(f, entries, n, arena);
		return o;
	}
	o->n = n;
	o->sorted = arena_alloc(arena, (n + 1) * sizeof(o->sorted[0]));
	if (n > 0) {
		memcpy(o->sorted, entries, n * sizeof(o->sorted[0]));
		qsort_r(o->sorted, n, sizeof(o->sorted[0]), compare_entries, q);
	}
	return o;
}

struct entry *entry_order_next(struct entry_order *o)
{
	if (o->fair != NULL) {
		return entry_order_fair_next(o->fair);
	}
	return o->next < o->n ? o->sorted[o->next++] : NULL;
}
