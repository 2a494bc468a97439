/* scheduler/exec/pod_status.h: the PodScheduled condition of one pod: publishing (Unschedulable),
 * withdrawing (NotReadyForScheduling) and Volcano's other reasons. */
#ifndef SCHEDULER_EXEC_POD_STATUS_H
#define SCHEDULER_EXEC_POD_STATUS_H

#include <stdint.h>

struct pod_write;
struct task;

/* now: wall ns, becomes lastTransitionTime (Cluster Autoscaler's fast loop reacts to fresh ones
 * only). nominated: node name, or NULL to clear status.nominatedNodeName, which keeps both
 * autoscalers from helping a pod. Sched thread. */
struct pod_write *pod_status_new(const struct task *t, const char *reason, const char *message,
				 const char *nominated, int64_t now);

#endif
