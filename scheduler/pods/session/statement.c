#include "scheduler/pods/session/statement.h"

#include <assert.h>
#include <string.h>

#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/session/domains.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/session_priv.h"
#include "scheduler/pods/session/volume_plan.h"
#include "scheduler/pods/values/pod_class.h"

struct statement statement_begin(struct session *s)
{
	s->statements++;
	return (struct statement){ .undo_mark = s->overlay->log.n,
				   .decision_mark = s->decisions.n };
}

static void set_status(struct session *s, const struct task *t, enum task_status status,
		       uint32_t node)
{
	struct overlay *o = s->overlay;
	struct overlay_task *slot = session_overlay_task(o, t);

	if (t->podgroup != MODEL_NONE) {
		struct overlay_podgroup *g =
			session_overlay_podgroup(o, s->cluster->podgroups.v[t->podgroup]);

		session_overlay_touch_podgroup(o, s->cluster->podgroups.v[t->podgroup]);
		session_overlay_set32(o, &g->by_status[slot->status],
				      g->by_status[slot->status] - 1);
		session_overlay_set32(o, &g->by_status[status], g->by_status[status] + 1);
		/* Statements only take tasks out of Pending; the way back is the undo log. */
		if (t->klass->best_effort && slot->status == TASK_PENDING) {
			session_overlay_set32(o, &g->best_effort_pending,
					      g->best_effort_pending - 1);
		}
	}
	session_overlay_set8(o, &slot->status, (uint8_t)status);
	session_overlay_set32(o, &slot->node, node);
}

/* Each pod takes one of the pods of its node, which it does not request by name. */
static uint32_t booked_mask(const struct task *t)
{
	return t->klass->mask | RES_PODS_BIT;
}

static void set_charge(struct session *s, const struct task *t, enum charge_state state)
{
	struct overlay_task *slot = session_overlay_task(s->overlay, t);

	/* All states of a charge weigh the same: queues only see it come and go. */
	if ((slot->charge == CHARGE_NONE) != (state == CHARGE_NONE)) {
		session_overlay_charge(s->overlay, session_task_queue(s, t), t,
				       state == CHARGE_NONE ? -1 : 1);
	}
	session_overlay_set8(s->overlay, &slot->charge, (uint8_t)state);
	if (t->podgroup != MODEL_NONE) {
		session_overlay_touch_podgroup(s->overlay, s->cluster->podgroups.v[t->podgroup]);
	}
}

static void add_to_node(struct session *s, const struct task *t, const struct node *n)
{
	struct overlay_node *slot = session_overlay_node(s->overlay, n);

	if (slot->nadded == slot->cap) {
		/* Nothing refers to the old list: a rollback restores the count alone. */
		const struct task **grown;

		slot->cap = slot->cap == 0 ? 8 : slot->cap * 2;
		grown = arena_alloc(s->arena, slot->cap * sizeof(*grown));
		if (slot->nadded > 0) {
			memcpy(grown, slot->added, slot->nadded * sizeof(*grown));
		}
		slot->added = grown;
	}
	slot->added[slot->nadded] = t;
	session_overlay_set32(s->overlay, &slot->nadded, slot->nadded + 1);
}

/* Plugins are notified of the undoing, too. The entry is made before the changes that belong to it,
 * and so undone after them: a plugin that is called sees the state as it was. */
static void log_event(struct session *s, enum undo_kind kind, const struct task *t)
{
	struct undo u = { .kind = (uint8_t)kind, .at.task = t };

	vec_push(&s->overlay->log, u);
}

static void take_volume(struct session *s, const struct task *t, const struct claim *cl,
			const struct volume *v, bool decided)
{
	struct decision *d;

	session_overlay_set32(s->overlay, &session_overlay_volume(s->overlay, v)->claim, cl->id);
	if (decided) {
		d = decision_add(&s->decisions, DECISION_TAKE_VOLUME);
		d->task = t->id;
		d->claim = cl->id;
		d->volume = v->id;
	}
}

/* An unbound claim is bound for one node, and a volume that is there is reserved for it, whichever
 * of its pods is the first to get one. */
static void use_claims(struct session *s, const struct task *t, const struct node *n, bool decided)
{
	struct volume_plan plan;

	if (t->klass->nclaims == 0) {
		return;
	}
	/* Only the plugin predicates lets pods with claims on nodes, and only if there is a plan.
	 */
	(void)volume_plan_make(s, t->klass, n, &plan);
	for (size_t i = 0; i < t->klass->nclaims; i++) {
		const struct claim *cl = s->cluster->claims.v[t->klass->claims[i].id];
		struct overlay_claim *slot = session_overlay_claim(s->overlay, cl);

		session_overlay_set32(s->overlay, &slot->node, n->id);
		session_overlay_set32(s->overlay, &slot->placed, slot->placed + 1);
		if (plan.take[i] != NULL) {
			take_volume(s, t, cl, plan.take[i], decided);
		}
	}
}

