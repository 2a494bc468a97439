#include "scheduler/workloads/cycle/process_entry.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "scheduler/workloads/cycle/nomination.h"
#include "scheduler/workloads/forest/amount.h"
#include "scheduler/workloads/model/quota_store.h"

/* Kueue: waitForPodsReady.blockAdmission. */
static bool waits_for_pods(const struct quota_model *q)
{
	for (size_t i = 0; q->options.block_admission && i < q->workloads.n; i++) {
		const struct workload *w = q->workloads.v[i];

		if (w != NULL && w->holding.node != MODEL_NONE && !w->flags.pods_ready) {
			return true;
		}
	}
	return false;
}

void process_entry_begin(struct process *p, struct forest *f, struct arena *arena,
			 struct arena *scratch, int64_t now, struct admission_decisions *decisions)
{
	p->forest = f;
	p->arena = arena;
	p->scratch = scratch;
	p->now = now;
	p->decisions = decisions;
	p->blocked = waits_for_pods(forest_model(f));
	for (size_t i = 0; i < p->claimed.n; i++) {
		p->claimed_mark.v[p->claimed.v[i]] = 0;
	}
	vec_clear(&p->claimed);
	nominal_reserve_begin(&p->nominal);
	while (p->claimed_mark.n < forest_model(f)->workloads.n) {
		vec_push(&p->claimed_mark, (uint8_t)0);
	}
}

void process_entry_end(struct process *p)
{
	forest_destroy(p->after);
	p->after = NULL;
	nominal_reserve_end(&p->nominal);
}

void process_entry_finish(struct process *p)
{
	vec_finish(&p->claimed);
	vec_finish(&p->claimed_mark);
	nominal_reserve_finish(&p->nominal);
}

static const struct workload *workload(const struct process *p, uint32_t id)
{
	return forest_model(p->forest)->workloads.v[id];
}

static void set(struct entry *e, enum quota_requeue requeue, enum nofit_reason reason,
		const char *message)
{
	e->requeue = requeue;
	e->reason = reason;
	e->message = message;
}

void process_entry_skip(struct entry *e, const char *message)
{
	e->status = ENTRY_SKIPPED;
	set(e, QUOTA_REQUEUE_FAILED_AFTER_NOMINATION, QUOTA_WAITING_FOR_QUOTA, message);
}

static bool overlaps(const struct process *p, const struct victims *v)
{
	for (size_t i = 0; i < v->n; i++) {
		if (p->claimed_mark.v[v->v[i].workload] != 0) {
			return true;
		}
	}
	return false;
}

/* The forest as it will be when all victims of the cycle are gone. */
static struct forest *forest_after(const struct process *p)
{
	return p->after == NULL ? p->forest : p->after;
}

/* Entries after this one see its usage, whether it was admitted, waits for its victims or only
 * reserves: what it needs is not given away again in this cycle. */
static void charge(struct process *p, uint32_t node, const struct quota_amounts *usage)
{
	forest_add(p->forest, node, usage);
	if (p->after != NULL) {
		forest_add(p->after, node, usage);
	}
	nominal_reserve_add(&p->nominal, node, usage);
}

/* A victim is preempted once in a cycle. It keeps its quota in p->forest until it has stopped, so
 * no entry can take that now; p->after is for the question what fits then. */
static void claim(struct process *p, const struct workload *victim)
{
	if (p->after == NULL) {
		p->after = forest_fork(p->forest);
	}
	forest_remove(p->after, victim->holding.node, &victim->holding.usage);
	nominal_reserve_remove(&p->nominal, victim->holding.node, &victim->holding.usage);
	p->claimed_mark.v[victim->id] = 1;
	vec_push(&p->claimed, victim->id);
}

/* Whether the entry fits when all victims of the cycle and its own are gone. */
static bool fits(const struct process *p, const struct entry *e)
{
	struct forest *f = forest_after(p);
	size_t mark = forest_mark(f);
	bool r;

	for (size_t i = 0; i < e->victims.n; i++) {
		const struct workload *victim = workload(p, e->victims.v[i].workload);

		if (p->claimed_mark.v[victim->id] == 0) {
			forest_remove(f, victim->holding.node, &victim->holding.usage);
		}
	}
	r = forest_fits(f, e->node, &e->assignment.usage);
	forest_undo(f, mark);
	return r;
}

/* Whether it leaves the reserves of the lending queues alone. Not asked of a preemptor: its victims
 * were preempted for this quota. */
