/* test/sim/world/sim_model_dump.h: writes a scheduler's model into the trace. Pure. */
#ifndef TEST_SIM_WORLD_SIM_MODEL_DUMP_H
#define TEST_SIM_WORLD_SIM_MODEL_DUMP_H

struct cluster;
struct quota_model;
struct sim_world;

/* Tasks, queues and nodes of the engine for pods. */
void sim_model_dump_pods(struct sim_world *w, const struct cluster *c);
/* Workloads of the Workload engine. */
void sim_model_dump_quota(struct sim_world *w, const struct quota_model *q);

#endif
