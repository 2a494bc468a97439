#include "app/quota_pace.h"

#include "base/clock.h"

void quota_pace_cycle(struct quota_pace *p, int64_t now)
{
	p->cycle_at = now;
}

void quota_pace_answer(struct quota_pace *p, enum sched_outcome outcome, int64_t now)
{
	p->answer_at = now;
	if (outcome == SCHED_STALE || outcome == SCHED_GONE) {
		p->pause_until = now + QUOTA_PACE_STALE_NS;
	} else if (outcome != SCHED_DONE) {
		p->pause_until = now + QUOTA_PACE_FAILURE_NS;
	}
}

int64_t quota_pace_next(const struct quota_pace *p, size_t unanswered)
{
	int64_t quiet = clock_later(p->cycle_at, p->answer_at) + QUOTA_PACE_PATIENCE_NS;
	int64_t longest = p->cycle_at + QUOTA_PACE_LONGEST_NS;
	int64_t at = p->pause_until;

	if (unanswered > QUOTA_PACE_AHEAD) {
		at = clock_later(at, quiet);
	}
	return clock_earlier(at, longest);
}
