/* scheduler/pods/search/rivals.h: the rivals of a PodGroup G are the PodGroups for which pods of G
 * were evicted, and the rivals of those (scheduler/base/predecessors.h). G evicts no pod of a
 * rival, so that PodGroups never evict each other in a circle. Earlier evictions are read from the
 * cluster, those of this session from its decisions. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_SEARCH_RIVALS_H
#define SCHEDULER_PODS_SEARCH_RIVALS_H

#include "scheduler/base/predecessors.h"
#include "scheduler/pods/session/session.h"

/* False: g has no rival. O(1). */
bool rivals_may_exist(const struct session *s, const struct podgroup *g);
/* Appends the ids of all rivals of g. O(records), and O(decisions) for each rival that lost pods in
 * this session. */
void rivals_collect(const struct session *s, const struct podgroup *g, struct predecessors *out);

#endif
