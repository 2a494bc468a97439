/* scheduler/pods/engine/write_event.h: the event about the end of a write to a pod. Owner: the
 * sched thread. */
#ifndef SCHEDULER_PODS_ENGINE_WRITE_EVENT_H
#define SCHEDULER_PODS_ENGINE_WRITE_EVENT_H

struct cluster;
struct recorder;
struct sched_msg;

/* Records an event on the pod of a REQUEST_DONE, if the outcome needs one and the pod still exists,
 * or it was evicted. */
void write_event_record(struct recorder *r, const struct cluster *c, const struct sched_msg *m);

#endif
