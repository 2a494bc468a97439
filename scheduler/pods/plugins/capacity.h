/* scheduler/pods/plugins/capacity.h: shared by the files of the capacity plugin, and by the other
 * plugins that count what queues hold and what PodGroups ask for. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_PLUGINS_CAPACITY_H
#define SCHEDULER_PODS_PLUGINS_CAPACITY_H

#include <stdbool.h>
#include <stdint.h>

#include "collections/vec.h"
#include "scheduler/pods/plugins/podgroup_sums.h"
#include "scheduler/pods/values/resources.h"

struct cluster;
struct podgroup;
struct queue;
struct reason;
struct session;
struct task;
struct tree;

/* Volcano's "allocated": charged, without pods that are on their way out. Without hierarchy a
 * queue's children are none of its business, while the ledger rolls them up. */
void capacity_allocated(const struct session *s, const struct queue *q, bool hierarchy,
			struct res *ret);
/* Whether the charge of t stays within the limit of q. False: why says "insufficient cpu in queue
 * q" (NULL: not wanted). */
bool capacity_has_room(const struct session *s, const struct queue *q, bool hierarchy,
		       const struct res *limit, const struct task *t, struct reason *why);
/* Without the victim, q has at least what it is guaranteed. */
bool capacity_keeps_guarantee(const struct session *s, const struct queue *q, bool hierarchy,
			      const struct task *victim);

/* Amounts that Inqueue PodGroups will ask for beyond their charges, minus those that running
 * PodGroups could give back: Volcano's inqueue - elastic, rolled up. All zero: nothing is counted
 * yet. */
struct capacity_demand {
	struct podgroup_sums sums;
	struct VEC(uint32_t) played; /* ids: counted as this session has changed them */
};

/* A session begins. O(PodGroups that changed since the last one) unless queues have changed. tree:
 * of queue ids, must outlive the session. */
void capacity_demand_open(struct capacity_demand *d, const struct session *s,
			  const struct tree *tree);
void capacity_demand_finish(struct capacity_demand *d);
/* Counts what the session has changed so far. */
void capacity_demand_follow(struct capacity_demand *d, const struct session *s);
/* The PodGroup is enqueued now. */
void capacity_demand_add(struct capacity_demand *d, const struct session *s,
			 const struct podgroup *g);
/* The sums of one queue. */
void capacity_demand_of_queue(const struct capacity_demand *d, const struct session *s,
			      const struct queue *q, struct res *ret);
/* minResources of g minus what its pods are charged already, not below 0. */
void capacity_demand_of_podgroup(const struct session *s, const struct podgroup *g,
				 struct res *ret);
/* Volcano's rule for a PodGroup with minResources of which a part is still to come: it is Inqueue,
 * or it runs, and minMember of its pods have nodes. */
bool capacity_demand_is_inqueue(const struct session *s, const struct podgroup *g);
/* Takes off the requests of g's pods behind a foreign gate, which will not ask for anything soon;
 * not below 0. */
void capacity_demand_without_gated(const struct session *s, const struct podgroup *g,
				   struct res *demand);

#endif
