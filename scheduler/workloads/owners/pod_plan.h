/* scheduler/workloads/owners/pod_plan.h: what has to be written for a pod that queues alone, or for
 * a group of pods, from the pods and the Workloads that belong to them (Kueue: the generic job
 * reconciler and the pod integration, in their order). Pure: nothing is remembered between calls.
 *
 * A pod that was let go cannot be taken back: to stop it is to delete it. A group whose pods were
 * deleted waits for others of the same roles before it queues again, unless
 * its Workload or the namespace goes as well. */
#ifndef SCHEDULER_WORKLOADS_OWNERS_POD_PLAN_H
#define SCHEDULER_WORKLOADS_OWNERS_POD_PLAN_H

#include "scheduler/workloads/owners/owner_plan.h"

struct api_pod;
struct api_workload;

struct pod_plan_of {
	/* One pod without group, or all of a group; managed ones, oldest first. */
	const struct api_pod *const *pods;
	const bool
		*starting; /* by pod: a write that lets it go as it is may be under way; NULL: no */
	size_t n;
	/* Those that say they are theirs: controlled by the pod (by name), or named as the group.
	 */
	const struct api_workload *const *workloads;
	size_t nworkloads;
	bool name_taken; /* a Workload named as the group is somebody else's */
	bool elsewhere;  /* their namespace is not managed */
	bool ending;     /* their namespace is being deleted */
};
/* Appends to ret, whose arena is set and which the caller finishes. */
void pod_plan(const struct pod_plan_of *of, const struct owner_plan_env *env,
	      struct owner_plan *ret);

#endif
