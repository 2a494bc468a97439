/* scheduler/workloads/engine/cycle_pace.h: when the next cycle of the Workload engine may begin:
 * not while more than a few statuses are unanswered. Quota that is given before the API server has
 * taken what was given before goes to Workloads that cannot run yet, much of it borrowed: those it
 * belongs to take it back, and each such eviction is three more writes. With CYCLE_PACE_AHEAD a
 * ClusterQueue that is alone still has some writes under way at any time. Pure: times are given
 * (monotonic ns). */
#ifndef SCHEDULER_WORKLOADS_ENGINE_CYCLE_PACE_H
#define SCHEDULER_WORKLOADS_ENGINE_CYCLE_PACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "scheduler/base/message.h"

#define CYCLE_PACE_AHEAD 2                          /* unanswered writes that hold up no cycle */
#define CYCLE_PACE_PATIENCE_NS CLOCK_NS_PER_S       /* without an answer, then it goes on */
#define CYCLE_PACE_LONGEST_NS (10 * CLOCK_NS_PER_S) /* between cycles, whatever is answered */
#define CYCLE_PACE_FAILURE_NS CLOCK_NS_PER_S
#define CYCLE_PACE_STALE_NS INT64_C(50000000)

struct cycle_pace {
	int64_t pause_until;         /* because a write failed */
	int64_t cycle_at, answer_at; /* the last ones */
};

void cycle_pace_cycle(struct cycle_pace *p, int64_t now); /* one was run */
/* A write has its final answer. A failure is followed by a pause; a short one where another client
 * wrote meanwhile or the Workload is gone, because the watch is about to deliver that. */
void cycle_pace_answer(struct cycle_pace *p, enum sched_outcome outcome, int64_t now);
/* When a cycle may begin if no answer comes before; in the past: now. unanswered: writes that are
 * sent or can be. */
int64_t cycle_pace_next(const struct cycle_pace *p, size_t unanswered);

#endif
