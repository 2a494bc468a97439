#include "sim/oracles/sim_victims.h"

#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "lib/quota/quota_naive.h"
#include "scheduler/workloads/cycle/admission_cycle.h"
#include "scheduler/workloads/model/quota_store.h"

#define PAIRS 16
#define VICTIMS 64
#define NONE QUOTA_NAIVE_NONE

/* Quota and usage, by pair; all have the same nodes. */
struct trees {
	struct quota_naive v[PAIRS];
	size_t n;
};

struct sim_victims {
	struct sim_world *world;
	struct trees start; /* before the cycle */
	struct trees after; /* as the decisions so far leave it: victims gone, entries charged */
	uint64_t seen[SIM_VICTIMS_COUNT_];
};

/* A preemptor, and its victims in the order in which they were taken. */
struct claim {
	struct sim_victims *s;
	const struct quota_model *q;
	const struct admission_decisions *all;
	const struct workload *p;
	const struct admission_decision *entry; /* its own: it waits for its victims */
	const struct cluster_queue *queue;
	int node;
	const struct workload *victims[VICTIMS];
	enum victim_reason reasons[VICTIMS];
	size_t n;
};

static const char *const names[SIM_VICTIMS_COUNT_] = {
	[SIM_VICTIMS_JUDGED] = "victims judged",
	[SIM_VICTIMS_ONGOING] = "victims that were leaving already",
	[SIM_VICTIMS_SEVERAL] = "preemptors of several victims",
	[SIM_VICTIMS_ELSEWHERE] = "victims of other ClusterQueues",
	[SIM_VICTIMS_RANKED] = "victims compared with an equal that was spared",
	[SIM_VICTIMS_SHARES] = "victims by fair shares compared",
	[SIM_VICTIMS_NONE] = "preemptors without victims judged",
	[SIM_VICTIMS_ADMITTED] = "admissions judged at their turn",
};

const char *sim_victims_event_name(enum sim_victims_event e)
{
	return names[e];
}

uint64_t sim_victims_count(const struct sim_victims *s, enum sim_victims_event e)
{
	return s->seen[e];
}

struct sim_victims *sim_victims_create(struct sim_world *w)
{
	struct sim_victims *s = xmalloc_zero(1, sizeof(*s));

	s->world = w;
	return s;
}

void sim_victims_destroy(struct sim_victims *s)
{
	free(s);
}

/* --- arithmetic --------------------------------------------------------------------------------*/

static void read_trees(struct trees *t, const struct forest *f)
{
	t->n = forest_model(f)->pairs.n;
	for (size_t i = 0; i < t->n && i < PAIRS; i++) {
		quota_naive_read(&t->v[i], f, (uint32_t)i);
	}
}

static void charge(struct trees *t, uint32_t node, const struct quota_amounts *a, int sign)
{
	for (size_t i = 0; i < a->n; i++) {
		t->v[a->v[i].id].v[node].used += sign * a->v[i].value;
	}
}

static int parent(const struct trees *t, int node)
{
	return t->v[0].v[node].parent;
}

static bool is_below(const struct trees *t, int node, int above)
{
	while (node != NONE && node != above) {
		node = parent(t, node);
	}
	return node == above;
}

/* The lowest node above both; NONE: they are in different trees. */
static int common(const struct trees *t, int a, int b)
{
	while (a != NONE && !is_below(t, b, a)) {
		a = parent(t, a);
	}
	return a;
}

/* The node on the way from `from` up to `above`, right below it. */
static int branch(const struct trees *t, int from, int above)
{
	while (parent(t, from) != above) {
		from = parent(t, from);
	}
	return from;
}

static bool fits(const struct trees *t, int node, const struct quota_amounts *need, bool may_borrow)
{
	for (size_t i = 0; i < need->n; i++) {
		const struct quota_naive *pair = &t->v[need->v[i].id];
		int64_t value = need->v[i].value;

		if (value > 0 && (value > quota_naive_available(pair, node) ||
				  (!may_borrow && quota_naive_used(pair, node) + value >
							  quota_naive_subtree(pair, node)))) {
			return false;
		}
	}
	return true;
}

