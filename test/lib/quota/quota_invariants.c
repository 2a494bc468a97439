#include "lib/quota/quota_invariants.h"

#include <stdlib.h>

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "lib/quota/quota_naive.h"
#include "scheduler/workloads/pending/pending.h"

/* --- places ------------------------------------------------------------------------------------*/

static bool is_listed(const struct quota_model *q, const struct workload *w)
{
	const struct cluster_queue *queue = q->nodes.v[w->pending.queue]->queue;

	if (w->pending.where == QUOTA_HEAP) {
		return w->pending.pos < queue->heap.n && queue->heap.v[w->pending.pos] == w->id;
	}
	return w->pending.pos < queue->inadmissible.n &&
	       queue->inadmissible.v[w->pending.pos] == w->id;
}

static void check_lists(const struct quota_model *q, struct strbuf *problems)
{
	size_t listed = 0, waiting = 0;

	for (size_t i = 0; i < q->nodes.n; i++) {
		if (q->nodes.v[i] != NULL && q->nodes.v[i]->is_queue) {
			listed +=
				q->nodes.v[i]->queue->heap.n + q->nodes.v[i]->queue->inadmissible.n;
		}
	}
	for (size_t i = 0; i < q->workloads.n; i++) {
		const struct workload *w = q->workloads.v[i];

		if (w != NULL &&
		    (w->pending.where == QUOTA_HEAP || w->pending.where == QUOTA_INADMISSIBLE)) {
			waiting++;
			if (!is_listed(q, w)) {
				strbuf_printf(problems, "%s is not where it says\n", w->key);
			}
		}
	}
	if (listed != waiting) {
		strbuf_printf(problems, "%zu are listed, %zu wait\n", listed, waiting);
	}
}

static void check_places(const struct quota_model *q, struct strbuf *problems)
{
	for (size_t i = 0; i < q->workloads.n; i++) {
		const struct workload *w = q->workloads.v[i];

		if (w != NULL &&
		    (w->pending.where == QUOTA_IN_FLIGHT ||
		     (w->pending.where == QUOTA_NOWHERE) != (w->holding.node != MODEL_NONE))) {
			strbuf_printf(problems, "%s neither waits nor holds quota\n", w->key);
		}
	}
}

/* --- sums --------------------------------------------------------------------------------------*/

static void check_sums(const struct forest *f, struct strbuf *problems)
{
	const struct quota_model *q = forest_model(f);

	for (uint32_t pair = 0; pair < q->pairs.n; pair++) {
		struct quota_naive t;

		quota_naive_read(&t, f, pair);
		for (uint32_t i = 0; i < q->nodes.n; i++) {
			if (q->nodes.v[i] != NULL && !quota_naive_is(&t, (int)i, f, i, pair)) {
				strbuf_printf(problems, "sums of %s, pair %u\n",
					      q->nodes.v[i]->name, pair);
			}
		}
	}
}

void quota_invariants_check_forest(const struct forest *f, struct strbuf *problems)
{
	if (forest_mark(f) != 0) {
		strbuf_printf(problems, "%zu charges are not undone\n", forest_mark(f));
	}
	check_lists(forest_model(f), problems);
	check_sums(f, problems);
}

void quota_invariants_check(const struct admission_cycle_fixture *f, struct strbuf *problems)
{
	check_places(f->w.q, problems);
	quota_invariants_check_forest(f->w.f, problems);
}

/* --- quota -------------------------------------------------------------------------------------*/

void quota_invariants_excess(const struct admission_cycle_fixture *f, struct quota_excess *ret)
{
	const struct quota_model *q = f->w.q;
	size_t mark = forest_mark(f->w.f);

	for (size_t i = 0; i < q->workloads.n; i++) {
		const struct workload *w = q->workloads.v[i];

		if (w != NULL && w->holding.node != MODEL_NONE && w->flags.evicted) {
			forest_remove(f->w.f, w->holding.node, &w->holding.usage);
		}
	}
	ret->n = q->nodes.n * q->pairs.n;
	ret->v = xmalloc_zero(ret->n + 1, sizeof(*ret->v));
	for (size_t i = 0; i < ret->n; i++) {
		uint32_t node = (uint32_t)(i / q->pairs.n), pair = (uint32_t)(i % q->pairs.n);
		int64_t rest = q->nodes.v[node] == NULL ? 0 : forest_available(f->w.f, node, pair);

		ret->v[i] = rest < 0 ? -rest : 0;
	}
	forest_undo(f->w.f, mark);
}

