#include <assert.h>

#include "base/str.h"
#include "scheduler/pods/cycle/claims.h"
#include "scheduler/pods/cycle/cycle.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/model/budgets.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/model/volumes.h"

static uint64_t hash_of(const char *message)
{
	return str_hash(str_of(message));
}

static void charge(struct cluster *c, struct task *t, uint32_t queue, enum charge_state state)
{
	if (queue != MODEL_NONE) {
		ledger_charge(c, t, c->queues.v[queue], state);
	}
}

/* A pod that awaited its victims is charged already. */
static void reserve(struct cluster *c, struct task *t, uint32_t queue, enum charge_state state)
{
	if (t->charge == CHARGE_AWAITING_VICTIMS) {
		ledger_advance(c, t, state);
		t->victims = t->in_vain = 0;
	} else {
		charge(c, t, queue, state);
	}
}

static void assume_ungate(struct cluster *c, struct task *t, const struct decision *d)
{
	/* Without a charge only the flag says that the patch is under way: the next cycle would
	 * send it again. */
	if (d->uncharged) {
		t->flags |= TASK_UNGATING;
		cluster_task_changed(c, t);
		return;
	}
	reserve(c, t, d->queue, CHARGE_PATCHING);
}

static void assume_revoke(struct cluster *c, struct task *t, const struct decision *d)
{
	/* As long as the pod may be published, autoscalers may buy a node for it: its charge stays
	 * until the condition is rewritten. */
	if (ledger_state_when_given_up(t, (enum charge_state)t->charge) == CHARGE_WITHDRAWING) {
		ledger_advance(c, t, CHARGE_WITHDRAWING);
	} else {
		ledger_release(c, t);
	}
	t->flags &= ~(uint32_t)TASK_GREW;
	cluster_task_set_retry(c, t, d->retry_at);
	t->published_at = MODEL_TIME_NONE;
	if (d->attempts > 0) {
		t->attempts = d->attempts;
	}
}

/* The write that reports the pod sets or removes the nomination, too. */
static void assume_nomination(struct cluster *c, struct task *t, const struct decision *d)
{
	cluster_task_set_nominated(c, t, d->node == MODEL_NONE ? NULL : c->nodes.v[d->node]);
}

/* The reservation timeout counts from a publication: a pod that is published again later starts
 * from zero. One that waits for its victims is nominated to their node, and not published. */
static void note_publication(struct task *t, const struct decision *d, int64_t now)
{
	if (t->cond != POD_COND_UNSCHEDULABLE || d->node != MODEL_NONE) {
		t->published_at = MODEL_TIME_NONE;
	} else if (t->published_at == MODEL_TIME_NONE) {
		t->published_at = now;
	}
}

/* Best-effort pods are published without a charge. */
static void assume_publish(struct cluster *c, struct task *t, const struct decision *d, int64_t now)
{
	if (t->charge != CHARGE_NONE) {
		ledger_advance(c, t, CHARGE_PUBLISHED);
	}
	t->cond = POD_COND_UNSCHEDULABLE;
	t->published_at = MODEL_TIME_NONE;
	note_publication(t, d, now);
	t->cond_message = hash_of(d->message);
	assume_nomination(c, t, d);
}

static enum pod_cond cond_of(const char *reason)
{
	static const struct {
		const char *reason;
		enum pod_cond cond;
	} rows[] = {
		{ "Unschedulable", POD_COND_UNSCHEDULABLE },
		{ "Schedulable", POD_COND_SCHEDULABLE },
		{ "NotReadyForScheduling", POD_COND_NOT_READY },
		{ "SchedulerError", POD_COND_ERROR },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (str_streq(rows[i].reason, reason)) {
			return rows[i].cond;
		}
	}
	return POD_COND_OTHER;
}

static void assume_condition(struct cluster *c, struct task *t, const struct decision *d,
			     int64_t now)
{
	t->cond = (uint8_t)cond_of(d->reason);
	t->cond_message = hash_of(d->message);
	note_publication(t, d, now);
	assume_nomination(c, t, d);
}

static void assume_bind(struct cluster *c, struct task *t, const struct decision *d, int64_t now)
{
	if (t->charge != CHARGE_NONE) {
		ledger_advance(c, t, CHARGE_ASSUMED);
	} else {
		assert(t->podgroup != MODEL_NONE);
		charge(c, t, c->podgroups.v[t->podgroup]->queue, CHARGE_ASSUMED);
	}
	/* It was placed with what it asks for now, and starts with a clean record. */
	t->flags &= ~(uint32_t)TASK_GREW;
	t->attempts = 0;
	cluster_task_set_status(c, t, TASK_BINDING, c->nodes.v[d->node]);
	if (!volumes_are_bound(c, t)) {
		volumes_wait(c, t, now + CLAIMS_TIMEOUT_NS);
		volumes_select(c, t);
	}
}

/* One of its claims gets a volume; or they are bound, or will not be for its node. */
static void assume_claims(struct cluster *c, struct task *t, const struct decision *d)
{
	if (d->kind == DECISION_TAKE_VOLUME) {
		volumes_take(c->claims.v[d->claim], c->volumes.v[d->volume]);
		return;
	}
	if (d->kind == DECISION_FINISH_BIND) {
		volumes_wait(c, t, MODEL_TIME_NONE);
		return;
	}
	ledger_undo_bind(c, t);
	t->write_failures++;
	cluster_task_set_retry(c, t, d->retry_at);
	cluster_task_changed(c, t);
}

static void assume_move(struct cluster *c, struct task *t, const struct decision *d)
{
	bool moves = d->kind == DECISION_MOVE;

	if (moves) {
		ledger_move(c, t, c->queues.v[d->queue]);
	}
	cluster_task_set_refused(c, t, moves ? MODEL_NONE : d->queue);
}

