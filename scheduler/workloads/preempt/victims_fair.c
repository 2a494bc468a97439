/* The fair sharing search (Kueue: fair preemption):
 *   1. Candidates: own queue by withinClusterQueue; all queues of the tree that borrow what is
 *      needed, by reclaimWithinCohort. The request is charged to its queue for the whole search.
 *   2. First pass. Of the queue whose turn it is (turns.h) one candidate goes: of the own queue the
 *      first; of another one the first, unasked, when the own queue is within its nominal quota
 *      with the request and all that it has; else the first that passes the first strategy. What
 *      fails is kept for later.
 *   3. Second pass, with two strategies: the kept ones by the second, at most one per queue.
 *   4. When the request fits, whoever is not needed is given back.
 *   5. Giving back may take away what made a victim legal: a victim of the own queue (or of a close
 *      relative) had lowered the share of the preemptor. Kueue preempts it all the same, and the
 *      two may then preempt each other for ever (kubernetes-sigs/kueue#14543). Here those who are
 *      left are asked again in their order. Who is on its way out already is taken unasked, given
 *      back or not. Who is not legal is banned, and the search begins anew, ROUNDS_MAX times. */
#include "scheduler/workloads/preempt/victims.h"

#include "base/arena.h"
#include "scheduler/workloads/preempt/fair_tournament.h"
#include "scheduler/workloads/preempt/trial.h"

#define ROUNDS_MAX 8

/* LessThanOrEqualToFinalShare, LessThanInitialShare */
enum strategy { FINAL_SHARE, INITIAL_SHARE };

struct fair {
	const struct victims_request *r;
	const struct quota *q;
	struct arena *arena;
	struct fair_tournament turns;
	struct candidates asked; /* again: those taken, before some are given back */
	bool *took_second;       /* by queue: the second strategy alone was for a victim of it */
	enum strategy first;
	bool has_second;
	bool gave_back;      /* in this round; else all are as legal as when they were taken */
	bool within_nominal; /* the preemptor's queue with the request, before anybody is taken */
	struct trial trial;
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
	return share_cmp(s->preemptor, fair_tournament_share(&f->turns, s->target)) <= 0;
}

static void take(struct fair *f, uint32_t queue, struct candidate *c, enum victim_reason reason)
{
	c->reason = (uint8_t)reason;
	trial_take(&f->trial, c);
	fair_tournament_changed(&f->turns, queue);
}

/* The request is charged to its queue while victims are looked for; not when it is to fit. */
static bool fits(struct fair *f)
{
	struct forest *forest = f->r->forest;
	size_t mark = forest_mark(forest);
	bool yes;

	if (!trial_may_fit(&f->trial)) {
		return false;
	}
	forest_remove(forest, f->r->node, f->r->need);
	yes = trial_fits(&f->trial, true);
	forest_undo(forest, mark);
	return yes;
}

/* --- the two passes --- */

/* Takes the first candidate of this queue that the first strategy allows. False: none. */
static bool take_by_strategy(struct fair *f, uint32_t queue)
{
	struct fair_tournament_shares shares = fair_tournament_compare(&f->turns, queue);
	struct candidate *c;

	while ((c = fair_tournament_pop(&f->turns, queue)) != NULL) {
		size_t mark = forest_mark(f->r->forest);

		if (!is_never_below(&shares)) {
			take(f, queue, c, VICTIM_IN_COHORT_FAIR_SHARING);
			if (passes(f, f->first, &shares)) {
				return true;
			}
			trial_take_back(&f->trial, mark);
			fair_tournament_changed(&f->turns, queue);
		}
		fair_tournament_keep(&f->turns, queue, c);
	}
	return false;
}