void quota_invariants_excess_finish(struct quota_excess *e)
{
	free(e->v);
}

static void check_quota(const struct admission_cycle_fixture *f, const struct quota_excess *before,
			struct strbuf *problems)
{
	CLEANUP(quota_invariants_excess_finish) struct quota_excess now;

	quota_invariants_excess(f, &now);
	for (size_t i = 0; i < now.n && i < before->n; i++) {
		if (now.v[i] > before->v[i]) {
			strbuf_printf(problems, "%s is above quota\n",
				      f->w.q->nodes.v[i / f->w.q->pairs.n]->name);
		}
	}
}

/* --- decisions ---------------------------------------------------------------------------------*/

static bool allows(const struct quota_model *q, enum quota_policy policy, const struct workload *w,
		   const struct workload *victim)
{
	int64_t mine = workload_priority(q, w), its = workload_priority(q, victim);

	switch (policy) {
	case QUOTA_NEVER:
		return false;
	case QUOTA_LOWER_PRIORITY:
		return its < mine;
	case QUOTA_LOWER_OR_NEWER_EQUAL:
		return its < mine ||
		       (its == mine && workload_queue_time(q, victim) > workload_queue_time(q, w));
	case QUOTA_ANY:
		return true;
	}
	return false;
}

static bool is_eligible(const struct admission_cycle_fixture *f, const struct admission_decision *d)
{
	const struct quota_model *q = f->w.q;
	const struct workload *w = q->workloads.v[d->by], *victim = q->workloads.v[d->workload];
	const struct cluster_queue *queue = q->nodes.v[w->pending.queue]->queue;
	bool own = victim->holding.node == w->pending.queue;

	return forest_root(f->w.f, victim->holding.node) == forest_root(f->w.f, w->pending.queue) &&
	       pending_is_active(f->w.f, q->nodes.v[victim->holding.node]) &&
	       pending_is_active(f->w.f, q->nodes.v[w->pending.queue]) &&
	       own == (d->victim_reason == VICTIM_IN_CLUSTER_QUEUE) &&
	       allows(q, own ? queue->within_queue : queue->reclaim, w, victim);
}

static bool is_applied(const struct admission_cycle_fixture *f, const struct admission_decision *d)
{
	const struct workload *w = f->w.q->workloads.v[d->workload];

	switch (d->kind) {
	case QUOTA_DECIDE_ADMIT:
		return w->holding.node == d->node && d->assignment->mode == ASSIGN_FIT;
	case QUOTA_DECIDE_PREEMPT:
		return w->holding.node != MODEL_NONE && w->flags.evicted &&
		       f->w.q->workloads.v[d->by]->holding.node == MODEL_NONE;
	case QUOTA_DECIDE_PENDING:
		return (d->where == QUOTA_HEAP || d->where == QUOTA_INADMISSIBLE) &&
		       d->status != ENTRY_ASSUMED;
	}
	return false;
}

void quota_invariants_check_run(const struct admission_cycle_fixture *f,
				const struct quota_excess *before, struct strbuf *problems)
{
	for (size_t i = 0; i < f->last->n; i++) {
		const struct admission_decision *d = &f->last->v[i];
		const char *key = f->w.q->workloads.v[d->workload]->key;

		if (!is_applied(f, d)) {
			strbuf_printf(problems, "%s: the world is not as decided\n", key);
		} else if (d->kind == QUOTA_DECIDE_PREEMPT && !is_eligible(f, d)) {
			strbuf_printf(problems, "%s is no victim for %s\n", key,
				      f->w.q->workloads.v[d->by]->key);
		}
	}
	check_quota(f, before, problems);
}
