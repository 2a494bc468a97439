/* Volcano's proportion plugin: what a queue deserves is its weight's part of the present cluster,
 * up to what it asks for and may have (pods/plugins/water_fill.h). By that queues are ordered and
 * reclaim from each other, and pods that did not opt in get nodes only within it. Its queues are
 * otherwise those of the capacity plugin without hierarchy, which it asks: states, votes on
 * enqueueing.
 *
 * Unlike in Volcano, quota is reserved up to the configured limits of the tree of queues,
 * as with the capacity plugin, since what a queue deserves ends at the present cluster, which is to
 * grow for reserved pods (volcano-sh/volcano#5271 asks for gates under this plugin). Pods that did
 * not opt in stay within these limits, too, which in Volcano are those of their own queue alone.
 * Pods behind a gate without quota ask for nothing: they would take shares from pods that can
 * run. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "scheduler/base/tree.h"
#include "scheduler/pods/plugins/capacity.h"
#include "scheduler/pods/plugins/capacity_limits.h"
#include "scheduler/pods/plugins/podgroup_sums.h"
#include "scheduler/pods/plugins/registry.h"
#include "scheduler/pods/plugins/water_fill.h"
#include "scheduler/pods/session/session.h"
#include "scheduler/pods/values/pod_class.h"

struct proportion {
	void *flat; /* state of the capacity plugin */
	struct podgroup_sums
		waiting;      /* requests of pods without a node that need no quota before */
	struct res *deserved; /* by queue id, as the next one */
	struct res *limits;
	size_t nqueues;
	const struct cluster *cluster;
	uint64_t queues_gen, res_swept;
};

static int proportion_create(const struct plugin_args *args, void **ret_state, struct err *err)
{
	const struct plugin_args own = { .feature_gates_admission = args->feature_gates_admission };
	struct proportion *p = xmalloc_zero(1, sizeof(*p));
	int r = capacity_ops.create(&own, &p->flat, err);

	if (r < 0) {
		free(p);
		return r;
	}
	*ret_state = p;
	return 0;
}

static void proportion_destroy(void *state)
{
	struct proportion *p = state;

	capacity_ops.destroy(p->flat);
	podgroup_sums_finish(&p->waiting);
	free(p->deserved);
	free(p->limits);
	free(p);
}

static void read_queues(struct proportion *p, const struct cluster *c)
{
	struct tree *tree;

	if (p->limits != NULL && p->cluster == c && p->nqueues == c->queues.n &&
	    p->queues_gen == c->queues_gen && p->res_swept == c->res_swept) {
		return;
	}
	free(p->deserved);
	free(p->limits);
	p->deserved = xmalloc((c->queues.n + 1) * sizeof(*p->deserved));
	p->limits = xmalloc((c->queues.n + 1) * sizeof(*p->limits));
	p->nqueues = c->queues.n;
	p->cluster = c;
	p->queues_gen = c->queues_gen;
	p->res_swept = c->res_swept;
	tree = queue_topology_tree(c);
	capacity_limits_tree(c, tree, p->limits);
	tree_destroy(tree);
}

/* Pods that opted in count from their reservation on: it is part of what is allocated. */
static bool is_waiting(const struct task *t)
{
	const uint32_t asks_quota = (uint32_t)TASK_OPTED_IN | TASK_OUR_GATE | TASK_FOREIGN_GATE;

	return (t->flags & (TASK_OURS | asks_quota)) == TASK_OURS && t->status == TASK_PENDING &&
	       t->charge == CHARGE_NONE && t->klass != NULL;
}

static void count_waiting(const struct session *s, const struct podgroup *g, struct res *ret)
{
	for (size_t i = 0; g->by_status[TASK_PENDING] > 0 && i < g->tasks.n; i++) {
		const struct task *t = session_task(s, g->tasks.v[i]);

		if (is_waiting(t)) {
			res_add(ret, pod_class_charge(t->klass));
		}
	}
}

/* One queue that takes part in the division, since a PodGroup is in it. */
struct member {
	const struct queue *queue;
	struct res want;
	struct res_edit deserved;
};

