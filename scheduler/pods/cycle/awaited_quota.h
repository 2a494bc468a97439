/* scheduler/pods/cycle/awaited_quota.h: gated pods for which others were evicted, so that their
 * queue has room for them (CHARGE_AWAITING_VICTIMS). They are charged beside their victims, so that
 * nothing else gets the quota; when the victims are gone and the queues are within their limits,
 * with these charges, the gates of the gang are taken off. If the quota does not come even with the
 * end of all terminating pods, the gang gives it up: event EvictedInVain. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_CYCLE_AWAITED_QUOTA_H
#define SCHEDULER_PODS_CYCLE_AWAITED_QUOTA_H

#include "scheduler/pods/session/session.h"

/* After revocations, before the actions, for the queues that are due. */
void awaited_quota_run(struct session *s);

#endif