/* Some flavor of the request for this pair is only to be had by preemption. */
static bool is_contested(const struct claim *c, uint32_t pair)
{
	const struct assignment *a = c->entry->assignment;
	struct flavor_resource of = c->q->pairs.v[pair];

	for (size_t i = 0; i < a->npodsets; i++) {
		for (size_t k = 0; k < a->podsets[i].nflavors; k++) {
			const struct assigned_flavor *f = &a->podsets[i].flavors[k];

			if (f->flavor == of.flavor && f->resource == of.resource &&
			    f->mode != FLAVOR_FIT && f->mode != FLAVOR_NO_FIT) {
				return true;
			}
		}
	}
	return false;
}

/* Uses more than its quota of something that has to be preempted. */
static bool is_over(const struct claim *c, const struct trees *t, int node)
{
	for (uint32_t p = 0; p < t->n; p++) {
		if (is_contested(c, p) &&
		    quota_naive_used(&t->v[p], node) > quota_naive_subtree(&t->v[p], node)) {
			return true;
		}
	}
	return false;
}

static bool uses_contested(const struct claim *c, const struct workload *w)
{
	for (size_t i = 0; i < w->holding.usage.n; i++) {
		if (is_contested(c, w->holding.usage.v[i].id)) {
			return true;
		}
	}
	return false;
}

/* The request is within the quota of its queue, or of a cohort below `above`. */
static bool has_right(const struct claim *c, int above)
{
	const struct trees *t = &c->s->start;
	const struct quota_amounts *need = &c->entry->assignment->usage;
	int64_t rest[PAIRS] = { 0 };

	for (size_t i = 0; i < need->n; i++) {
		rest[need->v[i].id] = need->v[i].value;
	}
	for (int at = c->node; at != above; at = parent(t, at)) {
		bool within = true;

		for (size_t i = 0; i < need->n; i++) {
			const struct quota_naive *pair = &t->v[need->v[i].id];
			int64_t *left = &rest[need->v[i].id];
			int64_t used = quota_naive_used(pair, at);
			int64_t local = quota_naive_local(pair, at) - used;

			within &= used + *left <= quota_naive_subtree(pair, at);
			*left -= local > 0 ? local : 0;
			*left = *left > 0 ? *left : 0;
		}
		if (within) {
			return true;
		}
	}
	return false;
}

/* --- shares ------------------------------------------------------------------------------------*/

struct weighted {
	double share, weight; /* share: before it is divided by the weight */
};

/* It, or a node below it, has quota of the pair, be it 0. A status that was edited by hand may hold
 * a pair of which its tree has none: that is not borrowed (Kueue: dominantResourceShare). */
static bool has_pair(const struct claim *c, const struct trees *t, int node, uint32_t pair)
{
	for (size_t i = 0; i < c->q->nodes.n; i++) {
		const struct quota_node *n = c->q->nodes.v[i];

		for (size_t k = 0; n != NULL && k < n->cells.n && is_below(t, (int)i, node); k++) {
			if (n->cells.v[k].pair == pair) {
				return true;
			}
		}
	}
	return false;
}

/* 1000 * what a node borrows of a resource / what its parent could lend at most; the largest. */
static struct weighted share(const struct claim *c, const struct trees *t, int node)
{
	struct weighted most = { 0, c->q->nodes.v[node]->weight };

	for (uint32_t r = 0; parent(t, node) != NONE && r < PAIRS; r++) {
		int64_t borrowed = 0, lendable = 0;

		for (uint32_t p = 0; p < t->n; p++) {
			int64_t over = quota_naive_used(&t->v[p], node) -
				       quota_naive_subtree(&t->v[p], node);

			if (c->q->pairs.v[p].resource == r) {
				over = has_pair(c, t, node, p) ? over : 0;
				borrowed += over > 0 ? over : 0;
				lendable += quota_naive_potential(&t->v[p], parent(t, node));
			}
		}
		if (borrowed > 0 && lendable > 0 &&
		    1000.0 * (double)borrowed / (double)lendable > most.share) {
			most.share = 1000.0 * (double)borrowed / (double)lendable;
		}
	}
	return most;
}

/* Rounding counts as equal. */
static int compare(struct weighted a, struct weighted b)
{
	bool infinite = a.weight <= 0 && a.share > 0;
	double x = a.share, y = b.share;

	if (infinite != (b.weight <= 0 && b.share > 0)) {
		return infinite ? 1 : -1;
	}
	if (!infinite) {
		x = x > 0 ? x / a.weight : 0;
		y = y > 0 ? y / b.weight : 0;
	}
	return x < y - 1e-6 ? -1 : x > y + 1e-6;
}

/* As Kueue compares them: of equal shares with different weights, one may be less in its last
 * bit. */
