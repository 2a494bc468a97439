#include "collections/intern.h"
#include "scheduler/pods/ingest/cache_priv.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/model/pod_class.h"

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

static void release(struct cache *c, struct task *t)
{
	const struct queue *q;

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
static bool is_barred(const struct cluster *c, const struct task *t)
{
	return t->podgroup != MODEL_NONE && c->podgroups.v[t->podgroup]->barred_by != MODEL_NONE &&
	       t->reserved == MODEL_NONE;
}

/* The kubelet refuses what the node cannot hold, and its phase shows it when it does not. We never
 * bind a pod that does not fit, so our marks show that the node was larger then. */
static bool may_run(const struct node *n, const struct task *t)
{
	static const struct res nothing;

	return n->exists && (ledger_is_granted(t) || res_over(&nothing, pod_class_charge(t->klass),
							      &n->allocatable, UINT32_MAX) == 0);
}

bool cache_charge_is_real(const struct cluster *c, const struct task *t)
{
	return !is_barred(c, t) && t->node != MODEL_NONE &&
	       ((t->flags & TASK_STARTED) != 0 || may_run(c->nodes.v[t->node], t));
}

/* A charge stays where it was granted: whether it may follow its PodGroup is decided in
 * pods/cycle/moves.h. */
static void reconcile_bound(struct cache *c, struct task *t, struct queue *q)
{
	if (t->charge == CHARGE_NONE) {
		if (q != NULL && cache_charge_is_real(c->cluster, t)) {
			charge(c, t, q, CHARGE_BOUND);
		}
		return;
	}
	ledger_advance(c->cluster, t, CHARGE_BOUND);
	if (q != NULL && q->id == t->charge_queue && t->refused_queue != q->id) {
		t->refused_queue = MODEL_NONE;
	}
}

/* A charge without a node needs a queue that exists: without one the pod is as undecided as
 * before. A best-effort pod needs no reservation; it may have become one by a resize. A pod with a
 * bind in flight keeps its charge where it was granted, like one that has its node. */
static void reconcile_unbound(struct cache *c, struct task *t, struct queue *q)
{
	bool reserves = (t->flags & TASK_OPTED_IN) != 0 && !t->klass->best_effort;
	bool keeps = reserves || t->status == TASK_RELEASING;

	if (t->charge == CHARGE_NONE || t->status == TASK_BINDING) {
		return;
	}
	if (q == NULL || !q->exists || !keeps) {
		release(c, t);
		return;
	}
	if (t->charge == CHARGE_PATCHING && (t->flags & TASK_OUR_GATE) == 0) {
		ledger_advance(c->cluster, t, CHARGE_UNGATED);
	}
	if (t->charge == CHARGE_UNGATED && t->cond == POD_COND_UNSCHEDULABLE) {
		ledger_advance(c->cluster, t, CHARGE_PUBLISHED);
	} else if (t->charge == CHARGE_PUBLISHED && t->cond == POD_COND_NOT_READY) {
		ledger_advance(c->cluster, t, CHARGE_UNGATED);
	}
}

void cache_charge_reconcile(struct cache *c, struct task *t)
{
	struct queue *q = queue_of(c->cluster, t);

	if ((t->flags & TASK_OURS) == 0 || t->status == TASK_SUCCEEDED ||
	    t->status == TASK_FAILED) {
		release(c, t);
	} else if (t->node != MODEL_NONE && t->status != TASK_BINDING) {
		reconcile_bound(c, t, q);
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
