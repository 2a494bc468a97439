#include "collections/intern.h"
#include "scheduler/pods/ingest/cache_priv.h"
#include "scheduler/pods/ledger/ledger.h"

/* Writes in flight keep their charge: their outcomes are still to come. */
static enum charge_state in_flight(const struct task *t)
{
	if (t->charge == CHARGE_PATCHING) {
		return CHARGE_PATCHING;
	}
	return t->status == TASK_BINDING ? CHARGE_ASSUMED : CHARGE_NONE;
}

/* The state that the pod itself shows by the mark of our patch. A pod that lost its gate to another
 * client has no mark and is decided again, as is one that waits after a reservation without a node:
 * it would hold quota for all that time. */
static enum charge_state state_by_mark(const struct task *t)
{
	const uint32_t must = TASK_OURS | TASK_OPTED_IN | TASK_RESERVED_MARK;
	const uint32_t mustnot = TASK_OUR_GATE | TASK_FOREIGN_GATE;

	if (t->status != TASK_PENDING || (t->flags & must) != must || (t->flags & mustnot) != 0 ||
	    t->klass->best_effort) {
		return CHARGE_NONE;
	}
	/* Its conditions are its scheduler's. */
	if ((t->flags & TASK_GATE_ONLY) != 0) {
		return CHARGE_UNGATED;
	}
	if (t->cond == POD_COND_NOT_READY && t->retry_at != MODEL_TIME_NONE) {
		return CHARGE_NONE;
	}
	return t->cond == POD_COND_UNSCHEDULABLE ? CHARGE_PUBLISHED : CHARGE_UNGATED;
}

static bool has_node(const struct task *t)
{
	return t->node != MODEL_NONE && t->status != TASK_BINDING;
}

static enum charge_state bound_state(const struct cluster *c, const struct task *t)
{
	return t->charge == CHARGE_BOUND || cache_charge_is_real(c, t) ? CHARGE_BOUND : CHARGE_NONE;
}

static struct queue *existing(const struct cluster *c, uint32_t id)
{
	return id == MODEL_NONE || !c->queues.v[id]->exists ? NULL : c->queues.v[id];
}

/* The queue that granted the quota, not the one that the pod names now, which a tenant may have
 * edited: the queue in the mark; without a mark, the queue that this process has seen. A running
 * pod is always charged, if nothing else is known to the default queue. */
static struct queue *granted_by(const struct cluster *c, const struct task *t)
{
	struct queue *q = NULL;

	/* A write in flight was decided for this queue; the pod may not show it yet. */
	if (t->charge == CHARGE_PATCHING || t->charge == CHARGE_ASSUMED) {
		q = existing(c, t->charge_queue);
	} else if (t->reserved != MODEL_NONE) {
		q = queue_find(c, intern_str(c->names, t->reserved));
		q = q == NULL ? NULL : existing(c, q->id);
	}
	if (q == NULL && has_node(t)) {
		q = existing(c, t->charge_queue);
	}
	if (q == NULL && t->podgroup != MODEL_NONE && !cache_charge_is_barred(c, t)) {
		q = existing(c, c->podgroups.v[t->podgroup]->queue);
	}
	if (q == NULL && has_node(t)) {
		q = existing(c, c->default_queue);
	}
	return q;
}

/* Nothing shows which queue a pod on a node belongs to. */
static bool is_stand_in(const struct cluster *c, const struct task *t)
{
	return t->charge == CHARGE_BOUND && t->charge_queue == c->default_queue &&
	       t->reserved == MODEL_NONE &&
	       (t->podgroup == MODEL_NONE ||
		c->podgroups.v[t->podgroup]->queue_name == MODEL_NONE ||
		cache_charge_is_barred(c, t));
}

static void rebuild(struct cache *c, struct task *t)
{
	struct queue *q = granted_by(c->cluster, t);
	enum charge_state state = in_flight(t);

	/* The process that led until now ungated. */
	t->flags &= ~(uint32_t)TASK_UNGATED_ELSEWHERE;
	if (state == CHARGE_NONE) {
		state = has_node(t) ? bound_state(c->cluster, t) : state_by_mark(t);
	}
	ledger_release(c->cluster, t);
	if (q != NULL && state != CHARGE_NONE) {
		ledger_charge(c->cluster, t, q, state);
		t->flags |= is_stand_in(c->cluster, t) ? TASK_STAND_IN : 0;
	}
	cache_charge_reconcile(c, t);
}

/* Pods with a node are charged first by cache_charge_reconcile in the same pass: no order matters
 * here, since nothing is refused. Where the sum exceeds a limit the next cycle revokes charges
 * without a node, youngest first: it alone knows the limits. */
void cache_rebuild_ledger(struct cache *c, int64_t wall)
{
	c->reports_foreign_from = wall;
	/* Another leader may have decided about pods that wait for their claims: they are decided
	 * again, and the claims say for which node. */
	while (c->cluster->binding.n > 0) {
		ledger_undo_bind(c->cluster, c->cluster->tasks.v[c->cluster->binding.v[0]]);
	}
	cache_queue_reconcile(c);
	for (size_t i = 0; i < c->cluster->tasks.n; i++) {
		if (c->cluster->tasks.v[i] != NULL) {
			rebuild(c, c->cluster->tasks.v[i]);
		}
	}
	/* A queue that does not exist may have got a charge, or lost its last one. */
	cache_queue_reconcile(c);
	c->dirty = true;
}
