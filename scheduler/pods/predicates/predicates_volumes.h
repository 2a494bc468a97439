/* scheduler/pods/predicates/predicates_volumes.h: which nodes the PersistentVolumeClaims of a pod
 * allow, by the rules of kube-scheduler's plugins VolumeBinding, VolumeZone, VolumeRestrictions and
 * NodeVolumeLimits, in its words. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_PREDICATES_PREDICATES_VOLUMES_H
#define SCHEDULER_PODS_PREDICATES_PREDICATES_VOLUMES_H

#include <stdbool.h>

struct node;
struct pod_class;
struct reason;
struct session;
struct task;
struct volume_marks;

/* Memory for counting the volumes of a node. destroy: NULL is fine. */
struct volume_marks *predicates_volumes_marks_create(void);
void predicates_volumes_marks_destroy(struct volume_marks *m);
/* Whether the claims exist and are usable, and their volumes can be had on the node. why may be
 * NULL. */
bool predicates_volumes_class(const struct session *s, const struct pod_class *k,
			      const struct node *n, struct reason *why);
/* Whether each unbound claim gets a volume there, and other pods leave room for t on the node:
 * those that use the same claims, and those that have volumes attached there. later: when those
 * that terminate there are gone. */
bool predicates_volumes_task(struct volume_marks *m, const struct session *s, const struct task *t,
			     const struct node *n, bool later, struct reason *why);

#endif
