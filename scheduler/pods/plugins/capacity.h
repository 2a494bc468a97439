/* scheduler/pods/plugins/capacity.h: shared by the files of the capacity plugin only. Thread:
 * sched. */
#ifndef SCHEDULER_PODS_PLUGINS_CAPACITY_H
#define SCHEDULER_PODS_PLUGINS_CAPACITY_H

#include <stdbool.h>
#include <stdint.h>

#include "scheduler/pods/model/resources.h"

struct cluster;
struct podgroup;
struct queue;
struct session;
struct tree;
struct tree_sums;

/* Amounts that Inqueue PodGroups will ask for beyond their charges, minus those that running
 * PodGroups could give back: Volcano's inqueue - elastic, rolled up. Costs a walk over all
 * PodGroups, so it is built only in a session that has a PodGroup to vote on. */
struct capacity_demand {
	struct tree_sums *sums; /* by queue id */
	unsigned width;         /* of the sums: names of resources */
	int64_t *flat;          /* one vector, for a moment */
};

void capacity_demand_build(struct capacity_demand *d, const struct session *s,
			   const struct tree *tree);
void capacity_demand_finish(struct capacity_demand *d);
/* The PodGroup is enqueued now. */
void capacity_demand_add(struct capacity_demand *d, const struct session *s,
			 const struct podgroup *g);
/* The sums of one queue. */
void capacity_demand_of_queue(const struct capacity_demand *d, const struct session *s,
			      const struct queue *q, struct res *ret);
/* minResources of g minus what its pods are charged already, not below 0. */
void capacity_demand_of_podgroup(const struct session *s, const struct podgroup *g,
				 struct res *ret);

#endif
