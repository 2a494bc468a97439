#include "scheduler/pods/writes/exec.h"

#include <stdlib.h>

#include "api/core/kube_pod_group.h"
#include "api/volcano/keys.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "kube/pool.h"
#include "kube/recorder.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/session/decision.h"
#include "scheduler/pods/values/pod_class.h"
#include "scheduler/pods/writes/binding.h"
#include "scheduler/pods/writes/claim_selection.h"
#include "scheduler/pods/writes/eviction.h"
#include "scheduler/pods/writes/gate_removal.h"
#include "scheduler/pods/writes/pod_status.h"
#include "scheduler/pods/writes/pod_write.h"
#include "scheduler/pods/writes/podgroup_status.h"
#include "scheduler/pods/writes/volume_reservation.h"

#define GATE_SLOTS 8
#define BIND_SLOTS 64
#define STATUS_SLOTS 32

enum {
	POOL_GATES,
	POOL_BINDS,
	POOL_CLAIMS,
	POOL_EVICTIONS,
	POOL_POD_STATUS,
	POOL_PODGROUPS,
	POOL_COUNT
};

struct exec {
	struct pod_write_target target;
	struct pool *pools[POOL_COUNT];
	struct podgroup_status *podgroups;
	struct recorder *recorder;
	uint64_t transitions; /* one per decision list, becomes transitionID */
};

/* A pool for each kind of write, so that a slow kind does not hold up the others. */
static const struct {
	const char *name;
	const struct pool_ops *ops;
	unsigned slots;
} pool_rows[POOL_COUNT] = {
	[POOL_GATES] = { "gate-removal", &pod_write_pool_ops, GATE_SLOTS },
	[POOL_BINDS] = { "bind", &pod_write_pool_ops, BIND_SLOTS },
	[POOL_CLAIMS] = { "claims", &pod_write_pool_ops, STATUS_SLOTS },
	[POOL_EVICTIONS] = { "evict", &pod_write_pool_ops, STATUS_SLOTS },
	[POOL_POD_STATUS] = { "pod-status", &pod_write_pool_ops, STATUS_SLOTS },
	[POOL_PODGROUPS] = { "podgroup-status", &podgroup_status_pool_ops, STATUS_SLOTS },
};

struct exec *exec_create(const struct pool_options *base, unsigned gate_workers,
			 const char *component, void (*post)(void *ctx, struct sched_msg *msg))
{
	struct exec *e = xmalloc_zero(1, sizeof(*e));
	struct pool_options po = *base;

	e->target = (struct pod_write_target){ post, base->may_send, base->ctx };
	e->podgroups = podgroup_status_create(&e->target);
	for (unsigned i = 0; i < POOL_COUNT; i++) {
		po.name = pool_rows[i].name;
		po.ops = pool_rows[i].ops;
		po.slots = pool_rows[i].slots;
		po.workers = i == POOL_GATES && base->workers > 0 ? gate_workers : base->workers;
		po.seed = base->seed + i;
		po.ctx = i == POOL_PODGROUPS ? (void *)e->podgroups : (void *)&e->target;
		po.may_send = i == POOL_PODGROUPS ? podgroup_status_may_send : pod_write_may_send;
		e->pools[i] = pool_create(&po);
	}
	po.workers = base->workers;
	po.seed = base->seed + POOL_COUNT;
	e->recorder = recorder_create(&po, component, component);
	return e;
}

void exec_destroy(struct exec *e)
{
	if (e == NULL) {
		return;
	}
	for (unsigned i = 0; i < POOL_COUNT; i++) {
		pool_destroy(e->pools[i]);
	}
	recorder_destroy(e->recorder);
	podgroup_status_destroy(e->podgroups);
	free(e);
}

/* The key is the pod, so that a newer write of the same kind takes the place of one that waits. */
static void add_pod_write(struct exec *e, unsigned pool, const struct task *t, struct pod_write *w)
{
	/* A namespace has at most 63 bytes, a pod's name 253. */
	char buf[600];
	size_t n = cluster_task_key(t, buf, sizeof(buf));

	pool_add(e->pools[pool], (struct str){ buf, n < sizeof(buf) ? n : sizeof(buf) - 1 }, w);
}

