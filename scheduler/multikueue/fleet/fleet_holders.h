/* scheduler/multikueue/fleet/fleet_holders.h: the Workloads that have a token, or are being given
 * one: on each worker cluster they may take as much of a ClusterQueue as one preemptor at a time
 * can. Owner: the fleet thread. */
#ifndef SCHEDULER_MULTIKUEUE_FLEET_FLEET_HOLDERS_H
#define SCHEDULER_MULTIKUEUE_FLEET_FLEET_HOLDERS_H

#include <stdbool.h>

#include "collections/vec.h"

struct fleet_cluster;
struct fleet_replica;
struct fleet_workload;

struct fleet_holders VEC(struct fleet_workload *); /* borrowed */

/* The worker cluster (its name in fleet_clusters) that has the token of w; NULL: none. True: one
 * that had it has it no more. */
bool fleet_holders_set(struct fleet_holders *h, struct fleet_workload *w, const char *cluster);
/* How many others than w have the token of cluster k for the ClusterQueue of this replica of w. */
unsigned fleet_holders_count(const struct fleet_holders *h, const struct fleet_workload *w,
			     const struct fleet_cluster *k, const struct fleet_replica *r);

#endif
