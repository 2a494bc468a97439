/* test/sim/oracles/sim_quota_judge.h: the state in which a run with Jobs ends, after faults have
 * stopped and nothing changes any more: Workloads that fit by the naive arithmetic run, those that
 * wait have a reason, Jobs agree with their Workloads, and the counts of queues are right. Owner:
 * the run. */
#ifndef TEST_SIM_ORACLES_SIM_QUOTA_JUDGE_H
#define TEST_SIM_ORACLES_SIM_QUOTA_JUDGE_H

#include "sim/world/sim_world.h"

/* Fails the world for each violation. */
void sim_quota_judge_end(struct sim_world *w);
/* The same after all was deleted: no object is left. */
void sim_quota_judge_empty(struct sim_world *w);
/* A Workload is in backoff until some time: the end is not reached yet. */
bool sim_quota_judge_must_wait(const struct sim_world *w);

#endif
