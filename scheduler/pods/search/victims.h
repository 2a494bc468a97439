/* scheduler/pods/search/victims.h: which pods are evicted so that a pod gets room on a node, and
 * quota. A search knows its candidates by node, the first victims first: PodGroups that the plugins
 * place last, then lower priorities of PodGroup and pod, then cheaper ones, then younger ones. The
 * node is the one with the least harm: by its highest victim in this order, then by the number of
 * victims. Plugins are asked for each victim, after those before it were evicted. Thread: sched.
 * Pure.
 *
 * No PodGroup evicts pods of its rivals (pods/search/rivals.h), so that PodGroups never evict each
 * other in turns. */
#ifndef SCHEDULER_PODS_SEARCH_VICTIMS_H
#define SCHEDULER_PODS_SEARCH_VICTIMS_H

#include "scheduler/pods/session/session.h"

struct victims;

/* These are in the session's arena, for as long as the session is open; victims_finish before its
 * end. The candidates are those of now: O(pods of the queues in question). */

/* Pods of q, for PodGroups of a higher priority. */
struct victims *victims_of_queue(struct session *s, const struct queue *q);
/* Pods of g, for others of it with a higher priority. */
struct victims *victims_of_podgroup(struct session *s, const struct podgroup *g);
/* Pods of reclaimable queues that give, for other queues. */
struct victims *victims_of_all_queues(struct session *s);
void victims_finish(struct victims *v);
/* For PodGroups that are served whole (gangpreempt, gangreclaim): pods that their gangs can spare
 * are evicted one by one, whatever the plugin gang says of them, and others with their PodGroup. */
void victims_spare_gangs(struct victims *v);

/* Evicts pods of one node, as few as need be, so that t fits there and q has quota for it; without
 * need none. Returns the node, for statement_pipeline; NULL: there is no such node, and nothing has
 * changed. A node costs O(its candidates), and only those are looked at again that a search finds
 * best. */
const struct node *victims_make_room(struct victims *v, const struct queue *q,
				     const struct task *t);
/* Evicts pods of whatever nodes, so that q will have quota for t, which opted in. False: that
 * cannot be, and nothing has changed. O(candidates). */
bool victims_make_quota(struct victims *v, const struct queue *q, const struct task *t);
/* After victims_spare_gangs: evicts all candidates of from that are left, on whatever nodes, for t
 * and others of its PodGroup. False: one of them may not be evicted, or there is none, and nothing
 * has changed. O(tasks of the PodGroup). */
bool victims_evict_podgroup(struct victims *v, const struct queue *q, const struct task *t,
			    const struct podgroup *from);
/* The PodGroups that had candidates, the first victims first; NULL: i is beyond the last one. */
const struct podgroup *victims_podgroup(const struct victims *v, size_t i);
/* After a statement with evictions was discarded. */
void victims_restored(struct victims *v);

#endif
