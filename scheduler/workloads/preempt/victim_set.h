/* scheduler/workloads/preempt/victim_set.h: the victims that a search has chosen so far; their
 * usage is off the forest until the search ends. Shared by both searches. Owner: the sched thread.
 * Pure. */
#ifndef SCHEDULER_WORKLOADS_PREEMPT_VICTIM_SET_H
#define SCHEDULER_WORKLOADS_PREEMPT_VICTIM_SET_H

#include "scheduler/workloads/preempt/candidates.h"

struct victim_set {
	const struct victims_request *r;
	struct arena *arena;
	struct candidates taken; /* in the order in which they were taken */
	size_t mark;
	size_t blocked; /* index in r->need of the amount that did not fit last: checked first */
	/* At least so much of that amount must still be freed, by the last check: until then no
	 * check is needed. Not more than 0: not known. And the same before the last addition. */
	int64_t missing, missing_before;
};

/* Whether the request could fit if all candidates were gone: what is freed for it is at most what
 * they use. False saves the search, with its sorting. */
bool victim_set_could_fit(const struct victims_request *r, const struct candidates *all);
void victim_set_begin(struct victim_set *t, const struct victims_request *r, struct arena *arena);
void victim_set_add(struct victim_set *t, struct candidate *c);
/* Undoes what happened since the mark of the forest, which was one victim_set_add. */
void victim_set_undo(struct victim_set *t, size_t mark);
/* False: it cannot fit yet; cheaper than victim_set_fits. */
bool victim_set_may_fit(const struct victim_set *t);
/* Whether the request fits now; without borrowing: into the queue's own quota. */
bool victim_set_fits(struct victim_set *t, bool may_borrow);
/* Gives back, the last added first, the victims that the fit does not need (KEP-83: the minimal
 * set). The very last one is needed: without it there was no fit. The others keep their order.
 * False: all are needed. */
bool victim_set_fill_back(struct victim_set *t, bool may_borrow);
/* Usage is as at the beginning; the list stays. */
void victim_set_end(struct victim_set *t);
void victim_set_result(const struct victim_set *t, struct victims *ret); /* in the arena */

#endif
