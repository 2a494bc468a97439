#include "scheduler/pods/cycle/status.h"

#include <stdlib.h>

#include "base/str.h"
#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/cycle/holds.h"
#include "scheduler/pods/cycle/shortage.h"
#include "scheduler/pods/cycle/status_podgroup.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/session/gang.h"
#include "scheduler/pods/session/session_priv.h"
#include "scheduler/pods/session/statement.h"
#include "scheduler/pods/values/pod_class.h"

#define NO_MESSAGE "the pod group is waiting for its turn"

static void add_event(struct session *s, const struct task *t, const char *reason,
		      const char *message)
{
	struct decision *d = decision_add(&s->decisions, DECISION_EVENT);

	d->task = t->id;
	d->warning = true;
	d->reason = reason;
	d->message = message;
}

static bool was_said(const struct task *t, const char *message)
{
	return t->cond_message == str_hash(str_of(message));
}

struct podgroup_view {
	const struct queue *queue;
	const struct podgroup *podgroup;
	struct verdict verdict;
	bool placeable; /* its gang is complete and ungated: what is charged may be published */
};

/* Adds the amounts that t, or else its gang, lacks now. The event is known by the message without
 * them, so that it is not repeated whenever they change. */
static void add_amounts(struct session *s, const struct task *t, const struct podgroup_view *v,
			struct decision *d)
{
	const char *amounts = shortage_of_task(s, v->queue, t);

	if (amounts[0] == '\0') {
		amounts = shortage_of_podgroup(s, v->queue, v->podgroup);
	}
	d->hash = str_hash(str_of(d->message));
	d->message = arena_printf(s->arena, "%s%s", d->message, amounts);
}

/* A gated pod keeps the API server's own condition; an event gives the reason, once. Waiting for
 * quota is a Normal event, and there may be very many of them. */
static void report_gated(struct session *s, const struct task *t, const struct podgroup_view *view)
{
	const struct verdict *v = &view->verdict;
	const char *message =
		v->queue_refuses || v->unsupported ? v->message : t->klass->unsupported;
	struct decision *d;

	if (message != NULL) {
		if (!was_said(t, message)) {
			add_event(s, t, v->queue_refuses ? "QueueUnavailable" : "Unsupported",
				  message);
		}
		return;
	}
	message = v->message;
	if (message == NULL || (t->flags & TASK_FOREIGN_GATE) != 0 || was_said(t, message) ||
	    session_task_charge(s, t) != CHARGE_NONE) {
		return;
	}
	d = decision_add(&s->decisions, DECISION_EVENT);
	d->task = t->id;
	d->hint = true;
	d->reason = v->valid ? "WaitingForQuota" : "WaitingForGang";
	d->message = message;
	if (v->valid && str_streq(v->code, "quota")) {
		add_amounts(s, t, view, d);
	}
}

static void publish(struct session *s, const struct task *t, const char *message)
{
	struct decision *d = decision_add(&s->decisions, DECISION_PUBLISH);

	d->task = t->id;
	d->node = session_task_awaits(s, t);
	d->reason = "Unschedulable";
	d->message = message;
	add_event(s, t, "FailedScheduling", message);
	/* The model gets published_at when the decision is assumed; the scan of this cycle, which
	 * is made before that, must know when the reservation times out. */
	if (s->conf->reservation_timeout_ns > 0 && t->podgroup != MODEL_NONE) {
		session_wait_until(
			s, s->cluster->queues.v[s->cluster->podgroups.v[t->podgroup]->queue],
			s->now + s->conf->reservation_timeout_ns);
	}
}

static void withdraw(struct session *s, const struct task *t, const char *message)
{
	struct decision *d = decision_add(&s->decisions, DECISION_WITHDRAW);

	d->task = t->id;
	d->reason = "NotReadyForScheduling";
	d->message = message;
}

static const char *publish_message(const struct session *s, const struct task *t,
				   const struct podgroup_view *v)
{
	const struct overlay_task *slot = session_priv_task(s, t);

	if (slot->attempt_message != NULL) {
		return slot->attempt_message;
	}
	return v->verdict.message != NULL ? v->verdict.message : "the gang does not fit the nodes";
}

/* The pod must be nominated to the node that is held for it, and to none when that has ended: to
 * autoscalers, a nominated pod needs no node. A nomination by others stays. */
static bool nomination_is_off(const struct session *s, const struct task *t)
{
	uint32_t node = session_task_awaits(s, t);

	return node != MODEL_NONE ? t->nominated != node
				  : t->awaits != MODEL_NONE && t->nominated != MODEL_NONE;
}

