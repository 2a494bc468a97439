/* scheduler/pods/actions/allocate_gate.h: the gate pass: which pods that opted in get quota, and
 * with it their gate off. It looks at queues, PodGroups and quota only, never at nodes, at the
 * phase of the PodGroup or at what the enqueue action thinks. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_ACTIONS_ALLOCATE_GATE_H
#define SCHEDULER_PODS_ACTIONS_ALLOCATE_GATE_H

#include "scheduler/pods/actions/allocate_work.h"

/* Takes the gate off that needs no quota: the annotation is gone, or the pod requests nothing. True
 * when t had such a gate. */
bool allocate_gate_remove_uncharged(struct allocate_run *run, const struct queue *q,
				    const struct task *t);
/* The feature is off: every gate of ours comes off, wherever the pod belongs. */
void allocate_gate_drain(struct session *s);
/* No candidate of the PodGroup has room now, so none will have any in this run: in a full queue
 * most PodGroups need not be put in order. Says so for the PodGroup. */
bool allocate_gate_has_no_room(struct allocate_run *run, const struct allocate_work *w);
/* One step for a PodGroup: its whole gang, or one pod beyond it. True when something was reserved;
 * what has no gate any more joins the list of pods to place. */
bool allocate_gate_step(struct allocate_run *run, struct allocate_work *w);

#endif
