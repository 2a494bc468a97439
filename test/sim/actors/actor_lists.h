/* test/sim/actors/actor_lists.h: the actors, each with its acts. */
#ifndef TEST_SIM_ACTORS_ACTOR_LISTS_H
#define TEST_SIM_ACTORS_ACTOR_LISTS_H

#include "sim/actors/sim_actors.h"

extern const struct sim_actors_actor actor_tenant;         /* of the pods wing, hostile */
extern const struct sim_actors_actor actor_queues;         /* Volcano's Queues are edited */
extern const struct sim_actors_actor actor_cluster_queues; /* Kueue's queues are edited */
extern const struct sim_actors_actor actor_lease;          /* the Lease is edited, stolen */
extern const struct sim_actors_actor actor_batch_tenant;   /* of the Workload wing, hostile */
extern const struct sim_actors_actor actor_operator;       /* configurations, draining */
extern const struct sim_actors_actor actor_gangs;          /* gangs with roles */
extern const struct sim_actors_actor actor_scheduler;      /* places the pods of another name */
extern const struct sim_actors_actor actor_nodes;          /* nodes are lost */
extern const struct sim_actors_actor actor_budgets;        /* limits of evictions */
extern const struct sim_actors_actor actor_neighbours;     /* affinity and spread of pods */
extern const struct sim_actors_actor actor_status;         /* statuses of Workloads are edited */
extern const struct sim_actors_actor actor_kube_groups;    /* PodGroups of Kubernetes */
extern const struct sim_actors_actor actor_volumes;        /* claims and ephemeral volumes */

/* Binds a pod of another scheduler that has no gate, whether there is room or not. */
bool actor_scheduler_bind(struct sim_actors *a);

#endif
