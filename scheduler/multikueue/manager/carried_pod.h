/* scheduler/multikueue/manager/carried_pod.h: pods that queue alone or as a group (Kueue: the
 * adapter of its pod integration). Pods have no spec.managedBy: the local ones keep their
 * scheduling gate as long as they live, since the core leaves pods alone of which the Workload has
 * a clusterName. Their status is a copy of that of the remote ones. Pure. */
#ifndef SCHEDULER_MULTIKUEUE_MANAGER_CARRIED_POD_H
#define SCHEDULER_MULTIKUEUE_MANAGER_CARRIED_POD_H

#include "scheduler/multikueue/manager/carried.h"

/* Copied is the whole status, but
 *  - what is of this cluster alone: nominatedNodeName, claims, qosClass, observedGeneration;
 *  - the condition PodScheduled, until the remote pod has a node: of a pod that is Unschedulable,
 *    autoscalers of this cluster would make room here;
 *  - the end of a pod that its worker has stopped (Kueue copies it, and the local pod has failed):
 *    it is run again.
 * A local pod that has ended stays as it is. A container of it that has ended must not be seen to
 * run again by the API server: the status is reset first.
 *
 * The remote pod has the UID of the local one as an annotation, so that it is not taken for that of
 * a later pod of the same name. Priority and preemption policy are left out: the worker's API
 * server computes them from the class. */
extern const struct carried_kind carried_pod_kind;

#endif
