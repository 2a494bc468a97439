/* scheduler/pods/plugins/predicates_volumes.h: which nodes the PersistentVolumeClaims of a pod
 * allow, by the rules of kube-scheduler's plugins VolumeBinding, VolumeZone, VolumeRestrictions and
 * NodeVolumeLimits, in its words. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_PLUGINS_PREDICATES_VOLUMES_H
#define SCHEDULER_PODS_PLUGINS_PREDICATES_VOLUMES_H

#include <stdbool.h>

struct node;
struct pod_class;
struct reason;
struct session;

/* Whether the claims exist and are usable, and their volumes can be had on the node. why may be
 * NULL. */
bool predicates_volumes_class(const struct session *s, const struct pod_class *k,
			      const struct node *n, struct reason *why);

#endif
