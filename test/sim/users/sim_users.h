/* test/sim/users/sim_users.h: users and controllers that make and change queues, PodGroups, pods
 * and nodes, at random. Every request of theirs is answered at once. Owner: the run. */
#ifndef TEST_SIM_USERS_SIM_USERS_H
#define TEST_SIM_USERS_SIM_USERS_H

#include "sim/world/sim_world.h"

struct sim_users;

/* reductions: capabilities are lowered and PodGroups and queues moved, too. */
struct sim_users *sim_users_create(struct sim_world *w, bool reductions);
void sim_users_destroy(struct sim_users *u);
/* Queues and the first pods. */
void sim_users_begin(struct sim_users *u);
/* One random act of a user. */
void sim_users_act(struct sim_users *u);
/* Creates the pod with this key anew, if there is one that has no node. */
void sim_users_recreate(struct sim_users *u, const char *key);
/* Removes the foreign gates of about half of the pods that have one, and uncordons all nodes, so
 * that there is something to decide at the end. */
void sim_users_end(struct sim_users *u);
/* In a contended world: a few more pods come. */
void sim_users_burst(struct sim_users *u);

#endif
