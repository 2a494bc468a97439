/* scheduler/pods/search/candidates.h: the pods that may be evicted in one search for victims, by
 * node, and the order in which they are: PodGroups that the plugins place last, then lower
 * priorities of PodGroup and pod, then those that are cheaper to delete, then younger ones; after
 * all of them pods that the API server has refused to evict within the last minutes
 * (TASK_EVICTION_REFUSED). For pods/search/victims.c, which asks plugins about each of them.
 * Memory: the session's arena. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_SEARCH_CANDIDATES_H
#define SCHEDULER_PODS_SEARCH_CANDIDATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/pods/model/model.h"

struct session;

/* One pod, with copies of what decides about its place in the order: of 100,000 tasks few are read
 * again. */
struct candidate {
	const struct task *task;
	int64_t created;
	uint32_t rank; /* of its PodGroup, from 1 on; PodGroups that are equal share one. Beyond
			  those of all PodGroups: it was refused lately */
	int32_t priority, cost;
	uint32_t node;
};

/* The candidates of one node. */
struct candidates_spot {
	const struct node *node; /* NULL: of all nodes */
	struct candidate *v;     /* only the first one is in order before candidates_sort */
	size_t n;
	bool sorted;
};

struct candidates {
	const struct podgroup **podgroups; /* that have candidates, in order; those with one that
					      was refused lately come last */
	size_t npodgroups;
	struct candidates_spot *spots; /* of the nodes that have candidates */
	size_t nspots;
	size_t n;         /* on all nodes together */
	int64_t again_at; /* when the first pod is a candidate again that is left alone now because
			     a write has failed, as its eviction; INT64_MAX: there is none */
};

/* Pods that are charged to q. O(pods of q), as the next is of g. */
void candidates_of_queue(struct session *s, const struct queue *q, struct candidates *ret);
void candidates_of_podgroup(struct session *s, const struct podgroup *g, struct candidates *ret);
/* Pods of reclaimable queues that have something to give back (hooks_queue_gives). O(their pods).
 */
void candidates_of_all_queues(struct session *s, struct candidates *ret);
/* Whether t may be a candidate; status: in the session. */
bool candidates_includes(const struct session *s, const struct task *t, enum task_status status);
/* Puts all candidates of the spot in order. No effect the second time. */
void candidates_sort(struct candidates_spot *spot);
/* All candidates in order, whatever their nodes. O(n log n). */
struct candidates_spot candidates_on_all_nodes(struct session *s, const struct candidates *c);

#endif
