/* scheduler/pods/model/volume_match.h: which of the PersistentVolumes that are there a claim can be
 * bound to, by the rules that Kubernetes' volume controller and kube-scheduler's plugin
 * VolumeBinding share. Owner: the sched thread. Pure. */
#ifndef SCHEDULER_PODS_MODEL_VOLUME_MATCH_H
#define SCHEDULER_PODS_MODEL_VOLUME_MATCH_H

#include <stdbool.h>

#include "scheduler/pods/model/model.h"

#define VOLUME_MATCH_HOST_LABEL "kubernetes.io/hostname"

/* Whether the unclaimed volume v can be bound to the claim, which names its class, as far as these
 * two go: which nodes reach v is not asked. */
bool volume_match_suits(const struct claim *cl, const struct volume *v);
/* The volume that the unbound claim is going to have: the one that this scheduler reserves for it,
 * else one with a claimRef to it, of several the first by name. NULL: none. */
const struct volume *volume_match_reserved(const struct cluster *c, const struct claim *cl);
/* Index in k->unclaimed of the first volume on this host, "": of those of no certain host, that has
 * at least so many bytes; those behind it on this host follow by size, then by name. O(log n). */
size_t volume_match_position(const struct storage_class *k, const char *host, int64_t bytes);
/* Whether it is there, named by no claimRef, and of a class: volumes without one are for claims
 * that do not wait for their pod. */
bool volume_match_is_unclaimed(const struct volume *v);
/* v, which has changed, is put into the list of its class, if it is unclaimed: true; and taken out
 * before it changes. For volumes.c. */
bool volume_match_enter(struct volume *v);
void volume_match_leave(struct volume *v);

#endif
