/* The fair sharing search (Kueue: fair preemption):
 *   1. Candidates: own queue by withinClusterQueue; all queues of the tree that borrow what is
 *      needed, by reclaimWithinCohort. The request is charged to its queue for the whole search.
 *   2. First pass. fair_tournament.h picks a queue, and one of its candidates is taken: of the own
 *      queue the first; of another one the first, without a comparison of shares, when the own
 *      queue with the request is within its nominal quota; else the first that passes the first
 *      strategy. Those that fail are kept for the second pass.
 *   3. Second pass, with two strategies: the kept ones by the second, at most one per queue.
 *   4. When the request fits, the victims that are not needed are given back.
 *   5. Giving back may take away what made a victim legal: a victim of the own queue (or of a close
 *      relative) had lowered the share of the preemptor. Kueue preempts it all the same, and the
 *      two may then preempt each other forever (kubernetes-sigs/kueue#14543). Here the victims
 *      that are left are checked again in their order. Those that are evicted already are taken
 *      without a check, given back or not. A victim that is not legal is banned, and the search
 *      begins again, ROUNDS_MAX times. */
#include "scheduler/workloads/preempt/victims.h"

#include "base/arena.h"
#include "scheduler/workloads/preempt/fair_tournament.h"
#include "scheduler/workloads/preempt/victim_set.h"

#define ROUNDS_MAX 8

/* LessThanOrEqualToFinalShare, LessThanInitialShare */
enum strategy { FINAL_SHARE, INITIAL_SHARE };

struct fair {
	const struct victims_request *r;
	const struct quota_model *q;
	struct arena *arena;
	struct fair_tournament tournament;
	struct candidates asked; /* all that were taken in this round, before the giving back */
	bool *took_second;       /* by queue: a victim of it is legal by the second strategy only */
	enum strategy first;
	bool has_second;
	bool gave_back;      /* some victim of this round, so the others must be checked again */
	bool within_nominal; /* the preemptor's queue with the request, before any removal */
	struct victim_set victims;
};

/* --- one candidate --- */

static bool is_never_below(const struct fair_tournament_shares *s)
{
	return share_is_infinite(s->preemptor) && !share_is_infinite(s->old);
}

/* Whether the strategy allows what was just taken from the target. */
static bool passes(struct fair *f, enum strategy strategy, const struct fair_tournament_shares *s)
{
	if (strategy == INITIAL_SHARE) {
		return share_cmp(s->preemptor, s->old) < 0;
	}
	return share_cmp(s->preemptor, fair_tournament_share(&f->tournament, s->target)) <= 0;
}

static void take(struct fair *f, uint32_t queue, struct candidate *c, enum victim_reason reason)
{
	c->reason = (uint8_t)reason;
	victim_set_add(&f->victims, c);
	fair_tournament_changed(&f->tournament, queue);
}

/* The request is charged to its queue for the whole search (step 1), so it is removed for the check
 * whether it fits. */
static bool fits(struct fair *f)
{
	struct forest *forest = f->r->forest;
	size_t mark = forest_mark(forest);
	bool yes;

	if (!victim_set_may_fit(&f->victims)) {
		return false;
	}
	forest_remove(forest, f->r->node, f->r->need);
	yes = victim_set_fits(&f->victims, true);
	forest_undo(forest, mark);
	return yes;
}

/* --- the two passes --- */

/* Takes the first candidate of this queue that the first strategy allows. False: none. */
static bool take_by_strategy(struct fair *f, uint32_t queue)
{
	struct fair_tournament_shares shares = fair_tournament_compare(&f->tournament, queue);
	struct candidate *c;

	while ((c = fair_tournament_pop(&f->tournament, queue)) != NULL) {
		size_t mark = forest_mark(f->r->forest);

		if (!is_never_below(&shares)) {
			take(f, queue, c, VICTIM_IN_COHORT_FAIR_SHARING);
			if (passes(f, f->first, &shares)) {
				return true;
			}
			victim_set_undo(&f->victims, mark);
			fair_tournament_changed(&f->tournament, queue);
		}
		fair_tournament_keep(&f->tournament, queue, c);
	}
	return false;
}

