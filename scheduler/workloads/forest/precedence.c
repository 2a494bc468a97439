#include "scheduler/workloads/forest/precedence.h"

#include "scheduler/workloads/model/quota_store.h"

#define REVERSALS_MAX 20 /* 2^20 releases: in practice, forever */

static bool exists(const struct quota_model *q, uint32_t id, uint64_t serial)
{
	return q->workloads.v[id] != NULL && q->workloads.v[id]->serial == serial;
}

/* A record is valid as long as nothing has changed since, as precedence.h says. */
static bool is_valid(const struct quota_model *q, const struct workload *w,
		     const struct quota_precedence *p)
{
	const struct workload *by;

	if (!exists(q, p->by, p->by_serial) || q->forest_gen != p->forest_gen) {
		return false;
	}
	by = q->workloads.v[p->by];
	return by->object.generation == p->by_generation && w->object.generation == p->generation &&
	       workload_priority(q, by) == p->by_priority &&
	       workload_priority(q, w) == p->priority &&
	       q->nodes.v[p->root]->released - p->released < UINT64_C(1) << p->reversals;
}

static struct quota_precedence *find(const struct workload *w, const struct workload *by)
{
	for (size_t i = 0; i < w->pending.preempted_by.n; i++) {
		struct quota_precedence *p = &w->pending.preempted_by.v[i];

		if (p->by == by->id && p->by_serial == by->serial) {
			return p;
		}
	}
	return NULL;
}

/* The record that `by` has precedence over w; drops the records of workloads that are gone. */
static struct quota_precedence *find_or_add(const struct quota_model *q, struct workload *w,
					    const struct workload *by)
{
	struct quota_precedence fresh = { .by = by->id, .by_serial = by->serial };
	struct quota_precedence *p = find(w, by);
	size_t kept = 0;

	if (p != NULL) {
		return p;
	}
	for (size_t i = 0; i < w->pending.preempted_by.n; i++) {
		p = &w->pending.preempted_by.v[i];
		if (exists(q, p->by, p->by_serial)) {
			w->pending.preempted_by.v[kept++] = *p;
		}
	}
	w->pending.preempted_by.n = kept;
	vec_push(&w->pending.preempted_by, fresh);
	return &w->pending.preempted_by.v[kept];
}

/* The record is valid from now on, until something changes from here. */
static void renew(const struct quota_model *q, const struct workload *w, uint32_t root,
		  struct quota_precedence *p)
{
	const struct workload *by = q->workloads.v[p->by];

	p->root = root;
	p->released = q->nodes.v[root]->released;
	p->forest_gen = q->forest_gen;
	p->generation = w->object.generation;
	p->priority = workload_priority(q, w);
	p->by_generation = by->object.generation;
	p->by_priority = workload_priority(q, by);
}

void precedence_record(struct forest *f, struct workload *by, struct workload *victim)
{
	const struct quota_model *q = forest_model(f);
	uint32_t root = forest_root(f, victim->holding.node);
	uint64_t released = q->nodes.v[root]->released;
	const struct quota_precedence *back = find(by, victim);
	struct quota_precedence *p = find_or_add(q, victim, by);

	if (!is_valid(q, victim, p)) {
		/* The victim had preempted `by` before, and something has changed since: they take
		 * turns, and each further turn needs twice as many releases. */
		if (back != NULL) {
			p->reversals = back->reversals < REVERSALS_MAX ? back->reversals + 1
								       : REVERSALS_MAX;
		}
		p->times = 0;
		renew(q, victim, root, p);
	}
	/* Nothing was released in between: `by` did not get, or did not keep, the quota that its
	 * victim gave up the last time. */
	p->times = p->last_released == released ? p->times + 1 : 1;
	p->last_released = released;
	p->cycle = q->cycle;
	/* From now on neither preempts the other. */
	if (p->times >= PRECEDENCE_TIMES_MAX) {
		renew(q, by, root, find_or_add(q, by, victim));
	}
}

static void drop(struct workload *w, const struct workload *by)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->pending.preempted_by.n; i++) {
		if (w->pending.preempted_by.v[i].by != by->id) {
			w->pending.preempted_by.v[kept++] = w->pending.preempted_by.v[i];
		}
	}
	w->pending.preempted_by.n = kept;
}

void precedence_revoke(const struct quota_model *q, struct workload *victim)
{
	struct quota_precedence *last = NULL;
	struct workload *by;

	for (size_t i = 0; i < victim->pending.preempted_by.n; i++) {
		struct quota_precedence *p = &victim->pending.preempted_by.v[i];

		if (exists(q, p->by, p->by_serial) && (last == NULL || p->cycle >= last->cycle)) {
			last = p;
		}
	}
	if (last == NULL) {
		return;
	}
	by = q->workloads.v[last->by];
	/* The steps of precedence_record in reverse: the mutual precedence goes with the preemption
	 * that brought it. */
	if (last->times >= PRECEDENCE_TIMES_MAX) {
		drop(by, victim);
	}
	if (last->times <= 1) {
		drop(victim, by);
	} else {
		last->times--;
	}
}

void precedence_released(struct forest *f, const struct workload *w)
{
	bool was_preempted = w->flags.evicted && w->flags.preempted_at != MODEL_TIME_NONE &&
			     w->flags.preempted_at == w->flags.evicted_at;

	/* A preemption is no change from outside: if it counted, two Workloads that preempt each
	 * other would renew their own permission. */
	if (!was_preempted) {
		forest_model(f)->nodes.v[forest_root(f, w->holding.node)]->released++;
	}
}

static void list_direct(const void *ctx, uint32_t id, struct predecessors *out)
{
	const struct quota_model *q = ctx;
	const struct workload *w = q->workloads.v[id];

	for (size_t i = 0; i < w->pending.preempted_by.n; i++) {
		const struct quota_precedence *p = &w->pending.preempted_by.v[i];

		if (is_valid(q, w, p)) {
			vec_push(out, p->by);
		}
	}
}

void precedence_collect(const struct forest *f, const struct workload *w, struct predecessors *out)
{
	const struct quota_model *q = forest_model(f);

	predecessors_collect(list_direct, q, w->id, q->workloads.n, out);
}
