#include "scheduler/pods/plugins/capacity.h"

#include <stdlib.h>

#include "base/xmalloc.h"
#include "scheduler/base/tree.h"
#include "scheduler/pods/core/session.h"
#include "scheduler/pods/model/pod_class.h"

/* The four resources that every cluster has, and ordinary extended ones; the name of a quota on
 * object counts ("count/pods") is no resource that pods ask for. */
static void drop_counts(const struct cluster *c, struct res *r)
{
	for (unsigned d = RES_FIRST_NAMED; d < res_width(r) && d < res_names_count(c->res); d++) {
		if (res_get(r, d) != 0 &&
		    str_has_prefix(str_of(res_names_get(c->res, d)), "count/")) {
			res_set(c->res, r, d, 0);
		}
	}
}

static void charge(const struct capacity_demand *d, uint32_t queue, const struct res *r)
{
	for (unsigned i = 0; i < d->width; i++) {
		d->flat[i] = res_get(r, i);
	}
	tree_sums_charge(d->sums, queue, d->flat, NULL, NULL);
}

/* Sum of what the job's pods are charged, terminating ones left out. */
static void sum_charged(const struct session *s, const struct job *j, struct res *ret)
{
	*ret = (struct res){ .v = { 0 } };
	if (j->queue != MODEL_NONE &&
	    res_is_zero(session_queue_charged(s, session_cluster(s)->queues.v[j->queue]))) {
		return;
	}
	for (size_t i = 0; i < j->tasks.n; i++) {
		const struct task *t = session_task(s, j->tasks.v[i]);

		if (session_task_charge(s, t) != CHARGE_NONE &&
		    session_task_status(s, t) != TASK_RELEASING) {
			res_add(ret, pod_class_charge(t->klass));
		}
	}
}

/* Pods held by somebody else's gate will not ask for anything soon. */
static void sum_foreign_gated(const struct session *s, const struct job *j, struct res *ret)
{
	*ret = (struct res){ .v = { 0 } };
	for (size_t i = 0; i < j->tasks.n; i++) {
		const struct task *t = session_task(s, j->tasks.v[i]);

		if ((t->flags & TASK_FOREIGN_GATE) != 0 && t->klass != NULL) {
			res_add(ret, pod_class_charge(t->klass));
		}
	}
}

/* All of its pods are charged to no Queue: nor is what its PodGroup announces. */
static bool is_elsewhere(const struct session *s, const struct job *j)
{
	for (size_t i = 0; i < j->tasks.n; i++) {
		const struct task *t = session_task(s, j->tasks.v[i]);

		if (t->klass == NULL || !t->klass->elsewhere) {
			return false;
		}
	}
	return j->tasks.n > 0;
}

void capacity_demand_of_job(const struct session *s, const struct job *j, struct res *ret)
{
	struct res charged;

	if (is_elsewhere(s, j)) {
		*ret = (struct res){ .v = { 0 } };
		return;
	}
	sum_charged(s, j, &charged);
	*ret = j->min_resources;
	res_sub_floor(ret, &charged);
}

static void add_inqueue(struct capacity_demand *d, const struct session *s, const struct job *j)
{
	struct res demand, gated;

	capacity_demand_of_job(s, j, &demand);
	sum_foreign_gated(s, j, &gated);
	res_sub_floor(&demand, &gated);
	drop_counts(session_cluster(s), &demand);
	charge(d, j->queue, &demand);
}

static bool is_inqueue(const struct session *s, const struct job *j)
{
	uint32_t placed;

	if (!j->has_min_resources) {
		return false;
	}
	switch (session_job_phase(s, j)) {
	case JOB_INQUEUE:
		return true;
	case JOB_RUNNING:
		placed = session_job_count(s, j, TASK_ALLOCATED) +
			 session_job_count(s, j, TASK_BINDING) +
			 session_job_count(s, j, TASK_BOUND) +
			 session_job_count(s, j, TASK_RUNNING);
		return placed >= (uint32_t)(j->min_member > 0 ? j->min_member : 0);
	case JOB_PENDING:
	case JOB_UNKNOWN:
	case JOB_COMPLETED:
	case JOB_PHASE_COUNT_:
		break;
	}
	return false;
}

/* What the job holds beyond its minResources could be taken from it. */
static void subtract_elastic(struct capacity_demand *d, const struct session *s,
			     const struct job *j)
{
	struct res elastic;

	sum_charged(s, j, &elastic);
	if (j->has_min_resources) {
		res_sub_floor(&elastic, &j->min_resources);
	}
	res_negate(&elastic);
	charge(d, j->queue, &elastic);
}

void capacity_demand_build(struct capacity_demand *d, const struct session *s,
			   const struct tree *tree)
{
	const struct cluster *c = session_cluster(s);

	d->width = res_names_count(c->res);
	d->flat = xmalloc_zero(d->width, sizeof(*d->flat));
	d->sums = tree_sums_create(tree, d->width);
	for (size_t i = 0; i < c->jobs.n; i++) {
		const struct job *j = c->jobs.v[i];

		if (j == NULL || !j->has_group || j->queue == MODEL_NONE) {
			continue;
		}
		if (is_inqueue(s, j)) {
			add_inqueue(d, s, j);
		}
		subtract_elastic(d, s, j);
	}
	tree_sums_forget(d->sums);
}

void capacity_demand_finish(struct capacity_demand *d)
{
	tree_sums_destroy(d->sums);
	d->sums = NULL;
	free(d->flat);
	d->flat = NULL;
}

void capacity_demand_of_queue(const struct capacity_demand *d, const struct session *s,
			      const struct queue *q, struct res *ret)
{
	const int64_t *sums = tree_sums_of(d->sums, q->id);

	*ret = (struct res){ .v = { 0 } };
	for (unsigned i = 0; i < d->width; i++) {
		res_set(session_cluster(s)->res, ret, i, sums[i]);
	}
}

void capacity_demand_add(struct capacity_demand *d, const struct session *s, const struct job *j)
{
	if (j->has_min_resources) {
		add_inqueue(d, s, j);
		tree_sums_forget(d->sums);
	}
}