/* It stays published, with or without a nomination. */
static void renominate(struct session *s, const struct task *t, const char *message)
{
	struct decision *d = decision_add(&s->decisions, DECISION_CONDITION);

	d->task = t->id;
	d->node = session_task_awaits(s, t);
	d->reason = "Unschedulable";
	d->message = message;
}

/* Autoscalers must not see a pod without quota. One that was revoked in this cycle has its
 * withdrawal already. */
static void withdraw_uncharged(struct session *s, const struct task *t)
{
	if (session_task_charge(s, t) == CHARGE_NONE && cluster_task_may_be_published(t) &&
	    !session_task_was_revoked(s, t)) {
		withdraw(s, t, "the queue has no quota for the pod at present");
	}
}

/* 1. A pod with a gate has the API server's own condition; an event says why it waits.
 * 2. A pod without requests is published when no node takes it: it needs no quota.
 * 3. A pod with quota is published when its gang is complete and was tried on nodes.
 * 4. A pod that lost its quota is withdrawn. */
static void report_opted_in(struct session *s, const struct task *t, const struct podgroup_view *v)
{
	enum charge_state charge = session_task_charge(s, t);
	bool tried = v->placeable && session_podgroup_was_tried(s, v->podgroup);

	if ((t->flags & (TASK_OUR_GATE | TASK_FOREIGN_GATE)) != 0) {
		report_gated(s, t, v);
		return;
	}
	if (t->klass->best_effort) {
		/* It never has a charge, so only its condition shows whether it is published. */
		if (session_priv_task(s, t)->attempt == ATTEMPT_NO_NODE &&
		    t->cond != POD_COND_UNSCHEDULABLE) {
			publish(s, t, publish_message(s, t, v));
		}
		return;
	}
	if (charge == CHARGE_UNGATED && tried) {
		publish(s, t, publish_message(s, t, v));
	} else if (t->charge == CHARGE_PUBLISHED && !session_task_was_revoked(s, t) &&
		   nomination_is_off(s, t)) {
		renominate(s, t, publish_message(s, t, v));
	}
	withdraw_uncharged(s, t);
}

#define NO_GATE "the pod has no gate, and Headgate did not remove it: "
#define ELSEWHERE                                                                                  \
	"the gate was removed with the mark headgate.io/reserved, and not by this scheduler: "     \
	"another installation, or a leader before this one, gates for the same schedulerName; "

/* The report about a pod of which this process has not taken the gate off; NULL: none. */
static const char *describe_lost_gate(const struct task *t)
{
	bool theirs = (t->flags & TASK_GATE_ONLY) != 0;

	if ((t->flags & TASK_UNGATED_ELSEWHERE) != 0) {
		return theirs ? ELSEWHERE "it is charged to its queue, beyond the limit if need be"
			      : ELSEWHERE "it gets no node before its queue has quota for it";
	}
	if (t->charge != CHARGE_NONE || (t->flags & TASK_RESERVED_MARK) != 0) {
		return NULL;
	}
	return theirs ? NO_GATE "its scheduler may start it without quota; it is charged to its "
				"queue when there is room, or else when it has a node"
		      : NO_GATE "it gets no node before its queue has quota for it";
}

/* Once. From the first condition of ours on, that says more; and what was said of a pod with such a
 * condition is not known any more. */
static void report_lost_gate(struct session *s, const struct task *t)
{
	const uint32_t mustnot = (uint32_t)TASK_OUR_GATE | TASK_FOREIGN_GATE;
	bool is_reported = (t->flags & TASK_GATE_ONLY) == 0 && t->cond != POD_COND_NONE &&
			   t->cond != POD_COND_GATED;
	const char *message;

	if ((t->flags & (mustnot | TASK_OPTED_IN)) != TASK_OPTED_IN || is_reported ||
	    !s->conf->gates_admission || t->klass->best_effort) {
		return;
	}
	message = describe_lost_gate(t);
	if (message != NULL && !was_said(t, message)) {
		add_event(s, t, "UngatedByOthers", message);
	}
}