static bool first_pass(struct fair *f)
{
	uint32_t queue;

	fair_tournament_begin(&f->tournament, false);
	for (; (queue = fair_tournament_next(&f->tournament)) != FAIR_TOURNAMENT_NONE;
	     fair_tournament_settle(&f->tournament, queue)) {
		if (queue == f->tournament.own) {
			take(f, queue, fair_tournament_pop(&f->tournament, queue),
			     VICTIM_IN_CLUSTER_QUEUE);
		} else if (f->within_nominal) {
			take(f, queue, fair_tournament_pop(&f->tournament, queue),
			     VICTIM_IN_COHORT_RECLAMATION);
		} else if (!take_by_strategy(f, queue)) {
			continue;
		}
		if (fits(f)) {
			return true;
		}
	}
	return false;
}

static bool second_pass(struct fair *f)
{
	uint32_t queue;

	fair_tournament_begin(&f->tournament, true);
	for (; (queue = fair_tournament_next(&f->tournament)) != FAIR_TOURNAMENT_NONE;
	     fair_tournament_settle(&f->tournament, queue)) {
		struct fair_tournament_shares shares =
			fair_tournament_compare(&f->tournament, queue);

		if (passes(f, INITIAL_SHARE, &shares)) {
			take(f, queue, fair_tournament_pop(&f->tournament, queue),
			     VICTIM_IN_COHORT_FAIR_SHARING);
			if (fits(f)) {
				return true;
			}
		}
		fair_tournament_skip(&f->tournament, queue);
	}
	return false;
}

/* --- rounds --- */

static void begin_round(struct fair *f)
{
	fair_tournament_reset(&f->tournament);
	f->asked.n = 0;
	victim_set_begin(&f->victims, f->r, f->arena);
	forest_add(f->r->forest, f->r->node, f->r->need);
	f->within_nominal =
		f->q->options.preempt_within_nominal &&
		forest_within_nominal(f->r->forest, f->r->node, f->r->pairs, f->r->npairs);
}

/* Takes c once more if a rule allows it now, and sets that rule as the reason. */
static bool take_if_legal(struct fair *f, struct candidate *c)
{
	uint32_t queue = fair_tournament_queue_of(&f->tournament, c);
	size_t mark = forest_mark(f->r->forest);
	struct fair_tournament_shares shares;

	if (queue == f->tournament.own) {
		take(f, queue, c, VICTIM_IN_CLUSTER_QUEUE);
		return true;
	}
	if (f->within_nominal) {
		take(f, queue, c, VICTIM_IN_COHORT_RECLAMATION);
		return true;
	}
	shares = fair_tournament_compare(&f->tournament, queue);
	take(f, queue, c, VICTIM_IN_COHORT_FAIR_SHARING);
	if (!is_never_below(&shares)) {
		if (passes(f, f->first, &shares)) {
			return true;
		}
		if (f->has_second && !f->took_second[queue] && passes(f, INITIAL_SHARE, &shares)) {
			f->took_second[queue] = true;
			return true;
		}
	}
	victim_set_undo(&f->victims, mark);
	fair_tournament_changed(&f->tournament, queue);
	return false;
}

