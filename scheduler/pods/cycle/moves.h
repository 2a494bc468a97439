/* scheduler/pods/cycle/moves.h: charges that are booked on another queue than the one that the
 * pod's PodGroup names now, because the group annotation or the PodGroup's queue was edited. A
 * tenant may edit both at any time, so an edit gives no quota: a charge moves only if the namespace
 * may use the new queue, that queue accepts pods, and the request fits the limit of it and of each
 * of its ancestors that are not ancestors of the old queue as well. Otherwise
 * - a pod on a node keeps its charge where it was granted, and gets the event QuotaMoveRefused,
 * once for each queue that refuses it; it is tried again when something changes in the new queue;
 * - a pod without a node loses its quota, with its gang, and waits in the new queue.
 * So no other pod of the new queue is revoked by a move. A pod that was resized while it ran is
 * charged for its new request; if that takes a queue beyond its limit the pod gets the event
 * ResizedBeyondQuota, once for each growth. A charge stays while a patch, bind or withdrawal of its
 * pod is in flight, and while the pod terminates. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_CYCLE_MOVES_H
#define SCHEDULER_PODS_CYCLE_MOVES_H

#include "scheduler/pods/session/session.h"

/* Before anything else of a cycle, for the queues that are due. */
void moves_run(struct session *s);

#endif
