/* scheduler/pods/cycle/stuck.h: pods that terminate on a node and were to be gone STUCK_AFTER_NS
 * ago: a finalizer, or a node that answers no more, keeps them. Room and quota that they hold are
 * given to no pod in advance any more, so that pods which wait for their end give up and are placed
 * elsewhere, and an event says so. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_CYCLE_STUCK_H
#define SCHEDULER_PODS_CYCLE_STUCK_H

#include <stdbool.h>
#include <stdint.h>

#define STUCK_AFTER_NS (INT64_C(300) * 1000000000)

struct cluster;
struct session;

/* Whether there is such a pod that is not known as one. *timer becomes no later than the time when
 * the next one may be. O(pods that terminate). */
bool stuck_is_due(const struct cluster *c, int64_t now, int64_t *timer);
/* Decides about each of them. */
void stuck_run(struct session *s);

#endif
