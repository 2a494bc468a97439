/* scheduler/pods/writes/gate_removal.h: the patch that takes our scheduling gate off one pod and
 * notes the reservation. */
#ifndef SCHEDULER_PODS_WRITES_GATE_REMOVAL_H
#define SCHEDULER_PODS_WRITES_GATE_REMOVAL_H

struct pod_write;
struct strbuf;
struct task;

/* queue: what headgate.io/reserved is set to; NULL takes the gate off without a reservation (and
 * removes the mark). The caller owns the item until it is added to the pool. Sched thread. */
struct pod_write *gate_removal_new(const struct task *t, const char *queue);

/* Appends the body of that patch (strategic merge) for a pod with this UID; NULL: whichever pod has
 * the name. Any thread. */
void gate_removal_body(const char *uid, const char *queue, struct strbuf *out);

#endif
