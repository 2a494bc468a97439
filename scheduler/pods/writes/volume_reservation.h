/* scheduler/pods/writes/volume_reservation.h: writes the claim of a pod into the claimRef of a
 * PersistentVolume that is there, as kube-scheduler does; Kubernetes' volume controller binds the
 * two then. The patch is for the version of the volume that was decided about: a volume that has
 * changed meanwhile is decided about again. */
#ifndef SCHEDULER_PODS_WRITES_VOLUME_RESERVATION_H
#define SCHEDULER_PODS_WRITES_VOLUME_RESERVATION_H

struct claim;
struct pod_write;
struct volume;

/* Of a volume and a claim that exist. Sched thread. */
struct pod_write *volume_reservation_new(const struct volume *v, const struct claim *cl);

#endif
