/* scheduler/workloads/controller/owner_world.h: look-ups of plans beside owners and Workloads:
 * flavors, priority classes, and which namespaces are managed or being deleted. Owner: the sched
 * thread. */
#ifndef SCHEDULER_WORKLOADS_CONTROLLER_OWNER_WORLD_H
#define SCHEDULER_WORKLOADS_CONTROLLER_OWNER_WORLD_H

#include <stdbool.h>

#include "base/str.h"
#include "scheduler/workloads/owners/owner_plan.h"

struct owner_world;
struct sched_msg;
struct selector;

/* namespaces: borrowed; NULL: all are managed. */
struct owner_world *owner_world_create(const struct selector *namespaces);
void owner_world_destroy(struct owner_world *w); /* NULL is fine */
/* Look-ups of the environment of plans; they live as long as w. */
void owner_world_env(struct owner_world *w, struct owner_plan_env *env);
/* Its namespace is known, and managed. */
bool owner_world_manages(const struct owner_world *w, const char *namespace_);
/* The namespace is being deleted. */
bool owner_world_ends(const struct owner_world *w, const char *namespace_);

/* A flavor, priority class or namespace was added or changed (UPSERT; the message of a flavor is
 * kept by a reference) or is gone (DELETE); other kinds have no effect. True: plans may change. */
bool owner_world_object(struct owner_world *w, struct sched_msg *m);

#endif