static bool may_borrow(struct process *p, const struct entry *e)
{
	const struct quota_model *q = forest_model(p->forest);
	struct nominate_context c = {
		.forest = forest_after(p), .arena = p->arena, .scratch = p->scratch, .now = p->now
	};

	return !q->options.nominal_first || e->assignment.level == 0 || e->is_preemptor ||
	       nominal_reserve_fits(&p->nominal, &c, e->node, &e->assignment.usage);
}

/* Some of its victims are claimed by another entry: without them it may fit, or need others. */
static enum quota_recompute recompute(struct process *p, struct entry *e)
{
	struct nominate_context c = { .forest = forest_after(p),
				      .arena = p->arena,
				      .scratch = p->scratch,
				      .now = p->now,
				      .gone = p->claimed.v,
				      .ngone = p->claimed.n };

	nomination_recompute(&c, e);
	/* It fits only after the victims of others have stopped: it waits for them, and needs none
	 * of its own. */
	if (e->assignment.mode == ASSIGN_FIT) {
		e->assignment.mode = ASSIGN_DEFERRED_FIT;
		return QUOTA_RECOMPUTE_DEFERRED_FIT;
	}
	return e->victims.n > 0 ? QUOTA_RECOMPUTE_NEW_TARGETS : QUOTA_RECOMPUTE_SKIPPED;
}

static int64_t clamp(int64_t value, int64_t most)
{
	int64_t least = value < most ? value : most;

	return least > 0 ? least : 0;
}

/* A head that preemption cannot help reserves its quota for the rest of the cycle: otherwise an
 * entry after it would take the quota, and it might never get it back. With reclaimWithinCohort Any
 * it could always take it back, so nothing is reserved. Kueue: resourcesToReserve. */
static void reserve(struct process *p, const struct entry *e)
{
	const struct quota_model *q = forest_model(p->forest);
	const struct quota_node *n = q->nodes.v[e->node];
	struct quota_amounts kept = { NULL, 0, 0 };

	if (n->queue->reclaim == QUOTA_ANY &&
	    !(q->options.prioritize_preemptors && e->is_preemptor)) {
		return;
	}
	for (size_t i = 0; i < e->assignment.usage.n; i++) {
		struct quota_amount want = e->assignment.usage.v[i];
		int64_t limit = forest_nominal(p->forest, e->node, want.id);
		int64_t borrowing =
			e->assignment.level > 0 ? forest_borrowing(p->forest, e->node, want.id) : 0;

		/* At most what the queue may hold at all: a request beyond that would take quota
		 * from others for nothing. */
		limit = borrowing == QUOTA_NO_LIMIT ? QUOTA_UNLIMITED
						    : amount_add(limit, borrowing);
		if (borrowing != QUOTA_NO_LIMIT) {
			limit = amount_sub(limit, forest_usage(p->forest, e->node, want.id));
		}
		quota_amounts_add(&kept, want.id, clamp(want.value, limit));
	}
	charge(p, e->node, &kept);
	quota_amounts_finish(&kept);
}

static struct admission_decision *add(struct process *p, enum admission_decision_kind kind,
				      uint32_t w)
{
	struct admission_decision d = {
		.kind = kind, .workload = w, .by = MODEL_NONE, .node = MODEL_NONE
	};

	vec_push(p->decisions, d);
	return &p->decisions->v[p->decisions->n - 1];
}

static void issue(struct process *p, struct entry *e)
{
	for (size_t i = 0; i < e->victims.n; i++) {
		const struct victim *v = &e->victims.v[i];
		const struct workload *victim = workload(p, v->workload);
		struct admission_decision *d = add(p, QUOTA_DECIDE_PREEMPT, v->workload);

		d->by = e->w->id;
		d->node = victim->holding.node;
		d->victim_reason = v->reason;
		d->ongoing = victim->flags.evicted;
		d->message = victim_message(p->forest, e->w, e->node, v, p->arena);
		claim(p, victim);
	}
}

static const char *describe(struct process *p, const struct entry *e, const char *what)
{
	const char *why = e->assignment.message;
	const char *const parts[] = { why, "; ", what };

	return why == NULL || why[0] == '\0' ? what : arena_join(p->arena, parts, ARRAY_LEN(parts));
}

/* The entries that end here, as they neither admit nor preempt. True: this is one. `keep_tried` is
 * cleared where the next try must begin at the first flavor, because what changes meanwhile may
 * make an earlier flavor fit. */
