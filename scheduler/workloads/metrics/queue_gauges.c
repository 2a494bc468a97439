#include "scheduler/workloads/metrics/queue_gauges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "api/kueue/preemption_gate.h"
#include "base/attrs.h"
#include "base/xmalloc.h"
#include "scheduler/workloads/cycle/admission_apply.h"
#include "scheduler/workloads/cycle/nofit_reason.h"
#include "scheduler/workloads/forest/forest.h"
#include "scheduler/workloads/forest/share.h"
#include "scheduler/workloads/ingest/workload_cache.h"
#include "scheduler/workloads/metrics/metric_families.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/pending/pending.h"

/* Reasons of Admitted=False, and those of QuotaReserved=False (none of them: it is reserved). */
static const char *const unadmitted[] = { KUEUE_REASON_NO_RESERVATION,
					  KUEUE_REASON_UNSATISFIED_CHECKS,
					  "PendingDelayedTopologyRequests" };
#define NREASONS ARRAY_LEN(unadmitted)
#define NCAUSES (QUOTA_DEACTIVATED + 1)

struct sort { /* Workloads of a ClusterQueue with the same custom labels */
	bool there;
	unsigned admitted;
};

struct sums {               /* of a queue */
	struct sort *sorts; /* of a ClusterQueue; NULL: it has no Workloads, or all are of one */
	unsigned active, inadmissible, reserving, admitted, finished;
	unsigned gated, blocked; /* with a closed preemption gate; blocked: they signal it */
	unsigned waits[NREASONS][NCAUSES];
	struct quota_amounts reserved, used; /* by pair */
	struct quota_amounts pending;        /* by resource */
};

struct gauges {
	struct metric_families *f;
	const struct workload_cache *cache;
	const struct forest *forest;
	const struct quota_model *q;
	struct sums *nodes;  /* by id; of Cohorts: all below */
	struct sums *locals; /* by id */
	bool resources;
	size_t nsorts;
	struct VEC(uint64_t) hashes; /* scratch */
};

/* --- sums --------------------------------------------------------------------------------------*/

static size_t find_reason(const struct condition *admitted)
{
	size_t i = 0;

	/* Without the condition it has no reservation, which is the first reason; an unknown reason
	 * counts as the last. */
	while (admitted != NULL && i + 1 < NREASONS &&
	       !str_streq(unadmitted[i], admitted->reason)) {
		i++;
	}
	return i;
}

static size_t find_cause(const struct condition *reserved)
{
	if (reserved == NULL) {
		/* No cycle has looked at it yet. */
		return QUOTA_PENDING_EVALUATION;
	}
	for (size_t i = 1; i < NCAUSES && !str_streq(reserved->status, "True"); i++) {
		if (str_streq(nofit_reason_name((enum nofit_reason)i), reserved->reason)) {
			return i;
		}
	}
	return QUOTA_REASON_NONE;
}

static void add_holder(const struct gauges *t, struct sums *s, const struct workload *w)
{
	s->reserving++;
	s->admitted += w->flags.admitted;
	for (size_t i = 0; t->resources && i < w->holding.usage.n; i++) {
		quota_amounts_add(&s->reserved, w->holding.usage.v[i].id,
				  w->holding.usage.v[i].value);
		if (w->flags.admitted) {
			quota_amounts_add(&s->used, w->holding.usage.v[i].id,
					  w->holding.usage.v[i].value);
		}
	}
}

static void add_gated(const struct gauges *t, struct sums *s, const struct workload *w)
{
	if (workload_status_is_true(workload_cache_status(t->cache, w), PREEMPTION_GATE_BLOCKED)) {
		s->blocked++;
	} else {
		s->gated++;
	}
}

