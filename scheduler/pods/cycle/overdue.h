/* scheduler/pods/cycle/overdue.h: pods that another scheduler is free to bind, and that hold quota
 * without a node for longer than the reservation timeout, or beyond the limit of a queue. Their
 * quota cannot be taken back: they are reported, and, if so configured, those that a controller
 * creates anew are deleted. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_CYCLE_OVERDUE_H
#define SCHEDULER_PODS_CYCLE_OVERDUE_H

struct session;

/* Call after revoke_run: what can be taken back is. */
void overdue_run(struct session *s);

#endif
