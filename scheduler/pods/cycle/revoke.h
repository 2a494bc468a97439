/* scheduler/pods/cycle/revoke.h: how a pod loses the quota that it holds without having a node.
 * A pod with a patch in flight keeps it until the outcome is known. A gang loses all of it when the
 * rest does not make a gang. Published pods are withdrawn. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_CYCLE_REVOKE_H
#define SCHEDULER_PODS_CYCLE_REVOKE_H

#include "scheduler/pods/session/session.h"

/* Before the actions: queues over their limit, closed queues, PodGroups that lack tasks, and
 * reservations that timed out. */
void revoke_run(struct session *s);
/* That of t and, when its gang is broken by it, of the gang. Event QuotaRevoked with this message,
 * which lives until the cycle ends. t: has a charge without a node, and no patch in flight. */
void revoke_charge(struct session *s, const struct task *t, const char *message);
/* After the actions: gangs that hold only part of what they need, so that two halves never block
 * each other. Those that have begun and lost members are no exception: what is reserved is neither
 * placed nor published without the rest. */
void revoke_partial_gangs(struct session *s);

#endif