static void add_workload(const struct gauges *t, struct sums *s, const struct workload *w)
{
	bool waits = w->pending.where == QUOTA_HEAP || w->pending.where == QUOTA_INADMISSIBLE;

	s->finished += w->flags.finished;
	if (w->holding.node != MODEL_NONE) {
		add_holder(t, s, w);
	}
	s->active += w->pending.where == QUOTA_HEAP;
	s->inadmissible += w->pending.where == QUOTA_INADMISSIBLE;
	if (waits && w->flags.preemption_gated && t->q->options.preemption_gates) {
		add_gated(t, s, w);
	}
	for (size_t i = 0; waits && t->resources && i < w->object.npodsets; i++) {
		const struct podset *p = &w->object.podsets[i];

		for (size_t k = 0; k < p->request.n; k++) {
			quota_amounts_add(
				&s->pending, p->request.v[k].id,
				admission_apply_amount(t->q, p, p->count, p->request.v[k].id));
		}
	}
	if (!w->flags.finished && !w->flags.admitted) {
		const struct workload_status *status = workload_cache_status(t->cache, w);

		s->waits[find_reason(workload_status_condition(status, KUEUE_ADMITTED))]
			[find_cause(workload_status_condition(status, KUEUE_QUOTA_RESERVED))]++;
	}
}

static void add_to_sort(const struct gauges *t, struct sums *s, const struct workload *w)
{
	struct sort *sort;

	/* The sums of the queue are those of the one sort. */
	if (t->nsorts == 1) {
		return;
	}
	if (s->sorts == NULL) {
		s->sorts = xmalloc_zero(t->nsorts, sizeof(s->sorts[0]));
	}
	sort = &s->sorts[metric_families_sort(t->f, str_of(w->key))];
	sort->there = true;
	sort->admitted += w->holding.node != MODEL_NONE && w->flags.admitted;
}

static uint32_t queue_of(const struct quota_model *q, const struct local_queue *l)
{
	const struct quota_node *n =
		l->queue == NULL ? NULL : quota_queue_find(q, str_of(l->queue));

	return n == NULL ? MODEL_NONE : n->id;
}

static void add_up(struct gauges *t)
{
	bool locals = metric_families_has(t->f, QF_LOCAL_PENDING);

	for (size_t i = 0; i < t->q->workloads.n; i++) {
		const struct workload *w = t->q->workloads.v[i];
		const struct local_queue *local;
		uint32_t node;

		if (w == NULL) {
			continue;
		}
		node = w->holding.node != MODEL_NONE ? w->holding.node : w->pending.queue;
		local = locals || node == MODEL_NONE ? quota_local_of(t->q, w) : NULL;
		/* One that neither holds quota nor waits (finished, inactive, gated) counts in the
		 * queue that its LocalQueue names. */
		if (node == MODEL_NONE && local != NULL) {
			node = queue_of(t->q, local);
		}
		if (node != MODEL_NONE) {
			add_workload(t, &t->nodes[node], w);
			add_to_sort(t, &t->nodes[node], w);
		}
		if (locals && local != NULL) {
			add_workload(t, &t->locals[local->id], w);
		}
	}
}

/* Usage of a queue counts in all cohorts above. From the holders: the sums of a queue have amounts
 * only with enableClusterQueueResources. */
static void add_to_cohorts(struct gauges *t, const struct quota_node *queue)
{
	const struct sums *from = &t->nodes[queue->id];
	uint32_t up = forest_parent(t->forest, queue->id);

	for (; up != MODEL_NONE; up = forest_parent(t->forest, up)) {
		t->nodes[up].admitted += from->admitted;
		for (size_t i = 0; i < queue->queue->holders.n; i++) {
			const struct workload *w = queue->queue->holders.v[i].w;

			for (size_t k = 0; k < w->holding.usage.n; k++) {
				quota_amounts_add(&t->nodes[up].reserved, w->holding.usage.v[k].id,
						  w->holding.usage.v[k].value);
			}
		}
	}
}

/* --- setting the gauges ------------------------------------------------------------------------*/

/* Kueue's units: cpu in cores; +Inf for what has no limit. */
static double amount(const struct quota_model *q, uint32_t resource, int64_t value)
{
	if (value == QUOTA_UNLIMITED || value == QUOTA_NO_LIMIT) {
		return INFINITY;
	}
	return str_streq(quota_resource_name(q, resource), "cpu") ? (double)value / 1000
								  : (double)value;
}