static bool is_less(struct weighted a, struct weighted b)
{
	bool infinite = (a.weight <= 0 && a.share > 0) || (b.weight <= 0 && b.share > 0);

	return infinite ? compare(a, b) < 0
			: (a.share > 0 ? a.share / a.weight : 0) <
				  (b.share > 0 ? b.share / b.weight : 0);
}

/* --- one victim --------------------------------------------------------------------------------*/

/* The time that orders equal priorities. */
static int64_t since(const struct quota_model *q, const struct workload *w)
{
	bool by_timeout = w->flags.evicted_by_timeout && !q->options.timestamp_creation;

	return w->flags.evicted && (by_timeout || w->flags.evicted_by_check) ? w->flags.evicted_at
									     : w->object.created;
}

static bool allows(const struct claim *c, enum quota_policy policy, const struct workload *victim)
{
	int64_t mine = c->p->object.priority, theirs = victim->object.priority;

	switch (policy) {
	case QUOTA_NEVER:
		return false;
	case QUOTA_LOWER_PRIORITY:
		return theirs < mine;
	case QUOTA_LOWER_OR_NEWER_EQUAL:
		return theirs < mine || (theirs == mine && since(c->q, victim) > since(c->q, c->p));
	case QUOTA_ANY:
		return true;
	}
	return false;
}

static const char *wrong_candidate(const struct claim *c, const struct workload *victim,
				   enum victim_reason reason)
{
	bool own = (int)victim->holding.node == c->node;

	if (victim->holding.node == MODEL_NONE || victim == c->p) {
		return "the victim holds no quota";
	}
	if (common(&c->s->start, c->node, (int)victim->holding.node) == NONE) {
		return "the victim is in another cohort";
	}
	if (!uses_contested(c, victim)) {
		return "the victim uses nothing of what is needed";
	}
	if (own != (reason == VICTIM_IN_CLUSTER_QUEUE)) {
		return "the reason does not agree with the queue of the victim";
	}
	if (!allows(c, own ? c->queue->within_queue : c->queue->reclaim, victim)) {
		return own ? "withinClusterQueue does not allow it"
			   : "reclaimWithinCohort does not allow it";
	}
	return NULL;
}

/* borrowWithinCohort lets its queue borrow what the victim gives. */
static bool may_borrow_for(const struct claim *c, const struct workload *victim)
{
	int64_t priority = victim->object.priority;

	return c->queue->borrow_within != QUOTA_NEVER && priority < c->p->object.priority &&
	       (!c->queue->has_threshold || priority <= c->queue->threshold);
}

static const char *wrong_reclaim(const struct claim *c, const struct workload *victim,
				 enum victim_reason reason, bool borrows)
{
	bool right = has_right(c, common(&c->s->start, c->node, (int)victim->holding.node));

	if (reason == VICTIM_IN_COHORT_FAIR_SHARING) {
		return "fair sharing is off";
	}
	if (reason == VICTIM_IN_COHORT_RECLAMATION) {
		return right || !borrows ? NULL : "it borrows what it reclaims";
	}
	if (!may_borrow_for(c, victim)) {
		return "borrowWithinCohort does not allow it";
	}
	return right ? "it has a right to the quota, and does not borrow" : NULL;
}

/* t: with the request charged and earlier victims gone. */
static const char *wrong_share(const struct claim *c, struct trees *t,
			       const struct workload *victim, enum victim_reason reason)
{
	const struct quota_options *o = &c->q->options;
	int node = (int)victim->holding.node, above = common(t, c->node, node);
	int target = branch(t, node, above);
	struct weighted mine = share(c, t, branch(t, c->node, above)), before = share(c, t, target),
			left;

	if (reason == VICTIM_IN_COHORT_RECLAMATION) {
		return o->preempt_within_nominal && !is_over(c, t, c->node)
			       ? NULL
			       : "it borrows what it reclaims";
	}
	if (reason != VICTIM_IN_COHORT_FAIR_SHARING) {
		return "fair sharing is on";
	}
	charge(t, victim->holding.node, &victim->holding.usage, -1);
	left = share(c, t, target);
	charge(t, victim->holding.node, &victim->holding.usage, 1);
	return (o->lte_final && compare(mine, left) <= 0) ||
			       (o->lt_initial && is_less(mine, before))
		       ? NULL
		       : "the shares do not allow it";
}

/* --- all victims of a preemptor ----------------------------------------------------------------*/

