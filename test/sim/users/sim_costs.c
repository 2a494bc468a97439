#include "sim/users/sim_costs.h"

#include <stdlib.h>

#include "api/kueue/kueue_cost.h"
#include "api/kueue/kueue_keys.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/json/jdoc.h"
#include "play/oracle.h"
#include "sim/world/sim_view.h"
#include "sim/world/sim_workload.h"

#define KUEUE "/apis/" KUEUE_API_VERSION
#define QUEUES KUEUE "/clusterqueues"
#define WORKLOADS KUEUE "/namespaces/default/workloads"

struct sim_costs {
	struct sim_world *world;
	struct strmap *theirs; /* UIDs of Workloads with a cost that a user has set */
	int64_t ruled_at; /* healthy ns of the last change of annotations or owners of costs; -1:
			     none */
	uint64_t seen[SIM_COSTS_COUNT_];
};

/* --- the expected cost -------------------------------------------------------------------------*/

static const struct jdoc *cost_of(const struct jdoc *w)
{
	return jdoc_path(w, "status.preemptionCost");
}

static bool has_cost(const struct jdoc *w)
{
	return jdoc_str(cost_of(w)) != NULL;
}

/* Costs of a run are whole numbers; absent is 0. */
static int64_t value_of(const struct jdoc *w)
{
	int64_t n = 0;

	(void)str_to_i64(str_of(jdoc_str_or(cost_of(w), "0")), &n);
	return n;
}

static int64_t preemptions(const struct jdoc *w)
{
	const struct jdoc *list = jdoc_path(w, "status.schedulingStats.evictions");
	int64_t n = 0;

	for (const struct jdoc *e = jdoc_first(list); e != NULL; e = jdoc_next(e)) {
		if (jdoc_is_str(jdoc_get(e, "reason"), "Preempted")) {
			n += jdoc_int(jdoc_get(e, "count"), 0);
		}
	}
	return n;
}

struct rule {
	int64_t base, weight;
};

static struct rule rule_of(const struct sim_costs *c, const struct jdoc *w)
{
	const char *queue =
		sim_workload_holds(w) ? sim_workload_queue(w) : sim_workload_where(c->world, w);
	const struct jdoc *cq =
		queue == NULL ? NULL : sim_view_get(c->world->view, SIM_CLUSTER_QUEUES, queue);
	const struct jdoc *notes = jdoc_path(cq, "metadata.annotations");
	struct rule r = { 0, 1 }, read = r;

	if (str_to_i64(str_of(jdoc_str_or(jdoc_get(notes, KUEUE_COST_BASE), "-")), &read.base)) {
		r.base = read.base;
	}
	if (str_to_i64(str_of(jdoc_str_or(jdoc_get(notes, KUEUE_COST_WEIGHT), "-")),
		       &read.weight)) {
		r.weight = read.weight;
	}
	return r;
}

/* Whether value is the cost of n preemptions, or of fewer that it had before. */
static bool may_be(const struct rule *r, int64_t n, int64_t value)
{
	for (int64_t k = 0; k <= n; k++) {
		if (r->base + r->weight * k == value) {
			return true;
		}
	}
	return false;
}

/* --- the oracle --------------------------------------------------------------------------------*/

static bool is_theirs(const struct sim_costs *c, const struct jdoc *w)
{
	return strmap_get(c->theirs, str_of(sim_workload_uid(w))) != NULL;
}

/* Costs may still be those of the rule before the last change. */
static bool ruled_recently(const struct sim_costs *c)
{
	int64_t grace = c->world->faults.struck[SIM_STATUS_403] > 0 ? SIM_FAULTS_REFUSED_NS
								    : ORACLE_GRACE_NS;

	return c->ruled_at >= 0 && c->world->healthy_ns - c->ruled_at <= grace;
}

static void check_write(struct sim_costs *c, const struct sim_change *change)
{
	struct rule r = rule_of(c, change->now);
	int64_t n = preemptions(change->now), old = value_of(change->old),
		now = value_of(change->now);

	c->seen[SIM_COSTS_WRITTEN]++;
	c->seen[SIM_COSTS_HIGHER] += now > old && n > 0;
	if (is_theirs(c, change->now)) {
		sim_world_fail(c->world, "%s: a user set its cost, but the scheduler writes %lld",
			       change->key, (long long)now);
	} else if (!has_cost(change->now)) {
		sim_world_fail(c->world, "%s: the scheduler removes its cost", change->key);
	} else if (!ruled_recently(c) && !may_be(&r, n, now)) {
		sim_world_fail(
			c->world,
			"%s: the cost is %lld with base %lld, weight %lld and %lld preemptions",
			change->key, (long long)now, (long long)r.base, (long long)r.weight,
			(long long)n);
	} else if (!ruled_recently(c) && has_cost(change->old) && now < old) {
		sim_world_fail(c->world,
			       "%s: the cost falls from %lld to %lld without a change of the rule",
			       change->key, (long long)old, (long long)now);
	}
}

