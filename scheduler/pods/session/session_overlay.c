#include "scheduler/pods/session/session_overlay.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/saturating.h"
#include "base/xmalloc.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/session/domain_table.h"
#include "scheduler/pods/values/pod_class.h"

/* Old slots are not copied: none of them is of the session that begins. A zeroed slot has epoch 0,
 * which no session uses. */
static void *slots(void *old, size_t *n, size_t need, size_t size)
{
	size_t count = *n;

	if (need <= count) {
		return old;
	}
	free(old);
	*n = need + need / 2 + 16;
	return xmalloc_zero(*n, size);
}

void session_overlay_finish(struct overlay *o)
{
	free(o->tasks);
	free(o->nodes);
	free(o->podgroups);
	free(o->queues);
	free(o->claims);
	free(o->volumes);
	vec_finish(&o->log);
	vec_finish(&o->touched);
	vec_finish(&o->touched_podgroups);
	vec_finish(&o->evicted);
	memset(o, 0, sizeof(*o));
}

void session_overlay_open(struct overlay *o, const struct cluster *c, struct arena *a)
{
	o->tasks = slots(o->tasks, &o->ntasks, c->tasks.n, sizeof(*o->tasks));
	o->nodes = slots(o->nodes, &o->nnodes, c->nodes.n, sizeof(*o->nodes));
	o->podgroups = slots(o->podgroups, &o->npodgroups, c->podgroups.n, sizeof(*o->podgroups));
	o->queues = slots(o->queues, &o->nqueues, c->queues.n, sizeof(*o->queues));
	o->claims = slots(o->claims, &o->nclaims, c->claims.n, sizeof(*o->claims));
	o->volumes = slots(o->volumes, &o->nvolumes, c->volumes.n, sizeof(*o->volumes));
	o->epoch++;
	/* After 2^32 sessions the numbers start again, and slots of long ago would look current. */
	if (o->epoch == 0) {
		memset(o->tasks, 0, o->ntasks * sizeof(*o->tasks));
		memset(o->nodes, 0, o->nnodes * sizeof(*o->nodes));
		memset(o->podgroups, 0, o->npodgroups * sizeof(*o->podgroups));
		memset(o->queues, 0, o->nqueues * sizeof(*o->queues));
		memset(o->claims, 0, o->nclaims * sizeof(*o->claims));
		memset(o->volumes, 0, o->nvolumes * sizeof(*o->volumes));
		o->epoch = 1;
	}
	vec_clear(&o->log);
	vec_clear(&o->touched);
	vec_clear(&o->touched_podgroups);
	o->grown = 0;
	vec_clear(&o->evicted);
	o->cluster = c;
	o->arena = a;
}

struct overlay_task *session_overlay_task(struct overlay *o, const struct task *t)
{
	struct overlay_task *slot = &o->tasks[t->id];

	if (slot->epoch != o->epoch) {
		*slot = (struct overlay_task){
			.epoch = o->epoch,
			.node = t->node,
			.awaits = t->awaits,
			.charge_queue = t->charge_queue,
			.status = t->status,
			.charge = t->charge,
			.counted = (uint8_t)(t->node == MODEL_NONE         ? DOMAIN_OUT
					     : t->status == TASK_RELEASING ? DOMAIN_RELEASING
									   : DOMAIN_HERE),
			.counted_node = t->node,
			.attempt_node = MODEL_NONE,
		};
	}
	return slot;
}

struct overlay_node *session_overlay_node(struct overlay *o, const struct node *n)
{
	struct overlay_node *slot = &o->nodes[n->id];

	if (slot->epoch != o->epoch) {
		*slot = (struct overlay_node){
			.epoch = o->epoch,
			.used = n->used,
			.releasing = n->releasing,
		};
	}
	return slot;
}

struct overlay_podgroup *session_overlay_podgroup(struct overlay *o, const struct podgroup *g)
{
	struct overlay_podgroup *slot = &o->podgroups[g->id];

	if (slot->epoch == o->epoch) {
		return slot;
	}
	*slot = (struct overlay_podgroup){ .epoch = o->epoch, .phase = g->phase };
	memcpy(slot->by_status, g->by_status, sizeof(slot->by_status));
	/* The cluster does not count these; most PodGroups have no pending pod and are not walked.
	 */
	if (slot->by_status[TASK_PENDING] == 0) {
		return slot;
	}
	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = o->cluster->tasks.v[g->tasks.v[i]];

