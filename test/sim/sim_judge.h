/* test/sim/sim_judge.h: the state in which a run ends, after faults have stopped and nothing
 * changes any more: what can run does, what waits has a reason, and the scheduler's ledger says the
 * same as the pods. Owner: the run. */
#ifndef TEST_SIM_SIM_JUDGE_H
#define TEST_SIM_SIM_JUDGE_H

#include "sim/sim_oracle.h"

struct cluster;

/* Fails the world when the end is not as it should be. */
void sim_judge_end(struct sim_world *w, struct sim_oracle *o, const struct cluster *c);
/* A pod was set aside until some time: the end is not reached yet. now: of the cluster's times. */
bool sim_judge_must_wait(const struct sim_world *w, const struct cluster *c, int64_t now);

#endif