/* by: NULL for a pod that is deleted for no other one's sake. */
static void assume_evict(struct cluster *c, struct task *t, struct task *by)
{
	struct node *n = t->node == MODEL_NONE ? NULL : c->nodes.v[t->node];

	/* The ledger and the budgets go by the status that the task has so far. */
	ledger_set_releasing(c, t, true);
	if (by != NULL) {
		budgets_evict(c, t, true);
	}
	cluster_task_set_status(c, t, TASK_RELEASING, n);
	if (by != NULL) {
		by->victims++;
		cluster_podgroup_note_rival(c, c->podgroups.v[t->podgroup],
					    c->podgroups.v[by->podgroup]);
	}
}

/* Nothing is to be given away any more that waits for its end. */
static void assume_stuck(struct cluster *c, struct task *t)
{
	t->flags |= TASK_STUCK;
	ledger_set_releasing(c, t, false);
	cluster_task_set_status(c, t, TASK_UNKNOWN, c->nodes.v[t->node]);
}

static void assume_await(struct cluster *c, struct task *t, const struct decision *d)
{
	cluster_task_set_awaits(c, t, d->node == MODEL_NONE ? NULL : c->nodes.v[d->node]);
	if (d->warning) {
		t->in_vain += t->victims > 0;
		t->victims = 0;
		t->preempt_at = d->retry_at;
	}
}

/* It is late: to get a node, or to end. */
static void assume_late(struct cluster *c, struct task *t, const struct decision *d)
{
	if (d->kind == DECISION_STUCK) {
		assume_stuck(c, t);
		return;
	}
	t->flags &= ~(uint32_t)TASK_OVERDUE;
	t->flags |= d->overdue ? TASK_OVERDUE : 0;
}

static void assume_phase(struct cluster *c, struct podgroup *g, const struct decision *d)
{
	/* These counts are written with the phase: they are compared to find out what is to be
	 * written. */
	g->status_running = (int32_t)g->by_status[TASK_RUNNING];
	g->status_succeeded = (int32_t)g->by_status[TASK_SUCCEEDED];
	g->status_failed = (int32_t)g->by_status[TASK_FAILED];
	cluster_podgroup_set_phase(c, g, (enum podgroup_phase)d->phase);
}

/* The last report about a gated pod, which has no condition of ours. */
static void assume_event(struct task *t, const struct decision *d)
{
	if (t != NULL && (d->warning || d->hint)) {
		t->cond_message = d->hash != 0 ? d->hash : hash_of(d->message);
	}
}

static void assume_one(struct cluster *c, const struct decision *d, int64_t now)
{
	struct task *t = d->task == MODEL_NONE ? NULL : c->tasks.v[d->task];

	assert(t != NULL || d->kind >= DECISION_PODGROUP_PHASE); /* others are about a pod */
	switch (d->kind) {
	case DECISION_UNGATE:
		assume_ungate(c, t, d);
		break;
	case DECISION_RESERVE:
		reserve(c, t, d->queue, CHARGE_UNGATED);
		break;
	case DECISION_AWAIT_QUOTA:
		charge(c, t, d->queue, CHARGE_AWAITING_VICTIMS);
		break;
	case DECISION_MOVE:
	case DECISION_STAY:
		assume_move(c, t, d);
		break;
	case DECISION_REVOKE:
		assume_revoke(c, t, d);
		break;
	case DECISION_PUBLISH:
		assume_publish(c, t, d, now);
		break;
	case DECISION_WITHDRAW:
	case DECISION_CONDITION:
		assume_condition(c, t, d, now);
		break;
	case DECISION_BIND:
		assume_bind(c, t, d, now);
		break;
	case DECISION_TAKE_VOLUME:
	case DECISION_FINISH_BIND:
	case DECISION_GIVE_BACK:
		assume_claims(c, t, d);
		break;
	case DECISION_EVICT:
		assume_evict(c, t, d->by == MODEL_NONE ? NULL : c->tasks.v[d->by]);
		break;
	case DECISION_AWAIT:
		assume_await(c, t, d);
		break;
	case DECISION_OVERDUE:
	case DECISION_STUCK:
		assume_late(c, t, d);
		break;
	case DECISION_PODGROUP_PHASE:
		assume_phase(c, c->podgroups.v[d->podgroup], d);
		break;
	case DECISION_PODGROUP_CONDITION:
		c->podgroups.v[d->podgroup]->status_hash = d->hash;
		break;
	case DECISION_EVENT:
		assume_event(t, d);
		break;
	case DECISION_QUEUE_SCANNED: /* assumed before all others */
		break;
	case DECISION_KIND_COUNT_:
		assert(false);
	}
}

static void assume_scan(struct cluster *c, const struct decision *d)
{
	struct queue *q = c->queues.v[d->queue];

	cluster_podgroup_drop_changed(c, q, d->scan.changed);
	q->scan = d->scan;
	q->scan.changed = 0;
}

/* The writes take time, and their outcomes come back as messages. Until then the model has them as
 * done, so that the next cycle neither decides the same again nor gives away twice. A failure is
 * taken back by ingest (cache_request.c). Scans come first: PodGroups that the other decisions
 * change are looked at once more. */
void cycle_assume(struct cluster *cluster, const struct decisions *d, int64_t now)
{
	for (size_t i = 0; i < d->n; i++) {
		if (d->v[i].kind == DECISION_QUEUE_SCANNED) {
			assume_scan(cluster, &d->v[i]);
		}
	}
	for (size_t i = 0; i < d->n; i++) {
		assume_one(cluster, &d->v[i], now);
	}
}