static size_t collect_members(struct proportion *p, const struct session *s, struct member *members)
{
	const struct cluster *c = session_cluster(s);
	struct res *real = arena_alloc(session_arena(s), (c->queues.n + 1) * sizeof(*real));
	size_t n = 0;

	capacity_limits_flat_clipped(c, real);
	for (size_t i = 0; i < c->queues.n; i++) {
		const struct queue *q = c->queues.v[i];
		struct member *m = &members[n];
		struct res waiting;

		res_fill(&p->deserved[i], 0);
		if (q == NULL || q->podgroups.n == 0) {
			continue;
		}
		n++;
		m->queue = q;
		m->deserved = res_edit_begin(c->res, &p->deserved[i]);
		capacity_allocated(s, q, false, &m->want);
		podgroup_sums_get(&p->waiting, s, q, &waiting);
		res_add(&m->want, &waiting);
		res_min(&m->want, &real[i]);
	}
	return n;
}

static void divide(struct proportion *p, const struct session *s)
{
	const struct cluster *c = session_cluster(s);
	struct member *members =
		arena_alloc(session_arena(s), (c->queues.n + 1) * sizeof(*members));
	size_t n = collect_members(p, s, members);
	struct water_fill *fill = arena_alloc(session_arena(s), (n + 1) * sizeof(*fill));

	for (unsigned d = 0; d < res_names_count(c->res); d++) {
		for (size_t i = 0; i < n; i++) {
			int64_t want = res_get(&members[i].want, d);

			fill[i] = (struct water_fill){
				.weight = members[i].queue->weight,
				.want = want > 0 ? want : 0,
				.guarantee = res_get(&members[i].queue->guarantee, d),
			};
		}
		water_fill(fill, n, res_get(&c->total, d));
		for (size_t i = 0; i < n; i++) {
			res_edit_set(&members[i].deserved, d, fill[i].share);
		}
	}
	for (size_t i = 0; i < n; i++) {
		res_edit_end(&members[i].deserved);
	}
}

static void proportion_open(void *state, struct session *s)
{
	struct proportion *p = state;

	capacity_ops.open(p->flat, s);
	read_queues(p, session_cluster(s));
	podgroup_sums_open(&p->waiting, s, NULL, count_waiting);
	divide(p, s);
}

static const struct res *deserved_of(const struct proportion *p, const struct queue *q)
{
	return &p->deserved[q->id];
}

static double share_of(const struct proportion *p, const struct session *s, const struct queue *q)
{
	struct res used;

	capacity_allocated(s, q, false, &used);
	return res_share(&used, deserved_of(p, q), res_mask(deserved_of(p, q)));
}

static int proportion_queue_order(void *state, const struct session *s, const struct queue *a,
				  const struct queue *b)
{
	const struct proportion *p = state;
	double x, y;

	if (a->priority != b->priority) {
		return a->priority > b->priority ? -1 : 1;
	}
	x = share_of(p, s, a);
	y = share_of(p, s, b);
	return x < y ? -1 : x > y;
}

/* In every dimension, the number of pods included: as in Volcano. */
static bool proportion_overused(void *state, const struct session *s, const struct queue *q)
{
	const struct proportion *p = state;
	struct res used;

	capacity_allocated(s, q, false, &used);
	return res_exceeds(deserved_of(p, q), &used, UINT32_MAX) == 0;
}

static bool refuse(const struct session *s, const struct queue *q, const char *dims,
		   struct reason *why)
{
	if (why != NULL) {
		*why = (struct reason){
			.code = "queue resource quota insufficient",
			.detail = arena_printf(session_arena(s), "%s in what queue %s deserves",
					       dims, q->name),
		};
	}
	return false;
}

/* The dimensions in which the queue has more with t than it deserves. A gated pod may have its
 * quota already. */
static uint32_t over_deserved(const struct proportion *p, const struct session *s,
			      const struct queue *q, const struct task *t)
{
	static const struct res nothing;
	bool has_quota = session_task_charge(s, t) != CHARGE_NONE;
	struct res used;

	capacity_allocated(s, q, false, &used);
	return res_over(&used, has_quota ? &nothing : &t->klass->request, deserved_of(p, q),
			t->klass->mask);
}

