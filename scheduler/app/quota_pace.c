#include "app/quota_pace.h"

void quota_pace_cycle(struct quota_pace *p, int64_t now)
{
	p->moved_at = now;
}

void quota_pace_answer(struct quota_pace *p, enum sched_outcome outcome, int64_t now)
{
	p->moved_at = now;
	if (outcome == SCHED_STALE) {
		p->pause_until = now + QUOTA_PACE_STALE_NS;
	} else if (outcome != SCHED_DONE) {
		p->pause_until = now + QUOTA_PACE_FAILURE_NS;
	}
}

/* A pause because of a failure ends no later than the patience that begins with it. */
_Static_assert(QUOTA_PACE_FAILURE_NS <= QUOTA_PACE_PATIENCE_NS, "one time covers both");
_Static_assert(QUOTA_PACE_STALE_NS <= QUOTA_PACE_PATIENCE_NS, "one time covers both");

int64_t quota_pace_next(const struct quota_pace *p, size_t unanswered, size_t at_once)
{
	return unanswered <= at_once ? p->pause_until : p->moved_at + QUOTA_PACE_PATIENCE_NS;
}
