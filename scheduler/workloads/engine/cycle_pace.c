#include "scheduler/workloads/engine/cycle_pace.h"

#include "base/clock.h"

void cycle_pace_cycle(struct cycle_pace *p, int64_t now)
{
	p->cycle_at = now;
}

void cycle_pace_answer(struct cycle_pace *p, enum sched_outcome outcome, int64_t now)
{
	p->answer_at = now;
	if (outcome == SCHED_STALE || outcome == SCHED_GONE) {
		p->pause_until = now + CYCLE_PACE_STALE_NS;
	} else if (outcome != SCHED_DONE) {
		p->pause_until = now + CYCLE_PACE_FAILURE_NS;
	}
}

/* 1. After a failed write no cycle begins before the pause is over.
 * 2. While more than CYCLE_PACE_AHEAD writes are unanswered, it begins when no answer has come for
 *    CYCLE_PACE_PATIENCE_NS.
 * 3. CYCLE_PACE_LONGEST_NS after the last cycle it begins in any case: answers that trickle in
 *    would put it off without end. */
int64_t cycle_pace_next(const struct cycle_pace *p, size_t unanswered)
{
	/* The writes of a cycle that has just run had no time to be answered: patience counts from
	 * it, too. */
	int64_t quiet = clock_later(p->cycle_at, p->answer_at) + CYCLE_PACE_PATIENCE_NS;
	int64_t longest = p->cycle_at + CYCLE_PACE_LONGEST_NS;
	int64_t at = p->pause_until;

	if (unanswered > CYCLE_PACE_AHEAD) {
		at = clock_later(at, quiet);
	}
	return clock_earlier(at, longest);
}
