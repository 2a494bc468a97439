#include "scheduler/pods/actions/allocate_place.h"

#include "base/arena.h"
#include "scheduler/pods/model/pod_class.h"
#include "scheduler/pods/session/fit.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/statement.h"

bool allocate_place_is_candidate(const struct session *s, const struct task *t)
{
	enum charge_state charge = session_task_charge(s, t);

	if ((t->flags & TASK_OURS) == 0 || (t->flags & (TASK_OUR_GATE | TASK_FOREIGN_GATE)) != 0 ||
	    t->klass == NULL || t->klass->best_effort ||
	    session_task_status(s, t) != TASK_PENDING || session_task_is_set_aside(s, t)) {
		return false;
	}
	if ((t->flags & TASK_OPTED_IN) == 0) {
		return true;
	}
	/* Kubernetes refuses to bind a gated pod: the removal must be acknowledged first. */
	return charge == CHARGE_UNGATED || charge == CHARGE_PUBLISHED;
}

static const char *quota_text(struct session *s, const struct reason *why)
{
	if (why->code == NULL) {
		return "the queue has no room";
	}
	return why->detail == NULL
		       ? why->code
		       : arena_printf(session_arena(s), "%s: %s", why->code, why->detail);
}

/* Volcano gives the quota of terminating pods to new ones; the ledger counts them until they are
 * gone. Where other pods hold quota without a node, the difference would be taken from them, and
 * published pods would have to be withdrawn: then the stricter count applies. */
static bool takes_reserved_quota(struct session *s, const struct queue *q, const struct task *t)
{
	const struct queue *at;

	QUEUE_FOR_EACH_UP (at, session_cluster(s), q->id) {
		if (res_over(session_queue_charged(s, at), pod_class_charge(t->klass),
			     session_queue_limit(s, at), pod_class_charge_mask(t->klass)) != 0 &&
		    session_queue_has_unbound(s, at)) {
			return true;
		}
	}
	return false;
}

static bool quota_admits(struct session *s, const struct queue *q, const struct task *t,
			 struct reason *why)
{
	if (!hooks_allocatable(s, q, t, why)) {
		return false;
	}
	if (takes_reserved_quota(s, q, t)) {
		*why = (struct reason){
			.code = "the quota that is being released is reserved for other pods"
		};
		return false;
	}
	return true;
}

/* Places t; false: it fits no node now. */
static bool place_task(struct session *s, const struct allocate_work *w, const struct task *t)
{
	struct reason why = { .code = NULL };
	const struct node *n = NULL;

	/* A charge is the quota vote, passed: it is not asked again. */
	if (session_task_charge(s, t) == CHARGE_NONE && !quota_admits(s, w->queue, t, &why)) {
		session_note_attempt(s, t, ATTEMPT_QUOTA, NULL, quota_text(s, &why));
		return false;
	}
	switch (fit_find(s, t, &n)) {
	case FIT_IDLE:
		statement_allocate(s, t, n);
		session_note_attempt(s, t, ATTEMPT_ALLOCATED, n, NULL);
		return true;
	case FIT_RELEASING:
		session_note_attempt(s, t, ATTEMPT_PIPELINED, n, fit_explain(s, t));
		statement_pipeline(s, t, n);
		return true;
	case FIT_NONE:
		break;
	}
	session_note_attempt(s, t, ATTEMPT_NO_NODE, NULL, fit_explain(s, t));
	return false;
}

/* A gang without spare members fails with the first one that does not fit. */
static bool needs_all_members(const struct podgroup *g)
{
	return g->min_member > 0 && (size_t)g->min_member >= g->tasks.n;
}

/* A gang of pods that opted in waits until the gates of all members that it needs are off. */
static bool is_complete(struct session *s, const struct allocate_work *w)
{
	struct gang_need need;

	if (!w->opted_in || hooks_job_ready(s, w->podgroup)) {
		return true;
	}
	gang_need(s, w->podgroup, GANG_PLACEABLE, &need);
	return gang_is_met(&need);
}

static bool may_place(struct allocate_run *run, struct allocate_work *w)
{
	struct session *s = run->session;

	if (session_podgroup_phase(s, w->podgroup) == PODGROUP_PENDING) {
		if (run->enqueue_configured) {
			return false;
		}
		statement_set_phase(s, w->podgroup, PODGROUP_INQUEUE);
	}
	return hooks_job_valid(s, w->podgroup, NULL) && is_complete(s, w);
}

static bool end_statement(struct session *s, struct allocate_work *w, struct statement st,
			  bool placed)
{
	if (hooks_job_ready(s, w->podgroup)) {
		statement_commit(s, st);
		return placed;
	}
	/* The gang is not complete. If it would be with what is being released, the room is held
	 * for it; otherwise all is taken back, so that others may use it. */
	w->place.next = w->place.n;
	session_wait_for_nodes(s, w->queue);
	if (placed && hooks_job_pipelined(s, w->podgroup)) {
		session_note_held(s, w->podgroup);
		statement_hold(s, st);
	} else {
		statement_discard(s, st);
	}
	return false;
}

bool allocate_place_step(struct allocate_run *run, struct allocate_work *w)
{
	struct session *s = run->session;
	struct statement st;
	bool placed = false;

	if (w->place.next == w->place.n) {
		return false;
	}
	if (!may_place(run, w)) {
		w->place.next = w->place.n;
		return false;
	}
	session_note_tried(s, w->podgroup);
	st = statement_begin(s);
	while (w->place.next < w->place.n) {
		const struct task *t = w->place.v[w->place.next++];

		if (!place_task(s, w, t)) {
			session_wait_for_nodes(s, w->queue);
			if (needs_all_members(w->podgroup)) {
				break;
			}
			continue;
		}
		placed = true;
		/* Enough for this turn: the rest is elastic, and other queues go before it. */
		if (hooks_job_ready(s, w->podgroup)) {
			break;
		}
	}
	return end_statement(s, w, st, placed);
}
