/* scheduler/pods/model/images.h: container images, by name: those that nodes have, and those that
 * pod classes name. A record is made when its name is first seen, and goes with the last node and
 * class. Images decide no more than which of several nodes is preferred: a change of them makes
 * nothing due. Owner: the sched thread. Pure. */
#ifndef SCHEDULER_PODS_MODEL_IMAGES_H
#define SCHEDULER_PODS_MODEL_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "scheduler/pods/model/model.h"

/* A reference to an image has at most 255 bytes before its tag and digest, and some 270 in these: a
 * longer text names no image. */
#define IMAGES_NAME_MAX 1024
/* Names that are kept of a node, the first ones. Kubelets list the largest images first, 50 of them
 * by default, with up to 5 names each. */
#define IMAGES_NODE_MAX 1000

/* Larger sizes count as this, and those below 0 as 0. */
#define IMAGES_BYTES_MAX (INT64_C(1) << 40)

/* A name of an image that a node has. */
struct images_entry {
	const char *name;
	int64_t bytes;
};

void images_begin(struct cluster *c);  /* of cluster_create */
void images_finish(struct cluster *c); /* of cluster_destroy */

struct image *images_find(const struct cluster *c, struct str name); /* NULL */
/* The node has these images and no others. The first IMAGES_NODE_MAX names count, without those
 * that are longer than IMAGES_NAME_MAX. Allocates nothing that stays when the node has them
 * already. O(count log count). */
void images_set_node(struct cluster *c, struct node *n, const struct images_entry *v, size_t count);
/* Whether the node has the image with this id. O(log images). */
bool images_is_on(const struct node *n, uint32_t id);

/* The images of a class get their ids, and a class more that names them; and the other way round.
 * For cluster_class.c. */
void images_enter_class(struct cluster *c, struct pod_class *k);
void images_leave_class(struct cluster *c, const struct pod_class *k);

/* For dumps: a new record, which no node and no class has yet; and a node more that has it, to be
 * called by ascending id. */
struct image *images_add(struct cluster *c, struct str name);
void images_put(struct node *n, struct image *i);

#endif
