#include "collections/intern.h"
#include "scheduler/pods/ingest/cache_priv.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/values/pod_class.h"

/* The queue of the task's PodGroup; NULL: it names none. It need not exist. */
static struct queue *queue_of(const struct cluster *c, const struct task *t)
{
	const struct podgroup *g;

	if (t->podgroup == MODEL_NONE) {
		return NULL;
	}
	g = c->podgroups.v[t->podgroup];
	if (g->queue_name == MODEL_NONE) {
		return NULL;
	}
	return queue_find(c, intern_str(c->names, g->queue_name));
}

void cache_charge_release(struct cache *c, struct task *t)
{
	const struct queue *q;

	t->flags &= ~(uint32_t)TASK_STAND_IN;
	if (t->charge == CHARGE_NONE) {
		return;
	}
	q = c->cluster->queues.v[t->charge_queue];
	ledger_release(c->cluster, t);
	if (!q->exists) {
		c->queues_stale =
			true; /* it may be removed when nothing is charged to it any more */
	}
}

static void charge(struct cache *c, struct task *t, struct queue *q, enum charge_state state)
{
	ledger_charge(c->cluster, t, q, state);
	if (!q->exists) {
		c->queues_stale = true; /* with a charge it gets its place in the tree */
	}
}

/* A pod created on a node, in a PodGroup of a queue that its namespace may not use: it was never
 * granted quota there. The mark shows a grant from before the rule. */
bool cache_charge_is_barred(const struct cluster *c, const struct task *t)
{
	return t->podgroup != MODEL_NONE && c->podgroups.v[t->podgroup]->barred_by != MODEL_NONE &&
	       t->reserved == MODEL_NONE;
}

/* The kubelet refuses what the node cannot hold, and its phase shows it when it does not. We never
 * bind a pod that does not fit, so our marks show that the node was larger then. */
static bool may_run(const struct node *n, const struct task *t)
{
	return n->exists && (ledger_is_granted(t) || res_exceeds(pod_class_charge(t->klass),
								 &n->allocatable, UINT32_MAX) == 0);
}

bool cache_charge_is_real(const struct cluster *c, const struct task *t)
{
	return t->node != MODEL_NONE &&
	       ((t->flags & TASK_STARTED) != 0 || may_run(c->nodes.v[t->node], t));
}

/* While the first lists come in its PodGroup may be in one that is still missing. */
static struct queue *stand_in(const struct cache *c, const struct task *t)
{
	struct queue *q = c->cluster->queues.v[c->cluster->default_queue];

	return t->podgroup != MODEL_NONE && c->reports_foreign_from != MODEL_TIME_NONE && q->exists
		       ? q
		       : NULL;
}

/* A charge stays where it was granted: whether it may follow its PodGroup is decided in
 * pods/cycle/moves.h. No queue has granted the charge of a pod that was created on its node before
 * its PodGroup: it goes where it would be if the PodGroup had been first. */
static void reconcile_bound(struct cache *c, struct task *t, struct queue *q)
{
	struct queue *own = cache_charge_is_barred(c->cluster, t) ? NULL : q;

	if (t->charge == CHARGE_NONE) {
		struct queue *to = own != NULL ? own : stand_in(c, t);

		if (to != NULL && cache_charge_is_real(c->cluster, t)) {
			charge(c, t, to, CHARGE_BOUND);
			t->flags |= own == NULL ? TASK_STAND_IN : 0;
		}
		return;
	}
	/* From any state: a watch may have left out what came in between. */
	ledger_advance(c->cluster, t, CHARGE_BOUND);
	if ((t->flags & TASK_STAND_IN) != 0 && own != NULL) {
		t->flags &= ~(uint32_t)TASK_STAND_IN;
		ledger_move(c->cluster, t, own);
		c->queues_stale |= !own->exists;
	}
	/* The pod names its queue again: when it names the one that refused it a second time, that
	 * is reported again. */
	if (q != NULL && q->id == t->charge_queue && t->refused_queue != q->id) {
		cluster_task_set_refused(c->cluster, t, MODEL_NONE);
	}
}

static bool is_let_go(const struct task *t)
{
	return (t->flags & TASK_GATE_ONLY) != 0 &&
	       (t->flags & ((uint32_t)TASK_OUR_GATE | TASK_FOREIGN_GATE)) == 0;
}

