#include "scheduler/pods/plugins/capacity.h"

#include <stdlib.h>

#include "base/xmalloc.h"
#include "scheduler/base/tree.h"
#include "scheduler/pods/model/pod_class.h"
#include "scheduler/pods/session/session.h"

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

/* Sum of what the PodGroup's pods are charged, terminating ones left out. */
static void sum_charged(const struct session *s, const struct podgroup *g, struct res *ret)
{
	*ret = (struct res){ .v = { 0 } };
	if (g->queue != MODEL_NONE &&
	    res_is_zero(session_queue_charged(s, session_cluster(s)->queues.v[g->queue]))) {
		return;
	}
	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = session_task(s, g->tasks.v[i]);

		if (session_task_charge(s, t) != CHARGE_NONE &&
		    session_task_status(s, t) != TASK_RELEASING) {
			res_add(ret, pod_class_charge(t->klass));
		}
	}
}

void capacity_demand_without_gated(const struct session *s, const struct podgroup *g,
				   struct res *demand)
{
	struct res gated = { .v = { 0 } };

	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = session_task(s, g->tasks.v[i]);

		if ((t->flags & TASK_FOREIGN_GATE) != 0 && t->klass != NULL) {
			res_add(&gated, pod_class_charge(t->klass));
		}
	}
	res_sub_floor(demand, &gated);
}

/* All of its pods are charged to no Queue: nor is what its PodGroup announces. */
static bool is_charged_to_workload(const struct session *s, const struct podgroup *g)
{
	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = session_task(s, g->tasks.v[i]);

		if (t->klass == NULL || !t->klass->charged_to_workload) {
			return false;
		}
	}
	return g->tasks.n > 0;
}

void capacity_demand_of_podgroup(const struct session *s, const struct podgroup *g, struct res *ret)
{
	struct res charged;

	if (is_charged_to_workload(s, g)) {
		*ret = (struct res){ .v = { 0 } };
		return;
	}
	sum_charged(s, g, &charged);
	*ret = g->min_resources;
	res_sub_floor(ret, &charged);
}

static void add_inqueue(struct capacity_demand *d, const struct session *s,
			const struct podgroup *g)
{
	struct res demand;

	capacity_demand_of_podgroup(s, g, &demand);
	capacity_demand_without_gated(s, g, &demand);
	drop_counts(session_cluster(s), &demand);
	charge(d, g->queue, &demand);
}

bool capacity_demand_is_inqueue(const struct session *s, const struct podgroup *g)
{
	uint32_t placed;

	if (!g->has_min_resources) {
		return false;
	}
	switch (session_podgroup_phase(s, g)) {
	case PODGROUP_INQUEUE:
		return true;
	case PODGROUP_RUNNING:
		placed = session_podgroup_count(s, g, TASK_ALLOCATED) +
			 session_podgroup_count(s, g, TASK_BINDING) +
			 session_podgroup_count(s, g, TASK_BOUND) +
			 session_podgroup_count(s, g, TASK_RUNNING);
		return placed >= (uint32_t)(g->min_member > 0 ? g->min_member : 0);
	case PODGROUP_PENDING:
	case PODGROUP_UNKNOWN:
	case PODGROUP_COMPLETED:
	case PODGROUP_PHASE_COUNT_:
		break;
	}
	return false;
}

/* Charges beyond the PodGroup's minResources could be taken from it. */
static void subtract_elastic(struct capacity_demand *d, const struct session *s,
			     const struct podgroup *g)
{
	struct res elastic;

	sum_charged(s, g, &elastic);
	if (g->has_min_resources) {
		res_sub_floor(&elastic, &g->min_resources);
	}
	res_negate(&elastic);
	charge(d, g->queue, &elastic);
}

void capacity_demand_build(struct capacity_demand *d, const struct session *s,
			   const struct tree *tree)
{
	const struct cluster *c = session_cluster(s);

	d->width = res_names_count(c->res);
	d->flat = xmalloc_zero(d->width, sizeof(*d->flat));
	d->sums = tree_sums_create(tree, d->width);
	for (size_t i = 0; i < c->podgroups.n; i++) {
		const struct podgroup *g = c->podgroups.v[i];

		if (g == NULL || !g->exists || g->queue == MODEL_NONE) {
			continue;
		}
		if (capacity_demand_is_inqueue(s, g)) {
			add_inqueue(d, s, g);
		}
		subtract_elastic(d, s, g);
	}
	/* Demand is not undone: the log would only grow. */
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

void capacity_demand_add(struct capacity_demand *d, const struct session *s,
			 const struct podgroup *g)
{
	if (g->has_min_resources) {
		add_inqueue(d, s, g);
		tree_sums_forget(d->sums);
	}
}
