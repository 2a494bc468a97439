/* scheduler/pods/cycle/shortage.h: the amounts behind a lack of quota, for events. They change with
 * each pod of the queue, so they belong to no condition and to no text by which the cycle knows
 * that it has reported something. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_CYCLE_SHORTAGE_H
#define SCHEDULER_PODS_CYCLE_SHORTAGE_H

#include "scheduler/pods/session/session.h"

/* Writes "1500m" or "4Gi", an amount of that dimension, to buf (QUANTITY_TEXT_MAX); returns it. */
const char *shortage_amount(unsigned dim, int64_t amount, char *buf);

/* These return texts in the session's arena, "" where there is no shortage. from is the lowest
 * queue that is asked; the text is about the first one, upwards, that is short. */

/* " (3 cpu requested, 1 of 2 left in queue q)": what t lacks. */
const char *shortage_of_task(const struct session *s, const struct queue *from,
			     const struct task *t);
/* The same for the missing members of the gang of g together, or else for the first pod that
 * waits. */
const char *shortage_of_podgroup(const struct session *s, const struct queue *from,
				 const struct podgroup *g);
/* " (3 cpu charged, the limit is 2)": by how much q itself is over its limit. */
const char *shortage_excess(const struct session *s, const struct queue *q);

#endif
