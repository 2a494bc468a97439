#include "scheduler/pods/actions/allocate_gate.h"

#include <string.h>

#include "base/arena.h"
#include "collections/bitset.h"
#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/statement.h"
#include "scheduler/pods/values/pod_class.h"

static void ungate_uncharged(struct session *s, const struct task *t)
{
	struct decision *d = decision_add(session_decisions(s), DECISION_UNGATE);

	d->task = t->id;
	d->uncharged = true;
}

/* A gate that can be removed without quota. */
static bool has_uncharged_gate(const struct session *s, const struct task *t)
{
	return (t->flags & (TASK_OURS | TASK_OUR_GATE)) == (TASK_OURS | TASK_OUR_GATE) &&
	       (t->flags & TASK_UNGATING) == 0 && t->klass != NULL &&
	       !session_task_is_set_aside(s, t) && session_task_status(s, t) == TASK_PENDING &&
	       session_task_charge(s, t) == CHARGE_NONE;
}

/* Its namespace may not use its queue, or its PodGroup has a field that is not supported. */
static bool is_barred(const struct session *s, const struct task *t)
{
	const struct podgroup *g =
		t->podgroup == MODEL_NONE ? NULL : session_cluster(s)->podgroups.v[t->podgroup];

	return g != NULL && (g->barred_by != MODEL_NONE || g->unsupported != PODGROUP_SUPPORTED);
}

bool allocate_gate_remove_uncharged(struct allocate_run *run, const struct queue *q,
				    const struct task *t)
{
	struct session *s = run->session;

	if (!run->reserves || !session_conf(s)->gates_admission || !has_uncharged_gate(s, t)) {
		return false;
	}
	/* A pod that did not opt in, or has opted out, asks for no quota. Of the others only one
	 * without requests goes uncharged, and only where it would be let in. */
	if ((t->flags & TASK_OPTED_IN) != 0 &&
	    (!t->klass->best_effort || is_barred(s, t) || t->klass->unsupported != NULL ||
	     (t->flags & TASK_FOREIGN_GATE) != 0 || !hooks_queue_accepts(s, q, NULL))) {
		return false;
	}
	ungate_uncharged(s, t);
	return true;
}

void allocate_gate_drain(struct session *s)
{
	const struct cluster *c = session_cluster(s);

	for (size_t i = 0; i < c->tasks.n; i++) {
		if (c->tasks.v[i] != NULL && has_uncharged_gate(s, c->tasks.v[i])) {
			ungate_uncharged(s, c->tasks.v[i]);
		}
	}
}

static struct allocate_refusal *refusal_of(struct allocate_run *run, const struct allocate_work *w)
{
	return &run->refused[w->queue->id];
}

static bool was_refused(struct allocate_run *run, const struct allocate_work *w,
			const struct task *t)
{
	const uint64_t *set = refusal_of(run, w)->classes;

	return set != NULL && bitset_has(set, t->klass->id);
}

/* The answer for one pod of a class holds for all, since charges only grow during a run, except
 * when a gang is undone. So an answer is kept only if no member of an incomplete gang was charged
 * before it. */
static void remember_refusal(struct allocate_run *run, const struct allocate_work *w,
			     const struct task *t)
{
	struct session *s = run->session;
	struct allocate_refusal *r = refusal_of(run, w);

	if (r->classes == NULL) {
		r->classes = arena_zero(session_arena(s),
					BITSET_WORDS(session_cluster(s)->class_by_id.n),
					sizeof(*r->classes));
	}
	bitset_set(r->classes, t->klass->id);
}

/* Room in the queue and in every ancestor, in what t requests. */
static bool has_room(struct allocate_run *run, const struct allocate_work *w, const struct task *t)
{
	struct allocate_refusal *r = refusal_of(run, w);
	uint32_t over;
	const struct queue *full = session_find_full_queue(run->session, w->queue, t, &over);

	if (full == NULL) {
		return true;
	}
	if (r->by != full || r->dims != over) {
		r->by = full;
		r->dims = over;
		r->text = session_describe_full_queue(run->session, full, over);
	}
	return false;
}

static void reserve(struct allocate_run *run, struct allocate_work *w, const struct task *t)
{
	statement_reserve(run->session, t);
	if ((t->flags & (TASK_OUR_GATE | TASK_GATE_ONLY)) == 0) {
		w->place.v[w->place.n++] = t;
	}
}

static void note_quota_refusal(struct allocate_run *run, const struct allocate_work *w)
{
	session_note_refusal(run->session, w->podgroup, "quota", refusal_of(run, w)->text);
}

