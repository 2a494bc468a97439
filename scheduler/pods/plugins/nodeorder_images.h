/* scheduler/pods/plugins/nodeorder_images.h: the score of nodeorder for container images that a
 * node has already, 0 to 100, by the formula of kube-scheduler's plugin ImageLocality: of each
 * image of the pod that the node has, the size times the part of all nodes that have it, so that an
 * image on few nodes does not draw all of its pods there. A sum of 23 MiB or less is 0, one of 1000
 * MiB for each container and image volume is 100. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_PLUGINS_NODEORDER_IMAGES_H
#define SCHEDULER_PODS_PLUGINS_NODEORDER_IMAGES_H

#include <stddef.h>
#include <stdint.h>

struct arena;
struct cluster;
struct node;
struct pod_class;
struct strbuf;

/* For one class in one session. */
struct nodeorder_images {
	struct nodeorder_image {
		uint32_t id;
		int64_t bytes; /* that a node with it adds to its sum */
	} * v;
	size_t n;     /* 0: no node has a score above 0 */
	int64_t most; /* the sum for 100 */
};

/* nodes: how many there are. Memory: the arena. O(images). */
struct nodeorder_images nodeorder_images_judge(const struct cluster *c, const struct pod_class *k,
					       size_t nodes, struct arena *arena);
/* O(images of the class * log images of the node). */
int64_t nodeorder_images_score(const struct nodeorder_images *w, const struct node *n);
/* Appends a text that is the same for equal scores on all nodes. */
void nodeorder_images_format(const struct nodeorder_images *w, struct strbuf *out);

#endif
