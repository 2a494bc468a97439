/* scheduler/pods/dump/dump_images.h: container images in a dump: a list of all of them by id, the
 * ids of those that a node has, the names of those that a class names. Any thread. */
#ifndef SCHEDULER_PODS_DUMP_DUMP_IMAGES_H
#define SCHEDULER_PODS_DUMP_DUMP_IMAGES_H

struct cluster;
struct err;
struct image;
struct jdoc;
struct json_out;
struct node;
struct pod_class;

/* As members of the object that is open in o. */
void dump_images_write(struct json_out *o, const struct cluster *c, const struct image *i);
void dump_images_write_class(struct json_out *o, const struct pod_class *k);
void dump_images_write_node(struct json_out *o, const struct node *n);
/* The other way round; images come before classes and nodes. Names of a class are those of d until
 * the class enters the cluster. */
int dump_images_read(struct cluster *c, const struct jdoc *d, struct err *err);
int dump_images_read_class(const struct cluster *c, const struct jdoc *d, struct pod_class *k,
			   struct err *err);
int dump_images_read_node(struct cluster *c, const struct jdoc *d, struct node *n, struct err *err);

#endif
