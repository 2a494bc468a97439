#include "scheduler/pods/cycle/overdue.h"

#include <stdlib.h>

#include "base/arena.h"
#include "collections/bitset.h"
#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/cycle/revoke.h"
#include "scheduler/pods/session/session_priv.h"
#include "scheduler/pods/values/pod_class.h"

struct overdue {
	struct session *session;
	const uint64_t *beyond; /* bits by task id: beyond the limit of a queue; NULL: none */
};

bool overdue_is_let_go(const struct session *s, const struct task *t)
{
	return (t->flags & TASK_GATE_ONLY) != 0 && t->status == TASK_PENDING &&
	       session_task_charge(s, t) == CHARGE_UNGATED;
}

static int youngest_first(const void *a, const void *b)
{
	const struct task *const *x = a, *const *y = b;

	if ((*x)->created != (*y)->created) {
		return (*x)->created > (*y)->created ? -1 : 1;
	}
	return (*x)->id > (*y)->id ? -1 : 1;
}

/* Marks the youngest pods without which the queue would be within its limit. */
static void mark_beyond(struct session *s, const struct queue *q, uint64_t **beyond)
{
	const struct cluster *c = s->cluster;
	const struct task **v = arena_alloc(s->arena, (c->tasks.n + 1) * sizeof(*v));
	struct res less = *session_queue_releasing(s, q);
	size_t n = 0;

	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *t = c->tasks.v[i];

		if (t != NULL && overdue_is_let_go(s, t) &&
		    queue_is_within(c, session_task_charge_queue(s, t), q)) {
			v[n++] = t;
		}
	}
	qsort(v, n, sizeof(v[0]), youngest_first);
	if (n > 0 && *beyond == NULL) {
		*beyond = arena_zero(s->arena, BITSET_WORDS(c->tasks.n) + 1, sizeof(**beyond));
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t over = revoke_over_limit(s, q, &less);

		if (over == 0) {
			return;
		}
		if ((res_mask(pod_class_charge(v[i]->klass)) & over) != 0) {
			bitset_set(*beyond, v[i]->id);
			res_add(&less, pod_class_charge(v[i]->klass));
		}
	}
}

static bool is_late(const struct session *s, const struct task *t)
{
	int64_t timeout = s->conf->reservation_timeout_ns;

	return timeout > 0 && t->published_at != MODEL_TIME_NONE &&
	       s->now - t->published_at >= timeout;
}

static void delete_pod(struct session *s, const struct task *t)
{
	struct decision *d = decision_add(&s->decisions, DECISION_EVICT);

	d->task = t->id;
	d->reason = "ReservationTimedOut";
	d->message = "";
}

static void report(struct session *s, const struct task *t, bool late, bool deletes)
{
	struct decision *d = decision_add(&s->decisions, DECISION_EVENT);

	d->task = t->id;
	d->warning = true;
	d->reason = late ? "ReservationTimedOut" : "BeyondQuota";
	d->message = arena_printf(
		s->arena, "%s: %s",
		late ? "its scheduler has not placed the pod in time"
		     : "a queue is over its limit, and the pod, which holds quota of it, has no "
		       "node yet",
		deletes ? "it is deleted, so that its controller creates one that waits for quota"
			: "it keeps its quota, since its scheduler may start it at any time");
}

static void judge(struct overdue *o, const struct queue *q, const struct task *t)
{
	struct session *s = o->session;
	bool late, deletes, is, was = (t->flags & TASK_OVERDUE) != 0;
	struct decision *d;

	if (!overdue_is_let_go(s, t)) {
		return;
	}
	late = is_late(s, t);
	is = late || (o->beyond != NULL && bitset_has(o->beyond, t->id));
	deletes = is && s->conf->overdue_deletes && (t->flags & TASK_CONTROLLED) != 0 &&
		  !session_task_is_set_aside(s, t);
	if (!late && t->published_at != MODEL_TIME_NONE && s->conf->reservation_timeout_ns > 0) {
		session_wait_until(s, q, t->published_at + s->conf->reservation_timeout_ns);
	}
	if (is != was) {
		d = decision_add(&s->decisions, DECISION_OVERDUE);
		d->task = t->id;
		d->overdue = is;
	}
	if (is && !was) {
		report(s, t, late, deletes);
	}
	if (deletes) {
		delete_pod(s, t);
	}
}

static void judge_podgroup(struct overdue *o, const struct queue *q, const struct podgroup *g)
{
	/* Most PodGroups have all their pods on nodes: the walk over them is spared. */
	for (size_t i = 0;
	     session_podgroup_count(o->session, g, TASK_PENDING) > 0 && i < g->tasks.n; i++) {
		judge(o, q, session_task(o->session, g->tasks.v[i]));
	}
}

const uint64_t *overdue_find_beyond(struct session *s)
{
	const struct cluster *c = s->cluster;
	uint64_t *beyond = NULL;

	for (size_t i = 0; i < c->queues.n; i++) {
		if (c->queues.v[i] != NULL && revoke_over_limit(s, c->queues.v[i], NULL) != 0) {
			mark_beyond(s, c->queues.v[i], &beyond);
		}
	}
	return beyond;
}

void overdue_run(struct session *s)
{
	const struct cluster *c = s->cluster;
	struct overdue o = { s, overdue_find_beyond(s) };

	for (size_t i = 0; i < c->queues.n; i++) {
		const struct queue *q = c->queues.v[i];

		for (size_t k = 0; q != NULL && q->exists && k < session_podgroups(s, q)->n; k++) {
			judge_podgroup(&o, q, session_podgroups(s, q)->v[k]);
		}
	}
}