/* Reason and text for a pod that did not opt in, as Volcano has them. */
static const char *describe(const struct session *s, const struct task *t,
			    const struct podgroup_view *v, const char **ret_message)
{
	const struct overlay_task *slot = session_priv_task(s, t);
	const char *node = slot->attempt_node == MODEL_NONE
				   ? ""
				   : s->cluster->nodes.v[slot->attempt_node]->name;

	*ret_message = slot->attempt_message;
	/* Autoscalers must not add nodes for pods that would not be placed on them. */
	if (t->klass->unsupported != NULL || v->verdict.unsupported) {
		*ret_message =
			t->klass->unsupported != NULL ? t->klass->unsupported : v->verdict.message;
		return "NotReadyForScheduling";
	}
	switch ((enum attempt)slot->attempt) {
	/* Volcano's reason for a member that has room and waits for its gang. */
	case ATTEMPT_ALLOCATED:
		*ret_message = arena_printf(s->arena,
					    "the pod can be assigned to node %s once minMember of "
					    "its pod group is met",
					    node);
		return "Schedulable";
	case ATTEMPT_PIPELINED:
		*ret_message = arena_printf(s->arena,
					    "the pod can be assigned to node %s once resources "
					    "there are released",
					    node);
		return "Unschedulable";
	case ATTEMPT_NONE:
		*ret_message = v->verdict.message != NULL ? v->verdict.message : NO_MESSAGE;
		return "Unschedulable";
	case ATTEMPT_QUOTA:
	case ATTEMPT_NO_NODE:
		break;
	}
	return "Unschedulable";
}

static bool cond_is(const struct task *t, const char *reason)
{
	switch ((enum pod_cond)t->cond) {
	case POD_COND_UNSCHEDULABLE:
		return str_streq(reason, "Unschedulable");
	case POD_COND_SCHEDULABLE:
		return str_streq(reason, "Schedulable");
	case POD_COND_NOT_READY:
		return str_streq(reason, "NotReadyForScheduling");
	case POD_COND_NONE:
	case POD_COND_GATED:
	case POD_COND_ERROR:
	case POD_COND_TRUE:
	case POD_COND_OTHER:
	case POD_COND_COUNT_:
		break;
	}
	return false;
}

static void report_plain(struct session *s, const struct task *t, const struct podgroup_view *v)
{
	const char *message, *reason;
	struct decision *d;
	bool is_new;

	/* As in Volcano, the API server's condition SchedulingGated stays: autoscalers pass over
	 * it. */
	if ((t->flags & (TASK_OUR_GATE | TASK_FOREIGN_GATE)) != 0) {
		return;
	}
	reason = describe(s, t, v, &message);
	is_new = !cond_is(t, reason) || !was_said(t, message);
	if (!is_new && !nomination_is_off(s, t)) {
		return;
	}
	d = decision_add(&s->decisions, DECISION_CONDITION);
	d->task = t->id;
	d->node = session_task_awaits(s, t);
	d->reason = reason;
	d->message = message;
	if (!is_new) {
		return;
	}
	add_event(s, t, "FailedScheduling", message);
	if (session_priv_task(s, t)->attempt == ATTEMPT_QUOTA || v->verdict.kept_out) {
		add_amounts(s, t, v, &s->decisions.v[s->decisions.n - 1]);
	}
}

/* Notes when the pod may be decided again, or its reservation times out. */
static void note_timers(struct session *s, const struct queue *q, const struct task *t)
{
	if (t->retry_at != MODEL_TIME_NONE && t->retry_at > s->now) {
		session_wait_until(s, q, t->retry_at);
	}
	if (t->charge == CHARGE_PUBLISHED && t->published_at != MODEL_TIME_NONE &&
	    s->conf->reservation_timeout_ns > 0) {
		session_wait_until(s, q, t->published_at + s->conf->reservation_timeout_ns);
	}
}

/* The pause after a revocation keeps a pod from quota, not from being withdrawn: the withdrawal
 * that was decided with the revocation may not have been sent. A write that failed is not repeated
 * before its backoff is over. */
static void report_set_aside(struct session *s, const struct task *t)
{
	const uint32_t mustnot = (uint32_t)TASK_OUR_GATE | TASK_FOREIGN_GATE | TASK_GATE_ONLY;

	if ((t->flags & (mustnot | TASK_OPTED_IN)) == TASK_OPTED_IN &&
	    cluster_task_may_be_written(t, s->now) && !t->klass->best_effort) {
		withdraw_uncharged(s, t);
	}
}

