/* scheduler/pods/search/rivals.h: the PodGroups of which another one evicts no pods, since its own
 * were evicted for theirs, or for those of a PodGroup that goes before it (scheduler/base/
 * predecessors.h): the records of the cluster, and what this session has evicted so far. So
 * PodGroups evict each other in no circle. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_SEARCH_RIVALS_H
#define SCHEDULER_PODS_SEARCH_RIVALS_H

#include "scheduler/base/predecessors.h"
#include "scheduler/pods/session/session.h"

/* Whether g may have any. O(1). */
bool rivals_may_exist(const struct session *s, const struct podgroup *g);
/* Appends the ids of all. O(records), for each that lost pods in this session O(decisions). */
void rivals_collect(const struct session *s, const struct podgroup *g, struct predecessors *out);

#endif
