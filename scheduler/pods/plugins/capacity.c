/* Volcano's capacity plugin: queues have a capability (limit), a guarantee and a deserved share, in
 * a tree when enableHierarchy is on. It keeps no account of its own: what is used is what the
 * ledger charges.
 *
 * What differs from Volcano: a queue that is misconfigured closes only itself and what is below it;
 * limits for reserving (quota_limits) are never clipped to the present cluster; pods that are
 * charged but not placed yet count as allocated; a capability of 0 means 0, also for cpu and
 * memory.
 *
 * Argument: ancestorReclaimLevel (0): so many ancestors of a queue may be entitled in its place,
 * and are asked whether they give. */
#include "scheduler/pods/plugins/capacity.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "scheduler/base/tree.h"
#include "scheduler/pods/conf/conf_args.h"
#include "scheduler/pods/plugins/capacity_limits.h"
#include "scheduler/pods/plugins/capacity_reclaim.h"
#include "scheduler/pods/plugins/registry.h"
#include "scheduler/pods/session/session.h"
#include "scheduler/pods/values/pod_class.h"

struct capacity {
	bool hierarchy;
	unsigned levels; /* ancestorReclaimLevel */
	/* Derived from the queues' configuration; rebuilt when that, or for the flat mode the size
	 * of the cluster, has changed. */
	const struct cluster *cluster;
	uint64_t queues_gen, res_swept;
	size_t nqueues;
	struct res total;
	struct tree *tree;  /* over queue ids; without hierarchy no queue has a parent in it */
	struct res *limits; /* configured */
	struct res *real;   /* for ordinary scheduling; the same array with hierarchy */
	struct res *deserved;
	struct capacity_demand demand;
	bool follows; /* demand has what this session did before its first vote */
};

static void forget_derived(struct capacity *p)
{
	tree_destroy(p->tree);
	p->tree = NULL;
	if (p->real != p->limits) {
		free(p->real);
	}
	free(p->limits);
	free(p->deserved);
	p->limits = p->real = p->deserved = NULL;
}

static void build_tree(struct capacity *p, const struct cluster *c)
{
	uint32_t *parent;

	if (p->hierarchy) {
		p->tree = queue_topology_tree(c);
		return;
	}
	parent = xmalloc(c->queues.n * sizeof(*parent));
	for (size_t i = 0; i < c->queues.n; i++) {
		parent[i] = TREE_NONE;
	}
	p->tree = tree_create(parent, c->queues.n);
	free(parent);
}

static void derive(struct capacity *p, const struct cluster *c)
{
	size_t n = c->queues.n;

	forget_derived(p);
	p->cluster = c;
	p->queues_gen = c->queues_gen;
	p->res_swept = c->res_swept;
	p->nqueues = n;
	p->total = c->total;
	build_tree(p, c);
	p->limits = xmalloc(n * sizeof(*p->limits));
	p->deserved = xmalloc(n * sizeof(*p->deserved));
	if (p->hierarchy) {
		p->real = p->limits;
		capacity_limits_tree(c, p->tree, p->limits);
		capacity_limits_deserved(c, NULL, p->deserved);
	} else {
		p->real = xmalloc(n * sizeof(*p->real));
		capacity_limits_flat(c, p->limits);
		capacity_limits_flat_clipped(c, p->real);
		capacity_limits_deserved(c, p->real, p->deserved);
	}
}

/* A sweep of names frees the further dimensions of vectors that the cluster does not hold, such as
 * these. */
static bool is_current(const struct capacity *p, const struct cluster *c)
{
	return p->tree != NULL && p->cluster == c && p->queues_gen == c->queues_gen &&
	       p->res_swept == c->res_swept && p->nqueues == c->queues.n &&
	       (p->hierarchy || res_eq(&p->total, &c->total));
}

