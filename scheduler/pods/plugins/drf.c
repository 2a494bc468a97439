/* Volcano's drf plugin: dominant resource fairness. PodGroups are ordered by their dominant share:
 * the largest part of the cluster, over all resources, that their pods have. With enableHierarchy
 * queues are ordered as well, along the paths in their annotations (pods/plugins/drf_tree.h).
 * Within a queue, a PodGroup may evict pods of those that have more; with enableHierarchy, a queue
 * gives back pods to those that go before it with them.
 *
 * Unlike in Volcano, a pod counts from its reservation on: it has quota that others wait for. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/xmalloc.h"
#include "collections/bitset.h"
#include "collections/vec.h"
#include "scheduler/pods/plugins/drf_tree.h"
#include "scheduler/pods/plugins/registry.h"
#include "scheduler/pods/session/session.h"
#include "scheduler/pods/values/pod_class.h"

#define SHARE_DELTA 1e-6 /* shares that differ by less are equal */

struct drf_job {
	struct res allocated;
	double share;
};

struct drf {
	struct drf_tree *tree; /* NULL: without hierarchy */
	/* Of this session: */
	uint32_t dims;                     /* that the cluster has */
	struct VEC(struct drf_job *) jobs; /* by PodGroup id; NULL: not asked for yet */
	struct VEC(uint32_t) asked;        /* ids of the others */
	struct drf_job nothing; /* stands for all PodGroups that have nothing: most that wait */
	struct VEC(uint64_t) counted; /* bit set over tasks: those in the sums of jobs */
	struct VEC(uint32_t) summed;  /* ids of tasks that are or were in it */
};

static int drf_create(const struct plugin_args *args, void **ret_state, struct err *err)
{
	struct drf *p = xmalloc_zero(1, sizeof(*p));

	(void)err;
	p->tree = args->hierarchy ? drf_tree_create() : NULL;
	*ret_state = p;
	return 0;
}

static void drf_destroy(void *state)
{
	struct drf *p = state;

	drf_tree_destroy(p->tree);
	vec_finish(&p->jobs);
	vec_finish(&p->asked);
	vec_finish(&p->counted);
	vec_finish(&p->summed);
	free(p);
}

/* Volcano's "allocated", or a reservation. */
static bool is_allocated(const struct session *s, const struct task *t)
{
	enum task_status status = session_task_status(s, t);

	return t->klass != NULL &&
	       (status == TASK_PENDING ? session_task_charge(s, t) != CHARGE_NONE
				       : status == TASK_ALLOCATED || status == TASK_PIPELINED ||
						 status == TASK_BINDING || status == TASK_BOUND ||
						 status == TASK_RUNNING);
}

static void update_share(const struct drf *p, const struct session *s, struct drf_job *job)
{
	job->share = res_share(&job->allocated, &session_cluster(s)->total, p->dims);
}

/* To be changed. */
static struct drf_job *own_job(struct drf *p, const struct session *s, const struct podgroup *g)
{
	if (p->jobs.v[g->id] == &p->nothing) {
		p->jobs.v[g->id] = arena_zero(session_arena(s), 1, sizeof(struct drf_job));
	}
	return p->jobs.v[g->id];
}

static void add_task(struct drf *p, struct drf_job *job, const struct task *t)
{
	bitset_set(p->counted.v, t->id);
	vec_push(&p->summed, t->id);
	res_add(&job->allocated, &t->klass->request);
}

static const struct drf_job *job_of(struct drf *p, const struct session *s,
				    const struct podgroup *g)
{
	struct drf_job *job = p->jobs.v[g->id];

	if (job != NULL) {
		return job;
	}
	p->jobs.v[g->id] = &p->nothing;
	vec_push(&p->asked, g->id);
	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = session_task(s, g->tasks.v[i]);

		if (is_allocated(s, t)) {
			add_task(p, own_job(p, s, g), t);
		}
	}
	job = p->jobs.v[g->id];
	update_share(p, s, job);
	return job;
}

static bool is_in_tree(const struct podgroup *g)
{
	return g->exists && g->queue != MODEL_NONE;
}

/* The PodGroup of t if the tree has it; NULL. */
static const struct podgroup *podgroup_in_tree(const struct cluster *c, const struct task *t)
{
	const struct podgroup *g = t->podgroup == MODEL_NONE ? NULL : c->podgroups.v[t->podgroup];

	return g != NULL && is_in_tree(g) ? g : NULL;
}

/* O(what the last session was asked about). */
static void forget_session(struct drf *p, const struct cluster *c)
{
	for (size_t i = 0; i < p->asked.n; i++) {
		p->jobs.v[p->asked.v[i]] = NULL;
	}
	for (size_t i = 0; i < p->summed.n; i++) {
		bitset_clear(p->counted.v, p->summed.v[i]);
	}
	vec_clear(&p->asked);
	vec_clear(&p->summed);
	while (p->jobs.n < c->podgroups.n) {
		vec_push(&p->jobs, NULL);
	}
	while (p->counted.n < BITSET_WORDS(c->tasks.n)) {
		vec_push(&p->counted, 0);
	}
}

