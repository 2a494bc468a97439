/* scheduler/workloads/controller/owner_world.h: what plans look up beside owners and Workloads:
 * flavors, priority classes, and which namespaces are managed or end. Owner: the sched thread. */
#ifndef SCHEDULER_WORKLOADS_CONTROLLER_OWNER_WORLD_H
#define SCHEDULER_WORKLOADS_CONTROLLER_OWNER_WORLD_H

#include <stdbool.h>

#include "base/str.h"
#include "scheduler/workloads/owners/owner_plan.h"

struct api_namespace;
struct api_priority_class;
struct api_resource_flavor;
struct api_workload_priority_class;
struct arena;
struct field_table;
struct owner_world;
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

/* An object was added or changed; what is needed of it is copied. True: plans may change. */
bool owner_world_flavor(struct owner_world *w, const struct api_resource_flavor *rf);
bool owner_world_class(struct owner_world *w, const struct api_workload_priority_class *pc);
bool owner_world_pod_class(struct owner_world *w, const struct api_priority_class *pc);
bool owner_world_namespace(struct owner_world *w, const struct api_namespace *ns);
/* An object is gone. Unknown ones have no effect. */
void owner_world_flavor_gone(struct owner_world *w, struct str name);
void owner_world_class_gone(struct owner_world *w, struct str name);
void owner_world_pod_class_gone(struct owner_world *w, struct str name);
void owner_world_namespace_gone(struct owner_world *w, struct str name);

/* A decoded object lives as long as its message: keeps what was decoded, by its table. */
void *owner_world_copy(const struct field_table *table, const void *object, struct arena *arena);

#endif