struct capacity_arguments {
	double levels;
};
static const struct conf_args_row capacity_arguments[] = {
	{ "ancestorReclaimLevel", CONF_ARGS_AT(struct capacity_arguments, NUMBER, levels) },
	{ "capacity.DynamicResourceAllocationEnable", .kind = CONF_ARGS_NO_EFFECT },
	{ "capacity.DRAConsumableCapacityEnable", .kind = CONF_ARGS_NO_EFFECT },
	{ .name = NULL },
};

static int capacity_create(const struct plugin_args *args, void **ret_state, struct err *err)
{
	struct capacity *p;
	struct capacity_arguments a;
	int r = conf_args_read(capacity_arguments, args->v, args->n, &a, err);

	if (r == 0 && (a.levels < 0 || a.levels > QUEUE_MAX_DEPTH)) {
		r = err_set(err, ERR_INVALID, "ancestorReclaimLevel: not between 0 and %d",
			    QUEUE_MAX_DEPTH);
	}
	if (r < 0) {
		return r;
	}
	p = xmalloc_zero(1, sizeof(*p));
	p->levels = (unsigned)a.levels;
	p->hierarchy = args->hierarchy;
	*ret_state = p;
	return 0;
}

static void capacity_destroy(void *state)
{
	struct capacity *p = state;

	capacity_demand_finish(&p->demand);
	forget_derived(p);
	free(p);
}

static void capacity_open(void *state, struct session *s)
{
	struct capacity *p = state;

	if (!is_current(p, session_cluster(s))) {
		derive(p, session_cluster(s));
	}
	capacity_demand_open(&p->demand, s, p->tree);
	p->follows = false;
}

static void capacity_quota_limits(void *state, struct session *s, struct res *limits)
{
	const struct capacity *p = state;

	(void)s;
	for (size_t i = 0; i < p->nqueues; i++) {
		res_min(&limits[i], &p->limits[i]);
	}
}

void capacity_allocated(const struct session *s, const struct queue *q, bool hierarchy,
			struct res *ret)
{
	*ret = *session_queue_charged(s, q);
	res_sub(ret, session_queue_releasing(s, q));
	for (size_t i = 0; !hierarchy && i < q->children.n; i++) {
		const struct queue *child = session_cluster(s)->queues.v[q->children.v[i]];

		res_sub(ret, session_queue_charged(s, child));
		res_add(ret, session_queue_releasing(s, child));
	}
}

bool capacity_keeps_guarantee(const struct session *s, const struct queue *q, bool hierarchy,
			      const struct task *victim)
{
	uint32_t dims = res_mask(&q->guarantee) & victim->klass->mask;
	struct res left;

	capacity_allocated(s, q, hierarchy, &left);
	res_sub(&left, pod_class_charge(victim->klass));
	return res_exceeds(&q->guarantee, &left, dims) == 0;
}

static struct capacity_reclaim rules(const struct capacity *p)
{
	return (struct capacity_reclaim){ .tree = p->tree,
					  .limits = p->real,
					  .deserved = p->deserved,
					  .levels = p->levels,
					  .hierarchy = p->hierarchy };
}

static const struct queue *parent_of(const struct capacity *p, const struct session *s,
				     const struct queue *q)
{
	uint32_t parent = tree_parent(p->tree, q->id);

	return parent == TREE_NONE ? NULL : session_cluster(s)->queues.v[parent];
}

/* Volcano leaves the number of pods out of its comparisons. */
static uint32_t deserved_dims(const struct capacity *p, const struct queue *q)
{
	return res_mask(&p->deserved[q->id]) & ~RES_PODS_BIT;
}

static double share_of(const struct capacity *p, const struct session *s, const struct queue *q)
{
	uint32_t mask = deserved_dims(p, q);
	struct res used;

	if (mask == 0) {
		return 1;
	}
	capacity_allocated(s, q, p->hierarchy, &used);
	return res_share(&used, &p->deserved[q->id], mask);
}

/* A queue that deserves nothing has the share 1, and goes behind one that has used up what it
 * deserves: as in Volcano. */
