/* scheduler/pods/cycle/holds.h: room that is held, over cycles, for pods for which others were
 * evicted. A pod that has such room (struct task: awaits) takes it before any action gives room
 * away: it is bound when the victims are gone, and until then its room and quota are pipelined. A
 * gang is held as a whole. When one of its pods does not fit its node any more (an eviction was
 * refused, the node or the queue changed), the gang gives up all that is held for it, the event
 * EvictedInVain says so where pods were evicted, and none is evicted for it before a pause that
 * doubles each time. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_CYCLE_HOLDS_H
#define SCHEDULER_PODS_CYCLE_HOLDS_H

#include "scheduler/pods/session/session.h"

/* After revocations, before the actions. O(pods of the PodGroups that wait). */
void holds_run(struct session *s);
/* Within a statement: t, which waits for its victims, gives up the room and the quota that is held
 * for it, and reports that; why: for people, lives as long as the session. */
void holds_give_up(struct session *s, const struct task *t, const char *why);

#endif