/* Pods that opted in have reserved quota within these limits: ordinary ones must not take it. */
static bool is_within_limits(const struct proportion *p, const struct session *s,
			     const struct queue *q, const struct task *t, struct reason *why)
{
	const struct queue *at;

	QUEUE_FOR_EACH_UP (at, session_cluster(s), q->id) {
		if (!capacity_has_room(s, at, true, &p->limits[at->id], t, why)) {
			return false;
		}
	}
	return true;
}

static bool proportion_allocatable(void *state, struct session *s, const struct queue *q,
				   const struct task *t, struct reason *why)
{
	CLEANUP(strbuf_finish) struct strbuf dims = STRBUF_INIT;
	const struct proportion *p = state;
	uint32_t over;

	if (t->klass->charged_to_workload) {
		return true;
	}
	if (!is_within_limits(p, s, q, t, why)) {
		return false;
	}
	over = over_deserved(p, s, q, t);
	if (over == 0 && t->klass->unoffered.n == 0) {
		return true;
	}
	/* It depends on what all queues ask for. */
	session_wait_for_podgroups(s, q);
	if (over != 0) {
		res_describe_over(session_cluster(s)->res, over, &dims);
	} else {
		strbuf_printf(&dims, "insufficient %s", t->klass->unoffered.v[0].name);
	}
	return refuse(s, q, dims.p, why);
}

static void proportion_quota_limits(void *state, struct session *s, struct res *limits)
{
	const struct proportion *p = state;

	(void)s;
	for (size_t i = 0; i < p->nqueues; i++) {
		res_min(&limits[i], &p->limits[i]);
	}
}

static bool proportion_queue_accepts(void *state, const struct session *s, const struct queue *q,
				     struct reason *why)
{
	const struct proportion *p = state;

	return capacity_ops.queue_accepts(p->flat, s, q, why);
}

static enum vote proportion_job_enqueueable(void *state, struct session *s,
					    const struct podgroup *g, struct reason *why)
{
	const struct proportion *p = state;

	return capacity_ops.job_enqueueable(p->flat, s, g, why);
}

static void proportion_job_enqueued(void *state, struct session *s, const struct podgroup *g)
{
	const struct proportion *p = state;

	capacity_ops.job_enqueued(p->flat, s, g);
}

static bool proportion_preemptive(void *state, struct session *s, const struct queue *q,
				  const struct task *t)
{
	const struct proportion *p = state;

	return capacity_ops.queue_accepts(p->flat, s, q, NULL) && over_deserved(p, s, q, t) == 0;
}

static bool has_more_than_deserved(const struct proportion *p, const struct queue *q,
				   const struct res *used, uint32_t dims)
{
	return res_exceeds(used, deserved_of(p, q), dims & ~RES_PODS_BIT) != 0;
}

/* In a dimension that the victim requests, its queue has more than it deserves; without the victim
 * the queue still has what it is guaranteed, which Volcano does not ask. */
static bool proportion_reclaimable(void *state, struct session *s, const struct task *t UNUSED,
				   const struct task *victim)
{
	const struct queue *q = session_cluster(s)->queues.v[victim->charge_queue];
	struct res used;

	capacity_allocated(s, q, false, &used);
	return has_more_than_deserved(state, q, &used, victim->klass->mask) &&
	       capacity_keeps_guarantee(s, q, false, victim);
}

static bool proportion_queue_gives(void *state, const struct session *s, const struct queue *q)
{
	struct res used;

	capacity_allocated(s, q, false, &used);
	return has_more_than_deserved(state, q, &used, UINT32_MAX);
}

const struct plugin_ops proportion_ops = {
	.name = "proportion",
	.create = proportion_create,
	.destroy = proportion_destroy,
	.open = proportion_open,
	.queue_order = proportion_queue_order,
	.job_enqueueable = proportion_job_enqueueable,
	.job_enqueued = proportion_job_enqueued,
	.overused = proportion_overused,
	.queue_accepts = proportion_queue_accepts,
	.allocatable = proportion_allocatable,
	.quota_limits = proportion_quota_limits,
	.preemptive = proportion_preemptive,
	.reclaimable = proportion_reclaimable,
	.queue_gives = proportion_queue_gives,
};
