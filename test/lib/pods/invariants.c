#include "lib/pods/invariants.h"

#include <stdlib.h>

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "lib/pods/ledger_verify.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/session/decision.h"
#include "scheduler/pods/values/pod_class.h"

struct seen {
	uint8_t kinds[DECISION_KIND_COUNT_];
	uint8_t charged; /* after the decisions so far */
};

static const char *check_once(const struct seen *s, const struct decision *d)
{
	static const char *const twice[DECISION_KIND_COUNT_] = {
		[DECISION_UNGATE] = "a pod is ungated twice in one cycle",
		[DECISION_RESERVE] = "a pod is reserved twice in one cycle",
		[DECISION_REVOKE] = "a charge is revoked twice in one cycle",
		[DECISION_MOVE] = "a charge is moved twice in one cycle",
		[DECISION_PUBLISH] = "a pod is published twice in one cycle",
		[DECISION_WITHDRAW] = "a pod is withdrawn twice in one cycle",
		[DECISION_CONDITION] = "a pod gets two conditions in one cycle",
		[DECISION_BIND] = "a pod is bound twice in one cycle",
		[DECISION_EVICT] = "a pod is evicted twice in one cycle",
	};

	return s->kinds[d->kind] > 1 ? twice[d->kind] : NULL;
}

static const char *check_bind(const struct task *t, const struct seen *s)
{
	if ((t->flags & (TASK_OUR_GATE | TASK_FOREIGN_GATE)) != 0) {
		return "a gated pod is bound";
	}
	if (t->status != TASK_PENDING) {
		return "a pod that is not pending is bound";
	}
	if ((t->flags & TASK_OPTED_IN) != 0 && !s->charged && !t->klass->best_effort) {
		return "a pod that opted in is bound without quota";
	}
	if (s->kinds[DECISION_PUBLISH] > 0) {
		return "a pod is bound and published in one cycle";
	}
	return NULL;
}

static const char *check_publish(const struct task *t, const struct seen *s)
{
	if ((t->flags & TASK_OPTED_IN) == 0) {
		return "a pod that did not opt in is published";
	}
	if ((t->flags & (TASK_OUR_GATE | TASK_FOREIGN_GATE)) != 0) {
		return "a gated pod is published";
	}
	if (s->kinds[DECISION_BIND] > 0) {
		return "a pod is bound and published in one cycle";
	}
	if (!s->charged && !t->klass->best_effort) {
		return "a pod is published without quota";
	}
	return NULL;
}

static const char *check_evict(const struct task *t)
{
	/* A pod without a node has done nothing yet. */
	return t->node != MODEL_NONE && ((t->flags & TASK_PREEMPTABLE) == 0 ||
					 (t->flags & TASK_CRITICAL) != 0)
		       ? "a pod that may not be preempted is evicted"
		       : NULL;
}

static bool is_for_its_scheduler(enum decision_kind kind)
{
	return kind == DECISION_BIND || kind == DECISION_PUBLISH || kind == DECISION_WITHDRAW ||
	       kind == DECISION_CONDITION || kind == DECISION_REVOKE;
}

/* The pod gets quota: by losing its gate, without a gate, or while its victims end. */
static const char *check_gain(const struct task *t, struct seen *s, const struct decision *d)
{
	bool again = s->charged && t->charge != CHARGE_AWAITING_VICTIMS;

	if (d->kind == DECISION_UNGATE && (t->flags & TASK_OUR_GATE) == 0) {
		return "a pod without our gate is ungated";
	}
	if (d->kind == DECISION_UNGATE && d->uncharged) {
		return s->charged ? "a charged pod is ungated without charge" : NULL;
	}
	if (d->kind == DECISION_UNGATE && (again || (t->flags & TASK_FOREIGN_GATE) != 0)) {
		return "quota is given twice, or to a pod that another gate holds";
	}
	if (d->kind == DECISION_RESERVE && (again || (t->flags & TASK_OUR_GATE) != 0)) {
		return "quota is given twice, or to a gated pod without taking its gate";
	}
	if (d->kind == DECISION_AWAIT_QUOTA && s->charged) {
		return "quota is given twice";
	}
	s->charged = 1;
	return NULL;
}

static const char *check_charge(const struct task *t, struct seen *s, const struct decision *d)
{
	switch (d->kind) {
	case DECISION_UNGATE:
	case DECISION_RESERVE:
	case DECISION_AWAIT_QUOTA:
		return check_gain(t, s, d);
	case DECISION_REVOKE:
		if (!s->charged || t->charge == CHARGE_PATCHING) {
			return "quota is taken from a pod that has none or that has a patch in "
			       "flight";
		}
		s->charged = 0;
		return NULL;
	case DECISION_PUBLISH:
		return check_publish(t, s);
	case DECISION_BIND:
		return check_bind(t, s);
	case DECISION_EVICT:
		return check_evict(t);
	case DECISION_MOVE:
	case DECISION_STAY:
		return s->charged ? NULL : "a charge that is not there is moved";
	case DECISION_FINISH_BIND:
	case DECISION_GIVE_BACK:
		return t->bind_by != MODEL_TIME_NONE ? NULL : "a pod waits for no claim";
	case DECISION_TAKE_VOLUME:
		return t->status == TASK_PENDING ? NULL : "a pod with a node takes a volume";
	case DECISION_AWAIT:
		return t->status == TASK_PENDING || d->node == MODEL_NONE
			       ? NULL
			       : "a pod that does not wait for a node awaits one";
	case DECISION_WITHDRAW:
	case DECISION_CONDITION:
	case DECISION_OVERDUE:
	case DECISION_STUCK:
	case DECISION_PODGROUP_PHASE:
	case DECISION_PODGROUP_CONDITION:
	case DECISION_EVENT:
	case DECISION_QUEUE_SCANNED:
	case DECISION_KIND_COUNT_:
		break;
	}
	return NULL;
}

