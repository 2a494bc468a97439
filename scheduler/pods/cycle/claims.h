/* scheduler/pods/cycle/claims.h: pods that have got a node and wait for the volumes that are made
 * for it, or reserved for their claims. Their Binding is sent when all their claims are bound. When
 * a provisioner gives up, which it says by taking back the node from the claim, a volume goes to
 * another claim, or CLAIMS_TIMEOUT_NS are over, the place is given back and decided again. The
 * rules are those of kube-scheduler's plugin VolumeBinding, where it binds. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_CYCLE_CLAIMS_H
#define SCHEDULER_PODS_CYCLE_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>

#define CLAIMS_TIMEOUT_NS (INT64_C(600) * 1000000000) /* kube-scheduler's bindTimeoutSeconds */

struct cluster;
struct session;

/* Whether something is to be decided about such a pod. *timer becomes no later than the time when
 * the wait of one is over. O(pods that wait * their claims). */
bool claims_are_due(const struct cluster *c, int64_t now, int64_t *timer);
/* Decides about each of them. */
void claims_run(struct session *s);

#endif
