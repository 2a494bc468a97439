/* test/sim/users/sim_quota_users.h: users that make and change ClusterQueues, Cohorts, LocalQueues,
 * priority classes and Jobs, at random. Every request of theirs is answered at once. Owner: the
 * run. */
#ifndef TEST_SIM_USERS_SIM_QUOTA_USERS_H
#define TEST_SIM_USERS_SIM_QUOTA_USERS_H

#include "sim/world/sim_world.h"

struct sim_quota_users;

struct sim_quota_users_options {
	bool reductions;       /* quota is lowered and queues move, stop and go, too */
	bool contended;        /* of sim_quota_random.h */
	const char *scheduler; /* of about half of the pods; NULL: never ours */
};

struct sim_quota_users *sim_quota_users_create(struct sim_world *w,
					       const struct sim_quota_users_options *opt);
void sim_quota_users_destroy(struct sim_quota_users *u);
/* Flavors, queues and the first Jobs. */
void sim_quota_users_begin(struct sim_quota_users *u);
/* One random act of a user. */
void sim_quota_users_act(struct sim_quota_users *u);
/* All queues exist and are not stopped, all Workloads are active. */
void sim_quota_users_end(struct sim_quota_users *u);
/* Deletes all objects. */
void sim_quota_users_leave(struct sim_quota_users *u);

#endif