static bool ends_without_decision(struct process *p, struct entry *e)
{
	const struct quota_model *q = forest_model(p->forest);

	if (e->assignment.mode == ASSIGN_NO_FIT) {
		set(e, QUOTA_REQUEUE_NO_FIT, e->assignment.reason, e->assignment.message);
		return true;
	}
	if (e->assignment.mode == ASSIGN_PREEMPT && e->victims.n == 0) {
		set(e, QUOTA_REQUEUE_NO_CANDIDATES, QUOTA_WAITING_FOR_QUOTA,
		    describe(p, e, "preemption cannot make room for it"));
		reserve(p, e);
		return true;
	}
	if (e->assignment.mode == ASSIGN_PREEMPT && q->options.preemption_gates &&
	    e->w->flags.preemption_gated) {
		e->status = ENTRY_GATED;
		e->keep_tried = false;
		set(e, QUOTA_REQUEUE_GATED, QUOTA_ADMISSION_GATED,
		    describe(p, e, "it would have to preempt, but a preemption gate is closed"));
		return true;
	}
	if (e->assignment.mode == ASSIGN_DEFERRED_FIT) {
		charge(p, e->node, &e->assignment.usage);
		e->keep_tried = false;
		set(e, QUOTA_REQUEUE_PENDING_PREEMPTION, QUOTA_WAITING_FOR_PREEMPTED,
		    "it fits when the workloads that other entries of this cycle preempt have "
		    "stopped");
		return true;
	}
	return false;
}

static void preempt(struct process *p, struct entry *e)
{
	/* A cycle may have thousands of such entries, most with one victim: no printf for those. */
	const char *what =
		e->victims.n == 1
			? "waits for 1 workload to stop"
			: arena_printf(p->arena, "waits for %zu workloads to stop", e->victims.n);

	issue(p, e);
	e->status = ENTRY_EVICTED;
	e->keep_tried = false;
	/* With the feature on, a gated entry has ended before. */
	if (e->w->flags.preemption_gated) {
		what = arena_printf(p->arena,
				    "%s; its preemption gates have no effect, because the feature "
				    "gate MultiKueueOrchestratedPreemption is off",
				    what);
	}
	set(e, QUOTA_REQUEUE_PENDING_PREEMPTION, QUOTA_WAITING_FOR_PREEMPTED, describe(p, e, what));
}

static void admit(struct process *p, struct entry *e)
{
	struct admission_decision *d = add(p, QUOTA_DECIDE_ADMIT, e->w->id);

	e->status = ENTRY_ASSUMED;
	d->node = e->node;
	d->recompute = e->recompute;
	d->assignment = &e->assignment;
	d->message = e->assignment.message;
	/* One at a time: its own pods are not ready yet. */
	p->blocked = forest_model(p->forest)->options.block_admission;
	if (e->assignment.level == 0) {
		nominal_reserve_admitted(&p->nominal, e->node);
	}
}

/* 1. When entries before this one preempt some of its victims, its assignment is computed again.
 * 2. It may end without a decision: nothing fits, preemption is of no use or not allowed yet, or
 *    it fits as soon as the victims of others are gone.
 * 3. Otherwise it must still fit beside what the entries before it took, and is not admitted while
 *    blockAdmission waits for pods.
 * 4. It preempts, or is admitted. */
void process_entry_decide(struct process *p, struct entry *e)
{
	const struct quota_model *q = forest_model(p->forest);

	if (q->options.recompute_on_overlap && overlaps(p, &e->victims)) {
		e->recompute = recompute(p, e);
	}
	if (ends_without_decision(p, e)) {
		return;
	}
	if (overlaps(p, &e->victims)) {
		process_entry_skip(
			e, describe(p, e, "its victims are being preempted for another workload"));
		return;
	}
	if (!fits(p, e)) {
		process_entry_skip(e, "another workload of this cycle took the quota");
		return;
	}
	if (p->blocked) {
		e->keep_tried = false;
		set(e, QUOTA_REQUEUE_FAILED_AFTER_NOMINATION, QUOTA_WAITING_FOR_PODS_READY,
		    "waits until the pods of all workloads that were admitted are ready");
		return;
	}
	if (e->assignment.mode == ASSIGN_PREEMPT) {
		preempt(p, e);
	} else if (!may_borrow(p, e)) {
		process_entry_skip(e,
				   "it would borrow quota that the next workloads of the lending "
				   "ClusterQueue are about to use");
		return;
	} else {
		admit(p, e);
	}
	charge(p, e->node, &e->assignment.usage);
}
