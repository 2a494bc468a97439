/* test/sim/sim_thoughts.h: writes a scheduler's model into the trace. Pure. */
#ifndef TEST_SIM_SIM_THOUGHTS_H
#define TEST_SIM_SIM_THOUGHTS_H

struct cluster;
struct quota;
struct sim_world;

/* Tasks, queues and nodes. */
void sim_thoughts_pods(struct sim_world *w, const struct cluster *c);
/* Workloads. */
void sim_thoughts_quota(struct sim_world *w, const struct quota *q);

#endif
