/* scheduler/pods/search/victims.h: which pods are evicted so that a pod gets room on a node, and
 * quota. A search lists its candidates by node, in the order in which they are evicted: PodGroups
 * that the plugins place last, then lower priorities of PodGroup and pod, then those that are
 * cheaper to delete, then younger ones; last of all those that the API server has just refused to
 * evict. It chooses the node with the least harm: the one where the last victim in this order comes
 * earliest, then the one with the fewest victims. Plugins are asked about each victim when those
 * before it are evicted already. If these are not enough, and so it is
 * refused, it is tried without them: at most 32 of a node. Thread: sched. Pure.
 *
 * No PodGroup evicts pods of its rivals (pods/search/rivals.h), so that PodGroups never evict each
 * other in turns. */
#ifndef SCHEDULER_PODS_SEARCH_VICTIMS_H
#define SCHEDULER_PODS_SEARCH_VICTIMS_H

#include "scheduler/pods/session/session.h"

struct victims;

/* Searches live in the session's arena; call victims_finish before the session ends. Candidates are
 * listed once, by the three calls below: O(pods of the queues in question). */

/* Pods of q, for PodGroups of a higher priority. */
struct victims *victims_of_queue(struct session *s, const struct queue *q);
/* Pods of g, for others of it with a higher priority. */
struct victims *victims_of_podgroup(struct session *s, const struct podgroup *g);
/* Pods of reclaimable queues that have something to give back (hooks_queue_gives), for other
 * queues. */
struct victims *victims_of_all_queues(struct session *s);
void victims_finish(struct victims *v);
/* For the actions gangpreempt and gangreclaim: pods that their gang can spare are evicted one by
 * one, without asking the plugin gang; all others only with their whole PodGroup. */
void victims_spare_gangs(struct victims *v);

/* Evicts as few pods of one node as it takes for t to fit there and for q to have quota for it,
 * none where none is needed. Returns the node, for statement_pipeline; NULL: there is no such node,
 * and nothing has changed. A node costs O(its candidates), 32 times that where plugins
 * refuse unequal pods; only the nodes that look best are examined again. */
const struct node *victims_make_room(struct victims *v, const struct queue *q,
				     const struct task *t);
/* Evicts pods on any nodes, so that q will have quota for t, which opted in. False: it cannot be
 * done, and nothing has changed. O(candidates). */
bool victims_make_quota(struct victims *v, const struct queue *q, const struct task *t);
/* After victims_spare_gangs: evicts all remaining candidates of the PodGroup `from`, on any nodes,
 * for t and its PodGroup. False: one of them may not be evicted, or there is none, and nothing has
 * changed. O(tasks of the PodGroup). */
bool victims_evict_podgroup(struct victims *v, const struct queue *q, const struct task *t,
			    const struct podgroup *from);
/* The PodGroups that had candidates, in the order of eviction; NULL: i is beyond the last one. */
const struct podgroup *victims_podgroup(const struct victims *v, size_t i);
/* When the first pod is a candidate again that is left alone for now, since the API server has
 * refused to evict it; INT64_MAX: there is none. */
int64_t victims_again_at(const struct victims *v);
/* Call it after a statement with evictions was discarded: the victims are candidates again. */
void victims_restored(struct victims *v);

#endif
