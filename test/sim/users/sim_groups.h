/* test/sim/users/sim_groups.h: pods that queue by themselves, alone or as a group (Kueue: pod
 * integration): users that create, delete and replace them, the scheduler that binds them when they
 * are ungated, and the invariants. Kubelets run them and write their status at any moment.
 * Owner: the run. */
#ifndef TEST_SIM_USERS_SIM_GROUPS_H
#define TEST_SIM_USERS_SIM_GROUPS_H

#include "sim/world/sim_world.h"

struct jdoc;
struct sim_groups;

enum sim_groups_event {
	SIM_GROUPS_UNGATED,  /* pods that were ungated on admission */
	SIM_GROUPS_STOPPED,  /* pods deleted by the scheduler: their Workload lost its quota */
	SIM_GROUPS_RELEASED, /* pods that are gone or lost their finalizer */
	SIM_GROUPS_COUNT_
};

/* Listens to the view of the world. */
struct sim_groups *sim_groups_create(struct sim_world *w);
void sim_groups_destroy(struct sim_groups *g); /* NULL is fine */
/* One random act of a user; lq: a LocalQueue. */
void sim_groups_act(struct sim_groups *g, const char *lq);
void sim_groups_offer(struct sim_groups *g, struct sim_choices *out);
/* Call after time has passed: violations are tolerated for a limited time. */
void sim_groups_check(struct sim_groups *g);
/* Incomplete groups are completed or deleted. */
void sim_groups_end(struct sim_groups *g);
void sim_groups_leave(struct sim_groups *g);       /* all are deleted */
void sim_groups_judge(const struct sim_groups *g); /* the end of the run */
void sim_groups_judge_left(const struct sim_groups *g);
uint64_t sim_groups_count(const struct sim_groups *g, enum sim_groups_event e);
const char *sim_groups_event_name(enum sim_groups_event e);

#endif
