#include "app/quota_metrics.h"

#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/counter.h"
#include "base/str.h"
#include "base/strmap.h"
#include "base/xmalloc.h"
#include "quota/queues.h"

#define EVICTED "EvictedDueTo"
#define CAUSE "DueTo"

static const char *const states[] = { "pending", "active", "terminating" };

struct quota_metrics {
	struct counter_family *attempts, *reserved, *admitted, *evicted, *preempted;
	struct counter_family *pending, *reserving, *active, *status;
	struct strmap *queues; /* names with series; the value is the pass that saw them last */
	uintptr_t pass;
};

struct quota_metrics *quota_metrics_create(struct counter_registry *r)
{
	static const char *const by_result[] = { "result", NULL };
	static const char *const by_queue[] = { "cluster_queue", NULL };
	static const char *const by_status[] = { "cluster_queue", "status", NULL };
	static const char *const by_reason[] = { "cluster_queue", "reason", "underlying_cause",
						 NULL };
	static const char *const by_preemptor[] = { "preempting_cluster_queue", "reason", NULL };
	struct quota_metrics *m = xmalloc_zero(1, sizeof(*m));

	m->attempts = counter_register(r, "kueue_admission_attempts_total",
				       "Scheduling cycles of Workloads by whether any got in",
				       COUNTER_COUNTER, by_result);
	m->reserved = counter_register(r, "kueue_quota_reserved_workloads_total",
				       "Workloads that quota was reserved for", COUNTER_COUNTER,
				       by_queue);
	m->admitted = counter_register(r, "kueue_admitted_workloads_total",
				       "Workloads admitted with their reservation", COUNTER_COUNTER,
				       by_queue);
	m->evicted = counter_register(r, "kueue_evicted_workloads_total", "Evictions",
				      COUNTER_COUNTER, by_reason);
	m->preempted = counter_register(r, "kueue_preempted_workloads_total",
					"Workloads preempted for one of the queue", COUNTER_COUNTER,
					by_preemptor);
	m->pending = counter_register(r, "kueue_pending_workloads",
				      "Workloads that wait: to be tried, or for a change",
				      COUNTER_GAUGE, by_status);
	m->reserving = counter_register(r, "kueue_reserving_active_workloads",
					"Workloads that hold quota", COUNTER_GAUGE, by_queue);
	m->active = counter_register(r, "kueue_admitted_active_workloads",
				     "Admitted Workloads that are not finished", COUNTER_GAUGE,
				     by_queue);
	m->status =
		counter_register(r, "kueue_cluster_queue_status",
				 "1 for the state that the queue is in", COUNTER_GAUGE, by_status);
	m->queues = strmap_create(NULL);
	return m;
}

void quota_metrics_destroy(struct quota_metrics *m)
{
	if (m != NULL) {
		strmap_destroy(m->queues);
		free(m);
	}
}

static void count(struct counter_family *f, const char *a, const char *b, const char *c)
{
	const char *labels[3] = { a, b, c };

	counter_add(counter_cell(f, labels), 1);
}

void quota_metrics_event(struct quota_metrics *m, const char *queue, const char *reason)
{
	struct str rest = str_of(reason);
	const char *cause;

	if (str_streq(reason, "Admitted")) {
		count(m->admitted, queue, NULL, NULL);
	} else if (str_has_prefix(rest, EVICTED)) {
		CLEANUP(xmalloc_freep) char *why = xmalloc_dup(reason + strlen(EVICTED));
		char *split = strstr(why, CAUSE);

		cause = split == NULL ? "" : split + strlen(CAUSE);
		if (split != NULL) {
			*split = '\0';
		}
		count(m->evicted, queue, why, cause);
	}
}

void quota_metrics_cycle(struct quota_metrics *m, const struct quota *q,
			 const struct quota_decisions *list)
{
	bool success = false;

	for (size_t i = 0; i < list->n; i++) {
		const struct quota_decision *d = &list->v[i];

		if (d->kind == QUOTA_DECIDE_ADMIT) {
			success = true;
			count(m->reserved, q->nodes.v[d->node]->name, NULL, NULL);
		} else if (d->kind == QUOTA_DECIDE_PREEMPT) {
			success = true;
			if (!d->ongoing) {
				count(m->preempted, q->nodes.v[q->workloads.v[d->by]->queue]->name,
				      victim_reason_name(d->victim_reason), NULL);
			}
		}
	}
	if (list->n > 0) {
		count(m->attempts, success ? "success" : "inadmissible", NULL, NULL);
	}
}

static void set(struct counter_family *f, const char *queue, const char *status, double value)
{
	const char *labels[2] = { queue, status };

	counter_set(counter_cell(f, labels), value);
}

static void set_queue(struct quota_metrics *m, const struct forest *f, const struct quota_node *n)
{
	const struct quota_queue *queue = n->queue;
	const char *state = queue->terminating       ? states[2]
			    : queues_is_active(f, n) ? states[1]
						     : states[0];
	size_t admitted = 0;

	for (size_t i = 0; i < queue->holders.n; i++) {
		admitted += queue->holders.v[i].w->admitted;
	}
	set(m->pending, n->name, "active", (double)queue->heap.n);
	set(m->pending, n->name, "inadmissible", (double)queue->inadmissible.n);
	set(m->reserving, n->name, NULL, (double)queue->holders.n);
	set(m->active, n->name, NULL, (double)admitted);
	for (size_t i = 0; i < ARRAY_LEN(states); i++) {
		set(m->status, n->name, states[i], states[i] == state ? 1 : 0);
	}
	strmap_set(m->queues, str_of(n->name), (void *)m->pass);
}

struct gone {
	const struct quota_metrics *m;
	char *name; /* of one that was not seen in this pass */
};

static bool find_gone(struct str key, void *value, void *ctx)
{
	struct gone *g = ctx;

	if ((uintptr_t)value != g->m->pass) {
		g->name = xmalloc_dup_n(key.p, key.len);
	}
	return g->name == NULL;
}

static void remove_queue(struct quota_metrics *m, const char *name)
{
	const char *labels[2] = { name, "active" };

	counter_remove(m->reserving, labels);
	counter_remove(m->active, labels);
	counter_remove(m->pending, labels);
	labels[1] = "inadmissible";
	counter_remove(m->pending, labels);
	for (size_t i = 0; i < ARRAY_LEN(states); i++) {
		labels[1] = states[i];
		counter_remove(m->status, labels);
	}
	(void)strmap_remove(m->queues, str_of(name));
}

void quota_metrics_queues(struct quota_metrics *m, const struct forest *f)
{
	const struct quota *q = forest_world(f);
	struct gone g = { m, NULL };

	m->pass++;
	for (size_t i = 0; i < q->nodes.n; i++) {
		if (q->nodes.v[i] != NULL && q->nodes.v[i]->is_queue && q->nodes.v[i]->exists) {
			set_queue(m, f, q->nodes.v[i]);
		}
	}
	for (strmap_each(m->queues, find_gone, &g); g.name != NULL;
	     strmap_each(m->queues, find_gone, &g)) {
		remove_queue(m, g.name);
		free(take_ptr(&g.name));
	}
}