static bool is_victim(const struct claim *c, size_t n, const struct workload *w)
{
	for (size_t i = 0; i < n; i++) {
		if (c->victims[i] == w) {
			return true;
		}
	}
	return false;
}

static bool is_preempted(const struct claim *c, const struct workload *w)
{
	for (size_t i = 0; i < c->all->n; i++) {
		if (c->all->v[i].kind == QUOTA_DECIDE_PREEMPT && c->all->v[i].workload == w->id) {
			return true;
		}
	}
	return false;
}

/* Without the victims, but for the one at `spared` (SIZE_MAX: none). */
static bool fits_without(const struct claim *c, size_t spared, bool may_borrow)
{
	struct trees t = c->s->start;

	for (size_t i = 0; i < c->n; i++) {
		if (i != spared) {
			charge(&t, c->victims[i]->holding.node, &c->victims[i]->holding.usage, -1);
		}
	}
	return fits(&t, c->node, &c->entry->assignment->usage, may_borrow);
}

static bool is_minimal(const struct claim *c, bool may_borrow)
{
	bool minimal = fits_without(c, SIZE_MAX, may_borrow);

	for (size_t i = 0; i < c->n && minimal; i++) {
		minimal = !fits_without(c, i, may_borrow);
	}
	return minimal;
}

/* A search begins with Workloads that are leaving, and may give some of them back: those of the
 * preemptor's side may have been gone when the shares were compared. */
static void remove_leaving(const struct claim *c, struct trees *t, size_t at)
{
	int node = (int)c->victims[at]->holding.node, above = common(t, c->node, node);
	int side = branch(t, c->node, above);

	for (size_t i = 0; i < c->q->workloads.n; i++) {
		const struct workload *w = c->q->workloads.v[i];

		if (w != NULL && w->holding.node != MODEL_NONE && w->flags.evicted &&
		    !is_victim(c, at, w) && is_below(t, (int)w->holding.node, side)) {
			charge(t, w->holding.node, &w->holding.usage, -1);
		}
	}
}

static const char *wrong_outside(struct claim *c, const struct trees *turn, size_t i, bool borrows)
{
	const struct workload *victim = c->victims[i];
	int node = (int)victim->holding.node, above = common(turn, c->node, node);
	struct trees t = *turn;

	c->s->seen[SIM_VICTIMS_ELSEWHERE]++;
	if (!c->q->options.fair_sharing) {
		for (int at = node; at != above; at = parent(turn, at)) {
			if (!is_over(c, turn, at)) {
				return "the queue of the victim, or a cohort of it, is within its "
				       "quota";
			}
		}
		return wrong_reclaim(c, victim, c->reasons[i], borrows);
	}
	if (!is_over(c, &c->s->start, node)) {
		return "the queue of the victim is within its quota";
	}
	if (victim->flags.evicted) {
		return NULL;
	}
	c->s->seen[SIM_VICTIMS_SHARES]++;
	remove_leaving(c, &t, i);
	charge(&t, (uint32_t)c->node, &c->entry->assignment->usage, 1);
	return wrong_share(c, &t, victim, c->reasons[i]);
}