static void on_workload(struct sim_costs *c, const struct sim_change *change)
{
	struct str uid = str_of(sim_workload_uid(change->now == NULL ? change->old : change->now));

	if (change->now == NULL) {
		(void)strmap_remove(c->theirs, uid);
		return;
	}
	if (!jdoc_equal(jdoc_path(change->old, "spec.queueName"),
			jdoc_path(change->now, "spec.queueName"))) {
		c->ruled_at = c->world->healthy_ns;
	}
	if (jdoc_equal(cost_of(change->old), cost_of(change->now))) {
		return;
	}
	if (change->actor == SIM_SCHEDULER) {
		check_write(c, change);
	} else if (has_cost(change->now)) {
		strmap_set(c->theirs, uid, c);
		c->seen[SIM_COSTS_THEIRS]++;
	} else {
		(void)strmap_remove(c->theirs, uid);
	}
}

static void on_change(void *ctx, const struct sim_change *change)
{
	struct sim_costs *c = ctx;

	if (change->resource == SIM_WORKLOADS) {
		on_workload(c, change);
	} else if (change->resource == SIM_LOCAL_QUEUES ||
		   (change->resource == SIM_CLUSTER_QUEUES &&
		    !jdoc_equal(jdoc_path(change->old, "metadata.annotations"),
				jdoc_path(change->now, "metadata.annotations")))) {
		c->ruled_at = c->world->healthy_ns;
	}
}

void sim_costs_judge(const struct sim_costs *c)
{
	for (size_t i = 0; i < sim_view_count(c->world->view, SIM_WORKLOADS); i++) {
		const struct jdoc *w = sim_view_at(c->world->view, SIM_WORKLOADS, i);
		struct rule r = rule_of(c, w);
		int64_t n = preemptions(w);

		if (!sim_workload_is(w, KUEUE_FINISHED) && !is_theirs(c, w) &&
		    value_of(w) != r.base + r.weight * n) {
			sim_world_fail(c->world,
				       "end: %s costs %lld; base %lld, weight %lld, %lld "
				       "preemptions",
				       jdoc_path_str(w, "metadata.name"), (long long)value_of(w),
				       (long long)r.base, (long long)r.weight, (long long)n);
		}
	}
}

struct sim_costs *sim_costs_create(struct sim_world *w)
{
	struct sim_costs *c = xmalloc_zero(1, sizeof(*c));

	c->world = w;
	c->ruled_at = -1;
	c->theirs = strmap_create(NULL);
	sim_view_listen(w->view, on_change, c);
	return c;
}

void sim_costs_destroy(struct sim_costs *c)
{
	if (c != NULL) {
		strmap_destroy(c->theirs);
		free(c);
	}
}

const char *sim_costs_event_name(enum sim_costs_event e)
{
	static const char *const names[SIM_COSTS_COUNT_] = { "costs written",
							     "costs that rose by preemption",
							     "costs of others" };

	return names[e];
}

uint64_t sim_costs_count(const struct sim_costs *c, enum sim_costs_event e)
{
	return c->seen[e];
}

/* --- users -------------------------------------------------------------------------------------*/

static void patch(struct sim_costs *c, const char *url, const struct jdoc *object, const char *sub,
		  const char *body)
{
	CLEANUP(xmalloc_freep)
	char *at = xmalloc_printf("%s/%s%s", url, jdoc_path_str(object, "metadata.name"), sub);

	sim_world_call(c->world, HTTP_PATCH, at, "application/merge-patch+json", str_of(body));
}

static const struct jdoc *any_of(struct sim_costs *c, enum sim_resource r)
{
	size_t n = sim_view_count(c->world->view, r);

	return n == 0 ? NULL : sim_view_at(c->world->view, r, sim_world_below(c->world, n));
}

static void annotate(struct sim_costs *c, const struct jdoc *queue)
{
	static const char *const bases[] = { "null", "\"0\"", "\"10\"", "\"-5\"", "\"lots\"" };
	static const char *const weights[] = { "null", "\"3\"", "\"0\"", "\"7\"" };
	bool base = sim_world_below(c->world, 2) == 0;
	CLEANUP(xmalloc_freep)
	char *body = xmalloc_printf("{\"metadata\":{\"annotations\":{\"%s\":%s}}}",
				    base ? KUEUE_COST_BASE : KUEUE_COST_WEIGHT,
				    base ? bases[sim_world_below(c->world, ARRAY_LEN(bases))]
					 : weights[sim_world_below(c->world, ARRAY_LEN(weights))]);

	patch(c, QUEUES, queue, "", body);
}

/* A user sets a cost, or removes one that a user has set. */
static void set_cost(struct sim_costs *c, const struct jdoc *w)
{
	CLEANUP(xmalloc_freep)
	char *cost = xmalloc_printf("\"%u\"", 100 + (unsigned)sim_world_below(c->world, 5));
	CLEANUP(xmalloc_freep)
	char *body = xmalloc_printf("{\"status\":{\"preemptionCost\":%s}}",
				    is_theirs(c, w) && sim_world_below(c->world, 2) == 0 ? "null"
											 : cost);

	patch(c, WORKLOADS, w, "/status", body);
}

void sim_costs_act(struct sim_costs *c)
{
	bool of_queue = sim_world_below(c->world, 2) == 0;
	const struct jdoc *object = any_of(c, of_queue ? SIM_CLUSTER_QUEUES : SIM_WORKLOADS);

	if (object == NULL) {
		return;
	}
	if (of_queue) {
		annotate(c, object);
	} else {
		set_cost(c, object);
	}
}