static bool first_pass(struct fair *f)
{
	uint32_t queue;

	fair_tournament_begin(&f->turns, false);
	for (; (queue = fair_tournament_next(&f->turns)) != FAIR_TOURNAMENT_NONE;
	     fair_tournament_settle(&f->turns, queue)) {
		if (queue == f->turns.own) {
			take(f, queue, fair_tournament_pop(&f->turns, queue),
			     VICTIM_IN_CLUSTER_QUEUE);
		} else if (f->within_nominal) {
			take(f, queue, fair_tournament_pop(&f->turns, queue),
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

	fair_tournament_begin(&f->turns, true);
	for (; (queue = fair_tournament_next(&f->turns)) != FAIR_TOURNAMENT_NONE;
	     fair_tournament_settle(&f->turns, queue)) {
		struct fair_tournament_shares shares = fair_tournament_compare(&f->turns, queue);

		if (passes(f, INITIAL_SHARE, &shares)) {
			take(f, queue, fair_tournament_pop(&f->turns, queue),
			     VICTIM_IN_COHORT_FAIR_SHARING);
			if (fits(f)) {
				return true;
			}
		}
		fair_tournament_skip(&f->turns, queue);
	}
	return false;
}

/* --- rounds --- */

static void begin_round(struct fair *f)
{
	fair_tournament_reset(&f->turns);
	f->asked.n = 0;
	trial_begin(&f->trial, f->r, f->arena);
	forest_add(f->r->forest, f->r->node, f->r->need);
	f->within_nominal =
		f->q->options.preempt_within_nominal &&
		forest_within_nominal(f->r->forest, f->r->node, f->r->pairs, f->r->npairs);
}

/* Takes c once more if a rule allows it now; the reason is that rule. */
static bool take_if_legal(struct fair *f, struct candidate *c)
{
	uint32_t queue = fair_tournament_queue_of(&f->turns, c);
	size_t mark = forest_mark(f->r->forest);
	struct fair_tournament_shares shares;

	if (queue == f->turns.own) {
		take(f, queue, c, VICTIM_IN_CLUSTER_QUEUE);
		return true;
	}
	if (f->within_nominal) {
		take(f, queue, c, VICTIM_IN_COHORT_RECLAMATION);
		return true;
	}
	shares = fair_tournament_compare(&f->turns, queue);
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
	trial_take_back(&f->trial, mark);
	fair_tournament_changed(&f->turns, queue);
	return false;
}

/* Step 5. The trial holds the victims of this round, in the order in which they were taken. */
static bool are_legal(struct fair *f)
{
	struct trial found = f->trial;
	bool all = true;

	fair_tournament_reset(&f->turns);
	f->took_second = arena_zero(f->arena, f->turns.spots.n, sizeof(*f->took_second));
	trial_begin(&f->trial, f->r, f->arena);
	forest_add(f->r->forest, f->r->node, f->r->need);
	for (size_t i = 0, at = 0; i < f->asked.n; i++) {
		struct candidate *c = f->asked.v[i];
		bool stays = at < found.taken.n && found.taken.v[at] == c;

		at += stays;
		if (c->evicted) {
			take(f, fair_tournament_queue_of(&f->turns, c), c,
			     (enum victim_reason)c->reason);
		} else if (stays && !take_if_legal(f, c)) {
			c->banned = true;
			all = false;
		}
	}
	trial_end(&f->trial);
	f->trial.taken = found.taken;
	return all;
}

/* True: victims that would do, which may still be illegal. Usage is as before. */
static bool run_round(struct fair *f)
{
	bool found;

	begin_round(f);
	found = first_pass(f) || (f->has_second && second_pass(f));
	if (found) {
		candidates_append(&f->asked, &f->trial.taken, f->arena);
		forest_remove(f->r->forest, f->r->node, f->r->need);
		f->gave_back = trial_fill_back(&f->trial, true);
	}
	trial_end(&f->trial);
	return found;
}

/* Whether the strategies allow c as the first victim; if not, with the three shares. */
static void record_share(struct fair *f, struct candidate *c)
{
	uint32_t queue = fair_tournament_queue_of(&f->turns, c);
	struct fair_tournament_shares shares = fair_tournament_compare(&f->turns, queue);
	size_t mark = forest_mark(f->r->forest);

	take(f, queue, c, VICTIM_IN_COHORT_FAIR_SHARING);
	if (is_never_below(&shares) || (!passes(f, f->first, &shares) &&
					!(f->has_second && passes(f, INITIAL_SHARE, &shares)))) {
		f->r->passed_over[c->id] = (struct passed_over){
			.is_concerned = true,
			.rule = PASSED_OVER_SHARE,
			.node = fair_tournament_node(&f->turns, shares.target),
			.preemptor = shares.preemptor,
			.target = shares.old,
			.after = fair_tournament_share(&f->turns, shares.target)
		};
	}
	trial_take_back(&f->trial, mark);
	fair_tournament_changed(&f->turns, queue);
}

/* Each candidate of another queue is asked as if it were the first: later in a search the answer
 * depends on what was taken before. */
static void record_all(struct fair *f)
{
	begin_round(f);
	for (size_t i = 0; i < f->turns.all.n; i++) {
		struct candidate *c = f->turns.all.v[i];
		uint32_t within = fair_tournament_find_within_quota(
			&f->turns, fair_tournament_queue_of(&f->turns, c));

		if (within != MODEL_NONE) {
			f->r->passed_over[c->id].rule = PASSED_OVER_NOMINAL;
			f->r->passed_over[c->id].node = within;
		} else if (c->outside && !f->within_nominal) {
			record_share(f, c);
		}
	}
	trial_end(&f->trial);
}

static void search(struct fair *f, struct victims *ret)
{
	fair_tournament_rank(&f->turns);
	for (int round = 0; round < ROUNDS_MAX && run_round(f); round++) {
		if (!f->gave_back || are_legal(f)) {
			trial_result(&f->trial, ret);
			return;
		}
	}
}

void victims_fair(const struct victims_request *r, struct arena *arena, struct victims *ret)
{
	const struct quota *q = forest_world(r->forest);
	struct fair f = { .r = r,
			  .q = q,
			  .arena = arena,
			  .first = q->options.lte_final ? FINAL_SHARE : INITIAL_SHARE,
			  .has_second = q->options.lte_final && q->options.lt_initial };

	*ret = (struct victims){ 0 };
	fair_tournament_init(&f.turns, r, arena);
	if (r->passed_over != NULL) {
		record_all(&f);
	}
	if (trial_is_hopeful(r, &f.turns.all)) {
		search(&f, ret);
	}
	fair_tournament_finish(&f.turns);
}
