/* test/sim/sim_collector.h: the garbage collector of a cluster: PodGroups whose owner, a pod, is
 * gone go as well, and so do Workloads and pods of Jobs. Owner: the run. */
#ifndef TEST_SIM_SIM_COLLECTOR_H
#define TEST_SIM_SIM_COLLECTOR_H

#include <stdbool.h>

#include "sim/sim_world.h"

/* Deletes one orphan; false: there is none. */
bool sim_collector_step(struct sim_world *w);

#endif
