/* scheduler/pods/plugins/capacity_limits.h: limits and shares that follow from the queues'
 * capability, guarantee and deserved; one vector per queue id. Pure functions of the cluster's
 * configuration; any thread. */
#ifndef SCHEDULER_PODS_PLUGINS_CAPACITY_LIMITS_H
#define SCHEDULER_PODS_PLUGINS_CAPACITY_LIMITS_H

#include "scheduler/pods/values/resources.h"

struct cluster;
struct tree;

/* The configured limit of each queue in the tree: RES_UNLIMITED in dimensions which neither the
 * queue nor an ancestor limits. tree: over queue ids. */
void capacity_limits_tree(const struct cluster *c, const struct tree *tree, struct res *ret);
/* Limits without a tree: each queue's own capability. */
void capacity_limits_flat(const struct cluster *c, struct res *ret);
/* The same for ordinary scheduling: also limited by what the cluster has beyond the guarantees of
 * other queues. */
void capacity_limits_flat_clipped(const struct cluster *c, struct res *ret);
/* The deserved amounts; limits: of capacity_limits_flat_clipped, or NULL for the tree. */
void capacity_limits_deserved(const struct cluster *c, const struct res *limits, struct res *ret);

#endif
