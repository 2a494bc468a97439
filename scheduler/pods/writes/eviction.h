/* scheduler/pods/writes/eviction.h: deletes a victim with a UID precondition, so that a pod
 * re-created under the same name is safe. */
#ifndef SCHEDULER_PODS_WRITES_EVICTION_H
#define SCHEDULER_PODS_WRITES_EVICTION_H

struct pod_write;
struct task;

struct pod_write *eviction_new(const struct task *t); /* sched thread */

#endif
