/* scheduler/pods/writes/binding.h: POST pods/binding with the pod's UID. A 409 has four causes
 * (gated, bound, being deleted, another UID) and a lost answer none: the pod is read and compared
 * before anything is concluded. */
#ifndef SCHEDULER_PODS_WRITES_BINDING_H
#define SCHEDULER_PODS_WRITES_BINDING_H

struct pod_write;
struct task;

/* group: the PodGroup that the pod is to name from now on; NULL: it names one. Sched thread. */
struct pod_write *binding_new(const struct task *t, const char *node, const char *group);

#endif
