#include "scheduler/pods/engine/sched_metrics.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "obs/metric.h"
#include "scheduler/pods/ledger/totals.h"
#include "scheduler/pods/model/model.h"
#include "scheduler/pods/session/decision.h"

/* One row per gauge of a queue: either an amount in a fixed dimension or a count. */
enum amount {
	AMOUNT_ALLOCATED,
	AMOUNT_REQUEST,
	AMOUNT_DESERVED,
	AMOUNT_CAPACITY,
	AMOUNT_RESERVED,
	AMOUNT_PUBLISHED,
	AMOUNT_COUNT
};
enum tally {
	TALLY_GATED,
	TALLY_PATCHING,
	TALLY_UNGATED,
	TALLY_PUBLISHED,
	TALLY_WITHDRAWN,
	TALLY_OVERDUE,
	TALLY_STUCK,
	TALLY_COUNT
};

static const char *const amount_names[AMOUNT_COUNT] = {
	"volcano_queue_allocated", "volcano_queue_request",   "volcano_queue_deserved",
	"volcano_queue_capacity",  "headgate_queue_reserved", "headgate_queue_published",
};
static const char *const amount_help[AMOUNT_COUNT] = {
	"Resources of pods with a node",
	"Resources of all pods that run or wait",
	"Configured deserved amount",
	"Configured capability",
	"Quota reserved for pods without a node",
	"Resources that autoscalers see as unschedulable",
};
static const char *const tally_names[TALLY_COUNT] = {
	"headgate_queue_gated_pods",     "headgate_queue_patching_pods",
	"headgate_queue_ungated_pods",   "headgate_queue_published_pods",
	"headgate_queue_withdrawn_pods", "headgate_queue_overdue_pods",
	"headgate_queue_stuck_pods",
};
static const char *const tally_help[TALLY_COUNT] = {
	"Pods that wait for quota behind our gate",
	"Pods that wait for the patch that removes their gate",
	"Pods with quota and without a node",
	"Pods that autoscalers see",
	"Pods withdrawn from autoscalers",
	"Pods that another scheduler has not placed in time, or beyond a limit",
	"Pods still terminating minutes after their grace period",
};
static const char *const phase_names[PODGROUP_PHASE_COUNT_] = {
	"volcano_queue_pod_group_pending_count",   "volcano_queue_pod_group_inqueue_count",
	"volcano_queue_pod_group_running_count",   "volcano_queue_pod_group_unknown_count",
	"volcano_queue_pod_group_completed_count",
};

struct sched_metrics {
	struct metric_family *cpu[AMOUNT_COUNT], *memory[AMOUNT_COUNT], *scalar[AMOUNT_COUNT];
	struct metric_family *tally[TALLY_COUNT], *phase[PODGROUP_PHASE_COUNT_], *weight;
	struct metric_family *decided, *in_vain, *wait, *requests, *bad_objects, *conf, *action;
	struct metric_cell *cycle, *events_dropped;
	uint64_t counted_events; /* of those dropped */
	struct strmap *queues;   /* names with series */
};

static struct metric_cell *register_events_dropped(struct metric_registry *r)
{
	return metric_cell(metric_register(r, "headgate_events_dropped_total",
					   "Events that were not sent because too many waited",
					   METRIC_COUNTER, NULL),
			   NULL);
}

static struct metric_family *register_in_vain(struct metric_registry *r, const char *const *labels)
{
	return metric_register(
		r, "headgate_evictions_in_vain_total",
		"Evictions, also refused ones, that made no room for a pod of the queue",
		METRIC_COUNTER, labels);
}

struct sched_metrics *sched_metrics_create(struct metric_registry *r)
{
	static const char *const by_queue[] = { "queue_name", NULL };
	static const char *const by_queue_resource[] = { "queue_name", "resource", NULL };
	static const char *const by_queue_decision[] = { "queue_name", "decision", NULL };
	static const char *const by_request[] = { "request", "outcome", NULL };
	static const char *const by_resource[] = { "resource", NULL };
	static const char *const by_result[] = { "result", NULL };
	static const char *const by_action[] = { "action", NULL };
	static const double ms[] = { 0.1, 0.2, 0.5, 1,   2,    5,    10,  20,
				     50,  100, 200, 500, 1000, 2000, 5000 };
	static const double seconds[] = { 0.1, 1, 5, 15, 60, 300, 900, 3600, 14400, 86400 };
	struct sched_metrics *m = xmalloc_zero(1, sizeof(*m));
	char name[100];

