/* scheduler/workloads/preempt/trial.h: victims on trial: their usage is off the forest until the
 * trial ends. What both searches for victims share. Owner: the sched thread. Pure. */
#ifndef SCHEDULER_WORKLOADS_PREEMPT_TRIAL_H
#define SCHEDULER_WORKLOADS_PREEMPT_TRIAL_H

#include "scheduler/workloads/preempt/candidates.h"

struct trial {
	const struct victims_request *r;
	struct arena *arena;
	struct candidates taken; /* in the order in which they were taken */
	size_t mark;
	size_t blocked; /* index in r->need of what did not fit last: looked at first */
	/* So much of it at least must still be taken for a fit, by the last look at it, which saves
	 * looks; not more than 0: not known. And the same before the last one was taken. */
	int64_t missing, missing_before;
};

/* Whether it could fit at all if all those were gone: what is freed for the request is at most what
 * they use. Saves sorting and trying where there is no hope. */
bool trial_is_hopeful(const struct victims_request *r, const struct candidates *all);
void trial_begin(struct trial *t, const struct victims_request *r, struct arena *arena);
void trial_take(struct trial *t, struct candidate *c);
/* Takes back what happened since the mark of the forest, which was one trial_take. */
void trial_take_back(struct trial *t, size_t mark);
/* False: it cannot fit now. */
bool trial_may_fit(const struct trial *t);
/* Whether what is needed fits now; without borrowing: into the queue's own quota. */
bool trial_fits(struct trial *t, bool may_borrow);
/* Gives back, the youngest first, whoever is not needed for the fit (KEP-83: the minimal set). The
 * last one taken is needed: without it there was no fit. Those who stay keep their order. False:
 * all do. */
bool trial_fill_back(struct trial *t, bool may_borrow);
/* Usage is as at the beginning; the list stays. */
void trial_end(struct trial *t);
void trial_result(const struct trial *t, struct victims *ret); /* in the arena */

#endif