/* The node's use grows at once, so that the tasks behind see what is left; the queue's only if the
 * task had no charge. */
void statement_allocate(struct session *s, const struct task *t, const struct node *n)
{
	struct decision *d;

	assert(session_task_status(s, t) == TASK_PENDING);
	log_event(s, UNDO_ALLOCATE, t);
	set_status(s, t, TASK_ALLOCATED, n->id);
	session_overlay_add(s->overlay, &session_overlay_node(s->overlay, n)->used,
			    &t->klass->request, booked_mask(t), 1);
	add_to_node(s, t, n);
	use_claims(s, t, n, true);
	session_overlay_touch(s->overlay, n, false);
	domains_update(s, t);
	set_charge(s, t, CHARGE_ASSUMED);
	hooks_on_allocate(s, t);
	d = decision_add(&s->decisions, DECISION_BIND);
	d->task = t->id;
	d->node = n->id;
}

void statement_pipeline(struct session *s, const struct task *t, const struct node *n)
{
	assert(session_task_status(s, t) == TASK_PENDING);
	log_event(s, UNDO_ALLOCATE, t);
	set_status(s, t, TASK_PIPELINED, n->id);
	session_overlay_add(s->overlay, &session_overlay_node(s->overlay, n)->pipelined,
			    &t->klass->request, booked_mask(t), 1);
	add_to_node(s, t, n);
	use_claims(s, t, n, false);
	session_overlay_touch(s->overlay, n, false);
	domains_update(s, t);
	/* It will take the room and the quota when they come free, so both are held against later
	 * tasks. A charge that it has keeps its state: nothing is decided about the pod yet. */
	if (session_task_charge(s, t) == CHARGE_NONE) {
		set_charge(s, t, CHARGE_ASSUMED);
	}
	hooks_on_allocate(s, t);
}

/* Nothing terminates on the node: it is not in the list of those where this session evicts. */
static bool is_quiet(const struct session *s, uint32_t node)
{
	return res_is_zero(session_node_releasing(s, s->cluster->nodes.v[node]));
}

void statement_evict(struct session *s, const struct task *t, const struct task *by,
		     const char *message)
{
	uint32_t node = session_task_node(s, t);
	const struct queue *q;
	struct decision *d;

	assert(node != MODEL_NONE && session_task_status(s, t) != TASK_RELEASING);
	log_event(s, UNDO_DEALLOCATE, t);
	if (is_quiet(s, node)) {
		vec_push(&s->overlay->evicted, node);
	}
	/* The victim keeps its node and its charge until it is gone: what it gives back is summed
	 * separately, and only pipelined tasks may count on it. */
	set_status(s, t, TASK_RELEASING, node);
	session_overlay_add(s->overlay,
			    &session_overlay_node(s->overlay, s->cluster->nodes.v[node])->releasing,
			    &t->klass->request, booked_mask(t), 1);
	session_overlay_touch(s->overlay, s->cluster->nodes.v[node], true);
	domains_update(s, t);
	if (session_task_charge(s, t) != CHARGE_NONE) {
		QUEUE_FOR_EACH_UP (q, s->cluster, session_task_queue(s, t)) {
			session_overlay_add(
				s->overlay, &session_overlay_queue(s->overlay, q)->releasing,
				pod_class_charge(t->klass), pod_class_charge_mask(t->klass), 1);
		}
	}
	hooks_on_deallocate(s, t);
	d = decision_add(&s->decisions, DECISION_EVICT);
	d->task = t->id;
	d->by = by->id;
	d->message = message;
}

void statement_await(struct session *s, const struct task *t, const struct node *n,
		     int64_t retry_at)
{
	struct overlay_task *slot = session_overlay_task(s->overlay, t);
	struct decision *d;

	session_overlay_set32(s->overlay, &slot->awaits, n == NULL ? MODEL_NONE : n->id);
	d = decision_add(&s->decisions, DECISION_AWAIT);
	d->task = t->id;
	d->node = n == NULL ? MODEL_NONE : n->id;
	d->retry_at = retry_at;
}

/* Without our gate there is nothing to patch: another client took it off, or the pod was withdrawn.
 */
void statement_reserve(struct session *s, const struct task *t)
{
	bool gated = (t->flags & TASK_OUR_GATE) != 0;
	struct decision *d;

	assert((session_task_charge(s, t) == CHARGE_NONE ||
		session_task_charge(s, t) == CHARGE_AWAITING_VICTIMS) &&
	       t->podgroup != MODEL_NONE);
	log_event(s, UNDO_ALLOCATE, t);
	set_charge(s, t, gated ? CHARGE_PATCHING : CHARGE_UNGATED);
	session_priv_mark_unbound(s, t);
	hooks_on_allocate(s, t);
	d = decision_add(&s->decisions, gated ? DECISION_UNGATE : DECISION_RESERVE);
	d->task = t->id;
	d->podgroup = t->podgroup;
	d->queue = s->cluster->podgroups.v[t->podgroup]->queue;
}

