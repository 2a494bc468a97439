/* scheduler/pods/model/volume_limits.h: how many volumes of each CSI driver a node can have. A node
 * may name any number of drivers. Pure. */
#ifndef SCHEDULER_PODS_MODEL_VOLUME_LIMITS_H
#define SCHEDULER_PODS_MODEL_VOLUME_LIMITS_H

#include <stddef.h>

struct node;
struct volume_limit;

/* By driver, then by count, as a node has them. */
void volume_limits_sort(struct volume_limit *limits, size_t n);
/* The limit for an interned driver: of several for one driver the least. NULL: there is none, or no
 * driver. O(log limits). */
const struct volume_limit *volume_limits_find(const struct node *n, const char *driver);

#endif