static void set(const struct gauges *t, enum metric_families_id id, const char *a, const char *b,
		double value)
{
	metric_families_set(t->f, id, (const char *const[]){ a, b }, value);
}

static const char *name_of(const struct gauges *t, uint32_t node)
{
	return node == MODEL_NONE ? "" : t->q->nodes.v[node]->name;
}

static int by_hash(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double count_hashes(struct gauges *t, const uint32_t *ids, size_t n)
{
	size_t distinct = 0;

	vec_clear(&t->hashes);
	for (size_t i = 0; i < n; i++) {
		vec_push(&t->hashes, t->q->workloads.v[ids[i]]->pending.hash);
	}
	if (n > 1) {
		qsort(t->hashes.v, n, sizeof(t->hashes.v[0]), by_hash);
	}
	for (size_t i = 0; i < n; i++) {
		distinct += i == 0 || t->hashes.v[i] != t->hashes.v[i - 1];
	}
	return (double)distinct;
}

static void set_waits(const struct gauges *t, const struct sums *s, enum metric_families_id id,
		      const char *const *names)
{
	const char *labels[5] = { names[0], names[1], names[2] };
	size_t at = id == QF_UNADMITTED ? 1 : 3;

	for (size_t r = 0; r < NREASONS; r++) {
		for (size_t c = 0; c < NCAUSES; c++) {
			if (s->waits[r][c] > 0) {
				labels[at] = unadmitted[r];
				labels[at + 1] = nofit_reason_name((enum nofit_reason)c);
				metric_families_set(t->f, id, labels, s->waits[r][c]);
			}
		}
	}
}

static void set_status(const struct gauges *t, const struct quota_node *n)
{
	static const char *const states[] = { "pending", "active", "terminating" };
	/* Kueue's three states; pending is whatever keeps it from admitting. */
	const char *state = n->queue->terminating             ? states[2]
			    : pending_is_active(t->forest, n) ? states[1]
							      : states[0];

	for (size_t i = 0; i < ARRAY_LEN(states); i++) {
		set(t, QF_STATUS, n->name, states[i], states[i] == state);
	}
}

static void set_pairs(const struct gauges *t, const struct quota_node *n)
{
	const struct sums *s = &t->nodes[n->id];

	for (size_t i = 0; i < n->cells.n; i++) {
		const struct quota_cell *c = &n->cells.v[i];
		const struct flavor_resource *p = &t->q->pairs.v[c->pair];
		const char *const labels[] = { name_of(t, n->parent_id), n->name,
					       t->q->flavors.v[p->flavor]->name,
					       quota_resource_name(t->q, p->resource) };

		metric_families_set(
			t->f, QF_RESERVATION, labels,
			amount(t->q, p->resource, quota_amounts_get(&s->reserved, c->pair)));
		metric_families_set(
			t->f, QF_USAGE, labels,
			amount(t->q, p->resource, quota_amounts_get(&s->used, c->pair)));
		metric_families_set(t->f, QF_NOMINAL, labels,
				    amount(t->q, p->resource, c->nominal));
		metric_families_set(t->f, QF_BORROWING_LIMIT, labels,
				    amount(t->q, p->resource, c->borrowing));
		metric_families_set(t->f, QF_LENDING_LIMIT, labels,
				    amount(t->q, p->resource, c->lending));
	}
	for (size_t i = 0; i < s->pending.n; i++) {
		set(t, QF_RESOURCE_PENDING, n->name, quota_resource_name(t->q, s->pending.v[i].id),
		    amount(t->q, s->pending.v[i].id, s->pending.v[i].value));
	}
}

static double weighted_share(const struct gauges *t, uint32_t node)
{
	struct share s = share_of(t->forest, node, NULL);

	/* Kueue: the metric of an infinite share is NaN. */
	return share_is_infinite(s) ? NAN : (double)share_status(s);
}

/* No gauge for a sort without Workloads. */
static void set_admitted(const struct gauges *t, const struct quota_node *n)
{
	const struct sums *s = &t->nodes[n->id];

	if (t->nsorts == 1) {
		metric_families_admitted(t->f, n->name, 0, s->admitted);
	}
	for (size_t i = 0; s->sorts != NULL && i < t->nsorts; i++) {
		if (s->sorts[i].there) {
			metric_families_admitted(t->f, n->name, i, s->sorts[i].admitted);
		}
	}
}

static void set_queue(struct gauges *t, const struct quota_node *n)
{
	const struct sums *s = &t->nodes[n->id];
	const struct cluster_queue *queue = n->queue;
	const char *const names[3] = { n->name };
	bool in_cohort = n->parent_id != MODEL_NONE && forest_is_placed(t->forest, n->id);
	const char *const info[] = { n->name, name_of(t, n->parent_id),
				     in_cohort ? name_of(t, forest_root(t->forest, n->id)) : "" };

	set(t, QF_PENDING, n->name, "active", (double)queue->heap.n);
	set(t, QF_PENDING, n->name, "inadmissible", (double)queue->inadmissible.n);
	set(t, QF_HASHES, n->name, "active", count_hashes(t, queue->heap.v, queue->heap.n));
	set(t, QF_HASHES, n->name, "inadmissible",
	    count_hashes(t, queue->inadmissible.v, queue->inadmissible.n));
	set(t, QF_RESERVING, n->name, NULL, s->reserving);
	set_admitted(t, n);
	set(t, QF_FINISHED, n->name, NULL, s->finished);
	metric_families_set(t->f, QF_INFO, info, 1);
	set_status(t, n);
	if (t->q->options.observability) {
		set_waits(t, s, QF_UNADMITTED, names);
	}
	if (t->q->options.preemption_gates) {
		set(t, QF_PREEMPTION_GATED, n->name, "blocked", s->blocked);
		set(t, QF_PREEMPTION_GATED, n->name, "gated", s->gated);
	}
	if (t->q->options.fair_sharing && forest_is_placed(t->forest, n->id)) {
		set(t, QF_SHARE, n->name, info[1], weighted_share(t, n->id));
	}
	if (t->resources) {
		set_pairs(t, n);
	}
}

static void set_cohort(struct gauges *t, const struct quota_node *n)
{
	const char *const info[] = { n->name, name_of(t, n->parent_id),
				     name_of(t, forest_root(t->forest, n->id)) };
	const uint32_t *pairs;
	size_t npairs;

	if (t->q->options.fair_sharing) {
		set(t, QF_COHORT_SHARE, n->name, NULL, weighted_share(t, n->id));
	}
	metric_families_set(t->f, QF_COHORT_INFO, info, 1);
	set(t, QF_COHORT_ADMITTED, n->name, NULL, t->nodes[n->id].admitted);
	pairs = forest_pairs(t->forest, n->id, &npairs);
	for (size_t i = 0; i < npairs; i++) {
		const struct flavor_resource *p = &t->q->pairs.v[pairs[i]];
		const char *const labels[] = { n->name, t->q->flavors.v[p->flavor]->name,
					       quota_resource_name(t->q, p->resource) };

		if (!forest_has(t->forest, n->id, pairs[i])) {
			continue;
		}
		metric_families_set(
			t->f, QF_COHORT_QUOTA, labels,
			amount(t->q, p->resource, forest_subtree(t->forest, n->id, pairs[i])));
		metric_families_set(t->f, QF_COHORT_RESERVATIONS, labels,
				    amount(t->q, p->resource,
					   quota_amounts_get(&t->nodes[n->id].reserved, pairs[i])));
	}
}

static void set_local_pairs(const struct gauges *t, const char *const *names,
			    enum metric_families_id id, const struct quota_amounts *amounts)
{
	for (size_t i = 0; i < amounts->n; i++) {
		const struct flavor_resource *p = &t->q->pairs.v[amounts->v[i].id];
		const char *const labels[] = { names[0], names[1], t->q->flavors.v[p->flavor]->name,
					       quota_resource_name(t->q, p->resource) };

		metric_families_set(t->f, id, labels,
				    amount(t->q, p->resource, amounts->v[i].value));
	}
}

static void set_local(const struct gauges *t, const struct local_queue *l)
{
	const struct sums *s = &t->locals[l->id];
	const char *labels[3] = { l->name, l->namespace_, "active" };
	const struct quota_node *n = quota_local_queue(t->q, l);
	bool active = l->stop == QUOTA_RUN && n != NULL && n->queue->inactive == QUOTA_ACTIVE;

	metric_families_set(t->f, QF_LOCAL_PENDING, labels, s->active);
	labels[2] = "inadmissible";
	metric_families_set(t->f, QF_LOCAL_PENDING, labels, s->inadmissible);
	metric_families_set(t->f, QF_LOCAL_RESERVING, labels, s->reserving);
	metric_families_set(t->f, QF_LOCAL_ADMITTED, labels, s->admitted);
	metric_families_set(t->f, QF_LOCAL_FINISHED, labels, s->finished);
	labels[2] = "True";
	metric_families_set(t->f, QF_LOCAL_STATUS, labels, active);
	labels[2] = "False";
	metric_families_set(t->f, QF_LOCAL_STATUS, labels, !active);
	labels[2] = "Unknown";
	metric_families_set(t->f, QF_LOCAL_STATUS, labels, 0);
	labels[2] = l->queue;
	if (t->q->options.observability) {
		set_waits(t, s, QF_LOCAL_UNADMITTED, labels);
	}
	if (t->q->options.admission_fair_sharing) {
		metric_families_set(t->f, QF_LOCAL_FAIR_USAGE, labels, l->usage);
	}
	set_local_pairs(t, labels, QF_LOCAL_RESERVATION, &s->reserved);
	set_local_pairs(t, labels, QF_LOCAL_USAGE, &s->used);
}

static void free_sums(struct sums *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		quota_amounts_finish(&v[i].reserved);
		quota_amounts_finish(&v[i].used);
		quota_amounts_finish(&v[i].pending);
		free(v[i].sorts);
	}
	free(v);
}

