#include "scheduler/workloads/metrics/workload_metrics.h"

#include <stdlib.h>

#include "api/kueue/kueue_keys.h"
#include "base/arena.h"
#include "base/clock.h"
#include "scheduler/workloads/forest/forest.h"
#include "scheduler/workloads/metrics/metric_families.h"
#include "scheduler/workloads/model/quota_store.h"

/* --- cycles ------------------------------------------------------------------------------------*/

static const char *recomputed(enum quota_recompute r)
{
	static const char *const names[] = {
		[QUOTA_RECOMPUTE_NONE] = "",
		[QUOTA_RECOMPUTE_DEFERRED_FIT] = "deferred_fit",
		[QUOTA_RECOMPUTE_NEW_TARGETS] = "new_targets",
		[QUOTA_RECOMPUTE_SKIPPED] = "skipped",
	};

	return names[r];
}

static const char *queue_name(const struct quota_model *q, uint32_t node)
{
	return node == MODEL_NONE ? "" : q->nodes.v[node]->name;
}

static bool is_skipped_preemption(const struct admission_decision *d)
{
	return d->kind == QUOTA_DECIDE_PENDING && d->status == ENTRY_SKIPPED &&
	       d->assignment != NULL && d->assignment->mode == ASSIGN_PREEMPT;
}

/* Of every queue that had a head in the cycle: also that there was none. */
static void count_skips(struct metric_families *f, const struct quota_model *q,
			const struct admission_decisions *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const char *queue = queue_name(q, list->v[i].node);
		double n = 0;

		if (list->v[i].kind != QUOTA_DECIDE_PENDING) {
			continue;
		}
		/* With several heads per queue these stand together. */
		for (size_t k = 0; k < list->n && q->options.heads > 1; k++) {
			n += list->v[k].node == list->v[i].node &&
			     is_skipped_preemption(&list->v[k]);
		}
		n = q->options.heads > 1 ? n : is_skipped_preemption(&list->v[i]);
		metric_families_set(f, QF_PREEMPTION_SKIPS, &queue, n);
	}
}

/* Kueue: a cycle is a success if any Workload was admitted or preempted. A victim of an earlier
 * cycle that has not stopped yet is not counted again; a cycle without heads is no attempt. */
void workload_metrics_cycle(struct metric_families *f, const struct quota_model *q,
			    const struct admission_decisions *list, double seconds)
{
	const char *result = "inadmissible";

	for (size_t i = 0; i < list->n; i++) {
		const struct admission_decision *d = &list->v[i];
		const char *labels[2] = { queue_name(q, d->node), recomputed(d->recompute) };

		if (d->kind != QUOTA_DECIDE_PENDING) {
			result = "success";
		}
		if (d->kind == QUOTA_DECIDE_PREEMPT && !d->ongoing) {
			labels[0] = queue_name(q, q->workloads.v[d->by]->pending.queue);
			labels[1] = victim_reason_name(d->victim_reason);
			metric_families_add(f, QF_PREEMPTED_TOTAL, labels, 1);
		} else if (d->kind != QUOTA_DECIDE_PREEMPT &&
			   d->recompute != QUOTA_RECOMPUTE_NONE) {
			metric_families_add(f, QF_RECOMPUTATIONS, labels, 1);
		}
	}
	count_skips(f, q, list);
	if (list->n > 0) {
		metric_families_add(f, QF_ATTEMPTS, &result, 1);
		metric_families_observe(f, QF_ATTEMPT_DURATION, &result, seconds);
	}
}

/* --- owners ------------------------------------------------------------------------------------*/

void workload_metrics_created(struct metric_families *f, const char *kind, int64_t ns)
{
	metric_families_observe(f, QF_CREATION_LATENCY, &kind, (double)ns / (double)CLOCK_NS_PER_S);
}

void workload_metrics_ungated(struct metric_families *f, const char *queue, bool group, int64_t ns)
{
	const char *const labels[] = { KUEUE_GATE_ADMISSION, queue, group ? "true" : "false" };

	metric_families_observe(f, QF_GATE_REMOVAL, labels, (double)ns / (double)CLOCK_NS_PER_S);
}

