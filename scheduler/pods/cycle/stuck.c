#include "scheduler/pods/cycle/stuck.h"

#include "scheduler/pods/session/session_priv.h"

/* INT64_MAX: never, since its deletion is not seen yet. */
static int64_t due_at(const struct task *t)
{
	return t->ends_by == MODEL_TIME_NONE ? INT64_MAX : t->ends_by + STUCK_AFTER_NS;
}

bool stuck_is_due(const struct cluster *c, int64_t now, int64_t *timer)
{
	bool any = false;

	for (size_t i = 0; i < c->ending.n; i++) {
		int64_t at = due_at(c->tasks.v[c->ending.v[i]]);

		any |= at <= now;
		*timer = at > now && at < *timer ? at : *timer;
	}
	return any;
}

static void report(struct session *s, const struct task *t)
{
	struct decision *d = decision_add(&s->decisions, DECISION_EVENT);

	d->task = t->id;
	d->warning = true;
	d->reason = "PodDoesNotEnd";
	d->message = "the pod should have been gone minutes ago: a finalizer or its node keeps it; "
		     "no pod waits for its room and quota any more";
}

void stuck_run(struct session *s)
{
	const struct cluster *c = s->cluster;

	for (size_t i = 0; i < c->ending.n; i++) {
		const struct task *t = c->tasks.v[c->ending.v[i]];

		if (due_at(t) > s->now) {
			continue;
		}
		decision_add(&s->decisions, DECISION_STUCK)->task = t->id;
		if ((t->flags & TASK_OURS) != 0) {
			report(s, t);
		}
	}
}
