/* test/sim/sim_costs.h: the costs of preemption in a run: users annotate ClusterQueues and set
 * costs themselves, and an oracle watches the scheduler. A cost that a user has set stays until the
 * user takes it away. The scheduler's own is base + weight * preemptions, of no more preemptions
 * than there were, and smaller than before only when the rule changed; in the end it counts all of
 * them. Owner: the run. */
#ifndef TEST_SIM_SIM_COSTS_H
#define TEST_SIM_SIM_COSTS_H

#include "sim/sim_world.h"

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
/* One thing that a person might do. */
void sim_costs_act(struct sim_costs *c);
/* The end of the run: nothing is on its way any more. */
void sim_costs_judge(const struct sim_costs *c);
const char *sim_costs_event_name(enum sim_costs_event e);
uint64_t sim_costs_count(const struct sim_costs *c, enum sim_costs_event e);

#endif