/* --- statuses ----------------------------------------------------------------------------------*/

struct change {
	struct metric_families *f;
	const struct forest *forest;
	const struct workload *w;
	const struct workload_status *before, *after;
	const char *queue; /* where it holds or held quota; NULL: nowhere */
	const char *local; /* NULL: there is no such LocalQueue, and no series of it shall stay */
	const char *namespace_, *class;
};

static bool became(const struct change *c, const char *type)
{
	return workload_status_is_true(c->after, type) && !workload_status_is_true(c->before, type);
}

static double seconds(int64_t from, int64_t to)
{
	return (double)(to - from) / (double)CLOCK_NS_PER_S;
}

/* Since when it has waited: creation, or the last requeueing (Kueue: QueuedWaitTime). */
static int64_t queued_at(const struct change *c, int64_t otherwise)
{
	const struct condition *requeued = workload_status_condition(c->after, KUEUE_REQUEUED);

	if (requeued != NULL) {
		return requeued->at;
	}
	return c->w->object.created == MODEL_TIME_NONE ? otherwise : c->w->object.created;
}

/* A condition that is missing gives a latency of 0, by the time that is passed as `otherwise`. */
static int64_t at(const struct workload_status *status, const char *type, int64_t otherwise)
{
	const struct condition *found = workload_status_condition(status, type);

	return found == NULL ? otherwise : found->at;
}

static void add(const struct change *c, enum metric_families_id queue,
		enum metric_families_id local)
{
	metric_families_add(c->f, queue, (const char *const[]){ c->queue, c->class }, 1);
	if (c->local != NULL) {
		metric_families_add(c->f, local,
				    (const char *const[]){ c->local, c->namespace_, c->class }, 1);
	}
}

static void observe(const struct change *c, enum metric_families_id queue,
		    enum metric_families_id local, double value)
{
	metric_families_observe(c->f, queue, (const char *const[]){ c->queue, c->class }, value);
	if (c->local != NULL) {
		metric_families_observe(c->f, local,
					(const char *const[]){ c->local, c->namespace_, c->class },
					value);
	}
}

static void count_cohorts(const struct change *c)
{
	const struct quota_model *q = forest_model(c->forest);
	const struct quota_node *n = quota_queue_find(q, str_of(c->queue));
	uint32_t up = n == NULL ? MODEL_NONE : forest_parent(c->forest, n->id);

	for (; up != MODEL_NONE; up = forest_parent(c->forest, up)) {
		metric_families_add(c->f, QF_COHORT_ADMITTED_TOTAL,
				    (const char *const[]){ q->nodes.v[up]->name, c->class }, 1);
	}
}

static void count_admission(const struct change *c)
{
	if (became(c, KUEUE_QUOTA_RESERVED)) {
		int64_t now = at(c->after, KUEUE_QUOTA_RESERVED, 0);

		add(c, QF_RESERVED_TOTAL, QF_LOCAL_RESERVED_TOTAL);
		observe(c, QF_RESERVED_WAIT, QF_LOCAL_RESERVED_WAIT,
			seconds(queued_at(c, now), now));
	}
	if (became(c, KUEUE_ADMITTED)) {
		int64_t now = at(c->after, KUEUE_ADMITTED, 0);

		add(c, QF_ADMITTED_TOTAL, QF_LOCAL_ADMITTED_TOTAL);
		observe(c, QF_ADMITTED_WAIT, QF_LOCAL_ADMITTED_WAIT,
			seconds(queued_at(c, now), now));
		if (c->after->checks.n > 0) {
			observe(c, QF_CHECKS_WAIT, QF_LOCAL_CHECKS_WAIT,
				seconds(at(c->after, KUEUE_QUOTA_RESERVED, now), now));
		}
		count_cohorts(c);
	}
}

