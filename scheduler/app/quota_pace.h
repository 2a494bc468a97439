/* scheduler/app/quota_pace.h: when the next cycle of the Workload engine may begin: not while more
 * statuses are unanswered than are written at once. What it decided would be written after them and
 * no sooner, and until then would have lent quota to Workloads that cannot run yet: those it
 * belongs to take it back, and each such eviction is three more writes. The writes that go at once
 * do not hold it back, so that the API server always has something to do. Pure: times are given
 * (monotonic ns). */
#ifndef SCHEDULER_APP_QUOTA_PACE_H
#define SCHEDULER_APP_QUOTA_PACE_H

#include <stddef.h>
#include <stdint.h>

#include "model/message.h"

#define QUOTA_PACE_PATIENCE_NS INT64_C(1000000000) /* without an answer, then it goes on */
#define QUOTA_PACE_FAILURE_NS INT64_C(1000000000)
#define QUOTA_PACE_STALE_NS INT64_C(50000000)

struct quota_pace {
	int64_t pause_until; /* because a write failed */
	int64_t moved_at;    /* the last cycle or answer */
};

void quota_pace_cycle(struct quota_pace *p, int64_t now); /* one was run */
/* A write was answered for good. One that failed is followed by a pause: where somebody else wrote
 * meanwhile, that is on its way here, and only a moment is to be waited. */
void quota_pace_answer(struct quota_pace *p, enum sched_outcome outcome, int64_t now);
/* When a cycle may begin if no answer comes before; in the past: now. unanswered: writes that are
 * sent or can be, of which `at_once` are sent together. */
int64_t quota_pace_next(const struct quota_pace *p, size_t unanswered, size_t at_once);

#endif
