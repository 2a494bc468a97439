/* scheduler/pods/actions/allocate_gate.h: the gate pass: decides which opted-in pods get quota and
 * lose their gate. It depends on queues, PodGroups and quota only, never on nodes, the phase of the
 * PodGroup or the enqueue action. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_ACTIONS_ALLOCATE_GATE_H
#define SCHEDULER_PODS_ACTIONS_ALLOCATE_GATE_H

#include "scheduler/pods/actions/allocate_work.h"

/* Removes t's gate if it needs no quota: the annotation is gone, or nothing is requested. True: it
 * did. */
bool allocate_gate_remove_uncharged(struct allocate_run *run, const struct queue *q,
				    const struct task *t);
/* The feature is off: removes every gate of ours, whatever the pod's queue. */
void allocate_gate_drain(struct session *s);
/* True: no candidate of the PodGroup has room now, so none will have any in this run, and its pods
 * need not be sorted. Notes the refusal. */
bool allocate_gate_has_no_room(struct allocate_run *run, const struct allocate_work *w);
/* One step for a PodGroup: reserves its whole gang, or one pod beyond it. True: something was
 * reserved; pods without gate are added to the pods to place. */
bool allocate_gate_step(struct allocate_run *run, struct allocate_work *w);

#endif
