/* scheduler/pods/writes/claim_selection.h: writes the node of a pod on a PersistentVolumeClaim of
 * it (annotation volume.kubernetes.io/selected-node), for which its provisioner makes the volume
 * then. The patch is for the version of the claim that was decided about: a claim that has changed
 * meanwhile is decided again. */
#ifndef SCHEDULER_PODS_WRITES_CLAIM_SELECTION_H
#define SCHEDULER_PODS_WRITES_CLAIM_SELECTION_H

struct claim;
struct pod_write;

/* Of a claim that exists. Sched thread. */
struct pod_write *claim_selection_new(const struct claim *cl, const char *node);

#endif
