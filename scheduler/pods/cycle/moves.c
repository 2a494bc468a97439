#include "scheduler/pods/cycle/moves.h"

#include "scheduler/pods/cycle/revoke.h"
#include "scheduler/pods/cycle/shortage.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/session_priv.h"
#include "scheduler/pods/values/pod_class.h"

/* Ancestors that both queues share carry the charge before and after. */
static bool fits(const struct session *s, const struct task *t, const struct queue *to)
{
	const struct queue *q;

	QUEUE_FOR_EACH_UP (q, s->cluster, to->id) {
		if (queue_is_within(s->cluster, t->charge_queue, q)) {
			break;
		}
		if (res_over(session_queue_charged(s, q), pod_class_charge(t->klass),
			     &s->limits[q->id], pod_class_charge_mask(t->klass)) != 0) {
			return false;
		}
	}
	return true;
}

static void move(struct session *s, const struct task *t, const struct queue *to)
{
	struct decision *d = decision_add(&s->decisions, DECISION_MOVE);

	/* Moves run before the actions, outside of any statement, so nothing undoes them. */
	session_overlay_charge(s->overlay, t->charge_queue, t, -1);
	session_overlay_charge(s->overlay, to->id, t, 1);
	session_priv_task(s, t)->charge_queue = to->id;
	d->task = t->id;
	d->queue = to->id;
}

/* The object that names the queue of t. */
static const char *namer(const struct session *s, const struct task *t)
{
	return s->cluster->podgroups.v[t->podgroup]->kind == PODGROUP_VOLCANO ? "PodGroup" : "pod";
}

/* A charge that cannot be taken back: the pod has a node, or another scheduler may give it one at
 * any time. */
static bool is_held(const struct task *t, enum charge_state charge)
{
	return charge == CHARGE_BOUND ||
	       ((t->flags & TASK_GATE_ONLY) != 0 && charge == CHARGE_UNGATED);
}

/* amounts: of what it lacks, or "". */
static void stay(struct session *s, const struct task *t, const struct queue *to, const char *why,
		 const char *amounts)
{
	const struct queue *from = s->cluster->queues.v[t->charge_queue];
	struct decision *d;

	if (t->refused_queue == to->id) {
		return;
	}
	d = decision_add(&s->decisions, DECISION_STAY);
	d->task = t->id;
	d->queue = to->id;
	d = decision_add(&s->decisions, DECISION_EVENT);
	d->task = t->id;
	d->warning = true;
	d->reason = "QuotaMoveRefused";
	d->message = arena_printf(s->arena,
				  "the %s names queue %s now, which %s%s: its quota stays "
				  "charged to queue %s",
				  namer(s, t), to->name, why, amounts, from->name);
}

/* The queue that is over its limit because a running pod grew; NULL: none. */
static const struct queue *find_over(const struct session *s, const struct task *t)
{
	const struct queue *q;

	QUEUE_FOR_EACH_UP (q, s->cluster, t->charge_queue) {
		if (res_exceeds(session_queue_charged(s, q), &s->limits[q->id],
				pod_class_charge_mask(t->klass)) != 0) {
			return q;
		}
	}
	return NULL;
}

static void report_growth(struct session *s, const struct task *t)
{
	const struct queue *over;
	struct decision *d;

	/* The queue of the charge, as the one that refused it, stands for a growth that was
	 * reported. */
	if ((t->flags & TASK_GREW) == 0 || t->refused_queue == t->charge_queue) {
		return;
	}
	over = find_over(s, t);
	if (over == NULL) {
		return;
	}
	d = decision_add(&s->decisions, DECISION_STAY);
	d->task = t->id;
	d->queue = t->charge_queue;
	d = decision_add(&s->decisions, DECISION_EVENT);
	d->task = t->id;
	d->warning = true;
	d->reason = "ResizedBeyondQuota";
	d->message =
		arena_printf(s->arena,
			     "the pod was resized, and queue %s is over its limit with it: no "
			     "pod of that queue gets quota until it is within its limit again%s",
			     over->name, shortage_excess(s, over));
}

/* 1. A pod that is charged to its own queue for good may have grown.
 * 2. A charge with a write in flight, and that of a terminating pod, stays where it is.
 * 3. A charge follows to a queue that the namespace may use, that accepts pods and that has room.
 * 4. Else a pod on a node, or one that another scheduler is free to bind, stays charged where it
 * is; any other loses its quota. */
static void move_or_report(struct session *s, const struct task *t, const struct queue *to,
			   bool barred)
{
	struct reason why = { .code = "cannot be used" };
	enum charge_state charge = session_task_charge(s, t);
	bool held = is_held(t, charge), accepts;
	const char *text;

	if (held && session_task_charge_queue(s, t) == to->id) {
		report_growth(s, t);
	}
	/* PATCHING, ASSUMED and WITHDRAWING have a write in flight; the last two are not unbound.
	 */
	if (charge == CHARGE_NONE || session_task_charge_queue(s, t) == to->id ||
	    t->status == TASK_RELEASING ||
	    (!held && (!ledger_is_unbound(charge) || charge == CHARGE_PATCHING))) {
		return;
	}
	accepts = !barred && hooks_queue_accepts(s, to, &why);
	text = barred    ? "its namespace may not use"
	       : accepts ? "has no room for this pod"
			 : arena_printf(s->arena, "accepts no pods: it %s", why.code);
	if (accepts && fits(s, t, to)) {
		move(s, t, to);
	} else if (held) {
		stay(s, t, to, text, accepts ? shortage_of_task(s, to, t) : "");
	} else {
		revoke_charge(s, t,
			      arena_printf(s->arena, "the %s names queue %s now, which %s",
					   namer(s, t), to->name, text));
	}
}

/* PodGroups of a queue that does not exist are not in this list: no charge can follow to it. */
void moves_run(struct session *s)
{
	const struct cluster *c = s->cluster;

	for (size_t i = 0; i < c->queues.n; i++) {
		const struct queue *q = c->queues.v[i];

		for (size_t k = 0; q != NULL && q->exists && k < session_podgroups(s, q)->n; k++) {
			const struct podgroup *g = session_podgroups(s, q)->v[k];

			for (size_t m = 0; m < g->tasks.n; m++) {
				move_or_report(s, session_task(s, g->tasks.v[m]), q,
					       g->barred_by != MODEL_NONE);
			}
		}
	}
}