	for (unsigned i = 0; i < AMOUNT_COUNT; i++) {
		snprintf(name, sizeof(name), "%s_milli_cpu", amount_names[i]);
		m->cpu[i] = metric_register(r, name, amount_help[i], METRIC_GAUGE, by_queue);
		snprintf(name, sizeof(name), "%s_memory_bytes", amount_names[i]);
		m->memory[i] = metric_register(r, name, amount_help[i], METRIC_GAUGE, by_queue);
		snprintf(name, sizeof(name), "%s_scalar_resources", amount_names[i]);
		m->scalar[i] =
			metric_register(r, name, amount_help[i], METRIC_GAUGE, by_queue_resource);
	}
	for (unsigned i = 0; i < TALLY_COUNT; i++) {
		m->tally[i] =
			metric_register(r, tally_names[i], tally_help[i], METRIC_GAUGE, by_queue);
	}
	for (unsigned i = 0; i < PODGROUP_PHASE_COUNT_; i++) {
		m->phase[i] =
			metric_register(r, phase_names[i], "PodGroups of the queue in this phase",
					METRIC_GAUGE, by_queue);
	}
	m->weight = metric_register(r, "volcano_queue_weight", "Weight of the queue", METRIC_GAUGE,
				    by_queue);
	m->decided = metric_register(r, "headgate_decisions_total", "Decisions on pods by kind",
				     METRIC_COUNTER, by_queue_decision);
	m->in_vain = register_in_vain(r, by_queue);
	m->wait = metric_register_histogram(r, "headgate_gate_wait_seconds",
					    "Age of pods when quota was reserved for them",
					    by_queue, seconds, ARRAY_LEN(seconds));
	m->requests = metric_register(r, "headgate_requests_total",
				      "Writes to the API server by how they ended", METRIC_COUNTER,
				      by_request);
	m->bad_objects = metric_register(r, "headgate_bad_objects_total",
					 "Times that an object of the resource could not be read",
					 METRIC_COUNTER, by_resource);
	m->conf = metric_register(r, "headgate_configuration_reloads_total",
				  "Reloads of the scheduler configuration", METRIC_COUNTER,
				  by_result);
	m->action =
		metric_register_histogram(r, "volcano_action_scheduling_latency_milliseconds",
					  "Duration of an action", by_action, ms, ARRAY_LEN(ms));
	m->cycle = metric_cell(metric_register_histogram(
				       r, "volcano_e2e_scheduling_latency_milliseconds",
				       "Duration of a scheduling cycle", NULL, ms, ARRAY_LEN(ms)),
			       NULL);
	m->events_dropped = register_events_dropped(r);
	m->queues = strmap_create(NULL);
	return m;
}

void sched_metrics_destroy(struct sched_metrics *m)
{
	if (m != NULL) {
		strmap_destroy(m->queues);
		free(m);
	}
}

/* A decision that frees the charge has been assumed by now: the queue of the PodGroup stands for
 * it. */
static const char *queue_of(const struct cluster *c, const struct task *t)
{
	uint32_t q = t->charge_queue;

	if (q == MODEL_NONE && t->podgroup != MODEL_NONE) {
		q = c->podgroups.v[t->podgroup]->queue;
	}
	return q == MODEL_NONE ? "" : c->queues.v[q]->name;
}

void sched_metrics_decisions(struct sched_metrics *m, const struct cluster *c,
			     const struct decisions *d, int64_t now)
{
	static const char *const names[DECISION_KIND_COUNT_] = {
		[DECISION_UNGATE] = "ungate",   [DECISION_RESERVE] = "reserve",
		[DECISION_REVOKE] = "release", /* kept: queries of users name it */
		[DECISION_PUBLISH] = "publish", [DECISION_WITHDRAW] = "withdraw",
		[DECISION_BIND] = "bind",       [DECISION_EVICT] = "evict",
		[DECISION_MOVE] = "move",
	};

	for (size_t i = 0; i < d->n; i++) {
		const struct decision *one = &d->v[i];
		const struct task *t;
		const char *labels[2];

		if (one->in_vain > 0) {
			labels[0] = queue_of(c, c->tasks.v[one->task]);
			metric_cell_add(metric_cell(m->in_vain, labels), one->in_vain);
		}
		if (names[one->kind] == NULL) {
			continue;
		}
		t = c->tasks.v[one->task];
		labels[0] = queue_of(c, t);
		labels[1] = names[one->kind];
		metric_cell_add(metric_cell(m->decided, labels), 1);
		/* A reservation ends the wait for quota; a gate that is removed without one waited
		 * for none. */
		if (((one->kind == DECISION_UNGATE && !one->uncharged) ||
		     one->kind == DECISION_RESERVE) &&
		    t->created != MODEL_TIME_NONE) {
			metric_cell_observe(metric_cell(m->wait, labels),
					    (double)(now - t->created) / (double)CLOCK_NS_PER_S);
		}
	}
}

static void set(struct metric_family *f, const char *queue, double value)
{
	const char *labels[1] = { queue };

	metric_cell_set(metric_cell(f, labels), value);
}

static void set_amount(struct sched_metrics *m, enum amount a, const struct cluster *c,
		       const char *queue, const struct res *r)
{
	for (unsigned d = 0; d < res_names_count(c->res); d++) {
		const char *labels[2] = { queue, res_names_get(c->res, d) };
		struct metric_family *f = d == RES_CPU      ? m->cpu[a]
					  : d == RES_MEMORY ? m->memory[a]
							    : m->scalar[a];

		/* A resource without a limit has no series, also after it had one. */
		if (res_get(r, d) == RES_UNLIMITED) {
			metric_remove(f, labels);
		} else {
			metric_cell_set(metric_cell(f, labels), (double)res_get(r, d));
		}
	}
}