static const char *check_pod(const struct task *t, struct seen *s, const struct decision *d)
{
	if ((t->flags & TASK_GATE_ONLY) != 0 && is_for_its_scheduler(d->kind)) {
		return "a pod that another scheduler places is placed, or its quota revoked";
	}
	return check_charge(t, s, d);
}

/* Tasks of the PodGroup that have a node, or get one, or are best effort: at least minMember, if
 * any is bound now. */
static const char *check_gang(const struct cluster *c, const struct podgroup *g,
			      const struct seen *seen)
{
	int64_t have = 0;
	bool binds = false;

	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = c->tasks.v[g->tasks.v[i]];
		bool bound = seen[t->id].kinds[DECISION_BIND] > 0;

		binds |= bound;
		have += bound || t->status == TASK_BINDING || t->status == TASK_BOUND ||
			t->status == TASK_RUNNING || t->status == TASK_SUCCEEDED ||
			(t->status == TASK_PENDING && t->klass->best_effort);
	}
	return binds && have < g->min_member ? "part of a gang is bound" : NULL;
}

const char *invariants_of_decisions(const struct cluster *c, const struct decisions *d)
{
	CLEANUP(xmalloc_freep) struct seen *seen = xmalloc_zero(c->tasks.n + 1, sizeof(*seen));

	for (size_t i = 0; i < c->tasks.n; i++) {
		seen[i].charged = c->tasks.v[i] != NULL && c->tasks.v[i]->charge != CHARGE_NONE;
	}
	for (size_t i = 0; i < d->n; i++) {
		const struct decision *e = &d->v[i];
		const char *wrong;

		if (e->task == MODEL_NONE) {
			continue;
		}
		seen[e->task].kinds[e->kind]++;
		wrong = check_once(&seen[e->task], e);
		if (wrong == NULL) {
			wrong = check_pod(c->tasks.v[e->task], &seen[e->task], e);
		}
		if (wrong != NULL) {
			return wrong;
		}
	}
	for (size_t i = 0; i < c->podgroups.n; i++) {
		const char *wrong =
			c->podgroups.v[i] == NULL ? NULL : check_gang(c, c->podgroups.v[i], seen);

		if (wrong != NULL) {
			return wrong;
		}
	}
	return NULL;
}

const char *invariants_of_nodes(const struct cluster *c, const struct decisions *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct decision *d = &list->v[i];
		const struct node *n = d->kind == DECISION_BIND ? c->nodes.v[d->node] : NULL;

		for (unsigned k = 0; n != NULL && k < RES_DENSE; k++) {
			if (n->used.v[k] > n->allocatable.v[k] &&
			    c->tasks.v[d->task]->klass->request.v[k] > 0) {
				return "a node is overcommitted";
			}
		}
	}
	return NULL;
}

const char *invariants_of_cluster(const struct cluster *c)
{
	const char *wrong = cluster_verify(c);

	return wrong == NULL ? ledger_verify(c) : wrong;
}

static bool has_revocable(const struct cluster *c, const struct queue *q, unsigned dim)
{
	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *t = c->tasks.v[i];

		if (t != NULL && ledger_is_unbound((enum charge_state)t->charge) &&
		    t->charge != CHARGE_PATCHING && t->charge != CHARGE_AWAITING_VICTIMS &&
		    (t->flags & TASK_GATE_ONLY) == 0 && t->klass->request.v[dim] > 0 &&
		    queue_is_within(c, t->charge_queue, q)) {
			return true;
		}
	}
	return false;
}

static bool was_placed_by_others(const struct task *t)
{
	return t->charge == CHARGE_BOUND &&
	       (t->flags & ((uint32_t)TASK_RESERVED_MARK | TASK_BOUND_MARK)) == 0;
}

/* Charges of terminating pods are not counted against the limit a second time, and pods that others
 * placed take nothing back. */
static int64_t kept(const struct cluster *c, const struct queue *q, unsigned dim)
{
	int64_t amount = q->charged.v[dim];

	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *t = c->tasks.v[i];

		if (t != NULL &&
		    (t->charge == CHARGE_WITHDRAWING || t->charge == CHARGE_AWAITING_VICTIMS ||
		     was_placed_by_others(t)) &&
		    queue_is_within(c, t->charge_queue, q)) {
			amount -= t->klass->request.v[dim];
		}
	}
	return amount;
}

const char *invariants_of_quota(const struct cluster *c)
{
	for (size_t i = 0; i < c->queues.n; i++) {
		const struct queue *q = c->queues.v[i];

		for (unsigned d = 0; q != NULL && q->broken == NULL && d < RES_DENSE; d++) {
			/* The kept amount is a part of the charge. */
			if (q->charged.v[d] > q->capability.v[d] &&
			    kept(c, q, d) > q->capability.v[d] && has_revocable(c, q, d)) {
				return "a queue beyond its limit still holds quota without a node";
			}
		}
	}
	return NULL;
}
