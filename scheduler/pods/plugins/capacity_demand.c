#include "scheduler/pods/plugins/capacity.h"

#include "scheduler/pods/session/session.h"
#include "scheduler/pods/values/pod_class.h"

/* The four resources that every cluster has, and ordinary extended ones; the name of a quota on
 * object counts ("count/pods") is no resource that pods ask for. */
static void drop_counts(const struct cluster *c, struct res *r)
{
	struct res_edit edit = res_edit_begin(c->res, r);

	for (unsigned d = RES_FIRST_NAMED; d < res_width(r) && d < res_names_count(c->res); d++) {
		if (res_get(r, d) != 0 &&
		    str_has_prefix(str_of(res_names_get(c->res, d)), "count/")) {
			res_edit_set(&edit, d, 0);
		}
	}
	res_edit_end(&edit);
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

static void count(const struct session *s, const struct podgroup *g, struct res *ret)
{
	struct res given;

	if (capacity_demand_is_inqueue(s, g)) {
		announced(s, g, ret);
	}
	elastic(s, g, &given);
	res_sub(ret, &given);
}

/* The changes of the last session were its own: their PodGroups are counted again, too. */
void capacity_demand_open(struct capacity_demand *d, const struct session *s,
			  const struct tree *tree)
{
	podgroup_sums_open(&d->sums, s, tree, count);
	for (size_t i = 0; i < d->played.n; i++) {
		podgroup_sums_count(&d->sums, s, d->played.v[i]);
	}
	vec_clear(&d->played);
}

void capacity_demand_finish(struct capacity_demand *d)
{
	podgroup_sums_finish(&d->sums);
	vec_finish(&d->played);
}

void capacity_demand_follow(struct capacity_demand *d, const struct session *s)
{
	size_t n;
	const uint32_t *ids = session_touched_podgroups(s, &n);

	for (size_t i = 0; i < n; i++) {
		podgroup_sums_count(&d->sums, s, ids[i]);
		vec_push(&d->played, ids[i]);
	}
}

void capacity_demand_of_queue(const struct capacity_demand *d, const struct session *s,
			      const struct queue *q, struct res *ret)
{
	podgroup_sums_get(&d->sums, s, q, ret);
}

void capacity_demand_add(struct capacity_demand *d, const struct session *s,
			 const struct podgroup *g)
{
	struct res amount;

	if (!g->has_min_resources) {
		return;
	}
	announced(s, g, &amount);
	podgroup_sums_add(&d->sums, s, g, &amount);
	vec_push(&d->played, g->id);
}