static void report_task(struct session *s, const struct task *t, const struct podgroup_view *v)
{
	enum task_status status = session_task_status(s, t);

	if ((t->flags & TASK_OURS) == 0 || t->klass == NULL || t->status != TASK_PENDING) {
		return;
	}
	report_lost_gate(s, t);
	if (status != TASK_PENDING && status != TASK_PIPELINED) {
		return;
	}
	/* A pod that is set aside is not reported, but its queue must come due when the wait ends.
	 */
	note_timers(s, v->queue, t);
	if (session_task_is_set_aside(s, t)) {
		report_set_aside(s, t);
		return;
	}
	if ((t->flags & TASK_GATE_ONLY) != 0) {
		/* Its own scheduler writes its conditions. */
		if ((t->flags & (TASK_OUR_GATE | TASK_FOREIGN_GATE)) != 0) {
			report_gated(s, t, v);
		}
	} else if ((t->flags & TASK_OPTED_IN) != 0) {
		report_opted_in(s, t, v);
	} else if (v->podgroup->exists) {
		report_plain(s, t, v);
	}
}

static void report_podgroup(struct session *s, const struct queue *q, const struct podgroup *g)
{
	struct podgroup_view v = { .queue = q, .podgroup = g };
	struct gang_need need;

	s->podgroups_seen++;
	status_podgroup_assess(s, q, g, &v.verdict);
	status_podgroup_report(s, g, &v.verdict);
	/* Most PodGroups have all their pods on nodes: the walk over them is spared. */
	if (g->by_status[TASK_PENDING] == 0) {
		return;
	}
	if (session_podgroup_was_tried(s, g) && v.verdict.valid && !v.verdict.queue_refuses) {
		gang_need(s, g, GANG_PLACEABLE, &need);
		v.placeable = gang_is_met(&need);
	}
	for (size_t i = 0; i < g->tasks.n; i++) {
		report_task(s, session_task(s, g->tasks.v[i]), &v);
	}
}

static void settle_stranded(struct session *s, const struct task *t)
{
	static const char message[] = "the PodGroup of the pod is gone, and with it the quota";
	struct statement st;

	if (!cluster_task_has_lost_hold(t)) {
		withdraw(s, t, message);
		add_event(s, t, "QuotaRevoked", message);
		return;
	}
	st = statement_begin(s);
	holds_give_up(s, t, "its PodGroup or its queue is gone");
	statement_commit(s, st);
}

static void settle_all_stranded(struct session *s)
{
	const struct cluster *c = s->cluster;

	for (size_t i = 0; i < c->stranded.n; i++) {
		const struct task *t = cluster_task_stranded_at(c, i);

		if (t != NULL && cluster_task_may_be_written(t, s->now)) {
			settle_stranded(s, t);
		}
	}
}

static int by_place(const void *a, const void *b)
{
	const struct podgroup *const *x = a, *const *y = b;

	if ((*x)->queue != (*y)->queue) {
		return (*x)->queue < (*y)->queue ? -1 : 1;
	}
	return (*x)->queue_pos < (*y)->queue_pos ? -1 : 1;
}

/* PodGroups at which the cycle would not look, but which it has changed: they lost pods to others,
 * or got the room that was held for them. */
static const struct podgroup **list_changed(const struct session *s, size_t *ret_n)
{
	size_t n, kept = 0;
	const uint32_t *ids = session_touched_podgroups(s, &n);
	const struct podgroup **v = arena_alloc(s->arena, (n + 1) * sizeof(*v));

	for (size_t i = 0; i < n; i++) {
		const struct podgroup *g = s->cluster->podgroups.v[ids[i]];

		if (g->queue != MODEL_NONE && !session_podgroup_is_due(s, g)) {
			v[kept++] = g;
		}
	}
	if (kept > 1) {
		qsort(v, kept, sizeof(v[0]), by_place);
	}
	*ret_n = kept;
	return v;
}

/* In the order of the queues, and of their PodGroups. */
void status_run(struct session *s)
{
	const struct cluster *c = s->cluster;
	size_t n, next = 0;
	const struct podgroup **changed = list_changed(s, &n);

	settle_all_stranded(s);
	for (size_t i = 0; i < c->queues.n; i++) {
		const struct queue *q = c->queues.v[i];
		const struct podgroup_list *l = q == NULL ? NULL : session_podgroups(s, q);

		for (size_t k = 0; l != NULL && k < l->n; k++) {
			for (; next < n && changed[next]->queue == i &&
			       changed[next]->queue_pos < l->v[k]->queue_pos;
			     next++) {
				report_podgroup(s, q, changed[next]);
			}
			report_podgroup(s, q, l->v[k]);
		}
		for (; next < n && changed[next]->queue == i; next++) {
			report_podgroup(s, q, changed[next]);
		}
	}
}