static int compare_shares(const struct capacity *p, const struct session *s, const struct queue *a,
			  const struct queue *b)
{
	double x = share_of(p, s, a), y = share_of(p, s, b);
	bool has_x = deserved_dims(p, a) != 0, has_y = deserved_dims(p, b) != 0;

	if (x != y) {
		return x < y ? -1 : 1;
	}
	return has_x == has_y ? 0 : has_x ? -1 : 1;
}

/* Leaves are compared by the shares of their ancestors right below the deepest common one, so that
 * the branch which has less of what it deserves goes first. */
static int compare_leaves(const struct capacity *p, const struct session *s, const struct queue *a,
			  const struct queue *b)
{
	const struct cluster *c = session_cluster(s);
	uint32_t common;

	if (!tree_is_placed(p->tree, a->id) || !tree_is_placed(p->tree, b->id)) {
		return compare_shares(p, s, a, b);
	}
	common = tree_common(p->tree, a->id, b->id);
	return compare_shares(p, s, c->queues.v[tree_below(p->tree, a->id, common)],
			      c->queues.v[tree_below(p->tree, b->id, common)]);
}

static int capacity_queue_order(void *state, const struct session *s, const struct queue *a,
				const struct queue *b)
{
	const struct capacity *p = state;
	bool leaf_a = tree_is_leaf(p->tree, a->id), leaf_b = tree_is_leaf(p->tree, b->id);

	if (a->priority != b->priority) {
		return a->priority > b->priority ? -1 : 1;
	}
	if (leaf_a != leaf_b) {
		return leaf_a ? -1 : 1;
	}
	return leaf_a ? compare_leaves(p, s, a, b) : compare_shares(p, s, a, b);
}

static bool refuse(struct reason *why, const char *code, const char *detail)
{
	if (why != NULL) {
		*why = (struct reason){ .code = code, .detail = detail };
	}
	return false;
}

static bool capacity_queue_accepts(void *state, const struct session *s, const struct queue *q,
				   struct reason *why)
{
	const struct capacity *p = state;

	(void)s;
	if (q->broken != NULL) {
		return refuse(why, q->broken, NULL);
	}
	if (q->state != QUEUE_OPEN) {
		return refuse(why, "is not open", NULL);
	}
	if (!tree_is_leaf(p->tree, q->id)) {
		return refuse(why, "is not a leaf of the queue tree", NULL);
	}
	return true;
}

/* "insufficient cpu, memory in queue a" */
static bool refuse_dims(const struct session *s, const struct queue *q, uint32_t dims,
			struct reason *why)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	if (why == NULL) {
		return false;
	}
	res_describe_over(session_cluster(s)->res, dims, &text);
	strbuf_printf(&text, " in queue %s", q->name);
	return refuse(why, "queue resource quota insufficient",
		      arena_dup(session_arena(s), text.p));
}

bool capacity_has_room(const struct session *s, const struct queue *q, bool hierarchy,
		       const struct res *limit, const struct task *t, struct reason *why)
{
	struct res used;
	uint32_t over;

	capacity_allocated(s, q, hierarchy, &used);
	over = res_over(&used, pod_class_charge(t->klass), limit,
			t->klass->charged_to_workload ? 0 : t->klass->mask);
	return over == 0 || refuse_dims(s, q, over, why);
}

/* Names that no Queue has are limited by none. Without hierarchy a queue is limited by the present
 * nodes as well, and no node has them either. */
static bool accepts_unoffered(const struct capacity *p, const struct session *s,
			      const struct queue *q, const struct unoffered *u, struct reason *why)
{
	if (p->hierarchy || u->n == 0 || q == NULL) {
		return true;
	}
	return refuse(why, "queue resource quota insufficient",
		      why == NULL ? NULL
				  : arena_printf(session_arena(s), "insufficient %s in queue %s",
						 u->v[0].name, q->name));
}

