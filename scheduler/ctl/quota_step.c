#include "ctl/quota_step.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "model/from_api_quota.h"
#include "quota/quota_apply.h"
#include "quota/quota_reason.h"

static int by_resource(const void *a, const void *b)
{
	const struct quota_step_flavor *x = a, *y = b;

	return strcmp(x->resource, y->resource);
}

static struct quota_step_podset make_podset(const struct quota *q, const struct quota_podset *p,
					    const struct assigned_podset *a, struct arena *arena)
{
	struct quota_step_podset out = { .name = arena_dup(arena, p->name), .count = a->count };

	out.v = arena_zero(arena, a->nflavors + 1, sizeof(out.v[0]));
	for (size_t i = 0; i < a->nflavors; i++) {
		const struct assigned_flavor *f = &a->flavors[i];

		out.v[out.n++] = (struct quota_step_flavor){
			.resource = arena_dup(arena, quota_resource_name(q, f->resource)),
			.flavor = arena_dup(arena, q->flavors.v[f->flavor]->name),
			.mode = quota_reason_flavor_mode(f->mode),
			.amount = quota_apply_amount(q, p, a->count, f->resource),
		};
	}
	qsort(out.v, out.n, sizeof(out.v[0]), by_resource);
	return out;
}

static void add_assignment(const struct quota *q, const struct workload *w,
			   const struct assignment *a, struct arena *arena, struct quota_step *s)
{
	s->has_assignment = true;
	s->mode = quota_reason_mode(a->mode);
	s->borrowing = a->level;
	s->podsets = arena_zero(arena, a->npodsets + 1, sizeof(s->podsets[0]));
	for (size_t i = 0; i < a->npodsets; i++) {
		s->podsets[s->npodsets++] = make_podset(q, &w->podsets[i], &a->podsets[i], arena);
	}
}

struct quota_step quota_step_make(const struct quota *q, const struct quota_decision *d,
				  unsigned cycle, struct arena *arena)
{
	const struct workload *w = q->workloads.v[d->workload];
	struct quota_step s = {
		.kind = d->kind,
		.cycle = cycle,
		.workload = arena_dup(arena, w->key),
		.by = d->by == MODEL_NONE ? "" : arena_dup(arena, q->workloads.v[d->by]->key),
		.queue = d->node == MODEL_NONE ? "" : arena_dup(arena, q->nodes.v[d->node]->name),
		.reason = quota_reason_name(d->reason),
		.requeue = quota_reason_requeue(d->requeue),
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

const char *quota_step_amount(const char *resource, int64_t amount, char out[QUOTA_STEP_AMOUNT_MAX])
{
	_Static_assert(QUOTA_STEP_AMOUNT_MAX >= QUANTITY_TEXT_MAX, "room for any quantity");
	from_api_quota_amount_text(resource, amount, out);
	return out;
}
