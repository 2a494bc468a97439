/* test/sim/oracles/sim_bindings.h: no pod of ours gets a node before its claims are bound, or one
 * from which its volume cannot be reached. Owner: the run. */
#ifndef TEST_SIM_ORACLES_SIM_BINDINGS_H
#define TEST_SIM_ORACLES_SIM_BINDINGS_H

struct sim_world;

/* Looks at every change of the world from now on. */
void sim_bindings_watch(struct sim_world *w);

#endif