static bool capacity_allocatable(void *state, struct session *s, const struct queue *q,
				 const struct task *t, struct reason *why)
{
	const struct capacity *p = state;

	for (const struct queue *at = q; at != NULL; at = parent_of(p, s, at)) {
		if (!capacity_has_room(s, at, p->hierarchy, &p->real[at->id], t, why)) {
			return false;
		}
	}
	return t->klass->charged_to_workload ||
	       accepts_unoffered(p, s, q, &t->klass->unoffered, why);
}

static const struct capacity_demand *demand_of(struct capacity *p, const struct session *s)
{
	if (!p->follows) {
		capacity_demand_follow(&p->demand, s);
		p->follows = true;
	}
	return &p->demand;
}

/* minResources that are not charged yet + allocated + inqueue - elastic must fit everywhere up to
 * the root, in the dimensions of minResources except the number of pods. */
static bool fits_enqueued(struct capacity *p, struct session *s, const struct podgroup *g,
			  struct reason *why)
{
	const struct capacity_demand *demand = demand_of(p, s);
	const struct queue *at = session_cluster(s)->queues.v[g->queue];
	uint32_t mask;
	struct res need;

	capacity_demand_of_podgroup(s, g, &need);
	mask = res_mask(&need) & ~RES_PODS_BIT;
	for (; at != NULL; at = parent_of(p, s, at)) {
		struct res used, extra;
		uint32_t over;

		capacity_allocated(s, at, p->hierarchy, &used);
		capacity_demand_of_queue(demand, s, at, &extra);
		res_add(&used, &extra);
		over = res_over(&used, &need, &p->real[at->id], mask);
		if (over != 0) {
			return refuse_dims(s, at, over, why);
		}
	}
	return accepts_unoffered(p, s, session_cluster(s)->queues.v[g->queue], &g->min_unoffered,
				 why);
}

static enum vote capacity_job_enqueueable(void *state, struct session *s, const struct podgroup *g,
					  struct reason *why)
{
	struct capacity *p = state;

	if (g->queue == MODEL_NONE) {
		refuse(why, "the queue does not exist", NULL);
		return VOTE_REJECT;
	}
	if (!capacity_queue_accepts(p, s, session_cluster(s)->queues.v[g->queue], why)) {
		return VOTE_REJECT;
	}
	if (g->has_min_resources && !fits_enqueued(p, s, g, why)) {
		return VOTE_REJECT;
	}
	return VOTE_PERMIT;
}

static void capacity_job_enqueued(void *state, struct session *s, const struct podgroup *g)
{
	struct capacity *p = state;

	if (g->queue != MODEL_NONE) {
		demand_of(p, s);
		capacity_demand_add(&p->demand, s, g);
	}
}

static bool capacity_preemptive(void *state, struct session *s, const struct queue *q,
				const struct task *t)
{
	const struct capacity_reclaim r = rules(state);

	return capacity_queue_accepts(state, s, q, NULL) &&
	       capacity_reclaim_is_entitled(&r, s, q, t);
}

static bool capacity_reclaimable(void *state, struct session *s, const struct task *t,
				 const struct task *victim)
{
	const struct queue *q = session_cluster(s)->queues.v[session_task_queue(s, t)];
	const struct capacity_reclaim r = rules(state);

	return capacity_reclaim_may_take(&r, s, q, t, victim);
}

static bool capacity_queue_gives(void *state, const struct session *s, const struct queue *q)
{
	const struct capacity_reclaim r = rules(state);

	return capacity_reclaim_gives(&r, s, q);
}

const struct plugin_ops capacity_ops = {
	.name = "capacity",
	.arguments = capacity_arguments,
	.create = capacity_create,
	.destroy = capacity_destroy,
	.open = capacity_open,
	.queue_order = capacity_queue_order,
	.job_enqueueable = capacity_job_enqueueable,
	.job_enqueued = capacity_job_enqueued,
	.queue_accepts = capacity_queue_accepts,
	.allocatable = capacity_allocatable,
	.quota_limits = capacity_quota_limits,
	.preemptive = capacity_preemptive,
	.reclaimable = capacity_reclaimable,
	.queue_gives = capacity_queue_gives,
};
