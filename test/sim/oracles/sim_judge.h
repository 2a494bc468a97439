/* test/sim/oracles/sim_judge.h: the state in which a run ends, after faults have stopped and
 * nothing changes any more: what can run does run, what waits has a reason, and the scheduler's
 * ledger agrees with the pods. Owner: the run. */
#ifndef TEST_SIM_ORACLES_SIM_JUDGE_H
#define TEST_SIM_ORACLES_SIM_JUDGE_H

#include "sim/oracles/sim_oracle.h"

struct cluster;

/* Fails the world for each violation. */
void sim_judge_end(struct sim_world *w, struct sim_oracle *o, const struct cluster *c);
/* A pod is deferred until some time: the end is not reached yet. now: as retry_at in the model. */
bool sim_judge_must_wait(const struct sim_world *w, const struct cluster *c, int64_t now);

#endif
