/* test/sim/controllers/sim_budgets.h: the disruption controller of a cluster: the statuses of
 * PodDisruptionBudgets follow the pods. Owner: the run. */
#ifndef TEST_SIM_CONTROLLERS_SIM_BUDGETS_H
#define TEST_SIM_CONTROLLERS_SIM_BUDGETS_H

#include <stdbool.h>

#include "sim/world/sim_world.h"

struct jdoc;

/* Writes one status; false: all are as they should be. */
bool sim_budgets_step(struct sim_world *w);
/* Whether the selector of a PodDisruptionBudget covers the pod. Both may be of any namespace. */
bool sim_budgets_covers(const struct jdoc *budget, const struct jdoc *pod);

#endif
