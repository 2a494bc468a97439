/* scheduler/pods/model/storage_capacity.h: the storage that is free for volumes that are still to
 * be made: CSIStorageCapacities, which count for StorageClasses of a CSIDriver with
 * storageCapacity, by the rules of kube-scheduler's plugin VolumeBinding. Each claim
 * is compared alone: what several claims ask for together is found out by the provisioner. Owner:
 * the sched thread. Pure. */
#ifndef SCHEDULER_PODS_MODEL_STORAGE_CAPACITY_H
#define SCHEDULER_PODS_MODEL_STORAGE_CAPACITY_H

#include <stdbool.h>

#include "base/str.h"
#include "scheduler/pods/model/model.h"

/* A CSIStorageCapacity as it was read; terms are copied. */
struct storage_capacity_spec {
	struct str key, klass;          /* "namespace/name"; of a StorageClass */
	const struct match_term *nodes; /* requirements on their labels; NULL: no node */
	int64_t bytes;                  /* the largest volume; -1: none */
};

void storage_capacity_begin(struct cluster *c);  /* of cluster_create */
void storage_capacity_finish(struct cluster *c); /* of cluster_destroy, before volumes_finish */

/* Adds or updates. True: pods may find room by it that they had not before; those that wait for
 * claims of the class are due. */
bool storage_capacity_set(struct cluster *c, const struct storage_capacity_spec *spec);
/* False: it is not known. */
bool storage_capacity_remove(struct cluster *c, struct str key);
struct storage_capacity *storage_capacity_find(const struct cluster *c, struct str key); /* NULL */
/* Whether the CSIDriver of that name says how much is free. True: it did not say the same before.
 */
bool storage_capacity_set_driver(struct cluster *c, struct str name, bool tracks);
bool storage_capacity_has_driver(const struct cluster *c, struct str name);
/* Whether a volume for the unbound claim, of the size for which it asks, can be made for the node.
 * O(labels of the node * log capacities), and those that share a label value with the node are
 * looked at one by one. */
bool storage_capacity_suffices(const struct claim *cl, const struct node *n);

/* For volumes.c: whether volumes of this provisioner (NULL: none) need a capacity. */
bool storage_capacity_is_tracked(const struct cluster *c, const char *provisioner);

#endif