void statement_await_quota(struct session *s, const struct task *t)
{
	struct decision *d;

	assert(session_task_charge(s, t) == CHARGE_NONE && t->podgroup != MODEL_NONE);
	set_charge(s, t, CHARGE_AWAITING_VICTIMS);
	session_priv_mark_unbound(s, t);
	d = decision_add(&s->decisions, DECISION_AWAIT_QUOTA);
	d->task = t->id;
	d->queue = s->cluster->podgroups.v[t->podgroup]->queue;
}

void statement_revoke(struct session *s, const struct task *t, int64_t retry_at, uint32_t attempts)
{
	struct decision *d;

	assert(ledger_is_unbound(session_task_charge(s, t)));
	set_charge(s, t, ledger_state_when_given_up(t, session_task_charge(s, t)));
	session_overlay_set8(s->overlay, &session_overlay_task(s->overlay, t)->revoked, 1);
	d = decision_add(&s->decisions, DECISION_REVOKE);
	d->task = t->id;
	d->queue = session_task_charge_queue(s, t);
	d->retry_at = retry_at;
	d->attempts = attempts;
}

void statement_set_phase(struct session *s, const struct podgroup *g, enum podgroup_phase phase)
{
	session_overlay_set8(s->overlay, &session_overlay_podgroup(s->overlay, g)->phase,
			     (uint8_t)phase);
	session_overlay_touch_podgroup(s->overlay, g);
}

/* Operations that the outermost statement keeps cannot be undone any more. */
static void end_statement(struct session *s, struct statement st)
{
	assert(s->statements > 0);
	assert(st.undo_mark <= s->overlay->log.n && st.decision_mark <= s->decisions.n);
	s->statements--;
	if (s->statements == 0) {
		vec_clear(&s->overlay->log);
	}
}

/* The charge that t had before entry i of the log, which is its allocation. */
static enum charge_state charge_before(const struct session *s, const struct task *t, size_t i)
{
	const struct overlay_task *slot = session_priv_task(s, t);
	const struct undo *u = &s->overlay->log.v[i];

	while (u->kind != UNDO_8 || u->at.w8 != &slot->charge) {
		u++;
	}
	return (enum charge_state)u->old;
}

/* As statement_pipeline has it. */
static void hold_task(struct session *s, const struct task *t, enum charge_state before)
{
	set_status(s, t, TASK_PIPELINED, session_task_node(s, t));
	if (before != CHARGE_NONE) {
		set_charge(s, t, before);
	}
	domains_update(s, t);
}

void statement_hold(struct session *s, struct statement st)
{
	/* They must not count as placed when others of their gang are tried in this session: that
	 * gang would be bound in part. The log grows by this. From its end, since quota may have
	 * been reserved for a pod before it was placed. */
	for (size_t i = s->overlay->log.n; i-- > st.undo_mark;) {
		const struct undo u = s->overlay->log.v[i];

		if (u.kind == UNDO_ALLOCATE &&
		    session_task_status(s, u.at.task) == TASK_ALLOCATED) {
			hold_task(s, u.at.task, charge_before(s, u.at.task, i));
		}
	}
	end_statement(s, st);
	s->decisions.n = st.decision_mark;
}

void statement_commit(struct session *s, struct statement st)
{
	end_statement(s, st);
}

static void undo_one(struct session *s, struct undo u)
{
	switch ((enum undo_kind)u.kind) {
	case UNDO_64:
		*u.at.w64 = u.old;
		break;
	case UNDO_32:
		*u.at.w32 = (uint32_t)u.old;
		break;
	case UNDO_8:
		*u.at.w8 = (uint8_t)u.old;
		break;
	case UNDO_NODE:
		/* A step forward, since caches that were filled in between compare versions. */
		s->overlay->nodes[u.node].version++;
		vec_push(&s->overlay->touched, u.node);
		s->overlay->grown++;
		break;
	case UNDO_ALLOCATE:
		domains_update(s, u.at.task);
		hooks_on_deallocate(s, u.at.task);
		break;
	case UNDO_DEALLOCATE:
		/* All else is undone by now: it is as before the eviction. */
		if (is_quiet(s, u.at.task->node)) {
			(void)vec_pop(&s->overlay->evicted);
		}
		domains_update(s, u.at.task);
		hooks_on_allocate(s, u.at.task);
		break;
	}
}

void statement_discard(struct session *s, struct statement st)
{
	while (s->overlay->log.n > st.undo_mark) {
		undo_one(s, vec_pop(&s->overlay->log));
	}
	s->decisions.n = st.decision_mark;
	end_statement(s, st);
}
