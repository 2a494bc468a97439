#include "scheduler/pods/session/decision.h"

#include <string.h>

struct decision *decision_add(struct decisions *d, enum decision_kind kind)
{
	struct decision *e;

	if (d->n == d->cap) {
		vec_grow((void **)&d->v, &d->cap, d->n + 1, sizeof(d->v[0]));
	}
	e = &d->v[d->n++];
	memset(e, 0, sizeof(*e));
	e->kind = kind;
	e->task = e->podgroup = e->queue = e->node = e->by = e->claim = e->volume = MODEL_NONE;
	e->retry_at = MODEL_TIME_NONE;
	return e;
}

void decision_finish(struct decisions *d)
{
	vec_free((void **)&d->v);
	d->n = d->cap = 0;
}
