/* scheduler/pods/session/hooks_fallback.h: the orders that hold where no plugin prefers one side,
 * each ending in a unique key. Pure functions of their arguments; any thread. */
#ifndef SCHEDULER_PODS_SESSION_HOOKS_FALLBACK_H
#define SCHEDULER_PODS_SESSION_HOOKS_FALLBACK_H

struct cluster;
struct podgroup;
struct queue;
struct task;

/* Those of one branch of the tree of queues side by side, a queue before those below it. Branches,
 * right below the last queue that a and b have in common, by creation time, UID, then name. In
 * Volcano by those of a and b themselves: with shares, by which branches are compared, that is no
 * order among three queues. O(depth) */
int hooks_fallback_queue(const struct cluster *c, const struct queue *a, const struct queue *b);
/* By creation time, UID, namespace, then name. */
int hooks_fallback_podgroup(const struct podgroup *a, const struct podgroup *b);
/* By the number at the end of the pod name, when both names have at least three parts joined by
 * dashes and end in different numbers ("PodGroup-worker-2" before "PodGroup-worker-10"); else by
 * creation time, UID, namespace, then name. */
int hooks_fallback_task(const struct task *a, const struct task *b);

#endif
