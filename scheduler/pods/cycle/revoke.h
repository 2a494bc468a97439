/* scheduler/pods/cycle/revoke.h: revokes the quota of pods without a node. A pod with a patch in
 * flight keeps it until the outcome is known. A gang loses all of it if the remaining members are
 * too few. Published pods are withdrawn. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_CYCLE_REVOKE_H
#define SCHEDULER_PODS_CYCLE_REVOKE_H

#include "scheduler/pods/session/session.h"

/* Runs before the actions: revokes for queues over their limit, closed queues, PodGroups with
 * missing tasks, and timed-out reservations. */
void revoke_run(struct session *s);
/* Revokes the charge of t and, if that breaks its gang, of the gang. Event QuotaRevoked with this
 * message, which lives until the cycle ends. t: has a charge without a node, and no patch in
 * flight. */
void revoke_charge(struct session *s, const struct task *t, const char *message);
/* The dimensions in which the queue is over its limit without `less` of what is charged to it
 * (NULL: nothing), and without what others have placed or is being withdrawn; 0: none. */
uint32_t revoke_over_limit(struct session *s, const struct queue *q, const struct res *less);
/* Runs after the actions: revokes gangs that hold only part of their quota, so that two incomplete
 * gangs never block each other. Gangs that have started and lost members are included: their
 * reservations are neither placed nor published without the rest. */
void revoke_partial_gangs(struct session *s);

#endif