static void forget_queue(struct sched_metrics *m, const struct cluster *c, const char *queue)
{
	const char *labels[2] = { queue, NULL };

	for (unsigned a = 0; a < AMOUNT_COUNT; a++) {
		metric_remove(m->cpu[a], labels);
		metric_remove(m->memory[a], labels);
		for (unsigned d = 0; d < res_names_count(c->res); d++) {
			labels[1] = res_names_get(c->res, d);
			metric_remove(m->scalar[a], labels);
		}
	}
	for (unsigned i = 0; i < TALLY_COUNT; i++) {
		metric_remove(m->tally[i], labels);
	}
	for (unsigned i = 0; i < PODGROUP_PHASE_COUNT_; i++) {
		metric_remove(m->phase[i], labels);
	}
	metric_remove(m->weight, labels);
}

/* The map must not change while it is walked: names of queues that are gone are collected first. */
struct stale {
	const struct cluster *c;
	struct VEC(struct str) names;
};

static bool collect_stale(struct str key, void *value UNUSED, void *ctx)
{
	struct stale *s = ctx;
	const struct queue *q = strmap_get(s->c->queue_by_name, key);

	if (q == NULL || !q->exists) {
		vec_push(&s->names, key);
	}
	return true;
}

static void remove_stale(struct sched_metrics *m, const struct cluster *c)
{
	struct stale s = { .c = c, .names = VEC_INIT };

	strmap_each(m->queues, collect_stale, &s);
	for (size_t i = 0; i < s.names.n; i++) {
		CLEANUP(xmalloc_freep) char *name = xmalloc_dup_n(s.names.v[i].p, s.names.v[i].len);

		forget_queue(m, c, name);
		strmap_remove(m->queues, str_of(name));
	}
	vec_finish(&s.names);
}

void sched_metrics_totals(struct sched_metrics *m, const struct cluster *c,
			  const struct queue_totals *totals)
{
	for (size_t i = 0; i < c->queues.n; i++) {
		const struct queue *q = c->queues.v[i];
		const struct queue_totals *t = &totals[i];

		if (q == NULL || !q->exists) {
			continue;
		}
		strmap_set(m->queues, str_of(q->name), m);
		set_amount(m, AMOUNT_ALLOCATED, c, q->name, &t->allocated);
		set_amount(m, AMOUNT_REQUEST, c, q->name, &t->request);
		set_amount(m, AMOUNT_DESERVED, c, q->name, &q->deserved);
		set_amount(m, AMOUNT_CAPACITY, c, q->name, &q->capability);
		set_amount(m, AMOUNT_RESERVED, c, q->name, &t->reserved);
		set_amount(m, AMOUNT_PUBLISHED, c, q->name, &t->published);
		set(m->tally[TALLY_GATED], q->name, t->gated);
		set(m->tally[TALLY_PATCHING], q->name, t->patching);
		set(m->tally[TALLY_UNGATED], q->name, t->ungated);
		set(m->tally[TALLY_PUBLISHED], q->name, t->published_pods);
		set(m->tally[TALLY_WITHDRAWN], q->name, t->withdrawn);
		set(m->tally[TALLY_OVERDUE], q->name, t->overdue);
		set(m->tally[TALLY_STUCK], q->name, t->stuck);
		set(m->weight, q->name, q->weight);
		for (unsigned p = 0; p < PODGROUP_PHASE_COUNT_; p++) {
			set(m->phase[p], q->name, t->podgroups[p]);
		}
	}
	remove_stale(m, c);
}

void sched_metrics_cycle(struct sched_metrics *m, int64_t duration_ns)
{
	metric_cell_observe(m->cycle, (double)duration_ns / (double)CLOCK_NS_PER_MS);
}

void sched_metrics_events_dropped(struct sched_metrics *m, uint64_t so_far)
{
	metric_cell_add(m->events_dropped, (double)(so_far - m->counted_events));
	m->counted_events = so_far;
}

void sched_metrics_action(struct sched_metrics *m, const char *action, int64_t duration_ns)
{
	const char *labels[1] = { action };

	metric_cell_observe(metric_cell(m->action, labels),
			    (double)duration_ns / (double)CLOCK_NS_PER_MS);
}

void sched_metrics_request(struct sched_metrics *m, const struct sched_msg *done)
{
	const char *labels[2] = { message_request_name(done->request),
				  message_outcome_name(done->outcome) };

	metric_cell_add(metric_cell(m->requests, labels), 1);
}

void sched_metrics_bad_object(struct sched_metrics *m, const char *resource)
{
	const char *labels[1] = { resource };

	metric_cell_add(metric_cell(m->bad_objects, labels), 1);
}

void sched_metrics_conf(struct sched_metrics *m, bool ok)
{
	const char *labels[1] = { ok ? "ok" : "failed" };

	metric_cell_add(metric_cell(m->conf, labels), 1);
}
