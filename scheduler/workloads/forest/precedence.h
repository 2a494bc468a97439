/* scheduler/workloads/forest/precedence.h: who was preempted does not preempt back. Policies can
 * give two workloads a right against each other (reclaimWithinCohort: Any in two queues; fair
 * sharing and priority; a second flavor), and Kueue lets them evict each other for ever. Here
 * whoever preempted goes before its victim, and so does who goes before that one, until something
 * changes from outside: one of the two asks for something else or is gone, queues or cohorts are
 * edited, or a workload of the tree gives quota back without having been preempted. Two that did
 * turn on each other all the same, because such things happen all the time, need twice as many of
 * them for each further turn. A preemptor can also lose again and again what its victim gave up, to
 * the victim or to others. After PRECEDENCE_TIMES_MAX times, with no change from outside between
 * them, it leaves the victim alone: so without changes, preemption ends. Owner: the sched thread.
 * Pure. */
#ifndef SCHEDULER_WORKLOADS_FOREST_PRECEDENCE_H
#define SCHEDULER_WORKLOADS_FOREST_PRECEDENCE_H

#include "base/vec.h"
#include "scheduler/workloads/forest/forest.h"

#define PRECEDENCE_TIMES_MAX 3

/* `by` preempts `victim`, which still holds quota. */
void precedence_note(struct forest *f, struct workload *by, struct workload *victim);
/* The last preemption of victim did not come to be. */
void precedence_revoke(const struct quota *q, struct workload *victim);
/* w, which holds quota, is about to give it back. */
void precedence_released(struct forest *f, const struct workload *w);

struct precedence_list {
	uint32_t *v; /* ids of workloads; freed by the caller (vec_finish) */
	size_t n, cap;
};
/* Appends those who go before w: no prey of it. O(records * list). */
void precedence_collect(const struct forest *f, const struct workload *w,
			struct precedence_list *out);

#endif
