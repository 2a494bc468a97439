/* scheduler/pods/actions/allocate_place.h: puts the pods of a PodGroup on nodes. Thread: sched.
 * Pure. */
#ifndef SCHEDULER_PODS_ACTIONS_ALLOCATE_PLACE_H
#define SCHEDULER_PODS_ACTIONS_ALLOCATE_PLACE_H

#include "scheduler/pods/actions/allocate_work.h"

/* Whether t is a pod to place: it has no gate, and holds quota if it opted in. Best-effort pods are
 * placed by the backfill action. */
bool allocate_place_is_candidate(const struct session *s, const struct task *t);
/* One step for a PodGroup: places tasks until the PodGroup is ready, as Volcano does; tasks beyond
 * the minimum wait for a later step. True: something was decided. */
bool allocate_place_step(struct allocate_run *run, struct allocate_work *w);

#endif
