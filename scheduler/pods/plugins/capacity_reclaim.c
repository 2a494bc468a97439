#include "scheduler/pods/plugins/capacity_reclaim.h"

#include "scheduler/base/tree.h"
#include "scheduler/pods/plugins/capacity.h"
#include "scheduler/pods/session/session.h"
#include "scheduler/pods/values/pod_class.h"

/* Volcano leaves the number of pods out of its comparisons. */
static uint32_t deserved_dims(const struct capacity_reclaim *r, const struct queue *q,
			      const struct task *t)
{
	return res_mask(&r->deserved[q->id]) & t->klass->mask & ~RES_PODS_BIT;
}

static const struct queue *parent_of(const struct capacity_reclaim *r, const struct session *s,
				     const struct queue *q)
{
	uint32_t parent = tree_parent(r->tree, q->id);

	return parent == TREE_NONE ? NULL : session_cluster(s)->queues.v[parent];
}

static bool is_root(const struct session *s, const struct queue *q)
{
	return q->id == session_cluster(s)->root_queue;
}

/* The amount that t adds to its queue: nothing where a gated pod has its quota already. */
static const struct res *more_with(const struct session *s, const struct task *t,
				   const struct res *amount)
{
	static const struct res nothing;

	return session_task_charge(s, t) == CHARGE_NONE ? amount : &nothing;
}

/* In one of the dimensions that t requests and q deserves. */
static bool deserves(const struct capacity_reclaim *r, const struct session *s,
		     const struct queue *q, const struct task *t)
{
	uint32_t dims = deserved_dims(r, q, t);
	struct res used;

	capacity_allocated(s, q, r->hierarchy, &used);
	return dims != 0 && res_over(&used, more_with(s, t, &t->klass->request),
				     &r->deserved[q->id], dims) != dims;
}

bool capacity_reclaim_is_entitled(const struct capacity_reclaim *r, const struct session *s,
				  const struct queue *q, const struct task *t)
{
	const struct queue *at = q;
	struct res used;

	capacity_allocated(s, q, r->hierarchy, &used);
	if (res_over(&used, more_with(s, t, pod_class_charge(t->klass)), &r->limits[q->id],
		     t->klass->charged_to_workload ? 0 : t->klass->mask) != 0) {
		return false;
	}
	for (unsigned level = 0; level <= r->levels && at != NULL; level++) {
		if ((level == 0 || !is_root(s, at)) && deserves(r, s, at, t)) {
			return true;
		}
		at = parent_of(r, s, at);
	}
	return false;
}

/* In a dimension that the victim requests. */
static bool has_more_than_deserved(const struct capacity_reclaim *r, const struct session *s,
				   const struct queue *q, const struct task *victim)
{
	uint32_t dims = deserved_dims(r, q, victim);
	struct res used;

	if (dims == 0) {
		return true;
	}
	capacity_allocated(s, q, r->hierarchy, &used);
	return res_exceeds(&used, &r->deserved[q->id], dims) != 0;
}

/* Whether both queues have a common ancestor, other than the root, within the levels. */
static bool share_ancestor(const struct capacity_reclaim *r, const struct session *s,
			   const struct queue *a, const struct queue *b)
{
	const struct queue *at = parent_of(r, s, a);

	for (unsigned level = 1; level <= r->levels && at != NULL && !is_root(s, at); level++) {
		const struct queue *other = parent_of(r, s, b);

		for (unsigned k = 1; k <= r->levels && other != NULL; k++) {
			if (other == at) {
				return true;
			}
			other = parent_of(r, s, other);
		}
		at = parent_of(r, s, at);
	}
	return false;
}

/* The ancestors that only the victim's queue has must give as well, as far up as is asked for; a
 * guarantee holds in all of them. */
static bool ancestors_give(const struct capacity_reclaim *r, const struct session *s,
			   const struct queue *from, const struct queue *q,
			   const struct task *victim)
{
	const struct queue *at = parent_of(r, s, from);

	for (unsigned level = 1; at != NULL && !queue_is_within(session_cluster(s), q->id, at);
	     level++) {
		if (!capacity_keeps_guarantee(s, at, r->hierarchy, victim) ||
		    (level <= r->levels && !has_more_than_deserved(r, s, at, victim))) {
			return false;
		}
		at = parent_of(r, s, at);
	}
	return true;
}

bool capacity_reclaim_may_take(const struct capacity_reclaim *r, const struct session *s,
			       const struct queue *q, const struct task *t,
			       const struct task *victim)
{
	const struct queue *from = session_cluster(s)->queues.v[victim->charge_queue];

	if ((victim->klass->mask & t->klass->mask & ~RES_PODS_BIT) == 0 ||
	    !capacity_keeps_guarantee(s, from, r->hierarchy, victim)) {
		return false;
	}
	/* Siblings that both deserve nothing take nothing from each other. */
	if (deserved_dims(r, from, victim) == 0 && r->levels > 0 && deserved_dims(r, q, t) == 0 &&
	    share_ancestor(r, s, from, q)) {
		return false;
	}
	return has_more_than_deserved(r, s, from, victim) && ancestors_give(r, s, from, q, victim);
}

bool capacity_reclaim_gives(const struct capacity_reclaim *r, const struct session *s,
			    const struct queue *q)
{
	struct res used;

	capacity_allocated(s, q, r->hierarchy, &used);
	/* Anything that it does not deserve is more than it deserves. */
	return res_exceeds(&used, &r->deserved[q->id], UINT32_MAX & ~RES_PODS_BIT) != 0;
}
