#include "scheduler/ctl/sim/workload_step.h"

#include <stdlib.h>
#include <string.h>

#include "api/core/resource_amount.h"
#include "base/arena.h"
#include "scheduler/workloads/cycle/admission_apply.h"
#include "scheduler/workloads/cycle/nofit_reason.h"
#include "scheduler/workloads/ingest/from_kueue.h"

static int by_resource(const void *a, const void *b)
{
	const struct workload_step_flavor *x = a, *y = b;

	return strcmp(x->resource, y->resource);
}

static struct workload_step_podset make_podset(const struct quota_model *q, const struct podset *p,
					       const struct assigned_podset *a, struct arena *arena)
{
	struct workload_step_podset out = { .name = arena_dup(arena, p->name), .count = a->count };

	out.v = arena_zero(arena, a->nflavors + 1, sizeof(out.v[0]));
	for (size_t i = 0; i < a->nflavors; i++) {
		const struct assigned_flavor *f = &a->flavors[i];

		out.v[out.n++] = (struct workload_step_flavor){
			.resource = arena_dup(arena, quota_resource_name(q, f->resource)),
			.flavor = arena_dup(arena, q->flavors.v[f->flavor]->name),
			.mode = nofit_reason_flavor_mode(f->mode),
			.amount = admission_apply_amount(q, p, a->count, f->resource),
		};
	}
	/* By name, so that the report does not depend on the order within the assignment. */
	qsort(out.v, out.n, sizeof(out.v[0]), by_resource);
	return out;
}

static void add_assignment(const struct quota_model *q, const struct workload *w,
			   const struct assignment *a, struct arena *arena, struct workload_step *s)
{
	s->has_assignment = true;
	s->mode = nofit_reason_mode(a->mode);
	s->borrowing = a->level;
	s->podsets = arena_zero(arena, a->npodsets + 1, sizeof(s->podsets[0]));
	for (size_t i = 0; i < a->npodsets; i++) {
		s->podsets[s->npodsets++] =
			make_podset(q, &w->object.podsets[i], &a->podsets[i], arena);
	}
}

/* Texts are copied into the simulation's arena: the decision is gone with the next cycle, and
 * the objects may be deleted before the report is printed. */
struct workload_step workload_step_make(const struct quota_model *q,
					const struct admission_decision *d, unsigned cycle,
					struct arena *arena)
{
	const struct workload *w = q->workloads.v[d->workload];
	struct workload_step s = {
		.kind = d->kind,
		.cycle = cycle,
		.workload = arena_dup(arena, w->key),
		.by = d->by == MODEL_NONE ? "" : arena_dup(arena, q->workloads.v[d->by]->key),
		.queue = d->node == MODEL_NONE ? "" : arena_dup(arena, q->nodes.v[d->node]->name),
		.reason = nofit_reason_name(d->reason),
		.requeue = nofit_reason_requeue(d->requeue),
		.message = d->message == NULL ? "" : arena_dup(arena, d->message),
		.ongoing = d->ongoing,
		.in_heap = d->where == QUOTA_HEAP,
		.mode = "",
	};

	if (d->kind == QUOTA_DECIDE_PREEMPT) {
		s.reason = victim_reason_name(d->victim_reason);
	}
	if (d->assignment != NULL) {
		add_assignment(q, w, d->assignment, arena, &s);
	}
	return s;
}

const char *workload_step_amount(const char *resource, int64_t amount,
				 char out[WORKLOAD_STEP_AMOUNT_MAX])
{
	_Static_assert(WORKLOAD_STEP_AMOUNT_MAX >= QUANTITY_TEXT_MAX, "room for any quantity");
	quantity_format(resource_amount_quantity(resource, amount), out);
	return out;
}
