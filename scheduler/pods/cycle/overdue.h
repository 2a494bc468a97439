/* scheduler/pods/cycle/overdue.h: pods that another scheduler is free to bind, and that hold quota
 * without a node for longer than the reservation timeout, or beyond the limit of a queue. Their
 * quota cannot be taken back: they are reported, and, if so configured, those that a controller
 * creates anew are deleted. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_CYCLE_OVERDUE_H
#define SCHEDULER_PODS_CYCLE_OVERDUE_H

#include <stdbool.h>
#include <stdint.h>

struct session;
struct task;

/* Another scheduler may bind the pod at any time: it is ungated, has quota and no node. */
bool overdue_is_let_go(const struct session *s, const struct task *t);
/* Of these the youngest without which the queues would be within their limits, as bits by task id
 * in the arena of the session; NULL: none. */
const uint64_t *overdue_find_beyond(struct session *s);
/* Call after revoke_run: what can be taken back is. */
void overdue_run(struct session *s);

#endif
