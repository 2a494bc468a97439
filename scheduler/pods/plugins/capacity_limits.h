/* scheduler/pods/plugins/capacity_limits.h: limits and shares that follow from the queues'
 * capability, guarantee and deserved; one vector per queue id. Pure functions of the cluster's
 * configuration; any thread. */
#ifndef SCHEDULER_PODS_PLUGINS_CAPACITY_LIMITS_H
#define SCHEDULER_PODS_PLUGINS_CAPACITY_LIMITS_H

#include "scheduler/pods/model/resources.h"

struct cluster;
struct tree;

/* The configured limit of each queue in the tree: RES_UNLIMITED in dimensions which neither the
 * queue nor an ancestor limits. tree: over queue ids. */
void capacity_limits_tree(const struct cluster *c, const struct tree *tree, struct res *ret);
/* Without a tree each queue has its own capability and nothing else... */
void capacity_limits_flat(const struct cluster *c, struct res *ret);
/* ... and ordinary scheduling also what the cluster has beyond the guarantees of others. */
void capacity_limits_flat_clipped(const struct cluster *c, struct res *ret);
/* The deserved amounts; limits: of capacity_limits_flat_clipped, or NULL for the tree. */
void capacity_limits_deserved(const struct cluster *c, const struct res *limits, struct res *ret);

#endif
