/* scheduler/pods/session/hooks_fallback.h: the orders that hold where no plugin prefers one side,
 * each ending in a unique key. Pure functions of their arguments; any thread. */
#ifndef SCHEDULER_PODS_SESSION_HOOKS_FALLBACK_H
#define SCHEDULER_PODS_SESSION_HOOKS_FALLBACK_H

struct podgroup;
struct queue;
struct task;

/* By creation time, UID, then name. */
int hooks_fallback_queue(const struct queue *a, const struct queue *b);
/* By creation time, UID, namespace, then name. */
int hooks_fallback_podgroup(const struct podgroup *a, const struct podgroup *b);
/* By the number at the end of the pod name, when both names have at least three parts joined by
 * dashes and end in different numbers ("PodGroup-worker-2" before "PodGroup-worker-10"); else by
 * creation time, UID, namespace, then name. */
int hooks_fallback_task(const struct task *a, const struct task *b);

#endif
