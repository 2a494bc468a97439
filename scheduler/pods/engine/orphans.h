/* scheduler/pods/engine/orphans.h: pods of ours that name a PodGroup which does not exist. No queue
 * knows them, so no cycle looks at them: each gets one Warning event here, when its PodGroup is
 * still missing ORPHANS_GRACE_NS after the pod was seen (people apply pods first, lists arrive in
 * any order). The next event comes only after the PodGroup was there in between. Owner: the sched
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
/* A pod was upserted; a pod is about to be removed; the PodGroup of j is about to be. now:
 * monotonic ns, never less than before. */
void orphans_see(struct orphans *o, const struct cluster *c, const struct task *t, int64_t now);
void orphans_gone(struct orphans *o, const struct task *t);
void orphans_podgroup_deleted(struct orphans *o, const struct cluster *c, const struct podgroup *g,
			      int64_t now);
/* Records the events that are due. O(those due). */
void orphans_tell(struct orphans *o, const struct cluster *c, struct recorder *recorder,
		  int64_t now);

#endif
