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

/* Sum of what the PodGroup's pods are charged, terminating ones left out. */
static void sum_charged(const struct session *s, const struct podgroup *g, struct res *ret)
{
	*ret = (struct res){ .v = { 0 } };
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

static void announced(const struct session *s, const struct podgroup *g, struct res *ret)
{
	capacity_demand_of_podgroup(s, g, ret);
	capacity_demand_without_gated(s, g, ret);
	drop_counts(session_cluster(s), ret);
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
static void elastic(const struct session *s, const struct podgroup *g, struct res *ret)
{
	sum_charged(s, g, ret);
	if (g->has_min_resources) {
		res_sub_floor(ret, &g->min_resources);
	}
}

/* sign * amount to the queue and all above it. */
static void add_up(struct capacity_demand *d, uint32_t queue, const struct res *amount, int sign)
{
	unsigned width = res_width(amount) < d->width ? res_width(amount) : d->width;

	for (uint32_t q = queue; q != TREE_NONE;
	     q = tree_is_placed(d->tree, q) ? tree_parent(d->tree, q) : TREE_NONE) {
		for (unsigned i = 0; i < width; i++) {
			d->sums[(size_t)q * d->width + i] += sign * (__int128)res_get(amount, i);
		}
	}
}

/* Replaces the part of the PodGroup with this id. */
static void set_part(struct capacity_demand *d, uint32_t id, uint32_t queue,
		     const struct res *amount)
{
	struct capacity_part *p;

	while (d->parts.n <= id) {
		vec_push(&d->parts, ((struct capacity_part){ .amount = NULL }));
	}
	p = &d->parts.v[id];
	if (p->amount != NULL) {
		add_up(d, p->queue, p->amount, -1);
	}
	if (queue == MODEL_NONE || res_is_zero(amount)) {
		free(p->amount);
		p->amount = NULL;
		return;
	}
	if (p->amount == NULL) {
		p->amount = xmalloc(sizeof(*p->amount));
	}
	*p->amount = *amount;
	p->queue = queue;
	add_up(d, queue, amount, 1);
}

/* As the session has it now; id: it may be gone. */
static void count(struct capacity_demand *d, const struct session *s, uint32_t id)
{
	const struct cluster *c = session_cluster(s);
	const struct podgroup *g = id < c->podgroups.n ? c->podgroups.v[id] : NULL;
	struct res amount = { .v = { 0 } }, given;

	if (g == NULL || !g->exists || g->queue == MODEL_NONE) {
		set_part(d, id, MODEL_NONE, &amount);
		return;
	}
	if (capacity_demand_is_inqueue(s, g)) {
		announced(s, g, &amount);
	}
	elastic(s, g, &given);
	res_sub(&amount, &given);
	set_part(d, id, g->queue, &amount);
}

static bool is_current(const struct capacity_demand *d, const struct cluster *c)
{
	return d->sums != NULL && d->cluster == c && d->queues_gen == c->queues_gen &&
	       d->res_swept == c->res_swept && d->width == res_names_count(c->res);
}

static void count_all(struct capacity_demand *d, const struct session *s)
{
	const struct cluster *c = session_cluster(s);

	capacity_demand_finish(d);
	d->cluster = c;
	d->queues_gen = c->queues_gen;
	d->res_swept = c->res_swept;
	d->width = res_names_count(c->res);
	d->sums = xmalloc_zero(c->queues.n * d->width, sizeof(*d->sums));
	for (size_t i = 0; i < c->podgroups.n; i++) {
		count(d, s, (uint32_t)i);
	}
}

/* 1. Parts that the last session has changed for itself.
 * 2. PodGroups that have changed since, in whatever queue. */
void capacity_demand_open(struct capacity_demand *d, const struct session *s,
			  const struct tree *tree)
{
	const struct cluster *c = session_cluster(s);

	d->tree = tree;
	if (!is_current(d, c)) {
		count_all(d, s);
		return;
	}
	for (size_t i = 0; i < d->played.n; i++) {
		count(d, s, d->played.v[i]);
	}
	vec_clear(&d->played);
	for (size_t i = 0; i < c->queues.n; i++) {
		const struct queue *q = c->queues.v[i];

		for (size_t k = 0; q != NULL && k < q->changed.n; k++) {
			count(d, s, q->changed.v[k]);
		}
	}
}

void capacity_demand_finish(struct capacity_demand *d)
{
	for (size_t i = 0; i < d->parts.n; i++) {
		free(d->parts.v[i].amount);
	}
	vec_finish(&d->parts);
	vec_finish(&d->played);
	free(d->sums);
	d->sums = NULL;
}

void capacity_demand_follow(struct capacity_demand *d, const struct session *s)
{
	size_t n;
	const uint32_t *ids = session_touched_podgroups(s, &n);

	for (size_t i = 0; i < n; i++) {
		count(d, s, ids[i]);
		vec_push(&d->played, ids[i]);
	}
}

static int64_t clamp(__int128 v)
{
	return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

void capacity_demand_of_queue(const struct capacity_demand *d, const struct session *s,
			      const struct queue *q, struct res *ret)
{
	*ret = (struct res){ .v = { 0 } };
	for (unsigned i = 0; i < d->width; i++) {
		res_set(session_cluster(s)->res, ret, i,
			clamp(d->sums[(size_t)q->id * d->width + i]));
	}
}

void capacity_demand_add(struct capacity_demand *d, const struct session *s,
			 const struct podgroup *g)
{
	struct res amount, now = { .v = { 0 } };

	if (!g->has_min_resources) {
		return;
	}
	announced(s, g, &amount);
	if (g->id < d->parts.n && d->parts.v[g->id].amount != NULL) {
		now = *d->parts.v[g->id].amount;
	}
	res_add(&now, &amount);
	set_part(d, g->id, g->queue, &now);
	vec_push(&d->played, g->id);
}
