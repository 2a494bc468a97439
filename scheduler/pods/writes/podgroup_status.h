/* scheduler/pods/writes/podgroup_status.h: writes status of PodGroups. The CRD has no status
 * sub-resource and its conditions are a plain list that others write, too, so a write is: read the
 * object, merge our fields, PATCH with its resourceVersion. Changes are kept per PodGroup and
 * coalesced: a newer change joins an older one that has not been sent. A PodGroup with pods is
 * written a moment later, because the next change is near: a gang comes pod by pod, and what fits
 * goes from Pending to Running within one. Threads: change from the sched thread, the rest from the
 * pool (one mutex around the wishes). */
#ifndef SCHEDULER_PODS_WRITES_PODGROUP_STATUS_H
#define SCHEDULER_PODS_WRITES_PODGROUP_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "kube/pool.h"

struct podgroup;
struct podgroup_status;
struct pod_write_target;

struct podgroup_status *podgroup_status_create(const struct pod_write_target *target);
void podgroup_status_destroy(struct podgroup_status *p); /* after its pool */
extern const struct pool_ops podgroup_status_pool_ops;   /* ctx: struct podgroup_status */

/* phase: Volcano's word, NULL leaves it. type, reason, message: one condition with status True,
 * type NULL: none. Counts are always taken from j. Adds the PodGroup to the pool. transition:
 * identifies the cycle; now: wall ns. */
struct podgroup_change {
	const char *phase, *type, *reason, *message;
	uint64_t transition;
	int64_t now;
};
void podgroup_status_request(struct podgroup_status *p, struct pool *pool, const struct podgroup *g,
			     const struct podgroup_change *change);
bool podgroup_status_may_send(void *ctx);

#endif
