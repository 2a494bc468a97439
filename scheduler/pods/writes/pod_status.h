/* scheduler/pods/writes/pod_status.h: the PodScheduled condition of one pod: publishing
 * (Unschedulable), withdrawing (NotReadyForScheduling) and Volcano's other reasons. */
#ifndef SCHEDULER_PODS_WRITES_POD_STATUS_H
#define SCHEDULER_PODS_WRITES_POD_STATUS_H

#include <stdint.h>

struct pod_write;
struct task;

/* now: wall ns, becomes lastTransitionTime (Cluster Autoscaler's fast loop reacts to fresh ones
 * only). nominated: node name, or NULL to clear status.nominatedNodeName, which keeps both
 * autoscalers from helping a pod. Sched thread. */
/* attempts: when not 0, the pod says in a condition of ours how many reservations of it ended
 * without a node: a leader that comes later goes on from there. */
struct pod_write *pod_status_new(const struct task *t, const char *reason, const char *message,
				 const char *nominated, uint32_t attempts, int64_t now);

#endif
