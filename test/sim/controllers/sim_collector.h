/* test/sim/controllers/sim_collector.h: the garbage collector of a cluster: it deletes PodGroups
 * that a deleted pod owned, Workloads and pods of deleted Jobs, and pods of lost nodes. Owner: the
 * run. */
#ifndef TEST_SIM_CONTROLLERS_SIM_COLLECTOR_H
#define TEST_SIM_CONTROLLERS_SIM_COLLECTOR_H

#include <stdbool.h>

#include "sim/world/sim_world.h"

/* Deletes one orphan; false: there is none. */
bool sim_collector_step(struct sim_world *w);

#endif
