/* scheduler/pods/session/volume_plan.h: where the unbound claims of a pod get their volumes if it
 * is placed on a node, by the rules of kube-scheduler's plugin VolumeBinding: a volume that is
 * there, the smallest that does, before one that is still to be made. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_SESSION_VOLUME_PLAN_H
#define SCHEDULER_PODS_SESSION_VOLUME_PLAN_H

#include <stdbool.h>

#include "scheduler/pods/values/pod_class.h"

struct node;
struct session;
struct volume;

struct volume_plan {
	/* By index in klass->claims: the volume to be reserved for the claim; NULL: it has one, or
	 * one is to be made. */
	const struct volume *take[POD_CLASS_CLAIMS_MAX];
	/* There is no plan since too little storage is free, and for no other reason. */
	bool lacks_storage;
};

/* False: some claim of the class gets no volume on the node; the plan has what the others get. The
 * smallest claims choose first. O(claims * log(volumes)) where volumes are local; of volumes that
 * are not on one host, all of the class may be looked at. */
bool volume_plan_make(const struct session *s, const struct pod_class *k, const struct node *n,
		      struct volume_plan *ret);

#endif
