#include "api/meta/status.h"
#include "api/volcano/keys.h"
#include "base/str.h"
#include "scheduler/pods/ingest/cache_priv.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/model/budgets.h"
#include "scheduler/pods/model/volumes.h"

static void back_off(struct cache *c, struct task *t, int64_t now)
{
	cluster_task_set_retry(c->cluster, t, now + cluster_task_pause(t->write_failures++));
}

static void on_ungate(struct cache *c, struct task *t, const struct sched_msg *m, int64_t now)
{
	t->flags &= ~(uint32_t)TASK_UNGATING;
	if (m->outcome != SCHED_DONE && m->outcome != SCHED_CANCELLED) {
		t->flags |= TASK_UNGATE_TRIED;
	}
	switch (m->outcome) {
	case SCHED_DONE:
		t->flags &= ~(uint32_t)TASK_OUR_GATE;
		/* Updates that were sent before the patch, and still show the gate, are older than
		 * this. */
		if (m->resource_version > t->written) {
			t->written = m->resource_version;
		}
		if (t->charge == CHARGE_PATCHING) {
			ledger_advance(c->cluster, t, CHARGE_UNGATED);
		}
		return;
	case SCHED_GONE:
	case SCHED_REJECTED:
		/* 403 is about rights and policies, which change without the pod: an API server
		 * that has just started refuses all requests until it has read the roles. */
		if (m->status == STATUS_FORBIDDEN) {
			back_off(c, t, now);
			break;
		}
		/* A retry cannot succeed before the pod changes. */
		t->flags |= TASK_PARKED;
		break;
	case SCHED_STALE:
	case SCHED_UNANSWERED:
		back_off(c, t, now);
		break;
	case SCHED_CANCELLED:
		break;
	}
	if (t->charge == CHARGE_PATCHING) {
		cache_charge_release(c, t);
	}
}

static void on_bind(struct cache *c, struct task *t, const struct sched_msg *m, int64_t now)
{
	switch (m->outcome) {
	case SCHED_DONE:
		return; /* stays assumed until the pod shows its node */
	case SCHED_GONE:
		t->flags |= TASK_PARKED;
		break;
	case SCHED_REJECTED:
	case SCHED_STALE:
	case SCHED_UNANSWERED:
		back_off(c, t, now);
		break;
	case SCHED_CANCELLED:
		break;
	}
	ledger_undo_bind(c->cluster, t);
	cache_charge_reconcile(c, t); /* its group or queue may have been deleted meanwhile */
}

/* The victim stays. Its next update says whether it is bound or running. */
static void on_evict(struct cache *c, struct task *t, const struct sched_msg *m, int64_t now)
{
	if (m->outcome == SCHED_DONE || m->outcome == SCHED_GONE || t->status != TASK_RELEASING) {
		return;
	}
	/* A pod without a node has changed meanwhile, perhaps since it was bound. */
	if (t->node == MODEL_NONE) {
		ledger_set_releasing(c->cluster, t, false);
		cluster_task_set_status(c->cluster, t, TASK_PENDING, NULL);
		back_off(c, t, now);
		return;
	}
	if (m->outcome != SCHED_REJECTED && m->outcome != SCHED_CANCELLED) {
		return;
	}
	budgets_evict(c->cluster, t, false);
	/* It is no victim again before the pause is over, and then goes after others. */
	if (m->outcome == SCHED_REJECTED) {
		t->flags |= TASK_EVICTION_REFUSED;
		back_off(c, t, now);
	}
	ledger_set_releasing(c->cluster, t, false);
	cluster_task_set_status(c->cluster, t, TASK_RUNNING, c->cluster->nodes.v[t->node]);
}

/* A condition that was not written is decided again. */
static void on_pod_status(struct cache *c, struct task *t, const struct sched_msg *m, int64_t now)
{
	if (m->outcome == SCHED_DONE) {
		/* An older write of another condition may end while the withdrawal waits. */
		if (t->charge == CHARGE_WITHDRAWING &&
		    str_streq(m->written, KEYS_REASON_NOT_READY)) {
			t->cond = POD_COND_NOT_READY;
			cache_charge_release(c, t);
		}
		return;
	}
	if (m->outcome == SCHED_REJECTED || m->outcome == SCHED_STALE) {
		back_off(c, t, now);
	}
	if (m->outcome == SCHED_GONE) {
		t->flags |= TASK_PARKED;
	}
	/* It is not known what the pod shows now. This value counts as possibly published. */
	t->cond = POD_COND_OTHER;
	t->cond_message = 0;
	t->published_at = MODEL_TIME_NONE;
	/* It is not sure that the pod is published, or that it is withdrawn: it keeps its quota,
	 * and a cycle decides again. */
	if (t->charge == CHARGE_PUBLISHED || t->charge == CHARGE_WITHDRAWING) {
		ledger_advance(c->cluster, t, CHARGE_UNGATED);
	}
}

