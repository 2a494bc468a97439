/* scheduler/workloads/owners/pod_plan.h: plans the writes about a pod that queues alone, or about a
 * group of pods, from the pods and the Workloads that belong to them (Kueue: the generic job
 * reconciler and the pod integration, in their order). Pure: nothing is remembered between calls.
 *
 * A gate cannot be put back on a pod: to stop a pod is to delete it. A group that lost pods in this
 * way waits for others of the same roles before it queues again, unless its Workload or the
 * namespace is deleted as well. */
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
	/* The Workload that a pod without group names itself, NULL when there is none. */
	const struct api_workload *prebuilt;
	bool name_taken; /* a Workload with the group's name belongs to another owner */
	bool elsewhere;  /* their namespace is not managed */
	bool ending;     /* their namespace is being deleted */
};
/* Appends to ret, which has an arena and which the caller finishes. */
void pod_plan(const struct pod_plan_of *of, const struct owner_plan_env *env,
	      struct owner_plan *ret);

#endif