		if (t->status == TASK_PENDING && t->klass != NULL && t->klass->best_effort) {
			slot->best_effort_pending++;
		}
	}
	return slot;
}

struct overlay_claim *session_overlay_claim(struct overlay *o, const struct claim *cl)
{
	struct overlay_claim *slot = &o->claims[cl->id];

	if (slot->epoch == o->epoch) {
		return slot;
	}
	*slot = (struct overlay_claim){ .epoch = o->epoch, .node = cl->node };
	for (size_t i = 0; i < cl->users.n; i++) {
		slot->placed += o->cluster->tasks.v[cl->users.v[i]]->node != MODEL_NONE;
	}
	return slot;
}

struct overlay_volume *session_overlay_volume(struct overlay *o, const struct volume *v)
{
	struct overlay_volume *slot = &o->volumes[v->id];

	if (slot->epoch != o->epoch) {
		*slot = (struct overlay_volume){
			.epoch = o->epoch,
			.claim = v->taker == NULL ? MODEL_NONE : v->taker->id,
		};
	}
	return slot;
}

struct overlay_queue *session_overlay_queue(struct overlay *o, const struct queue *q)
{
	struct overlay_queue *slot = &o->queues[q->id];

	if (slot->epoch != o->epoch) {
		*slot = (struct overlay_queue){
			.epoch = o->epoch,
			.charged = q->charged,
			.releasing = q->releasing,
		};
	}
	return slot;
}

void session_overlay_set64(struct overlay *o, int64_t *at, int64_t value)
{
	struct undo u = { .kind = UNDO_64, .at.w64 = at, .old = *at };

	vec_push(&o->log, u);
	*at = value;
}

void session_overlay_set32(struct overlay *o, uint32_t *at, uint32_t value)
{
	struct undo u = { .kind = UNDO_32, .at.w32 = at, .old = *at };

	vec_push(&o->log, u);
	*at = value;
}

void session_overlay_set8(struct overlay *o, uint8_t *at, uint8_t value)
{
	struct undo u = { .kind = UNDO_8, .at.w8 = at, .old = *at };

	vec_push(&o->log, u);
	*at = value;
}

/* A sum that is cut off at either end comes back by the undo log, which has the value before. */
void session_overlay_add(struct overlay *o, struct res *a, const struct res *b, uint32_t mask,
			 int sign)
{
	/* The vector of further dimensions is immutable: another one takes its place, and the undo
	 * log has the old one. */
	if ((mask & RES_FURTHER) != 0) {
		session_overlay_set64(o, &a->more_word, res_more_sum(a, b, sign));
	}
	for (uint32_t m = mask & ~RES_FURTHER; m != 0; m &= m - 1) {
		unsigned d = (unsigned)__builtin_ctz(m);
		int64_t v;

		if (sign > 0) {
			v = saturating_add(a->v[d], b->v[d]);
		} else {
			v = a->v[d] > b->v[d] ? a->v[d] - b->v[d] : 0;
		}
		session_overlay_set64(o, &a->v[d], v);
	}
}

void session_overlay_charge(struct overlay *o, uint32_t queue, const struct task *t, int sign)
{
	const struct queue *q;

	QUEUE_FOR_EACH_UP (q, o->cluster, queue) {
		session_overlay_add(o, &session_overlay_queue(o, q)->charged,
				    pod_class_charge(t->klass), pod_class_charge_mask(t->klass),
				    sign);
	}
}

/* Every change of a node is listed: rankings that were made before play these nodes again. */
void session_overlay_touch(struct overlay *o, const struct node *n, bool grows)
{
	struct undo u = { .kind = UNDO_NODE, .node = n->id };

	vec_push(&o->log, u);
	session_overlay_node(o, n)->version++;
	vec_push(&o->touched, n->id);
	if (grows) {
		o->grown++;
	}
}

void session_overlay_touch_podgroup(struct overlay *o, const struct podgroup *g)
{
	struct overlay_podgroup *slot = session_overlay_podgroup(o, g);

	if (!slot->touched) {
		slot->touched = true;
		vec_push(&o->touched_podgroups, g->id);
	}
}
