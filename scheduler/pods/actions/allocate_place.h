/* scheduler/pods/actions/allocate_place.h: puts the pods of a PodGroup on nodes. Thread: sched.
 * Pure. */
#ifndef SCHEDULER_PODS_ACTIONS_ALLOCATE_PLACE_H
#define SCHEDULER_PODS_ACTIONS_ALLOCATE_PLACE_H

#include "scheduler/pods/actions/allocate_work.h"

/* One step for a PodGroup: places tasks until the PodGroup is ready, as Volcano does; tasks beyond
 * the minimum wait for a later step. True: something was decided. */
bool allocate_place_step(struct allocate_run *run, struct allocate_work *w);

#endif
