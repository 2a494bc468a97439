/* test/sim/controllers/sim_checks.h: the controller of an admission check: makes it Active, and
 * answers for every Workload that holds quota and waits for it: Ready, Retry or Rejected. Owner:
 * the run. */
#ifndef TEST_SIM_CONTROLLERS_SIM_CHECKS_H
#define TEST_SIM_CONTROLLERS_SIM_CHECKS_H

#include "sim/world/sim_world.h"

#define SIM_CHECKS_NAME "provision"

struct sim_checks;

enum sim_checks_answer {
	SIM_CHECKS_READY,
	SIM_CHECKS_RETRY,
	SIM_CHECKS_REJECTED,
	SIM_CHECKS_COUNT_
};

/* Listens to the view of the world. */
struct sim_checks *sim_checks_create(struct sim_world *w);
void sim_checks_destroy(struct sim_checks *c);
void sim_checks_offer(struct sim_checks *c, struct sim_choices *out);
/* From now on all is Ready. */
void sim_checks_calm(struct sim_checks *c);
uint64_t sim_checks_given(const struct sim_checks *c, enum sim_checks_answer a);

#endif
