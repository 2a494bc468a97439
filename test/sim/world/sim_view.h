/* test/sim/world/sim_view.h: the server's objects, followed change by change in resourceVersion
 * order: users choose from it, and oracles and judges check it. Owner: the run. */
#ifndef TEST_SIM_WORLD_SIM_VIEW_H
#define TEST_SIM_WORLD_SIM_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "sim/world/sim_world.h"

struct jdoc;
struct sim_view;

enum sim_resource {
	SIM_PODS,
	SIM_QUEUES,
	SIM_PODGROUPS,
	SIM_NODES,
	SIM_BUDGETS,
	SIM_CLAIMS,
	SIM_VOLUMES,
	SIM_KUBE_PODGROUPS, /* of scheduling.k8s.io */
	/* Only where the Workload engine's kinds are served: */
	SIM_JOBS,
	SIM_WORKLOADS,
	SIM_CLUSTER_QUEUES,
	SIM_COHORTS,
	SIM_LOCAL_QUEUES,
	SIM_FLAVORS,
	SIM_CLASSES,
	SIM_CHECKS,
	SIM_RESOURCE_COUNT_,
	SIM_BASIC_COUNT_ = SIM_JOBS
};

/* One change. old NULL: added, now NULL: deleted. Trees are borrowed. */
struct sim_change {
	enum sim_resource resource;
	enum sim_actor actor;
	const char *key;
	const struct jdoc *old, *now;
};

typedef void (*sim_view_fn)(void *ctx, const struct sim_change *change);

struct sim_view *sim_view_create(struct sim_world *w);
void sim_view_destroy(struct sim_view *v);
/* Listeners are called in the order in which they came. */
void sim_view_listen(struct sim_view *v, sim_view_fn fn, void *ctx);
/* Applies the changes since the last call, and calls the listeners. */
void sim_view_follow(struct sim_view *v, enum sim_actor actor);
uint64_t sim_view_changes(const struct sim_view *v); /* how many were applied so far */
const struct jdoc *sim_view_get(const struct sim_view *v, enum sim_resource r, const char *key);
/* Of any kind. NULL: none that is followed has this UID. */
const struct jdoc *sim_view_by_uid(const struct sim_view *v, const char *uid);
size_t sim_view_count(const struct sim_view *v, enum sim_resource r);
/* The i-th object, in the order of their last changes; i is less than the count. */
const struct jdoc *sim_view_at(const struct sim_view *v, enum sim_resource r, size_t i);

#endif