/* Step 5. f->victims has the victims of this round, in the order in which they were taken. */
static bool are_legal(struct fair *f)
{
	struct victim_set found = f->victims;
	bool all = true;

	fair_tournament_reset(&f->tournament);
	f->took_second = arena_zero(f->arena, f->tournament.nodes.n, sizeof(*f->took_second));
	victim_set_begin(&f->victims, f->r, f->arena);
	forest_add(f->r->forest, f->r->node, f->r->need);
	for (size_t i = 0, at = 0; i < f->asked.n; i++) {
		struct candidate *c = f->asked.v[i];
		bool stays = at < found.taken.n && found.taken.v[at] == c;

		at += stays;
		if (c->evicted) {
			take(f, fair_tournament_queue_of(&f->tournament, c), c,
			     (enum victim_reason)c->reason);
		} else if (stays && !take_if_legal(f, c)) {
			c->banned = true;
			all = false;
		}
	}
	victim_set_end(&f->victims);
	f->victims.taken = found.taken;
	return all;
}

/* True: with its victims the request fits, but some may be illegal. Usage is as before. */
static bool run_round(struct fair *f)
{
	bool found;

	begin_round(f);
	found = first_pass(f) || (f->has_second && second_pass(f));
	if (found) {
		candidates_append(&f->asked, &f->victims.taken, f->arena);
		forest_remove(f->r->forest, f->r->node, f->r->need);
		f->gave_back = victim_set_fill_back(&f->victims, true);
	}
	victim_set_end(&f->victims);
	return found;
}

/* Whether the strategies allow c as the first victim; if not, with the three shares. */
static void record_share(struct fair *f, struct candidate *c)
{
	uint32_t queue = fair_tournament_queue_of(&f->tournament, c);
	struct fair_tournament_shares shares = fair_tournament_compare(&f->tournament, queue);
	size_t mark = forest_mark(f->r->forest);

	take(f, queue, c, VICTIM_IN_COHORT_FAIR_SHARING);
	if (is_never_below(&shares) || (!passes(f, f->first, &shares) &&
					!(f->has_second && passes(f, INITIAL_SHARE, &shares)))) {
		f->r->passed_over[c->id] = (struct passed_over){
			.uses_short_pair = true,
			.rule = PASSED_OVER_SHARE,
			.node = fair_tournament_forest_node(&f->tournament, shares.target),
			.preemptor = shares.preemptor,
			.target = shares.old,
			.after = fair_tournament_share(&f->tournament, shares.target)
		};
	}
	victim_set_undo(&f->victims, mark);
	fair_tournament_changed(&f->tournament, queue);
}

/* Each candidate of another queue is asked as if it were the first: later in a search the answer
 * depends on what was taken before. */
static void record_all(struct fair *f)
{
	begin_round(f);
	for (size_t i = 0; i < f->tournament.all.n; i++) {
		struct candidate *c = f->tournament.all.v[i];
		uint32_t within = fair_tournament_find_within_quota(
			&f->tournament, fair_tournament_queue_of(&f->tournament, c));

		if (within != MODEL_NONE) {
			f->r->passed_over[c->id].rule = PASSED_OVER_NOMINAL;
			f->r->passed_over[c->id].node = within;
		} else if (c->outside && !f->within_nominal) {
			record_share(f, c);
		}
	}
	victim_set_end(&f->victims);
}

static void search(struct fair *f, struct victims *ret)
{
	fair_tournament_rank(&f->tournament);
	for (int round = 0; round < ROUNDS_MAX && run_round(f); round++) {
		if (!f->gave_back || are_legal(f)) {
			victim_set_result(&f->victims, ret);
			return;
		}
	}
}

void victims_fair(const struct victims_request *r, struct arena *arena, struct victims *ret)
{
	const struct quota_model *q = forest_model(r->forest);
	struct fair f = { .r = r,
			  .q = q,
			  .arena = arena,
			  .first = q->options.lte_final ? FINAL_SHARE : INITIAL_SHARE,
			  .has_second = q->options.lte_final && q->options.lt_initial };

	*ret = (struct victims){ 0 };
	fair_tournament_init(&f.tournament, r, arena);
	if (r->passed_over != NULL) {
		record_all(&f);
	}
	if (victim_set_could_fit(r, &f.tournament.all)) {
		search(&f, ret);
	}
	fair_tournament_finish(&f.tournament);
}