bool allocate_gate_has_no_room(struct allocate_run *run, const struct allocate_work *w)
{
	for (size_t i = 0; i < w->reserve.n; i++) {
		const struct task *t = w->reserve.v[i];

		if (was_refused(run, w, t)) {
			continue;
		}
		if (has_room(run, w, t)) {
			return false;
		}
		remember_refusal(run, w, t);
	}
	note_quota_refusal(run, w);
	return true;
}

/* Whether the PodGroup may reserve at all. */
static bool may_reserve(struct allocate_run *run, const struct allocate_work *w)
{
	struct session *s = run->session;

	if (!run->reserves) {
		session_note_refusal(s, w->podgroup, "no quota plugin",
				     "no quota plugin is active: no gate is removed");
		return false;
	}
	/* The status of the PodGroup asks the same, and reports the reasons. */
	return hooks_queue_accepts(s, w->queue, NULL) && hooks_job_valid(s, w->podgroup, NULL);
}

/* The attempt counts members into the copy: when it is undone, the original is as before. */
static struct gang_need copy_need(struct session *s, const struct gang_need *need)
{
	struct gang_need copy = *need;

	if (need->nroles > 0) {
		copy.roles = arena_alloc(session_arena(s), need->nroles * sizeof(copy.roles[0]));
		memcpy(copy.roles, need->roles, need->nroles * sizeof(copy.roles[0]));
	}
	return copy;
}

static void give_up_gang(struct allocate_run *run, struct allocate_work *w, bool refused)
{
	w->reserve.next = w->reserve.n;
	if (refused) {
		note_quota_refusal(run, w);
	} else {
		session_note_refusal(run->session, w->podgroup, "members",
				     "members of the gang cannot be reserved yet");
	}
}

/* 1. Reserve the missing members of the gang in task order; skip one without room, since a smaller
 *    one may fit.
 * 2. When none is missing any more, keep the reservations; the remaining pods are handled one by
 *    one.
 * 3. Otherwise undo all of them. */
static bool reserve_gang(struct allocate_run *run, struct allocate_work *w)
{
	struct session *s = run->session;
	struct statement st = statement_begin(s);
	struct gang_need need = copy_need(s, &w->need);
	const struct task **rest =
		arena_alloc(session_arena(s), (w->reserve.n + 1) * sizeof(*rest));
	size_t nrest = 0, reserved = 0, place_mark = w->place.n;
	bool refused = false;

	for (size_t i = w->reserve.next; i < w->reserve.n; i++) {
		const struct task *t = w->reserve.v[i];

		if (gang_is_met(&need) || !gang_needs_role(&need, t->role)) {
			rest[nrest++] = t;
			continue;
		}
		if (!was_refused(run, w, t) && has_room(run, w, t)) {
			reserve(run, w, t);
			gang_add_member(&need, t->role);
			reserved++;
			continue;
		}
		refused = true;
		rest[nrest++] = t;
		if (reserved == 0) {
			remember_refusal(run, w, t);
		}
	}
	if (!gang_is_met(&need)) {
		statement_discard(s, st);
		w->place.n = place_mark;
		give_up_gang(run, w, refused);
		return false;
	}
	statement_commit(s, st);
	w->need = need;
	w->reserve = (struct allocate_list){ .v = rest, .n = nrest };
	return true;
}

static bool reserve_one(struct allocate_run *run, struct allocate_work *w)
{
	while (w->reserve.next < w->reserve.n) {
		const struct task *t = w->reserve.v[w->reserve.next++];

		if (!was_refused(run, w, t)) {
			if (has_room(run, w, t)) {
				reserve(run, w, t);
				return true;
			}
			remember_refusal(run, w, t);
		}
		note_quota_refusal(run, w);
	}
	return false;
}

static void report_reserved(struct allocate_run *run, const struct allocate_work *w)
{
	struct decision *d = decision_add(session_decisions(run->session), DECISION_EVENT);

	if (w->podgroup->kind == PODGROUP_ALONE) {
		d->task = w->podgroup->tasks.v[0];
		d->hint = true; /* there may be thousands of them at once */
	} else {
		d->podgroup = w->podgroup->id;
	}
	d->reason = "QuotaReserved";
	d->message = "the queue has room: quota is reserved and gates are removed";
}

bool allocate_gate_step(struct allocate_run *run, struct allocate_work *w)
{
	bool reserved;

	if (w->reserve.next == w->reserve.n) {
		return false;
	}
	if (!may_reserve(run, w)) {
		w->reserve.next = w->reserve.n;
		return false;
	}
	reserved = gang_is_met(&w->need) ? reserve_one(run, w) : reserve_gang(run, w);
	if (!reserved) {
		return false;
	}
	report_reserved(run, w);
	if (session_podgroup_phase(run->session, w->podgroup) == PODGROUP_PENDING) {
		statement_set_phase(run->session, w->podgroup, PODGROUP_INQUEUE);
	}
	return true;
}
