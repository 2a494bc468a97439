/* scheduler/pods/engine/outcome_event.h: the event about the end of a write to a pod. Owner: the
 * sched thread. */
#ifndef SCHEDULER_PODS_ENGINE_OUTCOME_EVENT_H
#define SCHEDULER_PODS_ENGINE_OUTCOME_EVENT_H

struct cluster;
struct recorder;
struct sched_msg;

/* An event on the pod that a REQUEST_DONE is about, if that is still there and worth one. */
void outcome_event_tell(struct recorder *r, const struct cluster *c, const struct sched_msg *m);

#endif
