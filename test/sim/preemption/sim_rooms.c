#include "sim/preemption/sim_rooms.h"

#include <stdlib.h>

#include "base/xmalloc.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/session/decision.h"

#define MAX_DEPTH 32

/* The least of its capability, or else its parent's, and of its parent's limit without what is
 * guaranteed to siblings. */
static struct res limit_of(const struct cluster *c, const struct queue *q, unsigned depth)
{
	const struct queue *parent = queue_at(c, q->parent);
	struct res limit, own = q->capability;

	if (parent == NULL || depth == 0) {
		return own;
	}
	for (const struct queue *at = parent; at != NULL; at = queue_at(c, at->parent)) {
		res_inherit(&own, &at->capability);
	}
	limit = limit_of(c, parent, depth - 1);
	for (size_t i = 0; i < c->queues.n; i++) {
		const struct queue *child = c->queues.v[i];

		if (child != NULL && child->exists && child->parent == parent->id) {
			res_sub_floor(&limit, &child->guarantee);
		}
	}
	res_add(&limit, &q->guarantee);
	res_min(&limit, &own);
	return limit;
}

static void charge(struct sim_rooms *r, const struct task *t, uint32_t queue, int sign)
{
	const struct queue *q;

	QUEUE_FOR_EACH_UP (q, r->cluster, queue) {
		if (sign > 0) {
			res_add(&r->queue[q->id], pod_class_charge(t->klass));
		} else {
			res_sub(&r->queue[q->id], pod_class_charge(t->klass));
		}
	}
}

static void hold(struct sim_rooms *r, const struct task *t, uint32_t node)
{
	if (r->holds[t->id] != MODEL_NONE) {
		res_sub(&r->node[r->holds[t->id]], &t->klass->request);
	}
	r->holds[t->id] = node;
	if (node == MODEL_NONE) {
		/* The quota that came with the room goes with it. */
		if (r->charged_by_hold[t->id]) {
			r->charged_by_hold[t->id] = r->charged[t->id] = false;
			charge(r, t, r->cluster->podgroups.v[t->podgroup]->queue, -1);
		}
		return;
	}
	res_add(&r->node[node], &t->klass->request);
	if (!r->charged[t->id] && t->podgroup != MODEL_NONE) {
		r->charged[t->id] = r->charged_by_hold[t->id] = true;
		charge(r, t, r->cluster->podgroups.v[t->podgroup]->queue, 1);
	}
}

/* A node may be found for it in this cycle. */
static bool may_be_placed(const struct sim_rooms *r, const struct task *t)
{
	return t->status == TASK_PENDING && t->klass != NULL && !t->klass->best_effort &&
	       r->holds[t->id] == MODEL_NONE &&
	       (t->charge != CHARGE_NONE || (t->flags & TASK_OPTED_IN) == 0);
}

static bool fits_any_busy(const struct sim_rooms *r, const struct task *t)
{
	for (size_t i = 0; i < r->cluster->nodes.n; i++) {
		if (r->cluster->nodes.v[i] != NULL && r->busy[i] &&
		    sim_rooms_fits_node(r, t, r->cluster->nodes.v[i])) {
			return true;
		}
	}
	return false;
}

/* One pod of the gang fits the node now, and another one where pods terminate. */
static bool may_count_on(const struct sim_rooms *r, const struct podgroup *g, const struct node *n)
{
	bool here = false, there = false;

	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = r->cluster->tasks.v[g->tasks.v[i]];

		if (!may_be_placed(r, t)) {
			continue;
		}
		if ((here && fits_any_busy(r, t)) || (there && sim_rooms_fits_node(r, t, n))) {
			return true;
		}
		here |= sim_rooms_fits_node(r, t, n);
		there |= fits_any_busy(r, t);
	}
	return false;
}

/* A gang that waits for the end of pods on one node has room on others as well: none of its pods is
 * bound, and no other pod of the cycle gets the room. */
static bool may_be_counted_on(const struct sim_rooms *r, const struct node *n)
{
	for (size_t i = 0; i < r->cluster->podgroups.n; i++) {
		const struct podgroup *g = r->cluster->podgroups.v[i];

		if (g != NULL && g->exists && g->min_member > 1 && may_count_on(r, g, n)) {
			return true;
		}
	}
	return false;
}

/* Once it is known what is held. */
static void mark_counted_on(struct sim_rooms *r)
{
	const struct cluster *c = r->cluster;
	bool *more = xmalloc_zero(c->nodes.n + 1, sizeof(*more));

	for (size_t i = 0; r->any_busy && i < c->nodes.n; i++) {
		more[i] =
			c->nodes.v[i] != NULL && !r->busy[i] && may_be_counted_on(r, c->nodes.v[i]);
	}
	for (size_t i = 0; i < c->nodes.n; i++) {
		r->busy[i] |= more[i];
	}
	free(more);
}