/* Pods that become ready again are not counted. */
static void count_ready(const struct change *c)
{
	const struct condition *ready = workload_status_condition(c->after, KUEUE_PODS_READY);

	if (became(c, KUEUE_PODS_READY) && str_streq(ready->reason, "Started")) {
		observe(c, QF_READY_WAIT, QF_LOCAL_READY_WAIT,
			seconds(queued_at(c, ready->at), ready->at));
		observe(c, QF_ADMITTED_READY_WAIT, QF_LOCAL_ADMITTED_READY_WAIT,
			seconds(at(c->after, KUEUE_ADMITTED, ready->at), ready->at));
	}
}

static void count_finished(const struct change *c)
{
	int64_t now = at(c->after, KUEUE_FINISHED, 0);
	double ran = c->after->has_past_seconds ? c->after->past_seconds : 0;

	if (!became(c, KUEUE_FINISHED)) {
		return;
	}
	/* Also of one that never had a queue: the label is empty then. */
	add(c, QF_FINISHED_TOTAL, QF_LOCAL_FINISHED_TOTAL);
	if (workload_status_is_true(c->after, KUEUE_ADMITTED)) {
		ran += seconds(at(c->after, KUEUE_ADMITTED, now), now);
		observe(c, QF_EXECUTION, QF_LOCAL_EXECUTION, ran);
	}
}

static int32_t count_before(const struct change *c, const struct workload_status_eviction *e)
{
	for (size_t i = 0; i < c->before->evictions.n; i++) {
		const struct workload_status_eviction *b = &c->before->evictions.v[i];

		if (str_streq(b->reason, e->reason) && str_streq(b->cause, e->cause)) {
			return b->count;
		}
	}
	return 0;
}

/* By the counts in schedulingStats, so that evictions by other clients, and several between two
 * reads, are all counted. */
static void count_eviction(const struct change *c, const struct workload_status_eviction *e)
{
	const char *const labels[] = { c->queue, e->reason, e->cause, c->class };
	const char *const local[] = { c->local, c->namespace_, e->reason, e->cause, c->class };
	int32_t before = count_before(c, e);

	if (e->count <= before) {
		return;
	}
	metric_families_add(c->f, QF_EVICTED_TOTAL, labels, (double)e->count - before);
	if (c->local != NULL) {
		metric_families_add(c->f, QF_LOCAL_EVICTED_TOTAL, local, (double)e->count - before);
	}
	if (before == 0) {
		metric_families_add(c->f, QF_EVICTED_ONCE_TOTAL, labels, 1);
	}
	if (workload_status_is_true(c->before, KUEUE_PODS_READY)) {
		int64_t ready = at(c->before, KUEUE_PODS_READY, 0);

		metric_families_observe(c->f, QF_READY_TO_EVICTED, labels,
					seconds(ready, at(c->after, KUEUE_EVICTED, ready)));
	}
}

static void count_release(const struct change *c)
{
	const struct condition *evicted = workload_status_condition(c->after, KUEUE_EVICTED);

	if (workload_status_is_true(c->before, KUEUE_QUOTA_RESERVED) &&
	    !workload_status_is_true(c->after, KUEUE_QUOTA_RESERVED) &&
	    workload_status_is_true(c->after, KUEUE_EVICTED)) {
		metric_families_observe(
			c->f, QF_EVICTION_LATENCY,
			(const char *const[]){ c->queue, evicted->reason },
			seconds(evicted->at, at(c->after, KUEUE_QUOTA_RESERVED, evicted->at)));
	}
}

void workload_metrics_status(struct metric_families *f, const struct forest *forest,
			     const struct workload *w, const struct workload_status *before,
			     const struct workload_status *after)
{
	const struct local_queue *local = quota_local_of(forest_model(forest), w);
	struct change c = { .f = f,
			    .forest = forest,
			    .w = w,
			    .before = before,
			    .after = after,
			    .queue = after->queue != NULL ? after->queue : before->queue,
			    .local = local == NULL ? NULL : local->name,
			    .namespace_ = w->object.namespace_,
			    .class = w->object.priority_class };

	count_finished(&c);
	if (c.queue == NULL) {
		return;
	}
	count_admission(&c);
	count_ready(&c);
	for (size_t i = 0; i < after->evictions.n; i++) {
		count_eviction(&c, &after->evictions.v[i]);
	}
	count_release(&c);
}