static int by_number(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* Without a time, as between the release of its quota and the write that says so, it counts as
 * reserved now. */
static int64_t reserved_at(const struct workload *w)
{
	return w->flags.reserved_at == MODEL_TIME_NONE ? INT64_MAX : w->flags.reserved_at;
}

/* Which of two equal Workloads of a queue is preempted first: leaving already, lower priority,
 * lower cost, reserved later, UID. */
static int rank(const struct workload *a, const struct workload *b)
{
	int by_priority = by_number(a->object.priority, b->object.priority);
	int by_time = by_number(reserved_at(b), reserved_at(a));

	if (a->flags.evicted != b->flags.evicted) {
		return a->flags.evicted ? -1 : 1;
	}
	if (by_priority != 0) {
		return by_priority;
	}
	if (a->object.cost != b->object.cost) {
		return a->object.cost < b->object.cost ? -1 : 1;
	}
	return by_time != 0 ? by_time : strcmp(a->object.uid, b->object.uid);
}

static bool uses_the_same(const struct workload *a, const struct workload *b)
{
	bool same = a->holding.usage.n == b->holding.usage.n;

	for (size_t i = 0; i < a->holding.usage.n && same; i++) {
		same = a->holding.usage.v[i].id == b->holding.usage.v[i].id &&
		       a->holding.usage.v[i].value == b->holding.usage.v[i].value;
	}
	return same;
}

/* Another one of its queue would have been as good, and is to be preempted before it. Not asked
 * where precedence may have spared that one, nor of other queues in fair sharing, where what was
 * taken in between decides. */
static const char *wrong_rank(const struct claim *c, const struct workload *victim,
			      enum victim_reason reason)
{
	bool own = (int)victim->holding.node == c->node;
	enum quota_policy policy = own ? c->queue->within_queue : c->queue->reclaim;

	if (c->p->pending.preempted_by.n > 0 || (c->q->options.fair_sharing && !own)) {
		return NULL;
	}
	for (size_t i = 0; i < c->q->workloads.n; i++) {
		const struct workload *w = c->q->workloads.v[i];

		if (w == NULL || w == c->p || w->holding.node != victim->holding.node ||
		    is_preempted(c, w) || !uses_the_same(w, victim) || !allows(c, policy, w) ||
		    (reason == VICTIM_IN_COHORT_RECLAIM_WHILE_BORROWING && !may_borrow_for(c, w)) ||
		    (w->object.unwritable && !w->flags.evicted) || w->flags.finished) {
			continue;
		}
		c->s->seen[SIM_VICTIMS_RANKED]++;
		if (rank(w, victim) < 0) {
			return "an equal Workload is to be preempted before the victim";
		}
	}
	return NULL;
}

static const char *wrong_in_turn(struct claim *c)
{
	struct trees turn = c->s->start;
	bool borrows = !fits_without(c, SIZE_MAX, false);
	const char *wrong = NULL;

	for (size_t i = 0; i < c->n && wrong == NULL; i++) {
		const struct workload *victim = c->victims[i];

		if ((int)victim->holding.node != c->node) {
			wrong = wrong_outside(c, &turn, i, borrows);
		}
		wrong = wrong == NULL ? wrong_rank(c, victim, c->reasons[i]) : wrong;
		charge(&turn, victim->holding.node, &victim->holding.usage, -1);
	}
	return wrong;
}

/* A search that was repeated within the cycle, because others had claimed its victims, is not
 * judged by the state before the cycle. */
static const char *wrong_claim(struct claim *c)
{
	const char *wrong = NULL;

	for (size_t i = 0; i < c->n && wrong == NULL; i++) {
		c->s->seen[SIM_VICTIMS_JUDGED]++;
		c->s->seen[SIM_VICTIMS_ONGOING] += c->victims[i]->flags.evicted;
		wrong = is_victim(c, i, c->victims[i])
				? "one victim twice"
				: wrong_candidate(c, c->victims[i], c->reasons[i]);
	}
	c->s->seen[SIM_VICTIMS_SEVERAL] += c->n > 1;
	if (wrong != NULL || c->entry->recompute != QUOTA_RECOMPUTE_NONE) {
		return wrong;
	}
	if (!is_minimal(c, true) && !is_minimal(c, false)) {
		return fits_without(c, SIZE_MAX, true)
			       ? "it would fit with one victim less"
			       : "it does not fit when its victims are gone";
	}
	return wrong_in_turn(c);
}

/* Without victims: all that it may preempt in its own queue would not make room. */
static const char *wrong_none(struct claim *c)
{
	if (c->p->pending.preempted_by.n > 0 || c->entry->recompute != QUOTA_RECOMPUTE_NONE) {
		return NULL;
	}
	for (size_t i = 0; i < c->q->workloads.n && c->n < VICTIMS; i++) {
		const struct workload *w = c->q->workloads.v[i];

		if (w != NULL && w != c->p && (int)w->holding.node == c->node &&
		    (!w->object.unwritable || w->flags.evicted) && !w->flags.finished &&
		    uses_contested(c, w) && allows(c, c->queue->within_queue, w)) {
			c->victims[c->n++] = w;
		}
	}
	c->s->seen[SIM_VICTIMS_NONE]++;
	return c->n > 0 && fits_without(c, SIZE_MAX, true)
		       ? "it finds no victims, although its own queue has enough"
		       : NULL;
}

/* --- a cycle -----------------------------------------------------------------------------------*/

/* The decision that the Workload waits. */
static const struct admission_decision *entry_of(const struct admission_decisions *d, uint32_t w)
{
	for (size_t i = 0; i < d->n; i++) {
		if (d->v[i].kind == QUOTA_DECIDE_PENDING && d->v[i].workload == w) {
			return &d->v[i];
		}
	}
	return NULL;
}

static struct claim begin(struct sim_victims *s, const struct quota_model *q,
			  const struct admission_decisions *all, uint32_t w)
{
	struct claim c = {
		.s = s, .q = q, .all = all, .p = q->workloads.v[w], .entry = entry_of(all, w)
	};

	c.node = c.entry == NULL ? NONE : (int)c.entry->node;
	c.queue = c.entry == NULL ? NULL : q->nodes.v[c.node]->queue;
	return c;
}

static void report(const struct claim *c, const char *wrong)
{
	if (wrong == NULL) {
		return;
	}
	sim_world_trace(c->s->world, "preemptor %s in %s, priority %d", c->p->key,
			c->node == NONE ? "-" : c->q->nodes.v[c->node]->name,
			c->p->object.priority);
	for (size_t i = 0; i < c->n; i++) {
		const struct workload *v = c->victims[i];

		sim_world_trace(
			c->s->world, "  victim %s in %s, priority %d%s", v->key,
			v->holding.node == MODEL_NONE ? "-" : c->q->nodes.v[v->holding.node]->name,
			v->object.priority, v->flags.evicted ? ", leaving" : "");
	}
	sim_world_fail(c->s->world, "preemption for %s: %s", c->p->key, wrong);
}

/* Judges the victims from decision i on; returns how many there are. */
static size_t judge_preemptor(struct sim_victims *s, const struct quota_model *q,
			      const struct admission_decisions *d, size_t i)
{
	struct claim c = begin(s, q, d, d->v[i].by);

	while (i + c.n < d->n && c.n < VICTIMS && d->v[i + c.n].kind == QUOTA_DECIDE_PREEMPT &&
	       d->v[i + c.n].by == d->v[i].by) {
		c.victims[c.n] = q->workloads.v[d->v[i + c.n].workload];
		c.reasons[c.n] = d->v[i + c.n].victim_reason;
		c.n++;
	}
	if (c.entry == NULL || c.entry->assignment == NULL) {
		report(&c, "it preempts, and does not wait");
		return c.n;
	}
	report(&c, wrong_claim(&c));
	for (size_t k = 0; k < c.n && !sim_world_failed(s->world); k++) {
		charge(&s->after, c.victims[k]->holding.node, &c.victims[k]->holding.usage, -1);
	}
	if (!sim_world_failed(s->world)) {
		report(&c, fits(&s->after, c.node, &c.entry->assignment->usage, true)
				   ? NULL
				   : "it would not fit beside those that went before it");
	}
	charge(&s->after, (uint32_t)c.node, &c.entry->assignment->usage, 1);
	return c.n;
}

static void judge_admission(struct sim_victims *s, const struct quota_model *q,
			    const struct admission_decision *d)
{
	s->seen[SIM_VICTIMS_ADMITTED]++;
	if (!fits(&s->after, (int)d->node, &d->assignment->usage, true)) {
		sim_world_fail(s->world, "%s is admitted to %s without room",
			       q->workloads.v[d->workload]->key, q->nodes.v[d->node]->name);
	}
	charge(&s->after, d->node, &d->assignment->usage, 1);
}

static void judge_waiting(struct sim_victims *s, const struct quota_model *q,
			  const struct admission_decisions *d,
			  const struct admission_decision *entry)
{
	if (entry->requeue == QUOTA_REQUEUE_NO_CANDIDATES && entry->assignment != NULL) {
		struct claim c = begin(s, q, d, entry->workload);

		report(&c, wrong_none(&c));
	}
}

void sim_victims_decided(struct sim_victims *s, const struct forest *f,
			 const struct admission_decisions *d)
{
	const struct quota_model *q = forest_model(f);

	if (q->pairs.n > PAIRS || q->pairs.n == 0) {
		return;
	}
	read_trees(&s->start, f);
	s->after = s->start;
	for (size_t i = 0, n; i < d->n && !sim_world_failed(s->world); i += n) {
		n = 1;
		switch (d->v[i].kind) {
		case QUOTA_DECIDE_ADMIT:
			judge_admission(s, q, &d->v[i]);
			break;
		case QUOTA_DECIDE_PREEMPT:
			n = judge_preemptor(s, q, d, i);
			break;
		case QUOTA_DECIDE_PENDING:
			judge_waiting(s, q, d, &d->v[i]);
			break;
		}
	}
}