/* The patch that takes the gate off is in flight and may be through: the pod is treated as one that
 * is let go until the answer, which releases the charge when the gate is still on. */
static bool may_be_let_go(const struct task *t)
{
	return (t->flags & TASK_GATE_ONLY) != 0 && t->charge == CHARGE_PATCHING;
}

/* Another scheduler may bind the pod as soon as the gate is off: the charge stays, whatever becomes
 * of the queue. The mark of our patch shows one that is still to be booked, since the queue was
 * away. */
static void reconcile_let_go(struct cache *c, struct task *t, struct queue *q)
{
	struct queue *granted = q;

	/* The watch may be faster than the answer to the patch. */
	if (t->charge == CHARGE_PATCHING) {
		ledger_advance(c->cluster, t, CHARGE_UNGATED);
	}
	if (t->charge != CHARGE_NONE || (t->flags & TASK_RESERVED_MARK) == 0 ||
	    t->klass->best_effort) {
		return;
	}
	if (t->reserved != MODEL_NONE) {
		granted = queue_find(c->cluster, intern_str(c->cluster->names, t->reserved));
	}
	if (granted == NULL || !granted->exists) {
		granted = q;
	}
	if (granted != NULL && granted->exists) {
		charge(c, t, granted, CHARGE_UNGATED);
	}
}

/* A charge without a node needs a queue that exists: without one the pod is as undecided as
 * before, unless another scheduler may be free to bind it. A best-effort pod needs no reservation;
 * it may have become one by a resize. A pod with a bind in flight keeps its charge where it was
 * granted, like one that has its node. */
static void reconcile_unbound(struct cache *c, struct task *t, struct queue *q)
{
	bool reserves = (t->flags & TASK_OPTED_IN) != 0 && !t->klass->best_effort;
	bool keeps = reserves || t->status == TASK_RELEASING;

	if (t->charge == CHARGE_NONE || t->status == TASK_BINDING) {
		return;
	}
	if (q == NULL || !q->exists || !keeps) {
		if (!keeps || !may_be_let_go(t)) {
			cache_charge_release(c, t);
		}
		return;
	}
	/* The watch may be faster than the answer to the patch, and another client may have removed
	 * the gate. */
	if (t->charge == CHARGE_PATCHING && (t->flags & TASK_OUR_GATE) == 0) {
		ledger_advance(c->cluster, t, CHARGE_UNGATED);
	}
	/* A condition that shows a publication or a withdrawal moves the charge along. One that is
	 * WITHDRAWING waits for the answer. */
	if (t->charge == CHARGE_UNGATED && t->cond == POD_COND_UNSCHEDULABLE) {
		ledger_advance(c->cluster, t, CHARGE_PUBLISHED);
	} else if (t->charge == CHARGE_PUBLISHED && t->cond == POD_COND_NOT_READY) {
		ledger_advance(c->cluster, t, CHARGE_UNGATED);
	}
}

/* 1. Pods that have ended, and those that are not under quota, hold nothing in a Queue.
 * 2. A pod on a node is charged, or keeps the charge that it has, as BOUND.
 * 3. A pod that another scheduler is free to bind keeps the charge that it was given.
 * 4. Any other pod without a node gets no charge here: it keeps the one that a cycle has given it,
 *    in the state that the pod shows, or loses it.
 * 5. A published pod that is left without quota and without a queue is noted for withdrawal. */
void cache_charge_reconcile(struct cache *c, struct task *t)
{
	struct queue *q = queue_of(c->cluster, t);

	if ((t->flags & TASK_OURS) == 0 || t->status == TASK_SUCCEEDED ||
	    t->status == TASK_FAILED) {
		cache_charge_release(c, t);
	} else if (t->node != MODEL_NONE && t->status != TASK_BINDING) {
		reconcile_bound(c, t, q);
	} else if (is_let_go(t)) {
		reconcile_let_go(c, t, q);
	} else {
		reconcile_unbound(c, t, q);
	}
	if (cluster_task_is_stranded(c->cluster, t)) {
		cluster_task_note_stranded(c->cluster, t);
		c->dirty = true;
	}
}

void cache_charge_reconcile_podgroup(struct cache *c, struct podgroup *g)
{
	for (size_t i = 0; i < g->tasks.n; i++) {
		cache_charge_reconcile(c, c->cluster->tasks.v[g->tasks.v[i]]);
	}
}