static void on_task(struct cache *c, const struct sched_msg *m, int64_t now)
{
	struct task *t = cluster_task_find(c->cluster, m->key);

	/* Another pod of the same name is not affected. */
	if (t == NULL || (m->uid != NULL && !str_streq(m->uid, t->uid))) {
		return;
	}
	switch (m->request) {
	case SCHED_REQ_UNGATE:
		on_ungate(c, t, m, now);
		break;
	case SCHED_REQ_BIND:
		on_bind(c, t, m, now);
		break;
	case SCHED_REQ_EVICT:
		on_evict(c, t, m, now);
		break;
	case SCHED_REQ_POD_STATUS:
		on_pod_status(c, t, m, now);
		break;
	case SCHED_REQ_PODGROUP:
	case SCHED_REQ_QUEUE:
	case SCHED_REQ_WORKLOAD:
	case SCHED_REQ_QUOTA_STATUS:
	case SCHED_REQ_QUOTA_FINALIZER:
	case SCHED_REQ_PREEMPTION_COST:
	case SCHED_REQ_PREEMPTION_TOKEN:
	case SCHED_REQ_PREEMPTION_GATE:
	case SCHED_REQ_REPLICA:
	case SCHED_REQ_REPLICA_JOB:
	case SCHED_REQ_DISPATCH:
	case SCHED_REQ_JOB_STATUS:
	case SCHED_REQ_CLUSTER_STATUS:
	case SCHED_REQ_CLAIM:
	case SCHED_REQ_VOLUME:
	case SCHED_REQ_COUNT_:
		break;
	}
	cluster_task_changed(c->cluster, t);
}

/* A write that was never sent is decided again. The pool itself retries a refused one. A PodGroup
 * that was deleted or replaced causes events of its own: deciding again at once would be a loop. */
static void on_podgroup_status(struct cache *c, const struct sched_msg *m)
{
	struct podgroup *g = cluster_podgroup_find(c->cluster, m->key);

	if (g != NULL && m->outcome == SCHED_CANCELLED) {
		g->status_hash = 0;
		cluster_podgroup_changed(c->cluster, g);
	}
}

/* The places of the pods that wait for the claim are given back. */
static void give_places_back(struct cache *c, const struct claim *cl, const struct sched_msg *m,
			     int64_t now)
{
	for (size_t i = 0; i < cl->users.n; i++) {
		struct task *t = c->cluster->tasks.v[cl->users.v[i]];

		if (t->bind_by == MODEL_TIME_NONE) {
			continue;
		}
		if (m->outcome != SCHED_CANCELLED) {
			back_off(c, t, now);
		}
		ledger_undo_bind(c->cluster, t);
		cache_charge_reconcile(c, t);
		cluster_task_changed(c->cluster, t);
	}
}

/* The node was not written, or it was. */
static void on_claim(struct cache *c, const struct sched_msg *m, int64_t now)
{
	struct claim *cl = volumes_find_claim(c->cluster, m->key);

	if (cl == NULL) {
		return;
	}
	volumes_written(cl, m->outcome == SCHED_DONE, m->resource_version);
	if (m->outcome != SCHED_DONE) {
		give_places_back(c, cl, m, now);
	}
}

/* The claim for which it was to be reserved may be gone, or have got another one. */
static void on_volume(struct cache *c, const struct sched_msg *m, int64_t now)
{
	struct volume *v = volumes_find_volume(c->cluster, m->key);
	const struct claim *taker = v == NULL ? NULL : v->taker;

	if (v == NULL) {
		return;
	}
	volumes_claimed(c->cluster, v, m->outcome == SCHED_DONE, m->resource_version);
	if (taker != NULL && m->outcome != SCHED_DONE) {
		give_places_back(c, taker, m, now);
	}
}

void cache_request_done(struct cache *c, const struct sched_msg *m, int64_t now)
{
	if (m->request == SCHED_REQ_PODGROUP) {
		on_podgroup_status(c, m);
	} else if (m->request == SCHED_REQ_CLAIM) {
		on_claim(c, m, now);
	} else if (m->request == SCHED_REQ_VOLUME) {
		on_volume(c, m, now);
	} else {
		on_task(c, m, now);
	}
	c->dirty = true;
}
