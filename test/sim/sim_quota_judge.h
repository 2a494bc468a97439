/* test/sim/sim_quota_judge.h: the state in which a run with Jobs ends, after faults have stopped
 * and nothing changes any more: what fits by the naive arithmetic runs, what waits has a reason,
 * Jobs are as their Workloads say, queues tell the numbers that there are. Owner: the run. */
#ifndef TEST_SIM_SIM_QUOTA_JUDGE_H
#define TEST_SIM_SIM_QUOTA_JUDGE_H

#include "sim/sim_world.h"

/* Fails the world when the end is not as it should be. */
void sim_quota_judge_end(struct sim_world *w);
/* After all was deleted. */
void sim_quota_judge_empty(struct sim_world *w);
/* A Workload was set aside until some time: the end is not reached yet. */
bool sim_quota_judge_must_wait(const struct sim_world *w);

#endif