static void request_podgroup_status(struct exec *e, const struct podgroup *g,
				    const struct decision *d, int64_t now)
{
	static const char *const phases[PODGROUP_PHASE_COUNT_] = {
		[PODGROUP_PENDING] = "Pending",     [PODGROUP_INQUEUE] = "Inqueue",
		[PODGROUP_RUNNING] = "Running",     [PODGROUP_UNKNOWN] = "Unknown",
		[PODGROUP_COMPLETED] = "Completed",
	};
	struct podgroup_change change = { .transition = e->transitions, .now = now };

	/* Only named by pods, or not of Volcano: there is no object that is ours to write to. */
	if (!g->exists || g->kind != PODGROUP_VOLCANO) {
		return;
	}
	if (d->kind == DECISION_PODGROUP_PHASE) {
		change.phase = phases[d->phase];
	} else {
		change.type = d->condition_type;
		change.reason = d->reason;
		change.message = d->message;
	}
	podgroup_status_request(e->podgroups, e->pools[POOL_PODGROUPS], g, &change);
}

static void record(struct exec *e, const struct cluster *c, const struct decision *d)
{
	struct recorder_object about = { .api_version = KEYS_VOLCANO_API_VERSION };

	/* The events of its pod say the same. */
	if (d->podgroup != MODEL_NONE && c->podgroups.v[d->podgroup]->kind == PODGROUP_ALONE) {
		return;
	}
	if (d->task != MODEL_NONE) {
		const struct task *t = c->tasks.v[d->task];

		about = (struct recorder_object){ .api_version = "v1",
						  .kind = "Pod",
						  .name = t->name,
						  .uid = t->uid,
						  .namespace_ = t->namespace_ };
	} else if (d->podgroup != MODEL_NONE) {
		const struct podgroup *g = c->podgroups.v[d->podgroup];

		about.api_version = g->kind == PODGROUP_PART ? KUBE_POD_GROUP_API_VERSION
							     : KEYS_VOLCANO_API_VERSION;
		about.kind = "PodGroup";
		about.name = g->name;
		about.uid = g->uid;
		about.namespace_ = g->namespace_;
	} else {
		about.kind = "Queue";
		about.name = c->queues.v[d->queue]->name;
		about.uid = c->queues.v[d->queue]->uid;
	}
	if (d->hint) {
		recorder_hint(e->recorder, &about, d->reason, d->message);
	} else {
		recorder_event(e->recorder, &about, d->warning, d->reason, d->message);
	}
}

/* A pod without a node is no victim: it is late, and deleted for that. */
static struct pod_write *make_eviction(const struct cluster *c, const struct task *t,
				       const struct decision *d, int64_t now)
{
	const struct eviction_options opt = {
		.by_api = c->budget_index != NULL && t->node != MODEL_NONE,
		.victim_text = d->by == MODEL_NONE ? NULL : d->message,
		.now = now,
	};

	return eviction_new(t, &opt);
}

/* The Binding brings an adopted pod the name of its PodGroup, in the same write. */
static void bind(struct exec *e, const struct cluster *c, const struct task *t, const char *node)
{
	add_pod_write(e, POOL_BINDS, t,
		      binding_new(t, node,
				  (t->flags & TASK_ADOPTED) == 0
					  ? NULL
					  : c->podgroups.v[t->podgroup]->name));
}

/* Its Binding follows when its claims are bound. */
static void select_node(struct exec *e, const struct cluster *c, const struct task *t,
			const char *node)
{
	for (size_t i = 0; i < t->klass->nclaims; i++) {
		const struct claim *cl = c->claims.v[t->klass->claims[i].id];

		if (cl->writing && cl->exists && !cl->bound) {
			pool_add(e->pools[POOL_CLAIMS], str_of(cl->key),
				 claim_selection_new(cl, node));
		}
	}
}

