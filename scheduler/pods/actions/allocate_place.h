/* scheduler/pods/actions/allocate_place.h: puts the pods of a PodGroup on nodes. Thread: sched.
 * Pure. */
#ifndef SCHEDULER_PODS_ACTIONS_ALLOCATE_PLACE_H
#define SCHEDULER_PODS_ACTIONS_ALLOCATE_PLACE_H

#include "scheduler/pods/actions/allocate_work.h"

/* Whether t belongs on the list of pods to place: no gate is on it, and when it opted in it holds
 * quota. Best-effort pods are the backfill action's. */
bool allocate_place_is_candidate(const struct session *s, const struct task *t);
/* One step for a PodGroup: places tasks until the PodGroup is ready, as Volcano does, so that what
 * is beyond the minimum waits for its turn. True when something was decided. */
bool allocate_place_step(struct allocate_run *run, struct allocate_work *w);

#endif
