/* scheduler/pods/cycle/due.h: which queues a cycle looks at, and at which of their PodGroups.
 * Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_CYCLE_DUE_H
#define SCHEDULER_PODS_CYCLE_DUE_H

#include <stdbool.h>
#include <stdint.h>

struct cluster;
struct queue;
struct queue_scan;
struct session;

/* How much of a queue is looked at; each includes those before it. */
enum due_part {
	DUE_NOTHING,
	DUE_CHANGED, /* PodGroups that changed: nothing for which the others wait has */
	DUE_OPEN,    /* and those that wait for something */
	DUE_ALL,     /* its configuration may have changed, which all of them depend on */
};

enum due_part due_part_of(const struct cluster *c, const struct queue *q, int64_t now);
/* Makes the lists of session_podgroups; all: of all queues whatever has changed. The memory is the
 * session's arena. O(queues + k log k), for k PodGroups that are looked at. */
void due_list(struct session *s, const struct cluster *c, int64_t now, bool all);
/* The scan of a queue that this session has looked at: what its PodGroups wait for. */
void due_scan(const struct session *s, const struct queue *q, struct queue_scan *ret);

#endif
