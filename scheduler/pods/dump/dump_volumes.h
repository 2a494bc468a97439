/* scheduler/pods/dump/dump_volumes.h: PersistentVolumeClaims, PersistentVolumes, StorageClasses,
 * CSIStorageCapacities and the limits of CSINodes in a dump. Records without an object are not
 * written: they follow from the names of others. Any thread. */
#ifndef SCHEDULER_PODS_DUMP_DUMP_VOLUMES_H
#define SCHEDULER_PODS_DUMP_DUMP_VOLUMES_H

struct cluster;
struct err;
struct jdoc;
struct json_out;
struct node;
struct pod_class;

/* As members of the object that is open in o. */
void dump_volumes_write(struct json_out *o, const struct cluster *c);
void dump_volumes_write_class(struct json_out *o, const struct pod_class *k);
void dump_volumes_write_limits(struct json_out *o, const struct node *n);
/* The other way round; after the nodes and classes. */
int dump_volumes_read(struct cluster *c, const struct jdoc *doc, struct err *err);
int dump_volumes_read_class(struct cluster *c, const struct jdoc *d, struct pod_class *k,
			    struct err *err);
int dump_volumes_read_limits(struct cluster *c, const struct jdoc *d, struct node *n,
			     struct err *err);

#endif