static void drf_open(void *state, struct session *s)
{
	const struct cluster *c = session_cluster(s);
	struct drf *p = state;

	p->dims = res_mask(&c->total);
	forget_session(p, c);
	if (p->tree == NULL) {
		return;
	}
	drf_tree_open(p->tree, s);
	for (size_t i = 0; i < c->podgroups.n; i++) {
		const struct podgroup *g = c->podgroups.v[i];

		if (g != NULL && is_in_tree(g)) {
			drf_tree_add(p->tree, s, g, &job_of(p, s, g)->allocated);
		}
	}
	drf_tree_settle(p->tree);
}

static int drf_job_order(void *state, const struct session *s, const struct podgroup *a,
			 const struct podgroup *b)
{
	struct drf *p = state;
	double x = job_of(p, s, a)->share, y = job_of(p, s, b)->share;

	return x < y ? -1 : x > y;
}

static int drf_queue_order(void *state, const struct session *s, const struct queue *a,
			   const struct queue *b)
{
	const struct drf *p = state;

	(void)s;
	return p->tree == NULL ? 0 : drf_tree_compare(p->tree, a, b);
}

/* Volcano's rule: with the pod, its PodGroup has no larger share than the victim's without it. */
static bool drf_preemptable(void *state, struct session *s, const struct task *t,
			    const struct task *victim)
{
	const struct cluster *c = session_cluster(s);
	struct drf *p = state;
	struct drf_job gains, loses;

	if (t->podgroup == MODEL_NONE || victim->podgroup == MODEL_NONE) {
		return false;
	}
	gains = *job_of(p, s, c->podgroups.v[t->podgroup]);
	loses = *job_of(p, s, c->podgroups.v[victim->podgroup]);
	if (!bitset_has(p->counted.v, t->id)) {
		res_add(&gains.allocated, &t->klass->request);
	}
	res_sub(&loses.allocated, &victim->klass->request);
	update_share(p, s, &gains);
	update_share(p, s, &loses);
	return gains.share <= loses.share + SHARE_DELTA;
}

/* The tree shows what g has, with t more or less, until restore_tree. */
static void change_tree(struct drf *p, struct session *s, const struct podgroup *g,
			const struct task *t, bool more)
{
	struct res has = job_of(p, s, g)->allocated;

	if (more) {
		res_add(&has, &t->klass->request);
	} else {
		res_sub(&has, &t->klass->request);
	}
	drf_tree_change(p->tree, s, g, &has);
}

static void restore_tree(struct drf *p, struct session *s, const struct podgroup *g)
{
	drf_tree_change(p->tree, s, g, &job_of(p, s, g)->allocated);
}

/* Volcano's rule, with enableHierarchy: as if the pod were placed, its queue goes before the
 * victim's as if the victim were gone. */
static bool drf_reclaimable(void *state, struct session *s, const struct task *t,
			    const struct task *victim)
{
	const struct cluster *c = session_cluster(s);
	const struct podgroup *gains = podgroup_in_tree(c, t), *loses = podgroup_in_tree(c, victim);
	const struct queue *to, *from;
	struct drf *p = state;
	bool is_before;

	if (gains == NULL || loses == NULL || gains == loses) {
		return false;
	}
	to = c->queues.v[gains->queue];
	from = c->queues.v[loses->queue];
	/* A queue without a path is outside of the hierarchy, which says nothing about it. */
	if (to->hierarchy == NULL || from->hierarchy == NULL) {
		return true;
	}
	if (!bitset_has(p->counted.v, t->id)) {
		change_tree(p, s, gains, t, true);
	}
	change_tree(p, s, loses, victim, false);
	is_before = drf_tree_compare(p->tree, to, from) < 0;
	restore_tree(p, s, loses);
	restore_tree(p, s, gains);
	return is_before;
}

/* A pod's use has changed, or the change was undone: the sum follows its present state. A PodGroup
 * that nothing was asked about yet is summed up when something is. */
static void follow(void *state, struct session *s, const struct task *t)
{
	struct drf *p = state;
	const struct podgroup *g;
	struct drf_job *job;
	bool is_counted = bitset_has(p->counted.v, t->id);

	if (t->podgroup == MODEL_NONE || p->jobs.v[t->podgroup] == NULL ||
	    is_counted == is_allocated(s, t)) {
		return;
	}
	g = session_cluster(s)->podgroups.v[t->podgroup];
	job = own_job(p, s, g);
	if (is_counted) {
		bitset_clear(p->counted.v, t->id);
		res_sub(&job->allocated, &t->klass->request);
	} else {
		add_task(p, job, t);
	}
	update_share(p, s, job);
	if (p->tree != NULL && is_in_tree(g)) {
		drf_tree_change(p->tree, s, g, &job->allocated);
	}
}

const struct plugin_ops drf_ops = {
	.name = "drf",
	.create = drf_create,
	.destroy = drf_destroy,
	.open = drf_open,
	.job_order = drf_job_order,
	.queue_order = drf_queue_order,
	.preemptable = drf_preemptable,
	.reclaims_by_hierarchy = true,
	.reclaimable = drf_reclaimable,
	.on_allocate = follow,
	.on_deallocate = follow,
};