static void reserve_volume(struct exec *e, const struct volume *v, const struct claim *cl)
{
	pool_add(e->pools[POOL_CLAIMS], str_of(v->name), volume_reservation_new(v, cl));
}

static void exec_task(struct exec *e, const struct cluster *c, const struct decision *d,
		      int64_t now)
{
	const struct task *t = c->tasks.v[d->task];
	const char *node = d->node == MODEL_NONE ? NULL : c->nodes.v[d->node]->name;

	switch (d->kind) {
	/* The queue that cycle_assume has charged becomes the mark, by which a later process finds
	 * the charge again. */
	case DECISION_UNGATE:
		add_pod_write(e, POOL_GATES, t,
			      gate_removal_new(t, d->uncharged || t->charge_queue == MODEL_NONE
							  ? NULL
							  : c->queues.v[t->charge_queue]->name));
		break;
	case DECISION_TAKE_VOLUME:
		reserve_volume(e, c->volumes.v[d->volume], c->claims.v[d->claim]);
		break;
	case DECISION_BIND:
		if (t->bind_by != MODEL_TIME_NONE) {
			select_node(e, c, t, node);
			break;
		}
		bind(e, c, t, node);
		break;
	case DECISION_FINISH_BIND:
		bind(e, c, t, node);
		break;
	case DECISION_EVICT:
		add_pod_write(e, POOL_EVICTIONS, t, make_eviction(c, t, d, now));
		break;
	case DECISION_PUBLISH:
		add_pod_write(
			e, POOL_POD_STATUS, t,
			pod_status_new(t, KEYS_REASON_UNSCHEDULABLE, d->message, node, 0, now));
		break;
	case DECISION_WITHDRAW:
		add_pod_write(e, POOL_POD_STATUS, t,
			      pod_status_new(t, KEYS_REASON_NOT_READY, d->message, NULL,
					     d->attempts, now));
		break;
	case DECISION_CONDITION:
		add_pod_write(e, POOL_POD_STATUS, t,
			      pod_status_new(t, d->reason, d->message, node, 0, now));
		break;
	/* Nothing is written for these: cycle_assume has counted them, or exec_decisions took them.
	 */
	case DECISION_RESERVE:
	case DECISION_AWAIT:
	case DECISION_AWAIT_QUOTA:
	case DECISION_REVOKE:
	case DECISION_GIVE_BACK:
	case DECISION_MOVE:
	case DECISION_STAY:
	case DECISION_OVERDUE:
	case DECISION_STUCK:
	case DECISION_PODGROUP_PHASE:
	case DECISION_PODGROUP_CONDITION:
	case DECISION_EVENT:
	case DECISION_QUEUE_SCANNED:
	case DECISION_KIND_COUNT_:
		break;
	}
}

void exec_decisions(struct exec *e, const struct cluster *c, const struct decisions *list,
		    int64_t now)
{
	/* Conditions of one cycle share their transitionID: in Volcano it is the UID of the
	 * session. */
	e->transitions++;
	for (size_t i = 0; i < list->n; i++) {
		const struct decision *d = &list->v[i];

		if (d->kind == DECISION_PODGROUP_PHASE || d->kind == DECISION_PODGROUP_CONDITION) {
			request_podgroup_status(e, c->podgroups.v[d->podgroup], d, now);
		} else if (d->kind == DECISION_EVENT) {
			record(e, c, d);
		} else if (d->task != MODEL_NONE) {
			exec_task(e, c, d, now);
		}
	}
}

struct recorder *exec_recorder(struct exec *e)
{
	return e->recorder;
}

size_t exec_pools(struct exec *e, struct pool **out, size_t max)
{
	size_t n = 0;

	for (unsigned i = 0; i < POOL_COUNT && n < max; i++) {
		out[n++] = e->pools[i];
	}
	if (n < max) {
		out[n++] = recorder_pool(e->recorder);
	}
	return n;
}