static void set_nodes(struct gauges *t)
{
	bool cohorts = metric_families_has(t->f, QF_COHORT_INFO);

	for (size_t i = 0; i < t->q->nodes.n; i++) {
		const struct quota_node *n = t->q->nodes.v[i];

		if (n == NULL || !n->is_queue) {
			continue;
		}
		/* All queues come before the first Cohort is set: its sums are theirs. */
		if (cohorts && n->exists && forest_is_placed(t->forest, n->id)) {
			add_to_cohorts(t, n);
		}
		if (n->exists) {
			set_queue(t, n);
		}
	}
	for (size_t i = 0; i < t->q->nodes.n; i++) {
		const struct quota_node *n = t->q->nodes.v[i];

		if (n != NULL && !n->is_queue && forest_is_placed(t->forest, n->id)) {
			set_cohort(t, n);
		}
	}
}

void queue_gauges_set(struct metric_families *f, const struct workload_cache *cache)
{
	struct gauges t = { .f = f,
			    .cache = cache,
			    .forest = workload_cache_forest(cache),
			    .q = workload_cache_model(cache),
			    .resources = metric_families_has(f, QF_RESERVATION),
			    .nsorts = metric_families_sorts(f) };

	t.nodes = xmalloc_zero(t.q->nodes.n + 1, sizeof(t.nodes[0]));
	t.locals = xmalloc_zero(t.q->locals.n + 1, sizeof(t.locals[0]));
	add_up(&t);
	metric_families_begin(f);
	set_nodes(&t);
	for (size_t i = 0; i < t.q->locals.n && metric_families_has(f, QF_LOCAL_PENDING); i++) {
		if (t.q->locals.v[i] != NULL) {
			set_local(&t, t.q->locals.v[i]);
		}
	}
	metric_families_end(f);
	free_sums(t.nodes, t.q->nodes.n);
	free_sums(t.locals, t.q->locals.n);
	vec_finish(&t.hashes);
}
