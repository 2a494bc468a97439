/* test/sim/users/sim_costs.h: the costs of preemption in a run: users annotate ClusterQueues and
 * set costs themselves, and an oracle watches the scheduler. A cost that a user has set stays until
 * a user removes it. The scheduler's own is base + weight * preemptions: it counts no more
 * preemptions than there were, falls only when base or weight changed, and counts all of them in
 * the end. Owner: the run. */
#ifndef TEST_SIM_USERS_SIM_COSTS_H
#define TEST_SIM_USERS_SIM_COSTS_H

#include "sim/world/sim_world.h"

struct sim_costs;

enum sim_costs_event {
	SIM_COSTS_WRITTEN, /* by the scheduler */
	SIM_COSTS_HIGHER,  /* because it was preempted once more */
	SIM_COSTS_THEIRS,  /* set by a user */
	SIM_COSTS_COUNT_
};

/* Listens to the view of the world. */
struct sim_costs *sim_costs_create(struct sim_world *w);
void sim_costs_destroy(struct sim_costs *c); /* NULL is fine */
/* One random act of a user. */
void sim_costs_act(struct sim_costs *c);
/* The end of the run, with nothing in flight. */
void sim_costs_judge(const struct sim_costs *c);
const char *sim_costs_event_name(enum sim_costs_event e);
uint64_t sim_costs_count(const struct sim_costs *c, enum sim_costs_event e);

#endif