struct sim_rooms sim_rooms_begin(const struct cluster *c)
{
	struct sim_rooms r = {
		.cluster = c,
		.node = xmalloc_zero(c->nodes.n + 1, sizeof(struct res)),
		.busy = xmalloc_zero(c->nodes.n + 1, sizeof(bool)),
		.queue = xmalloc_zero(c->queues.n + 1, sizeof(struct res)),
		.limit = xmalloc_zero(c->queues.n + 1, sizeof(struct res)),
		.holds = xmalloc_zero(c->tasks.n + 1, sizeof(uint32_t)),
		.charged = xmalloc_zero(c->tasks.n + 1, sizeof(bool)),
		.charged_by_hold = xmalloc_zero(c->tasks.n + 1, sizeof(bool)),
		.evicted = xmalloc_zero(c->tasks.n + 1, sizeof(bool)),
	};

	for (size_t i = 0; i < c->nodes.n; i++) {
		if (c->nodes.v[i] != NULL) {
			r.node[i] = c->nodes.v[i]->used;
			res_sub(&r.node[i], &c->nodes.v[i]->releasing);
			r.busy[i] = !res_is_zero(&c->nodes.v[i]->releasing);
			r.any_busy |= r.busy[i];
		}
	}
	for (size_t i = 0; i < c->queues.n; i++) {
		if (c->queues.v[i] != NULL) {
			r.queue[i] = c->queues.v[i]->charged;
			res_sub(&r.queue[i], &c->queues.v[i]->releasing);
			r.limit[i] = limit_of(c, c->queues.v[i], MAX_DEPTH);
		}
	}
	for (size_t i = 0; i < c->tasks.n; i++) {
		r.holds[i] = MODEL_NONE;
		if (c->tasks.v[i] != NULL) {
			r.charged[i] = c->tasks.v[i]->charge != CHARGE_NONE;
			hold(&r, c->tasks.v[i], c->tasks.v[i]->awaits);
		}
	}
	mark_counted_on(&r);
	return r;
}

void sim_rooms_finish(struct sim_rooms *r)
{
	free(r->node);
	free(r->busy);
	free(r->queue);
	free(r->limit);
	free(r->holds);
	free(r->charged);
	free(r->charged_by_hold);
	free(r->evicted);
}

void sim_rooms_evict(struct sim_rooms *r, const struct task *t)
{
	r->evicted[t->id] = true;
	res_sub(&r->node[t->node], &t->klass->request);
	if (t->charge != CHARGE_NONE) {
		charge(r, t, t->charge_queue, -1);
	}
}

void sim_rooms_restore(struct sim_rooms *r, const struct task *t)
{
	r->evicted[t->id] = false;
	res_add(&r->node[t->node], &t->klass->request);
	if (t->charge != CHARGE_NONE) {
		charge(r, t, t->charge_queue, 1);
	}
}

static void reserve(struct sim_rooms *r, const struct task *t, uint32_t queue)
{
	if (!r->charged[t->id]) {
		r->charged[t->id] = true;
		charge(r, t, queue, 1);
	}
}

void sim_rooms_apply(struct sim_rooms *r, const struct decision *d)
{
	const struct task *t = d->task == MODEL_NONE ? NULL : r->cluster->tasks.v[d->task];

	if (d->kind == DECISION_UNGATE || d->kind == DECISION_RESERVE ||
	    d->kind == DECISION_AWAIT_QUOTA) {
		if (!d->uncharged) {
			reserve(r, t, d->queue);
		}
	} else if (d->kind == DECISION_BIND || d->kind == DECISION_AWAIT) {
		hold(r, t, d->node);
	} else if (d->kind == DECISION_EVICT && t->node != MODEL_NONE &&
		   t->status != TASK_RELEASING) {
		sim_rooms_evict(r, t);
	} else if (d->kind == DECISION_REVOKE || d->kind == DECISION_MOVE ||
		   d->kind == DECISION_STAY || d->kind == DECISION_GIVE_BACK) {
		r->unsure = true;
	}
}

bool sim_rooms_fits_node(const struct sim_rooms *r, const struct task *t, const struct node *n)
{
	return res_over(&r->node[n->id], &t->klass->request, &n->allocatable,
			t->klass->mask | UINT32_C(1) << RES_PODS) == 0;
}

bool sim_rooms_fits_queue(const struct sim_rooms *r, const struct task *t, const struct queue *q)
{
	const struct queue *at;

	if (r->charged[t->id]) {
		return true;
	}
	QUEUE_FOR_EACH_UP (at, r->cluster, q->id) {
		if (res_over(&r->queue[at->id], pod_class_charge(t->klass), &r->limit[at->id],
			     pod_class_charge_mask(t->klass)) != 0) {
			return false;
		}
	}
	return true;
}

bool sim_rooms_stays(const struct sim_rooms *r, const struct task *t)
{
	return (t->status == TASK_RUNNING || t->status == TASK_BOUND) && !r->evicted[t->id];
}

int32_t sim_rooms_placed(const struct sim_rooms *r, const struct podgroup *g)
{
	int32_t n = 0;

	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = r->cluster->tasks.v[g->tasks.v[i]];

		n += sim_rooms_stays(r, t) || t->status == TASK_BINDING ||
		     t->status == TASK_SUCCEEDED || r->holds[t->id] != MODEL_NONE;
	}
	return n;
}

struct res sim_rooms_deserved(const struct queue *q)
{
	struct res deserved = q->deserved;

	res_max(&deserved, &q->guarantee);
	return deserved;
}
