#include "scheduler/pods/session/decision.h"

#include <string.h>

static const char *const names[DECISION_KIND_COUNT_] = {
	[DECISION_UNGATE] = "Ungate",
	[DECISION_RESERVE] = "Reserve",
	[DECISION_RELEASE] = "Release",
	[DECISION_MOVE] = "Move",
	[DECISION_STAY] = "Stay",
	[DECISION_PUBLISH] = "Publish",
	[DECISION_WITHDRAW] = "Withdraw",
	[DECISION_CONDITION] = "Condition",
	[DECISION_BIND] = "Bind",
	[DECISION_EVICT] = "Evict",
	[DECISION_PODGROUP_PHASE] = "JobPhase",
	[DECISION_PODGROUP_CONDITION] = "JobCondition",
	[DECISION_EVENT] = "Event",
	[DECISION_QUEUE_SCANNED] = "QueueScanned",
};

struct decision *decision_add(struct decisions *d, enum decision_kind kind)
{
	struct decision *e;

	if (d->n == d->cap) {
		vec_grow((void **)&d->v, &d->cap, d->n + 1, sizeof(d->v[0]));
	}
	e = &d->v[d->n++];
	memset(e, 0, sizeof(*e));
	e->kind = kind;
	e->task = e->podgroup = e->queue = e->node = MODEL_NONE;
	e->retry_at = MODEL_TIME_NONE;
	return e;
}

void decision_finish(struct decisions *d)
{
	vec_free((void **)&d->v);
	d->n = d->cap = 0;
}

const char *decision_kind_name(enum decision_kind kind)
{
	return names[kind];
}
