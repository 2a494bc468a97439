/* scheduler/pods/engine/orphans.h: pods of ours that name a PodGroup which does not exist. They are
 * in no queue, so no cycle visits them: each gets one Warning event here if its PodGroup is still
 * missing ORPHANS_GRACE_NS after the pod was seen (users may apply pods first, and lists arrive in
 * any order). The next event comes only if the PodGroup existed in between. Owner: the sched
 * thread. */
#ifndef SCHEDULER_PODS_ENGINE_ORPHANS_H
#define SCHEDULER_PODS_ENGINE_ORPHANS_H

#include <stdint.h>

#include "base/clock.h"

#define ORPHANS_GRACE_NS (10 * CLOCK_NS_PER_S)

struct cluster;
struct podgroup;
struct orphans;
struct recorder;
struct task;

struct orphans *orphans_create(void);
void orphans_destroy(struct orphans *o); /* NULL is fine */
/* Call when a pod was upserted, before a pod is removed, and before the PodGroup of g is removed.
 * now: monotonic ns, never decreasing. */
void orphans_pod_upserted(struct orphans *o, const struct cluster *c, const struct task *t,
			  int64_t now);
void orphans_pod_deleted(struct orphans *o, const struct task *t);
void orphans_podgroup_deleted(struct orphans *o, const struct cluster *c, const struct podgroup *g,
			      int64_t now);
/* Records the events that are due. O(those due). */
void orphans_record_due(struct orphans *o, const struct cluster *c, struct recorder *recorder,
			int64_t now);

#endif
