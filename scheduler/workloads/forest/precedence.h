/* scheduler/workloads/forest/precedence.h: a victim does not preempt its preemptor. Policies can
 * let two workloads preempt each other (reclaimWithinCohort: Any in two queues; fair sharing and
 * priority; a second flavor), and in Kueue they evict each other forever. Here a preemptor has
 * precedence over its victim, transitively (scheduler/base/predecessors.h), until something changes
 * from outside: one of the two changes its request or is gone, queues or cohorts are edited, or a
 * workload of the tree releases quota without having been preempted. Releases happen all the time,
 * so two workloads that preempted each other all the same need twice as many of them for each
 * further turn. A preemptor can also lose, again and again, the quota that its victim released, to
 * the victim or to others: after PRECEDENCE_TIMES_MAX times without a change from outside between
 * them, the victim gets precedence as well. So without changes, preemption ends. Owner: the sched
 * thread. Pure. */
#ifndef SCHEDULER_WORKLOADS_FOREST_PRECEDENCE_H
#define SCHEDULER_WORKLOADS_FOREST_PRECEDENCE_H

#include "scheduler/base/predecessors.h"
#include "scheduler/workloads/forest/forest.h"

#define PRECEDENCE_TIMES_MAX 3

/* `by` preempts `victim`, which still holds quota. */
void precedence_record(struct forest *f, struct workload *by, struct workload *victim);
/* Undoes the record of the last preemption of victim, which failed. */
void precedence_revoke(const struct quota_model *q, struct workload *victim);
/* w, which holds quota, is about to release it. */
void precedence_released(struct forest *f, const struct workload *w);

/* Appends the ids of the workloads with precedence over w, which it must not preempt. O(records),
 * without any O(1). */
void precedence_collect(const struct forest *f, const struct workload *w, struct predecessors *out);

#endif
