/* scheduler/pods/model/volumes.h: PersistentVolumeClaims with the volumes and StorageClasses that
 * they name, and the limits of CSINodes. Which volume a claim can get is in volume_match.h. Each
 * record is made when it is first named and goes when neither the object nor a name of it is left.
 * A change of an object makes the PodGroups of the pods that wait for it due. Owner: the sched
 * thread. Pure. */
#ifndef SCHEDULER_PODS_MODEL_VOLUMES_H
#define SCHEDULER_PODS_MODEL_VOLUMES_H

#include <stdbool.h>

#include "base/str.h"
#include "scheduler/pods/model/model.h"

/* Objects as they were read; terms are copied, drivers interned. */
struct volumes_claim_spec {
	struct str key;             /* "namespace/name" */
	struct str volume, klass;   /* names; absent: none */
	const char *uid, *owner;    /* NULL: none */
	const char *selected;       /* node; NULL: none */
	bool bound, lost, deleting; /* bound: both sides say so */
	struct volume_form form;
	const struct match_term *selector; /* NULL: any volume */
	int64_t resource_version;
};
struct volumes_volume_spec {
	struct str name;
	bool restricted;
	struct match_term *affinity, *zones;
	size_t naffinity, nzones;
	const char *driver;
	struct str klass; /* absent: none */
	struct volume_form form;
	const struct label *labels; /* by key */
	size_t nlabels;
	bool available, deleting;
	struct str ref;      /* "namespace/name" of the claim in its claimRef; absent: none */
	const char *ref_uid; /* NULL: any claim of that name */
	const char *uid;     /* NULL: none */
	int64_t resource_version;
};
struct volumes_class_spec {
	struct str name;
	bool waits, restricted;
	const char *provisioner;
	struct match_term *topologies;
	size_t ntopologies;
};

void volumes_begin(struct cluster *c);  /* of cluster_create */
void volumes_finish(struct cluster *c); /* of cluster_destroy */

/* Adds or updates. True: something changed on which placements depend. */
bool volumes_set_claim(struct cluster *c, const struct volumes_claim_spec *spec);
void volumes_set_volume(struct cluster *c, const struct volumes_volume_spec *spec);
void volumes_set_class(struct cluster *c, const struct volumes_class_spec *spec);
/* The limits of the node of that name, which are sorted; n 0: none. */
void volumes_set_limits(struct cluster *c, struct str node, struct volume_limit *limits, size_t n);
/* False: it is not known. */
bool volumes_remove_claim(struct cluster *c, struct str key);
bool volumes_remove_volume(struct cluster *c, struct str name);
bool volumes_remove_class(struct cluster *c, struct str name);

struct claim *volumes_find_claim(const struct cluster *c, struct str key);    /* NULL */
struct volume *volumes_find_volume(const struct cluster *c, struct str name); /* NULL */
/* Whether every claim of the task is bound. */
bool volumes_are_bound(const struct cluster *c, const struct task *t);
/* The task, which is TASK_BINDING, waits for its claims until then; MODEL_TIME_NONE: no more. */
void volumes_wait(struct cluster *c, struct task *t, int64_t by);
/* Its unbound claims that are not meant for its node, and for which a volume is to be made, count
 * as being written. */
void volumes_select(struct cluster *c, const struct task *t);
/* v, which is unclaimed and not being written, is reserved for the claim, and is being written. */
void volumes_take(struct claim *cl, struct volume *v);
/* The write of its claimRef has ended. done: with this version; else it is reserved no more. */
void volumes_claimed(struct cluster *c, struct volume *v, bool done, int64_t version);
/* Where no provisioner is: the unbound claims of the task count as meant for its node, for good. */
void volumes_provision(struct cluster *c, const struct task *t);
/* The write of a claim has ended. done: with this version; else the node that the claim shows
 * counts. */
void volumes_written(struct claim *cl, bool done, int64_t version);
/* Whether the volume of an unbound claim is to be made for n, or for a node that is still to be
 * chosen. */
bool volumes_may_select(const struct claim *cl, const struct node *n);
/* Whether volumes of the class can be made for the node. */
bool volumes_provides(const struct storage_class *k, const struct node *n);
/* The part of the key behind the namespace. */
const char *volumes_claim_name(const struct claim *cl);
/* By node affinity; by the labels about zones and regions. A volume that is not there fits none. */
bool volumes_fits_node(const struct volume *v, const struct node *n);
bool volumes_fits_zone(const struct volume *v, const struct node *n);

/* For storage_capacity.c. The record of a StorageClass, made when it is new, stays until it is
 * released as often. */
struct storage_class *volumes_hold_class(struct cluster *c, struct str name);
void volumes_release_class(struct cluster *c, struct storage_class *k);
/* The pods that wait for unbound claims of the class are looked at again. */
void volumes_wake_class(struct cluster *c, const struct storage_class *k);
bool volumes_same_selector(const struct match_term *a, const struct match_term *b); /* NULL: none */

/* The claims of a class get their ids, and a class more that names them; and the other way round.
 * For cluster_class.c. */
void volumes_enter_class(struct cluster *c, struct pod_class *k);
void volumes_leave_class(struct cluster *c, const struct pod_class *k);
/* The task uses the claims of its class from now on, or not any more. For cluster_task.c. */
void volumes_enter_task(struct cluster *c, const struct task *t);
void volumes_leave_task(struct cluster *c, const struct task *t);
/* Marks the names of volumes and StorageClasses. For cluster_names.c. */
void volumes_mark_terms(const struct cluster *c,
			void (*mark)(struct intern *names, const struct match_term *terms,
				     size_t n));

#endif
